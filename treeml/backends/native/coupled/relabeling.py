"""Tree, limited sums -> other labels of its leaves with which they are within their limits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from treeml.backends.contract import Deadline
from treeml.backends.native.coupled.task import CoupledTask
from treeml.problem.evaluate import Routed
from treeml.problem.magnitudes import row_reach
from treeml.problem.tree import Leaf, Node, Split

NEVER = Deadline()
MOST_TRIED = 4096  # combinations of labels
LARGEST = 2**62  # beyond all sums

Labels = NDArray[np.intp]


def broken(task: CoupledTask, sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """By how much each sum is beyond its limits."""
    return np.array(
        [
            max(0, 0 if low is None else low - int(value), 0 if high is None else int(value) - high)
            for value, low, high in zip(sums, task.low, task.high, strict=True)
        ],
        dtype=np.int64,
    )


class Relabeling:
    """The leaves of a tree, with what every label costs and adds to the limited sums."""

    def __init__(self, task: CoupledTask, routed: Routed, deadline: Deadline = NEVER) -> None:
        self.task, self.deadline = task, deadline
        leaves = routed.leaves
        self.values = np.stack([task.values[:, rows].sum(axis=1) for _, _, rows in leaves])  # leaves x sums x classes
        self.labels: Labels = np.array([leaf.label for leaf, _, _ in leaves], dtype=np.intp)
        self.scale = np.array([max(1, row_reach(each)) for each in task.values[1:]], dtype=np.float64)
        self.sums = self.totals(self.labels)[1:]

    def totals(self, labels: Labels) -> NDArray[np.int64]:
        return np.asarray(self.values[np.arange(len(labels)), :, labels].sum(axis=0))

    def violation(self, totals: NDArray[np.int64]) -> float:
        return float((broken(self.task, totals[1:]) / self.scale).sum()) if self.task.sums else 0.0

    def repaired(self) -> Iterator[Labels]:
        """Labels that meet the requirements: the best of all if they are few, or those that single changes lead to."""
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
        """Changes one label at a time, at the least cost for what it mends, until nothing is broken."""
        broken = self.violation(self.totals(labels))
        while broken > 0:
            best: tuple[float, float, int, int] | None = None
            for leaf, label, totals in self.changes(labels):
                left = self.violation(totals)
                if left < broken:
                    extra = float(self.values[leaf, 0, label] - self.values[leaf, 0, labels[leaf]])
                    ratio = extra / (broken - left) if extra > 0 else extra
                    if best is None or ratio < best[0]:
                        best = (ratio, left, leaf, label)
            if best is None or self.deadline.passed:
                return None
            _, broken, leaf, label = best
            labels[leaf] = label
        return labels

    def cheaper(self, labels: Labels) -> Labels:
        """Changes labels while that costs less and breaks nothing."""
        while True:
            now = self.totals(labels)[0]
            found = [
                (int(totals[0]), leaf, label)
                for leaf, label, totals in self.changes(labels)
                if totals[0] < now and not self.violation(totals)
            ]
            if not found or self.deadline.passed:
                return labels
            _, leaf, label = min(found)
            labels[leaf] = label

    def changes(self, labels: Labels) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
        """Every single change of a label, and all sums after it."""
        now = self.totals(labels)
        for leaf in range(len(labels)):
            rest = now - self.values[leaf, :, labels[leaf]]
            for label in range(self.values.shape[2]):
                if label != labels[leaf]:
                    yield leaf, label, rest + self.values[leaf, :, label]


def labeled(node: Node, labels: Iterator[np.intp]) -> Node:
    """The tree with other labels, in the order of `Routed.leaves`."""
    if isinstance(node, Leaf):
        return Leaf(int(next(labels)))
    yes = labeled(node.yes, labels)
    return Split(node.test, yes, labeled(node.no, labels))
