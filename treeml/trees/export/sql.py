"""Tree -> a CASE expression; for clusters a select list with one expression per output.

A missing value is NULL. If it is in a column that had no missing values in training, the prediction is NULL.
Dates and times are compared with literals in ISO form, which databases convert to the type of the column.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

from treeml.data.table import label_text
from treeml.lang.display import shown
from treeml.trees.export.contract import Export
from treeml.trees.export.questions import ExportQuestion, asked, calendar_text, filled, required, threshold
from treeml.trees.export.votes import EXACT_INTEGERS, all_columns, class_number, whole_weights
from treeml.trees.forest import Forest
from treeml.trees.nodes import Branch, Field, Node, TreeLeaf
from treeml.trees.tree import Tree

_CANNOT_HOLD = re.compile("[\x00\ud800-\udfff]")  # NUL ends a statement, and a lone surrogate cannot be encoded


def write(tree: Tree) -> str:
    if tree.task != "clusters":
        return _whole(tree, lambda leaf: literal(leaf.prediction)) + "\n"
    return (
        ",\n".join(
            _whole(tree, lambda leaf, place=place: literal(leaf.prediction[place])) + f" AS {_name(output)}"  # type: ignore[misc]
            for place, output in enumerate(tree.outputs)
        )
        + "\n"
    )


def write_forest(forest: Forest) -> str:
    """Two classes are distinguished by the sign of one sum; votes for more classes are counted in an inner SELECT."""
    weights = whole_weights(forest, EXACT_INTEGERS)
    labels = [literal(label) for label in forest.classes]
    if len(labels) == 2:
        votes = _sql_sum(forest, weights, lambda number, weight: weight if number == 0 else -weight)
        found = f"CASE WHEN\n{votes}\n>= 0 THEN {labels[0]} ELSE {labels[1]} END"
    else:
        sums = [
            f"{_sql_sum(forest, weights, lambda number, weight, own=place: weight if number == own else 0)} AS votes{place}"  # type: ignore[misc]  # noqa: E501
            for place in range(len(labels))
        ]
        cases = []
        for place in range(len(labels) - 1):
            others = " AND ".join(f"votes{place} >= votes{other}" for other in range(len(labels)) if other != place)
            cases.append(f"WHEN {others} THEN {labels[place]}")
        inner = ",\n".join(sums)
        found = f"(SELECT CASE {' '.join(cases)} ELSE {labels[-1]} END FROM (SELECT\n{inner}) AS counted)"
    return unless_missing(required(all_columns(forest)), lambda indent: found) + "\n"


def _sql_sum(forest: Forest, weights: list[int], vote: Callable[[int, int], int]) -> str:
    return "\n+ ".join(
        tree_expression(tree, lambda leaf, weight=weight: str(vote(class_number(forest, leaf), weight)))  # type: ignore[misc]
        for tree, weight in zip(forest.trees, weights, strict=True)
    )


def _whole(tree: Tree, value: Callable[[TreeLeaf], str]) -> str:
    return unless_missing(required(tree), lambda indent: tree_expression(tree, value, indent))


def tree_expression(tree: Tree, value: Callable[[TreeLeaf], str], indent: str = "") -> str:
    """A CASE expression for rows that have a value in every required column."""
    return _node(tree, tree.root, value, indent)


def unless_missing(needed: tuple[Field, ...], expression: Callable[[str], str]) -> str:
    """The expression, or NULL if a required column is NULL.

    `expression` gets its indent as an argument, because finished text cannot be indented: line breaks in it may be part
    of a name.
    """
    if not needed:
        return expression("")
    unknown = " OR ".join(f"{_name(field.name)} IS NULL" for field in needed)
    return f"CASE WHEN {unknown} THEN NULL ELSE\n  {expression('  ')}\nEND"


def _node(tree: Tree, node: Node, value: Callable[[TreeLeaf], str], indent: str) -> str:
    if not isinstance(node, Branch):
        return value(node)
    condition = _condition(asked(tree, node.test))
    deeper = indent + "  "
    yes, no = _node(tree, node.yes, value, deeper), _node(tree, node.no, value, deeper)
    return f"CASE WHEN {condition}\n{deeper}THEN {yes}\n{deeper}ELSE {no}\n{indent}END"


def _condition(question: ExportQuestion) -> str:
    field = question.field
    column = _column(field)
    if question.kind == "missing":
        return f"{_name(field.name)} IS NULL"
    if question.kind == "at most":
        condition = f"{column} {_at_most(question.values[0])}"
    else:
        condition = f"{column} IN ({', '.join(literal(value) for value in question.values)})"
    return f"({condition} OR {column} IS NULL)" if question.missing_yes else condition


def _at_most(value: Any) -> str:
    if isinstance(value, date) and not isinstance(value, datetime):
        # A time counts as its day, so that any time of the last day is at most that day.
        return f"< {literal(value + timedelta(days=1))}"
    return f"<= {literal(value) if isinstance(value, date) else _number(threshold(value))}"


def _column(field: Field) -> str:
    name = _name(field.name)
    return name if field.fill is None else f"COALESCE({name}, {literal(filled(field))})"


def _name(name: str) -> str:
    return quoted(name, '"')


def quoted(text: str, quote: str) -> str:
    """Text between quotes. SQL has no escapes: a quote is doubled, everything else is unchanged."""
    if not _CANNOT_HOLD.search(text):
        return quote + text.replace(quote, 2 * quote) + quote
    from treeml.lang.diagnostic import DataError, Diagnostic

    raise DataError(
        Diagnostic(
            "D492",
            f"`{shown(text)}` has a character that SQL cannot hold",
            place="sql",
            helps=("choose another form: `treeml show --as python`",),
        )
    )


def literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float, Fraction)):
        return _number(value if isinstance(value, int) else float(value))
    return quoted(calendar_text(value) if isinstance(value, date) else label_text(value), "'")


def _number(value: int | float) -> str:
    return repr(value)


EXPORT = Export("sql", (".sql",), write, write_forest)
