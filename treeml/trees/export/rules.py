"""Tree -> one line per leaf: IF "age" <= 35 AND "sex" in ["F"] THEN "income" = ">50K".

Names and labels are written as in JSON, and numbers with all digits, so that programs can read the rules and get
exactly the predictions of the tree. Exactly one rule holds for every row.
"""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

from treeml.data.table import label_text
from treeml.lang.display import readable_json
from treeml.trees.export.contract import Export
from treeml.trees.export.questions import ExportQuestion, asked, calendar_text, threshold
from treeml.trees.forest import Forest
from treeml.trees.nodes import TreeLeaf, TreeTest, without_other_branches
from treeml.trees.tree import Tree


def write(tree: Tree) -> str:
    return "\n".join(_rule(tree, path, leaf) for path, leaf in tree.paths()) + "\n"


def write_forest(forest: Forest) -> str:
    labels = readable_json([label_text(label) for label in forest.classes])
    parts = [f"# {len(forest.trees)} trees vote; the class with most weight wins, of equals the first of {labels}"]
    for number, (tree, weight) in enumerate(zip(forest.trees, forest.weights, strict=True), 1):
        parts += [f"# tree {number}, weight {weight}", write(tree).rstrip("\n")]
    return "\n".join(parts) + "\n"


def _rule(tree: Tree, path: tuple[tuple[TreeTest, bool], ...], leaf: TreeLeaf) -> str:
    conditions = [_condition(asked(tree, test), answer) for test, answer in without_other_branches(path)]
    when = f"IF {' AND '.join(conditions)} THEN" if conditions else "ALWAYS"
    return f"{when} {_prediction(tree, leaf)}  # {leaf.rows} {'row' if leaf.rows == 1 else 'rows'}"


def _condition(question: ExportQuestion, answer: bool) -> str:
    name = readable_json(question.field.name)
    if question.kind == "missing":
        return f"{name} is missing" if answer else f"{name} is not missing"
    may_miss = question.field.missing and question.field.fill is None
    tail = " or missing" if may_miss and question.missing_yes == answer else ""
    if question.kind == "at most":
        return f"{name} {'<=' if answer else '>'} {_cut(question.values[0])}{tail}"
    values = readable_json([_written(value) for value in question.values])
    return f"{name} {'in' if answer else 'not in'} {values}{tail}"


def _cut(value: Any) -> str:
    return readable_json(calendar_text(value)) if isinstance(value, date) else repr(threshold(value))


def _prediction(tree: Tree, leaf: TreeLeaf) -> str:
    if tree.task == "clusters":
        outputs = zip(tree.outputs, leaf.prediction, strict=True)
        return ", ".join(f"{readable_json(name)} = {value!r}" for name, value in outputs)
    return f"{readable_json(tree.predicted)} = {readable_json(_written(leaf.prediction))}"


def _written(value: Any) -> Any:
    if isinstance(value, Fraction):
        return float(value)
    return value if value is None or isinstance(value, (str, bool, int, float)) else label_text(value)


EXPORT = Export("rules", (".txt",), write, write_forest)
