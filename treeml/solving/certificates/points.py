"""Costs, a requirement and its limit -> claims that close the gap which the best multiplier of the requirement leaves.

Such a claim limits how much of the requirement a tree uses, as others limit its leaves. What both sides of a test use
and cost is a set of points; the claim walks along it: if the yes side uses at most this much and the no side the rest,
their least costs add up to the bound. Checkers recompute the points of depth two, so one claim is enough for depth 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np

from treeml.native.certify import Claims, merge_equal_rows
from treeml.solving.certificates.statement import Statement

DEEPEST = 3
MOST_TESTS = 128  # if there are cuts: the time grows with their square at depth 3
NOTHING = 2**60  # above the cost of every tree


def covers(statement: Statement) -> bool:
    """Can the gap of this statement be closed? Only without a limit of leaves, up to depth 3, with few cuts."""
    cuts = [family.cuts for family in statement.families]
    few = max(cuts) == 1 or sum(cuts) <= MOST_TESTS
    return few and len(statement.goals) == 1 and not statement.leaves and statement.depth <= DEEPEST


def with_single_tests(statement: Statement) -> Statement:
    """The same statement with a line for every cut, because checkers recompute the points of single tests."""
    return replace(statement, families=tuple(one for family in statement.families for one in family.single()))


def closing_claims(statement: Statement, until: float) -> Claims | None:
    """Claims that no tree that meets the requirement is better than the tree; None if time ends or one is better."""
    goal, require = statement.goals[0], statement.require
    assert require is not None
    place = np.array([family.place for family in statement.families])
    both = np.stack([goal.matrix, require.matrix], axis=1).astype(np.int64)
    rows, vector, count, (base, used) = merge_equal_rows(place, both, statement.support)
    trees = _Trees(rows, vector, count, goal.price, require.price, statement.support, statement.limit - used)
    needed = statement.values[0] - base
    entries: list[str] = []
    if statement.depth == DEEPEST:
        for test in range(len(rows)):
            found = trees.entries(test, needed) if monotonic() < until else None
            if found is None:
                return None
            entries += found
    everything = np.arange(len(count))
    least = trees.front(everything, 0 if statement.depth == DEEPEST else statement.depth)[1].min(initial=NOTHING)
    if trees.most < 0 or least < needed:
        return None
    line = f"{statement.depth} {trees.most} {max(needed, 0)} 0 {len(entries)} {' '.join(entries)}".rstrip()
    recomputed = sum(each.split()[4:].count("1") for each in entries) or 1
    return Claims(statement.values[0], line.encode() + b"\n", 1, recomputed, is_stopped=False)


@dataclass(slots=True, eq=False)
class _Trees:
    """What trees on some rows use and cost: arrays of uses and costs, both rising and falling."""

    place: Any  # tests x rows; 0 is the yes side
    vector: Any  # rows x (cost, use) x classes
    count: Any
    price: int
    unit: int
    support: int
    most: int  # that a tree may use

    def entries(self, test: int, needed: int) -> list[str] | None:
        """The entries of a test, one for every step of what its yes side uses; None if a tree costs less."""
        sides = [np.flatnonzero(self.place[test] == side) for side in (0, 1)]
        if min(self.count[side].sum() for side in sides) < self.support:
            return []
        yes, no = (self.front(side, 2) for side in sides)
        steps: list[str] = []
        fewest = self.unit
        while fewest <= self.most - self.unit:
            rest = _least(no, self.most - fewest)
            better = yes[0][yes[1] < needed - rest]
            larger = int(better.min(initial=self.most - self.unit + 1)) - 1
            if larger < fewest:
                return None
            codes = "0 1" if rest >= needed else "1 0" if _least(yes, larger) >= needed else "1 1"
            steps.append(f"{test} {test} {fewest} {larger} {codes}")
            fewest = larger + 1
        return steps

    def front(self, index: Any, depth: int) -> Any:
        """The points of all trees of this depth that use no more than is allowed, without those that are not better."""
        if self.count[index].sum() < self.support and self.support > 1:
            return np.zeros((2, 0), dtype=np.int64)
        total = self.vector[index].sum(axis=0)
        found = [self._leaves(total).reshape(2, -1)]
        if depth == 1 and len(index):
            found += self._stumps(index, total)
        if depth == 2:
            found += self._splits(index, lambda side: self.front(side, 1))
        return self._thinned(np.hstack(found))

    def _leaves(self, sums: Any) -> Any:
        return np.stack([sums[..., 1, :] + self.unit, sums[..., 0, :] + self.price])

    def _stumps(self, index: Any, total: Any) -> Iterator[Any]:
        yes = (self.place[:, index] == 0).astype(np.int64)
        sums = np.tensordot(yes, self.vector[index], axes=1)
        lines = yes @ self.count[index]
        fits = np.minimum(lines, self.count[index].sum() - lines) >= self.support
        sides = self._leaves(sums[fits])[..., :, None] + self._leaves(total - sums[fits])[..., None, :]
        yield sides.reshape(2, -1)

    def _splits(self, index: Any, front: Callable[[Any], Any]) -> Iterator[Any]:
        for place in self.place[:, index]:
            sides = index[place == 0], index[place != 0]
            if len(sides[0]) and len(sides[1]):
                yes, no = map(front, sides)
                yield (yes[:, :, None] + no[:, None, :]).reshape(2, -1)

    def _thinned(self, points: Any) -> Any:
        points = points[:, points[0] <= self.most]
        use, cost = points[:, np.lexsort((points[1], points[0]))]
        kept = cost < np.minimum.accumulate(np.append(NOTHING, cost))[:-1]
        return np.stack([use[kept], cost[kept]])


def _least(front: Any, most: int) -> int:
    return int(front[1][front[0] <= most].min(initial=NOTHING))
