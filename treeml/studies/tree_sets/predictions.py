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
from treeml.studies.tree_sets.sources import TreeSource, head_of
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
    """Predictions of all trees for patterns, as codes of what their leaves hold."""

    def __init__(self, source: TreeSource) -> None:
        self.source, self.nodes = source, source.nodes()
        leaves = np.flatnonzero(self.nodes.test < 0)
        self.code = np.zeros(len(self.nodes.test), dtype=np.int32)
        self.table: list[Any] = []
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

    def chunks(self, bits: NDArray[np.bool_], lone: int = 0) -> Iterator[tuple[int, Codes]]:
        """(number of the first tree, trees x patterns); `lone` is the code of a tree without splits."""
        of_nodes = self.of_nodes(bits)
        first, step = 0, max(1, ROOM // max(1, bits.shape[1]))
        for test, yes, no in self.source.chunks():
            for begin in range(0, len(test), step):
                part = slice(begin, begin + step)
                alone = test[part] < 0
                sides = (np.where(alone, 0, side[part]) for side in (yes, no))
                if len(of_nodes):
                    answered = bits[np.where(alone, 0, test[part])]
                    left, right = (of_nodes[side] for side in sides)
                    found = np.where(answered, left, right)
                else:
                    found = np.zeros((len(alone), bits.shape[1]), dtype=np.int32)
                found[alone] = np.where(yes[part][alone] >= 0, yes[part][alone], lone)[:, None]
                yield first + begin, found
            first += len(test)

    def blocks(self, patterns: int) -> Iterator[slice]:
        """Slices of the patterns that fit in memory."""
        step = max(1, ROOM // max(1, len(self.nodes.test)))
        for begin in range(0, max(1, patterns), step):
            yield slice(begin, begin + step)


def class_costs(
    predictions: Predictions, bits: NDArray[np.bool_], cost: NDArray[np.int64], numbers: int
) -> NDArray[np.int64]:
    """For every tree the sum over patterns of cost[pattern, class predicted]; exact below 2^53."""
    total = np.zeros(numbers, dtype=np.int64)
    if int(np.abs(cost).max(axis=1, initial=0).sum()) >= 2**53:
        raise ValueError("the weights are too large to be added up exactly here")
    for block in predictions.blocks(bits.shape[1]):
        part = cost[block].astype(np.float64)
        for first, codes in predictions.chunks(bits[:, block]):
            for label in range(cost.shape[1]):
                sums = (codes == label).astype(np.float64) @ part[:, label]
                total[first : first + len(codes)] += np.rint(sums).astype(np.int64)
    return total
