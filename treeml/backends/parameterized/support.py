"""Instance -> sets of columns that a perfect tree can use (Ordyniak and Szeider 2021).

A support set distinguishes any two rows of different classes. The columns of every perfect tree form a support set,
so they contain a minimal one. All minimal support sets up to a size are found by bounded search: for two rows that are
not distinguished yet, one of the columns in which they differ must be added (Corollary 9). The other columns of a
smallest tree are found one by one: at least one of them is in a branching set (Lemmas 11 to 14).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.parameterized.instance import Instance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

Columns = frozenset[int]
LOOKED_AT = 40  # mixed groups that are searched for the pair with the fewest differences


def is_support(instance: Instance, columns: Columns) -> bool:
    return unhit(instance, columns) is None


def unhit(instance: Instance, columns: Columns) -> tuple[int, ...] | None:
    """Two rows of different classes that `columns` do not distinguish: the columns in which they differ, or None.

    The search branches on them, so the pair with the fewest such columns is chosen among those examined.
    """
    best: tuple[int, ...] | None = None
    looked = 0
    for rows in _groups(instance, columns):
        labels = instance.label[rows]
        if (labels == labels[0]).all():
            continue
        mine, others = rows[labels == labels[0]][:LOOKED_AT], rows[labels != labels[0]][:LOOKED_AT]
        differ = instance.values[mine][:, None, :] != instance.values[others][None, :, :]
        count = differ.sum(axis=2)
        place = np.unravel_index(int(count.argmin()), count.shape)
        found = tuple(int(column) for column in np.flatnonzero(differ[place]))
        if best is None or len(found) < len(best):
            best = found
        looked += 1
        if looked >= LOOKED_AT or len(best) <= 1:
            break
    return best


def minimal_supports(instance: Instance, most: int, tick: Callable[[], None] = lambda: None) -> Iterator[Columns]:
    """Every minimal support set up to this number of columns, once each."""
    return (found for found in _supports(instance, most, tick) if _is_minimal(instance, found))


def _is_minimal(instance: Instance, columns: Columns) -> bool:
    return not any(is_support(instance, columns - {column}) for column in columns)


def smallest_support(instance: Instance, tick: Callable[[], None] = lambda: None) -> Columns:
    """A support set with the fewest columns, by trying larger and larger sizes."""
    for size in range(least_support(instance), instance.columns + 1):
        for found in _supports(instance, size, tick):
            return found
    raise AssertionError("two rows that are alike differ in class")


def _supports(instance: Instance, most: int, tick: Callable[[], None]) -> Iterator[Columns]:
    """Support sets up to this number of columns, once each, every minimal one among them."""
    seen: set[Columns] = set()

    def search(chosen: Columns) -> Iterator[Columns]:
        if chosen in seen:
            return
        seen.add(chosen)
        tick()
        differ = unhit(instance, chosen)
        if differ is None:
            yield chosen
        elif len(chosen) < most:
            for column in differ:
                yield from search(chosen | {column})

    yield from search(frozenset())


def least_support(instance: Instance) -> int:
    """A lower bound on the size of a support set: a number of pairs of rows that differ in disjoint sets of columns."""
    taken: set[int] = set()
    count = 0
    while len(taken) < instance.columns:
        differ = unhit(instance, frozenset(taken))
        if differ is None:
            break
        taken |= set(differ)
        count += 1
    return count


def greedy_support(instance: Instance) -> Columns:
    """A minimal but not always smallest support set: columns are added as pairs need them, then removed if possible."""
    chosen: Columns = frozenset()
    while True:
        differ = unhit(instance, chosen)
        if differ is None:
            break
        chosen |= {max(differ, key=lambda column: instance.domains[column])}
    for column in sorted(chosen):
        if is_support(instance, chosen - {column}):
            chosen -= {column}
    return chosen


def branching_set(instance: Instance, columns: Columns) -> Columns:
    """A set that contains a column of every useful extension: where a row of some group differs from the usual values.

    Any assignment of values and any row of each group would do (Lemma 12); these are chosen to make the set small.
    """
    usual = _usual(instance)
    differ = instance.values != usual[None, :]
    differ[:, sorted(columns)] = False
    found = np.zeros(instance.columns, bool)
    for rows in _groups(instance, columns):
        found |= differ[rows[int((differ[rows] & ~found).sum(axis=1).argmin())]]
    return frozenset(int(column) for column in np.flatnonzero(found))


def _usual(instance: Instance) -> Whole:
    usual = [int(np.bincount(instance.values[:, column], minlength=1).argmax()) for column in range(instance.columns)]
    return np.array(usual, np.int64)


def _groups(instance: Instance, columns: Columns) -> list[Whole]:
    """The rows, grouped by their values in these columns."""
    everything = np.arange(instance.rows)
    if not columns or not instance.rows:
        return [everything] if instance.rows else []
    part = instance.values[:, sorted(columns)]
    order = np.lexsort(part.T)
    changes = (part[order[1:]] != part[order[:-1]]).any(axis=1)
    return np.split(order, np.flatnonzero(changes) + 1)
