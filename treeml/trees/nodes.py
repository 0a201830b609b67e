"""The data of a tree in the user's terms: tests on columns, leaves, branches, columns, and how to walk over them.

Routing, drawing, JSON and the exports work on this data; `Tree` (`treeml.trees.tree`) is the same data with methods.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from treeml.data.table import label_text
from treeml.lang.display import shown

KINDS = ("is true", "at most", "is", "among", "missing")
TASKS = ("classes", "numbers", "clusters")


@dataclass(frozen=True, slots=True)
class TreeTest:
    """A yes-or-no question about one column.

    `values` holds the threshold of "at most", the level of "is" and of "is true", the levels of "among", and nothing
    for "missing". A row whose value is missing answers yes where `missing_yes` says so; a level that the training data
    did not have answers no.
    """

    column: str
    kind: str  # one of KINDS
    values: tuple[Any, ...] = ()
    missing_yes: bool = False

    def __str__(self) -> str:
        column, missing = shown(self.column), " or is missing" if self.missing_yes and self.kind != "missing" else ""
        match self.kind:
            case "at most":
                return f"{column} <= {shown(number_text(self.values[0]))}{missing}"
            case "among":
                return f"{column} is among {_labels_shown(self.values)}{missing}"
            case "missing":
                return f"{column} is missing"
        return f"{column} is {_labels_shown(self.values[:1])}{missing}"

    def negated(self, has_gaps: bool = True) -> str:
        """The question as a fact about a row that answers no; without gaps in the column, nothing is missing."""
        column = shown(self.column)
        match self.kind:
            case "at most":
                missing = "" if self.missing_yes or not has_gaps else " or is missing"
                return f"{column} > {shown(number_text(self.values[0]))}{missing}"
            case "among":
                return f"{column} is not among {_labels_shown(self.values)}"
            case "missing":
                return f"{column} is not missing"
        return f"{column} is not {_labels_shown(self.values[:1])}"


def _labels_shown(values: Sequence[Any]) -> str:
    return ", ".join(shown(label_text(value)) for value in values)


@dataclass(frozen=True, slots=True)
class TreeLeaf:
    """Where a path ends: what it predicts, and which of the training rows came here."""

    prediction: Any  # the user's own label; a number; a tuple of numbers for clusters
    rows: int = 0
    counts: tuple[int, ...] = ()  # rows of every class
    weights: tuple[Fraction, ...] = ()  # the same by weight
    exact: tuple[Fraction, ...] = ()  # the prediction as exact numbers; () for classes


@dataclass(frozen=True, slots=True)
class Branch:
    test: TreeTest
    yes: Node
    no: Node


Node = TreeLeaf | Branch


@dataclass(frozen=True, slots=True)
class Field:
    """A column that the tree asks about, as it was in training."""

    name: str
    type: str
    levels: tuple[Any, ...] = ()  # () for numbers
    missing: bool = False  # may be missing
    fill: Any = None  # the number or level that takes the place of what is missing


@dataclass(frozen=True)
class TreeData:
    """A decision tree over the user's columns, as plain data."""

    root: Node
    task: str  # one of TASKS
    target: str = ""
    classes: tuple[Any, ...] = ()  # the user's own labels
    outputs: tuple[str, ...] = ()  # what the numbers of a leaf are: the target, or the columns of a clustering
    fields: tuple[Field, ...] = ()  # the columns that are asked about
    inputs: tuple[str, ...] = ()  # all columns of the training data but the target, in order: those of an array

    @cached_property
    def leaves(self) -> tuple[TreeLeaf, ...]:
        """All leaves; those on the yes side come first. Their places are the numbers that `apply` gives."""
        return tuple(node for node in self.nodes() if isinstance(node, TreeLeaf))

    @cached_property
    def depth(self) -> int:
        """The number of splits on the longest path."""
        deepest, todo = 0, [(self.root, 0)]
        while todo:
            node, depth = todo.pop()
            deepest = max(deepest, depth)
            if isinstance(node, Branch):
                todo += [(node.no, depth + 1), (node.yes, depth + 1)]
        return deepest

    @property
    def splits(self) -> int:
        return len(self.leaves) - 1

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that are tested, each once, from the root down."""
        return tuple(dict.fromkeys(node.test.column for node in self.nodes() if isinstance(node, Branch)))

    def nodes(self) -> Iterator[Node]:
        """Every node, parents before children, the yes side before the no side."""
        todo: list[Node] = [self.root]
        while todo:
            node = todo.pop()
            yield node
            if isinstance(node, Branch):
                todo += [node.no, node.yes]

    def paths(self) -> Iterator[tuple[tuple[tuple[TreeTest, bool], ...], TreeLeaf]]:
        """Every leaf with the tests above it and their answers, in the order of `leaves`."""
        todo: list[tuple[Node, tuple[tuple[TreeTest, bool], ...]]] = [(self.root, ())]
        while todo:
            node, path = todo.pop()
            if isinstance(node, TreeLeaf):
                yield path, node
            else:
                todo += [(node.no, (*path, (node.test, False))), (node.yes, (*path, (node.test, True)))]

    def prediction_text(self, leaf: TreeLeaf) -> str:
        """What a leaf predicts, for people: labels and names are shown, which may not be all of them."""
        if self.task == "classes":
            return shown(label_text(leaf.prediction))
        if self.task == "numbers":
            return rounded_text(leaf.prediction)
        return ", ".join(
            f"{shown(name)} {rounded_text(value)}" for name, value in zip(self.outputs, leaf.prediction, strict=True)
        )


def class_shares(leaf: TreeLeaf, classes: Sequence[Any]) -> tuple[Fraction, ...]:
    """The share of every class in a leaf: by weight, by rows where nothing weighs, else all to what it predicts."""
    for amounts in (leaf.weights, leaf.counts):
        total = sum(amounts)
        if total:
            return tuple(Fraction(amount) / total for amount in amounts)
    return tuple(Fraction(int(label == leaf.prediction)) for label in classes)


def number_text(value: Any) -> str:
    """The shortest text that reads back as the very number, so that it parts rows as the tree does.

    Cuts are chosen to have short ones. A level is its label.
    """
    if not isinstance(value, (float, Fraction)):
        return label_text(value)
    number = float(value)
    if number.is_integer() and abs(number) < 1e16:
        return str(int(number))
    return repr(number)


def rounded_text(value: float) -> str:
    """A predicted number to read; its exact value is in the leaf."""
    if float(value).is_integer():
        return number_text(value)
    return f"{value:.6g}" if abs(value) < 1e5 else f"{value:.1f}"
