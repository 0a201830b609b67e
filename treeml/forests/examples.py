"""Problem, actual classes -> Examples: the rows as criteria and pricing use them.

All rows that have the same answers to every test and the same class are one example. An example has one margin for
every other class: the weight of the trees that vote for its own class, minus the weight of those that vote for the
rival. With two classes this is the usual margin, y * h(x).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split

Whole = NDArray[np.int64]
Signs = NDArray[np.int8]
Making = Node | Callable[[], Node]  # a tree, or a function that makes it


def made(making: Making) -> Node:
    """The tree. Most trees never get a weight, so they are made only when needed."""
    return making() if callable(making) else making


@dataclass(frozen=True, eq=False, slots=True)
class Examples:
    """Margin m compares example `example[m]` with the class `rival[m]`."""

    row: NDArray[np.intp]  # of every example: one row of the problem that represents it
    actual: NDArray[np.intp]  # its class
    count: Whole  # its weight is count * unit: a weight of 2 is a row twice
    unit: Fraction
    classes: int
    example: NDArray[np.intp]  # of every margin
    rival: NDArray[np.intp]  # of every margin
    contradictory: int = 0  # rows that agree in every test with a row of another class

    @property
    def margins(self) -> int:
        return len(self.example)

    @property
    def weight(self) -> NDArray[np.float64]:
        """The weight of every example, in floating point."""
        return np.asarray(self.count * float(self.unit), dtype=np.float64)

    @property
    def total(self) -> Fraction:
        return int(self.count.sum()) * self.unit

    def signs(self, votes: NDArray[np.intp]) -> Signs:
        """What each margin gets from a tree with these votes on the examples: 1, -1, or 0 for a third class."""
        here = votes[self.example]
        right = here == self.actual[self.example]
        return np.asarray(right.astype(np.int8) - (here == self.rival).astype(np.int8))


def examples_of(problem: Problem, actual: NDArray[np.int32], weight: Whole, unit: Fraction) -> Examples:
    """The examples of a problem. Rows without weight are not examples; they only count for the support of leaves."""
    from treeml.problem.shapes import groups

    alike = groups(problem)
    keys = alike * problem.classes + actual
    heavy = np.flatnonzero(weight > 0)
    _, first, number = np.unique(keys[heavy], return_index=True, return_inverse=True)
    count = np.zeros(len(first), dtype=np.int64)
    np.add.at(count, number, weight[heavy])
    row = heavy[first]
    order = np.argsort(row, kind="stable")  # the order of the rows, so that results are reproducible
    row, count = row[order], count[order]
    own = actual[row].astype(np.intp)
    rivals = [np.flatnonzero(np.arange(problem.classes) != label) for label in range(problem.classes)]
    example = np.repeat(np.arange(len(row)), problem.classes - 1)
    rival = np.concatenate([rivals[label] for label in own]) if len(row) else np.zeros(0, dtype=np.intp)
    _, sharing = np.unique(alike[row], return_inverse=True)
    shared = np.bincount(sharing)[sharing] > 1
    contradictory = int(np.isin(alike[heavy], alike[row[shared]]).sum())
    return Examples(row, own, count, unit, problem.classes, example, rival.astype(np.intp), contradictory)


def in_whole_numbers(prices: NDArray[np.float64], scale: int) -> Whole:
    """The prices, scaled so that their absolute values add up to about `scale`, and rounded."""
    size = float(np.abs(prices).sum())
    if not 0 < size < np.inf:  # all prices are zero, or they overflow: any prices give a valid bound
        return np.ones(len(prices), dtype=np.int64)
    return np.asarray(np.rint(prices * (scale / size)).astype(np.int64))


def votes_of(tree: Node, bits: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The class that a tree predicts for each row of the bits (tests x rows)."""
    votes = np.empty(bits.shape[1], dtype=np.intp)
    todo: list[tuple[Node, NDArray[np.intp]]] = [(tree, np.arange(bits.shape[1]))]
    while todo:
        node, rows = todo.pop()
        if isinstance(node, Leaf):
            votes[rows] = node.label
        else:
            yes = bits[node.test, rows]
            todo += [(node.yes, rows[yes]), (node.no, rows[~yes])]
    return votes


def without_empty_leaves(tree: Node, bits: NDArray[np.bool_]) -> Node:
    """The tree without splits that send all rows one way."""

    def cut(node: Node, rows: NDArray[np.intp]) -> Node:
        while isinstance(node, Split):
            yes = bits[node.test, rows]
            if yes.all():
                node = node.yes
            elif not yes.any():
                node = node.no
            else:
                return Split(node.test, cut(node.yes, rows[yes]), cut(node.no, rows[~yes]))
        return node

    return cut(tree, np.arange(bits.shape[1]))
