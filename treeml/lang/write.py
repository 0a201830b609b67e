"""Syntax tree -> canonical text.

Parsing the text gives equal nodes. Every meaning has one spelling: names have backquotes and expressions have
parentheses only if they need them, and numbers are written out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from treeml.lang.syntax import (
    Argument,
    Binarize,
    Binary,
    Call,
    Choices,
    ColumnCost,
    ColumnRule,
    Data,
    Ensemble,
    Expression,
    Features,
    Forbid,
    GoalPart,
    Improve,
    Include,
    LeafModels,
    ListTrees,
    MistakeCost,
    Modifier,
    Name,
    Negate,
    Number,
    Objective,
    Param,
    Predict,
    Range,
    Relation,
    Report,
    Require,
    RowCost,
    Satisfy,
    Set,
    Solve,
    Start,
    Statement,
    String,
    Validate,
    Version,
    WeightBy,
    WeightClass,
)
from treeml.lang.words import spell_name, spell_number, spell_string, spell_unit

Node = Statement | Expression | Argument | GoalPart | Modifier | Range | Choices


@dataclass(frozen=True, slots=True)
class ColumnName:
    """The name of a column in a place where the word `all` means every column."""

    name: Name

    def __str__(self) -> str:
        return spell_name(self.name.text, ("all",))


Piece = str | Node | ColumnName


class OwnName(str):
    """A piece that is the name of its node."""

    __slots__ = ()


class Operator(str):
    """A piece that is an operator of a comparison."""

    __slots__ = ()


def write(statement: Statement) -> str:
    """One statement as text, on one line; every goal after the first is on a line of its own."""
    return _written(statement)


def write_expression(expression: Expression) -> str:
    return _written(expression)


def _written(node: Node) -> str:
    return "".join([str(piece) if isinstance(piece, str | ColumnName) else _written(piece) for piece in pieces(node)])


def pieces(node: Node) -> list[Piece]:
    """The text of a node as a list of literal text and inner nodes, in order."""
    if isinstance(node, Statement):
        return _statement_pieces(node)
    match node:
        case Argument():
            return [OwnName(spell_name(node.name)), " = ", node.value] if node.name else [node.value]
        case GoalPart():
            return [f"{node.sense} ", node.expression]
        case Modifier():
            return [f"{node.name} {node.value}".rstrip()]
        case Range():
            return [node.low, " .. ", node.high]
        case Choices():
            return ["{", *_list(node.values), "}"]
    return _expression_pieces(node)


def _statement_pieces(statement: Statement) -> list[Piece]:
    match statement:
        case Version():
            return [f"treeml {statement.number}"]
        case Include():
            return [f"include {spell_string(statement.path)}"]
        case Param():
            kind = [f" : {statement.type}"] if statement.type else []
            return [
                "param ",
                OwnName(statement.name),
                *kind,
                *_part(" = ", statement.default),
                *_part(" in ", statement.domain),
            ]
        case Set():
            return ["set ", OwnName(statement.name), " = ", statement.value]
        case Data():
            return [f"data {spell_string(statement.path)}"]
        case Predict():
            pieces: list[Piece] = ["predict ", ColumnName(statement.column), *_part(" is ", statement.positive)]
            return pieces if statement.observed is None else [*pieces, " observed ", ColumnName(statement.observed)]
        case Features():
            excluded = [" except ", *_columns(statement.excluded)] if statement.excluded else []
            return ["features ", *_columns(statement.columns), *excluded]
        case ColumnRule():
            said: list[Piece] = [*([statement.type] if statement.type else []), *statement.modifiers]
            properties = [piece for each in said for piece in (", ", each)][1:]
            return ["column ", *_columns(statement.columns), " : ", *properties]
        case WeightBy():
            return ["weight by ", ColumnName(statement.column)]
        case WeightClass():
            return ["weight class ", statement.label, " = ", statement.weight]
        case MistakeCost():
            return ["cost predict ", statement.predicted, " when ", statement.actual, " = ", statement.cost]
        case RowCost():
            verb = "gain" if statement.is_gain else "cost"
            return [f"{verb} predict ", statement.predicted, " by column ", ColumnName(statement.column)]
        case ColumnCost():
            terms: list[Piece] = [" together"] if statement.together else []
            if statement.after is not None:
                terms = [" after ", ColumnName(statement.after)]
            return ["cost test ", *_columns(statement.columns), *terms, " = ", statement.cost]
        case Binarize():
            how = [" at ", *_list(statement.cuts)] if statement.method is None else [" by ", statement.method]
            return ["binarize ", *_columns(statement.columns), *how]
        case Objective():
            return _list(statement.goals, "\nthen ")
        case Satisfy():
            return ["satisfy"]
        case Require():
            return ["require ", f"{statement.name}: " if statement.name else "", statement.condition]
        case Forbid():
            return ["forbid split on ", *_columns(statement.columns)]
        case LeafModels():
            return ["leaves ", statement.method]
    return _run_pieces(statement)


def _run_pieces(statement: Ensemble | Start | Improve | ListTrees | Validate | Solve | Report) -> list[Piece]:
    """The same for statements about how to find and show a tree."""
    match statement:
        case Ensemble():
            trees = ["up to ", statement.trees, " trees "] if statement.trees is not None else []
            return ["ensemble ", *trees, "by ", statement.method]
        case Start():
            return ["start from ", statement.source]
        case Improve():
            return ["improve by ", statement.method, *_part(" within ", statement.within)]
        case ListTrees():
            limit = [] if statement.within is None else [" within ", statement.within, " of best"]
            # A name may be one of the words of the statement: after `up to` it cannot be taken for one.
            bound = "" if isinstance(statement.most, Number) and not limit else "up to "
            most: list[Piece] = [] if statement.most is None else [bound, statement.most, " "]
            style: list[Piece] = [" as ", OwnName(statement.style)] if statement.style else []
            return ["list ", *most, "trees", *limit, *style]
        case Validate():
            return [f"validate {'on' if isinstance(statement.method, String) else 'by'} ", statement.method]
        case Solve():
            backends = [" with ", *_list(statement.backends)] if statement.backends else []
            words = ("within", "gap", "seed", "threads")
            limits = [piece for word in words for piece in _part(f" {word} ", getattr(statement, word))]
            return ["solve", *backends, *limits]
        case Report():
            return ["report ", *_list(statement.items)]
    assert_never(statement)


def _expression_pieces(expression: Expression) -> list[Piece]:
    match expression:
        case Number():
            space = " " if expression.unit not in ("", "%") else ""
            return [f"{spell_number(expression.value)}{space}{spell_unit(expression.value, expression.unit)}"]
        case String():
            return [spell_string(expression.text)]
        case Name():
            return [spell_name(expression.text)]
        case Relation():
            found: list[Piece] = [expression.operands[0]]
            for operator, operand in zip(expression.operators, expression.operands[1:], strict=True):
                found += [" ", Operator(operator), " ", operand]
            return found
        case Call():
            given = [" given ", *_list(expression.given)] if expression.given else []
            return [OwnName(expression.name), "(", *_list(expression.arguments), *given, ")"]
        case Binary():
            # Operators of one rank associate to the left, so an equal rank on the right needs parentheses.
            left = _wrapped(expression.left, _rank(expression.left) < _rank(expression))
            right = _wrapped(expression.right, _rank(expression.right) <= _rank(expression))
            return [*left, f" {expression.operator} ", *right]
        case Negate():
            return ["-", *_wrapped(expression.operand, isinstance(expression.operand, Binary))]
    assert_never(expression)


def _rank(expression: Expression) -> int:
    if isinstance(expression, Binary):
        return 1 if expression.operator in ("+", "-") else 2
    return 3


def _wrapped(expression: Expression, needed: bool) -> list[Piece]:
    return ["(", expression, ")"] if needed else [expression]


def _part(word: str, node: Node | None) -> list[Piece]:
    return [] if node is None else [word, node]


def _list(items: Sequence[Piece], separator: str = ", ") -> list[Piece]:
    found: list[Piece] = []
    for item in items:
        found += [separator, item] if found else [item]
    return found


def _columns(columns: Sequence[Name]) -> list[Piece]:
    """No columns named means all of them."""
    return _list([ColumnName(column) for column in columns]) if columns else ["all"]
