"""A local instance -> a set of tests that still tells its classes apart (a support set).

Boros and others (2003) and Schidler and Szeider (2021, section 5): the tests of the subtree itself, deletion from all
tests, and addition pair by pair. Whether a set supports is seen by grouping equal rows, never by comparing all pairs.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.bool_]
Labels = NDArray[np.int32]


def supports(bits: Bits, labels: Labels) -> bool:
    """Do rows of different classes differ in some of these tests?"""
    groups = _groups(bits)
    classes = np.zeros(len(groups), dtype=np.int32)
    classes[groups] = labels  # of every group the class of its last row
    return bool((classes[groups] == labels).all())


def by_deletion(bits: Bits, labels: Labels) -> NDArray[np.intp] | None:
    """Tests left when each that can go is gone, those that part least tried first; None if all do not support."""
    if not supports(bits, labels):
        return None
    kept = np.ones(len(bits), dtype=np.bool_)
    for test in np.argsort(_parted(bits, labels), kind="stable"):
        kept[test] = False
        if not supports(bits[kept], labels):
            kept[test] = True
    return np.flatnonzero(kept)


def by_addition(bits: Bits, labels: Labels) -> NDArray[np.intp] | None:
    """Tests added until no two rows of different classes look alike, each one that parts most of what is left.

    What looks alike so far forms groups of rows; only within them are pairs counted.
    """
    chosen: list[int] = []
    groups = np.zeros(bits.shape[1], dtype=np.int64)
    while True:
        mixed = _mixed(groups, labels)
        if not mixed.any():
            return np.array(sorted(chosen), dtype=np.intp)
        gain = _parted(bits[:, mixed], labels[mixed], groups[mixed])
        test = int(np.argmax(gain))
        if gain[test] <= 0:
            return None
        chosen.append(test)
        groups = np.unique(2 * groups + bits[test], return_inverse=True)[1].reshape(-1)


def smallest(bits: Bits, labels: Labels, most_deletions: int = 400) -> NDArray[np.intp] | None:
    """The smaller of what deletion and addition find; deletion is left out where there are too many tests for it."""
    added = by_addition(bits, labels)
    if added is None:
        return None
    if len(bits) > most_deletions:
        # Of many tests only those that addition would have to do without are tried: its own, until none can go.
        kept = by_deletion(bits[added], labels)
        return added if kept is None else added[kept]
    deleted = by_deletion(bits, labels)
    return added if deleted is None or len(added) <= len(deleted) else deleted


def distinct_rows(bits: Bits) -> NDArray[np.intp]:
    """The first row of every kind."""
    return np.unique(_groups(bits), return_index=True)[1]


def _groups(bits: Bits) -> NDArray[np.intp]:
    """A number for every row, equal for equal rows."""
    if not len(bits):
        return np.zeros(bits.shape[1], dtype=np.intp)
    packed = np.ascontiguousarray(np.packbits(bits, axis=0).T)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)
    return np.unique(keys, return_inverse=True)[1].reshape(-1)


def _mixed(groups: NDArray[np.int64], labels: Labels) -> NDArray[np.bool_]:
    """Rows in whose group there is more than one class."""
    count = int(groups.max()) + 1
    low, high = np.full(count, np.iinfo(np.int32).max), np.full(count, -1)
    np.minimum.at(low, groups, labels)
    np.maximum.at(high, groups, labels)
    return np.asarray((low < high)[groups])


def _parted(bits: Bits, labels: Labels, groups: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """For every test how many pairs of rows of different classes, within the groups, it tells apart."""
    cells = np.unique(np.zeros_like(labels) if groups is None else groups, return_inverse=True)[1].reshape(-1)
    classes = np.unique(labels, return_inverse=True)[1].reshape(-1)
    kinds = int(classes.max()) + 1
    parted = np.zeros(len(bits), dtype=np.int64)
    order = np.argsort(cells, kind="stable")
    edges = np.flatnonzero(np.diff(cells[order], prepend=-1, append=cells.max() + 1))
    for begin, end in pairwise(edges):
        rows = order[begin:end]
        member = np.zeros((len(rows), kinds), dtype=np.int64)
        member[np.arange(len(rows)), classes[rows]] = 1
        yes = bits[:, rows].astype(np.int64) @ member
        no = member.sum(axis=0) - yes
        parted += yes.sum(axis=1) * no.sum(axis=1) - (yes * no).sum(axis=1)
    return parted
