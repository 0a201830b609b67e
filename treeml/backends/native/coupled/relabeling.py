"""Tree, limited sums -> other labels of its leaves with which they are within their limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeml.backends.contract import Deadline
from treeml.backends.native.coupled.task import CoupledTask
from treeml.problem.evaluate import Routed
from treeml.problem.magnitudes import row_reach
from treeml.problem.tree import Leaf, Node, Split

NEVER = Deadline()
MOST_TRIED = 4096  # combinations of labels
MOST_PAIRS = 2**16  # changes of two labels, in both orders
LARGEST = 2**62  # beyond all sums

Labels = NDArray[np.intp]


def excess(task: CoupledTask, sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """By how much each sum is above its upper limit, or, as a negative number, below its lower one."""
    return np.array(
        [
            max(0, 0 if high is None else int(value) - high) - max(0, 0 if low is None else low - int(value))
            for value, low, high in zip(sums, task.low, task.high, strict=True)
        ],
        dtype=np.int64,
    )


class Changes(NamedTuple):
    """Leaves and their new labels, a row for every change, and all sums after it."""

    leaves: Labels
    labels: Labels
    totals: NDArray[np.int64]

    def make(self, number: int, labels: Labels) -> None:
        labels[self.leaves[number]] = self.labels[number]


class Relabeling:
    """The leaves of a tree, with what every label costs and adds to the limited sums."""

    def __init__(self, task: CoupledTask, routed: Routed, deadline: Deadline = NEVER) -> None:
        self.task, self.deadline = task, deadline
        leaves = routed.leaves
        self.values = np.stack([task.values[:, rows].sum(axis=1) for _, _, rows in leaves])  # leaves x sums x classes
        self.labels: Labels = np.array([leaf.label for leaf, _, _ in leaves], dtype=np.intp)
        self.scale = np.array([max(1, row_reach(each)) for each in task.values[1:]], dtype=np.float64)
        self.low = np.array([-LARGEST if low is None else low for low in task.low], dtype=np.int64)
        self.high = np.array([LARGEST if high is None else high for high in task.high], dtype=np.int64)
        self.sums = self.totals(self.labels)[1:]

    def totals(self, labels: Labels) -> NDArray[np.int64]:
        return np.asarray(self.values[np.arange(len(labels)), :, labels].sum(axis=0))

    def violations(self, totals: NDArray[np.int64]) -> NDArray[np.float64]:
        """How far the sums of every row of `totals` are beyond their limits, all together."""
        beyond = np.maximum(totals[:, 1:] - self.high, 0) + np.maximum(self.low - totals[:, 1:], 0)
        return np.asarray((beyond / self.scale).sum(axis=1))

    def repaired(self) -> Iterator[Labels]:
        """Labels that meet the requirements: the best of all if they are few, or those that small changes lead to."""
        leaves, _, classes = self.values.shape
        if classes**leaves <= MOST_TRIED:
            best = self.best_of_all()
            if best is not None:
                yield best
            return
        for start in (self.labels, self.values[:, 0, :].argmin(axis=1)):
            labels = self.met(start.copy())
            if labels is not None:
                yield self.cheaper(labels)

    def best_of_all(self) -> Labels | None:
        """The cheapest of all labels that meet the requirements."""
        leaves, sums, classes = self.values.shape
        labels = np.zeros((1, 0), dtype=np.intp)
        totals = np.zeros((1, sums), dtype=np.int64)
        for leaf in range(leaves):
            totals = (totals[:, None, :] + self.values[leaf].T[None]).reshape(-1, sums)
            each = np.tile(np.arange(classes), len(labels))[:, None]
            labels = np.hstack([np.repeat(labels, classes, axis=0), each])
        allowed = np.ones(len(labels), dtype=np.bool_)
        for number, (low, high) in enumerate(zip(self.task.low, self.task.high, strict=True)):
            allowed &= totals[:, 1 + number] >= (-LARGEST if low is None else low)
            allowed &= totals[:, 1 + number] <= (LARGEST if high is None else high)
        places = np.flatnonzero(allowed)
        return labels[places[totals[places, 0].argmin()]] if len(places) else None

    def met(self, labels: Labels) -> Labels | None:
        """Changes one or two labels at a time, at the least cost for what that mends, until nothing is broken."""
        broken = float(self.violations(self.totals(labels)[None])[0])
        while broken > 0:
            if self.deadline.passed:
                return None
            for changes in self.changes(labels):
                left = self.violations(changes.totals)
                mends = np.flatnonzero(left < broken)
                if len(mends):
                    break
            else:
                return None
            extra = (changes.totals[mends, 0] - self.totals(labels)[0]).astype(np.float64)
            worth = np.where(extra > 0, extra / (broken - left[mends]), extra)
            best = int(mends[worth.argmin()])
            broken = float(left[best])
            changes.make(best, labels)
        return labels

    def cheaper(self, labels: Labels) -> Labels:
        """Changes one or two labels at a time while that costs less and breaks nothing."""
        while not self.deadline.passed:
            for changes in self.changes(labels):
                costs = changes.totals[:, 0]
                better = np.flatnonzero((costs < self.totals(labels)[0]) & (self.violations(changes.totals) == 0))
                if len(better):
                    changes.make(int(better[costs[better].argmin()]), labels)
                    break
            else:
                break
        return labels

    def changes(self, labels: Labels) -> Iterator[Changes]:
        """All changes of one label, then all changes of two, if they are not too many."""
        leaves, _, classes = self.values.shape
        now, kept = self.totals(labels), self.values[np.arange(leaves), :, labels]
        leaf = np.repeat(np.arange(leaves), classes)
        label = np.tile(np.arange(classes), leaves)
        other = label != labels[leaf]
        leaf, label = leaf[other], label[other]
        steps = self.values[leaf, :, label] - kept[leaf]
        yield Changes(leaf[:, None], label[:, None], now + steps)
        if len(leaf) ** 2 <= MOST_PAIRS:
            one, two = np.triu_indices(len(leaf), 1)
            apart = leaf[one] != leaf[two]
            pairs = np.stack([one[apart], two[apart]], axis=1)
            yield Changes(leaf[pairs], label[pairs], now + steps[pairs[:, 0]] + steps[pairs[:, 1]])


def labeled(node: Node, labels: Iterator[np.intp]) -> Node:
    """The tree with other labels, in the order of `Routed.leaves`."""
    if isinstance(node, Leaf):
        return Leaf(int(next(labels)))
    yes = labeled(node.yes, labels)
    return Split(node.test, yes, labeled(node.no, labels))
