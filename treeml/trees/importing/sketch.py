"""A tree as another program wrote it, with a Dataset -> a Tree over its columns.

A sketch holds only names and texts. The data decide which of them are columns, levels, thresholds and classes; a name
that the data do not have is refused with its line.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, isfinite, nextafter
from pathlib import Path
from typing import Any, NoReturn

from treeml.data.table import Column, Dataset, label_text, listed
from treeml.lang.diagnostic import Diagnostic
from treeml.lang.redaction import UnreadError
from treeml.trees.importing.contract import DEEPEST, Origin, Sketch, SketchLeaf, SketchSplit
from treeml.trees.nodes import Branch, Node, TreeLeaf, TreeTest
from treeml.trees.raising import field_of, plain_value
from treeml.trees.tree import Tree


def raise_sketch(sketch: Sketch, dataset: Dataset, origin: Origin) -> Tree:
    """The tree over the data's own columns and classes."""
    if not dataset.classes:
        origin.refuse("D440", f"the tree of {origin.program} predicts classes, and the target is not a class")
    columns: dict[str, Column] = {}

    def raised(node: Sketch, depth: int) -> Node:
        if depth > DEEPEST:
            origin.refuse("D481", f"{origin.name} holds a tree of more than {DEEPEST} levels", node.line)
        if isinstance(node, SketchLeaf):
            return TreeLeaf(_label(node, dataset, origin))
        test = _test(node, _column(node, dataset, origin, columns), origin)
        return Branch(test, raised(node.yes, depth + 1), raised(node.no, depth + 1))

    root = raised(sketch, 0)
    target = dataset.target.name if dataset.target is not None else ""
    apart = {target, dataset.spec.weight_column or dataset.table.weight}
    tree = Tree(root, "classes", target, tuple(map(plain_value, dataset.classes)))
    inputs = tuple(name for name in dataset.table.columns if name not in apart)
    return replace(tree, fields=tuple(field_of(dataset, name) for name in columns), inputs=inputs)


def unreadable(path: Path, reason: str) -> NoReturn:
    raise UnreadError(Diagnostic("D481", f"{path} cannot be read: {reason}", place=str(path)))


def _column(node: SketchSplit, dataset: Dataset, origin: Origin, known: dict[str, Column]) -> Column:
    if node.column not in known:
        if node.column not in dataset.table.columns:
            origin.refuse(
                "D444",
                f"the starting tree asks about `{node.column}`, and {dataset.table.source} has no such column",
                node.line,
                f"its columns are {listed(list(dataset.table.columns))}",
                "start from a tree that was grown on these columns",
            )
        if node.column not in dataset.features:
            origin.refuse(
                "D444",
                f"the starting tree asks about `{node.column}`, on which this specification may not split",
                node.line,
            )
        known[node.column] = dataset.column(node.column)
    return known[node.column]


def _test(node: SketchSplit, column: Column, origin: Origin) -> TreeTest:
    number = _number(node.value)
    if node.comparison == "=":
        if not column.levels:
            if number is None:
                _no_value(node, origin)
            return TreeTest(column.name, "is", (number,))
        level = next((level for level in column.levels if _equal(level, node.value, number)), None)
        if level is None:
            _no_value(node, origin)
        return TreeTest(column.name, "is", (plain_value(level),))
    if number is None or (column.levels and any(_number(label_text(level)) is None for level in column.levels)):
        _no_value(node, origin)
    return TreeTest(column.name, "at most", (nextafter(number, -inf) if node.comparison == "<" else number,))


def _no_value(node: SketchSplit, origin: Origin) -> NoReturn:
    origin.refuse(
        "D440",
        f"the starting tree asks whether `{node.column}` {node.comparison} {node.value}, which its values cannot be",
        node.line,
        help="start from a tree that was grown on these columns",
    )


def _label(node: SketchLeaf, dataset: Dataset, origin: Origin) -> Any:
    number = _number(node.label)
    for label in dataset.classes:
        if _equal(label, node.label, number):
            return plain_value(label)
    origin.refuse(
        "D465",
        f"the starting tree predicts `{node.label}`, which is not one of the classes",
        node.line,
        f"the classes are {listed([label_text(label) for label in dataset.classes])}",
    )


def _equal(value: Any, text: str, number: float | None) -> bool:
    return label_text(value) == text or (number is not None and _number(label_text(value)) == number)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None
