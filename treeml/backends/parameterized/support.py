"""An instance -> sets of columns that a faultless tree can be made of (Ordyniak and Szeider 2021).

A support set tells any two rows of different classes apart. The columns of every faultless tree are one, so they hold a
minimal one, and all minimal ones of a size are found by bounded search: of two rows that are not told apart yet, one of
the columns in which they differ has to be taken (Corollary 9). The other columns of a smallest tree are found one by
one: at least one of them is in a branching set (Lemmas 11 to 14).
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
LOOKED_AT = 40  # mixed groups in which the pair that differs least is looked for


def is_support(instance: Instance, columns: Columns) -> bool:
    return unhit(instance, columns) is None


def unhit(instance: Instance, columns: Columns) -> tuple[int, ...] | None:
    """The columns in which two rows of different classes differ that these columns do not tell apart, if there are.

    Of the pairs that are looked at, the one with the fewest: it is what the search branches on.
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
    """Every minimal support set of at most so many columns, once each."""
    seen: set[Columns] = set()

    def search(chosen: Columns) -> Iterator[Columns]:
        if chosen in seen:
            return
        seen.add(chosen)
        tick()
        differ = unhit(instance, chosen)
        if differ is None:
            if _is_minimal(instance, chosen):
                yield chosen
            return
        if len(chosen) < most:
            for column in differ:
                yield from search(chosen | {column})

    yield from search(frozenset())


def _is_minimal(instance: Instance, columns: Columns) -> bool:
    return not any(is_support(instance, columns - {column}) for column in columns)


def smallest_support(instance: Instance, tick: Callable[[], None] = lambda: None) -> Columns:
    """A support set of fewest columns, by asking for ever larger ones."""
    for size in range(least_support(instance), instance.columns + 1):
        for found in _any_support(instance, size, tick):
            return found
    raise AssertionError("two rows that are alike differ in class")


def _any_support(instance: Instance, most: int, tick: Callable[[], None]) -> Iterator[Columns]:
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
    """No support set is smaller: so many pairs of rows differ in columns that no two of them share."""
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
    """A minimal support set, not always a smallest: columns are added as pairs need them, then left out again."""
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
    """A column of every useful set is in it: where one row of every group of `columns` differs from the usual values.

    Any assignment of values and any row of each group will do (Lemma 12); these are chosen so that the set is small.
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
    """The rows, those alike in these columns together."""
    everything = np.arange(instance.rows)
    if not columns or not instance.rows:
        return [everything] if instance.rows else []
    part = instance.values[:, sorted(columns)]
    order = np.lexsort(part.T)
    changes = (part[order[1:]] != part[order[:-1]]).any(axis=1)
    return np.split(order, np.flatnonzero(changes) + 1)
