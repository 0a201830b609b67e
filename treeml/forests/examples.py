"""Problem, actual classes -> examples: what a criterion and the pricing see of the rows.

Rows that no test tells apart and that have the same class are one example, however many they are. An example has one
margin for every class that is not its own: the weight of the trees that vote for its class, less the weight of those
that vote for the rival. With two classes that is the usual margin, y * h(x).
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
Making = Node | Callable[[], Node]  # a tree, or how to make it


def made(making: Making) -> Node:
    """Most trees never get a weight, so a tree is made when somebody asks for it."""
    return making() if callable(making) else making


@dataclass(frozen=True, eq=False, slots=True)
class Examples:
    """Margins are numbered: margin m is that of example `example[m]` against the class `rival[m]`."""

    row: NDArray[np.intp]  # of every example: a row of the problem that stands for it
    actual: NDArray[np.intp]  # its class
    count: Whole  # its weight is count * unit: a weight of 2 is a row twice
    unit: Fraction
    classes: int
    example: NDArray[np.intp]  # of every margin
    rival: NDArray[np.intp]  # of every margin
    contradictory: int = 0  # rows whose equals in every test have another class too

    @property
    def margins(self) -> int:
        return len(self.example)

    @property
    def weight(self) -> NDArray[np.float64]:
        """Of every example, to compute with."""
        return np.asarray(self.count * float(self.unit), dtype=np.float64)

    @property
    def total(self) -> Fraction:
        return int(self.count.sum()) * self.unit

    def signs(self, votes: NDArray[np.intp]) -> Signs:
        """What each margin gets from a tree that votes so on the examples: 1, -1, or 0 for a third class."""
        here = votes[self.example]
        right = here == self.actual[self.example]
        return np.asarray(right.astype(np.int8) - (here == self.rival).astype(np.int8))


def examples_of(problem: Problem, actual: NDArray[np.int32], weight: Whole, unit: Fraction) -> Examples:
    """Rows without weight are no examples: they count for the support of leaves, and for nothing else."""
    from treeml.problem.shapes import groups

    alike = groups(problem)
    keys = alike * problem.classes + actual
    heavy = np.flatnonzero(weight > 0)
    _, first, number = np.unique(keys[heavy], return_index=True, return_inverse=True)
    count = np.zeros(len(first), dtype=np.int64)
    np.add.at(count, number, weight[heavy])
    row = heavy[first]
    order = np.argsort(row, kind="stable")  # examples in the order of the rows, so that nothing depends on hashing
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
    """The prices, scaled so that their sizes add up to about `scale`; each is rounded by half a unit at most."""
    size = float(np.abs(prices).sum())
    if not 0 < size < np.inf:  # no prices at all, or none that a number can hold: any others serve
        return np.ones(len(prices), dtype=np.int64)
    return np.asarray(np.rint(prices * (scale / size)).astype(np.int64))


def votes_of(tree: Node, bits: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The class that a tree over the tests gives each row of the bits (tests x rows)."""
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
    """The tree with every split replaced that sends all rows one way."""

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
