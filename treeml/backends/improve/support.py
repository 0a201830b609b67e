"""A local instance -> a set of tests that still tells its classes apart (a support set).

Boros and others (2003) and Schidler and Szeider (2021, section 5): the tests of the subtree itself, deletion from all
tests, and addition pair by pair. A set is checked by grouping equal rows, never by comparing all pairs.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.bool_]
Labels = NDArray[np.int32]


def supports(bits: Bits, labels: Labels) -> bool:
    """Do any two rows of different classes differ in one of these tests?"""
    groups = _groups(bits)
    classes = np.zeros(len(groups), dtype=np.int32)
    classes[groups] = labels  # the class of the last row of every group
    return bool((classes[groups] == labels).all())


def by_deletion(bits: Bits, labels: Labels) -> NDArray[np.intp] | None:
    """A minimal support set, by deleting tests, the least separating first; None if all tests are not enough.

    Every row has a fingerprint, the sum modulo 2 of a random word for each of its tests, which a deletion changes in
    one step. Rows that are equal in the tests that are left have equal fingerprints, so the result always separates the
    classes. It would keep a test too many if different rows had equal fingerprints: a chance of 2^-64 per pair.
    """
    if not supports(bits, labels):
        return None
    words = np.random.default_rng(len(bits)).integers(0, 2**64, len(bits), dtype=np.uint64)
    fingerprint = np.zeros(bits.shape[1], dtype=np.uint64)
    for test, word in enumerate(words):
        fingerprint[bits[test]] ^= word
    kept = np.ones(len(bits), dtype=np.bool_)
    for test in np.argsort(_parted(bits, labels), kind="stable"):
        fingerprint[bits[test]] ^= words[test]
        order = np.argsort(fingerprint)
        sorted_prints, sorted_labels = fingerprint[order], labels[order]
        if ((sorted_prints[1:] == sorted_prints[:-1]) & (sorted_labels[1:] != sorted_labels[:-1])).any():
            fingerprint[bits[test]] ^= words[test]  # it is needed
        else:
            kept[test] = False
    return np.flatnonzero(kept)


def by_addition(bits: Bits, labels: Labels) -> NDArray[np.intp] | None:
    """Tests added until rows of different classes all differ, each time the one that separates most remaining pairs.

    Rows that are equal so far form groups; pairs are counted within groups only.
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


def smallest(bits: Bits, labels: Labels) -> NDArray[np.intp] | None:
    """The smaller result of deletion and addition."""
    added = by_addition(bits, labels)
    if added is None:
        return None
    deleted = by_deletion(bits, labels)
    return added if deleted is None or len(added) <= len(deleted) else deleted


def distinct_rows(bits: Bits) -> NDArray[np.intp]:
    """The first row of every group of equal rows."""
    return np.unique(_groups(bits), return_index=True)[1]


def _groups(bits: Bits) -> NDArray[np.intp]:
    """A number for every row, equal for equal rows."""
    if not len(bits):
        return np.zeros(bits.shape[1], dtype=np.intp)
    packed = np.ascontiguousarray(np.packbits(bits, axis=0).T)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)
    return np.unique(keys, return_inverse=True)[1].reshape(-1)


def _mixed(groups: NDArray[np.int64], labels: Labels) -> NDArray[np.bool_]:
    """Rows whose group has more than one class."""
    count = int(groups.max()) + 1
    low, high = np.full(count, np.iinfo(np.int32).max), np.full(count, -1)
    np.minimum.at(low, groups, labels)
    np.maximum.at(high, groups, labels)
    return np.asarray((low < high)[groups])


def _parted(bits: Bits, labels: Labels, groups: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """For every test the number of pairs of rows of different classes, within the groups, that it separates."""
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
