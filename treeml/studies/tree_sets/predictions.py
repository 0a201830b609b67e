"""The trees of a set, rows -> what every tree predicts for every row, and what follows from that.

Predictions of a shared node are computed for all rows, not only for those that reach it: so they are those of every
tree that has the node, also on rows whose values were changed or that the trees have never seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.table import Dataset
from treeml.studies.tree_sets.sources import Roots, TreeSource, head_of
from treeml.trees.routing import answers, dataset_inputs

ROOM = 1 << 26  # predictions that are held at once

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Patterns:
    """Rows that answer every test alike are one pattern."""

    bits: NDArray[np.bool_]  # tests x patterns
    row: NDArray[np.int64]  # of every row its pattern
    first: NDArray[np.int64]  # of every pattern a row


def patterns_of(source: TreeSource, dataset: Dataset, *, unseen: bool) -> Patterns:
    """The patterns of some rows."""
    assert source.dataset is not None or unseen
    fields = {field.name: field for field in source_fields(source)}
    used = [fields[name] for name in dict.fromkeys(test.column for test in source.tests)]
    inputs = dataset_inputs(tuple(used), dataset, unseen=unseen).columns
    bits = np.empty((len(source.tests), dataset.rows), dtype=bool)
    for place, test in enumerate(source.tests):
        bits[place] = answers(test, inputs[test.column])
    if not len(bits):
        return Patterns(bits[:, :1], np.zeros(dataset.rows, dtype=np.int64), np.zeros(1, dtype=np.int64))
    packed = np.ascontiguousarray(np.packbits(bits, axis=0).T)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)
    _, first, row = np.unique(keys, return_index=True, return_inverse=True)
    return Patterns(np.ascontiguousarray(bits[:, first]), row.reshape(-1), first)


def source_fields(source: TreeSource) -> Any:
    """The columns that the tests of a set ask about."""
    head = getattr(source, "head", None)
    if head is not None:
        return head.fields
    assert source.dataset is not None
    return head_of(source.dataset, source.tests).fields


class Predictions:
    """Predictions of all nodes for patterns, as codes of what their leaves hold.

    A tree is a test and two nodes, so what is summed or counted over trees follows from tables of tests x nodes.
    """

    def __init__(self, source: TreeSource) -> None:
        self.source, self.nodes = source, source.nodes()
        leaves = np.flatnonzero(self.nodes.test < 0)
        self.code = np.zeros(len(self.nodes.test), dtype=np.int32)
        self.table: list[Any] = []  # what the codes mean, if leaves hold numbers
        if len(leaves) and int(self.nodes.yes[leaves].min()) >= 0:
            self.code[leaves] = self.nodes.yes[leaves]
        elif len(leaves):
            known: dict[Any, int] = {}
            records = source.leaf_records(leaves.astype(np.int32))
            self.code[leaves] = [known.setdefault(record.prediction, len(known)) for record in records]
            self.table = list(known)
        self.order = list(self._levels())

    def _levels(self) -> Iterator[NDArray[np.int64]]:
        """The splits, such that the sides of each are in an earlier level or are leaves."""
        nodes = self.nodes
        known = nodes.test < 0
        waiting = np.flatnonzero(~known)
        while len(waiting):
            ready = known[nodes.yes[waiting]] & known[nodes.no[waiting]]
            yield waiting[ready]
            known[waiting[ready]] = True
            waiting = waiting[~ready]

    def of_nodes(self, bits: NDArray[np.bool_]) -> Codes:
        """nodes x patterns."""
        nodes = self.nodes
        out = np.repeat(self.code[:, None], bits.shape[1], axis=1)
        for level in self.order:
            out[level] = np.where(bits[nodes.test[level]], out[nodes.yes[level]], out[nodes.no[level]])
        return out

    def blocks(self, patterns: int) -> Iterator[slice]:
        """Slices of the patterns for which all nodes fit in memory."""
        step = max(1, ROOM // max(1, len(self.nodes.test)))
        for begin in range(0, max(1, patterns), step):
            yield slice(begin, begin + step)

    def chosen(self, numbers: NDArray[np.int64]) -> Roots:
        """The roots of these trees."""
        chunks = list(self.source.chunks())
        test, yes, no = (
            np.concatenate([chunk[part] for chunk in chunks])[numbers] if chunks else np.zeros(0, np.int32)
            for part in range(3)
        )
        return test, yes, no


def class_costs(
    predictions: Predictions, bits: NDArray[np.bool_], cost: NDArray[np.int64], roots: Roots
) -> NDArray[np.int64]:
    """For every tree the sum over patterns of cost[pattern, class predicted]; exact below 2^53."""
    if int(np.abs(cost).max(axis=1, initial=0).sum()) >= 2**53:
        raise ValueError("the weights are too large to be added up exactly here")
    size, tests = len(predictions.nodes.test), len(bits)
    answered, whole = np.zeros((size, max(1, tests))), np.zeros(size)
    for block in predictions.blocks(bits.shape[1]):
        codes, part = predictions.of_nodes(bits[:, block]), cost[block].astype(np.float64)
        spent = part[np.arange(len(part)), codes] if size else np.zeros((0, len(part)))
        whole += spent.sum(axis=1)
        if tests:
            answered += spent @ bits[:, block].T.astype(np.float64)
    test, yes, no = roots
    alone = test < 0
    asked, left, right = (np.where(alone, 0, part) for part in (test, yes, no))
    total = np.zeros(len(test))
    if size:
        total = answered[left, asked] + whole[right] - answered[right, asked]
    total[alone] = cost.sum(axis=0)[yes[alone]]
    return np.rint(total).astype(np.int64)


def class_votes(predictions: Predictions, bits: NDArray[np.bool_], classes: int, roots: Roots) -> NDArray[np.int64]:
    """patterns x classes: how many of these trees predict the class."""
    votes = np.zeros((bits.shape[1], classes), dtype=np.int64)
    test, yes, no = roots
    alone = test < 0
    for label, trees in zip(*np.unique(yes[alone], return_counts=True), strict=True):
        votes[:, label] += trees
    sides = [_how_often(test[~alone], side[~alone], len(bits), len(predictions.nodes.test)) for side in (yes, no)]
    for block in predictions.blocks(bits.shape[1]):
        codes = predictions.of_nodes(bits[:, block])
        for label in range(classes):
            predicted = (codes == label).astype(np.float64)
            for often, answered in zip(sides, (bits[:, block], ~bits[:, block]), strict=True):
                found = ((often @ predicted) * answered).sum(axis=0)
                votes[block, label] += np.rint(found).astype(np.int64)
    return votes


def _how_often(test: Codes, node: Codes, tests: int, nodes: int) -> NDArray[np.float64]:
    """tests x nodes: how many trees have this node as a side of a root with this test."""
    counts = np.bincount(test.astype(np.int64) * nodes + node, minlength=tests * nodes)
    return counts.reshape(tests, nodes).astype(np.float64)


def number_ends(
    predictions: Predictions, bits: NDArray[np.bool_], numbers: NDArray[np.float64], roots: Roots
) -> NDArray[np.float64]:
    """patterns x 2: the least and the largest number that one of these trees with splits predicts."""
    low = np.full(bits.shape[1], np.inf)
    high = -low
    test, yes, no = roots
    inner = test >= 0
    for block in predictions.blocks(bits.shape[1]):
        values = numbers[predictions.of_nodes(bits[:, block])]
        for side, answers_here in ((yes, bits), (no, ~bits)):
            for asked in np.unique(test[inner]):
                here = values[np.unique(side[inner & (test == asked)])]
                reached = answers_here[asked, block]
                low[block] = np.where(reached, np.minimum(low[block], here.min(axis=0)), low[block])
                high[block] = np.where(reached, np.maximum(high[block], here.max(axis=0)), high[block])
    return np.stack([low, high], axis=1)
