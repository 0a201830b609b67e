"""Sets of rows and what a leaf costs -> the least cost of a tree, by examining every tree with exact fractions.

The trees of every set of rows are examined once. Nothing is bounded, and nothing that was found for some rows is used
for others, so that this cannot share a mistake with a search that does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

Leaf = Callable[[tuple[int, ...]], Fraction | None]  # rows -> their cost as a leaf, or None if that is not allowed


@dataclass
class Exhaustive:
    """`tests`: the rows that pass, and the column that is tested. Rows pay the fee of a column for its first test on
    their path, times their count; less if a column of `discounts` (column, the other one) is tested above it."""

    rows: int
    tests: Sequence[tuple[frozenset[int], int]]
    leaf: Leaf
    price: Fraction = Fraction(0)
    fees: Mapping[int, Fraction] = field(default_factory=dict)
    discounts: Mapping[tuple[int, int], Fraction] = field(default_factory=dict)
    count: Sequence[int] = ()
    _known: dict[tuple[int, int, int, frozenset[int]], Fraction | None] = field(default_factory=dict)
    _leaves: dict[int, Fraction | None] = field(default_factory=dict)

    def best(self, depth: int, leaves: int | None = None) -> Fraction | None:
        """None if no tree is allowed."""
        masks = {(sum(1 << row for row in rows), column) for rows, column in self.tests}
        self._masks = sorted(masks)
        most = min(self.rows, 2**depth if leaves is None else leaves)
        return self._best((1 << self.rows) - 1, depth, most, frozenset())

    def _as_leaf(self, mask: int) -> Fraction | None:
        if mask not in self._leaves:
            value = self.leaf(tuple(row for row in range(self.rows) if mask >> row & 1))
            self._leaves[mask] = None if value is None else value + self.price
        return self._leaves[mask]

    def _best(self, mask: int, depth: int, leaves: int, path: frozenset[int]) -> Fraction | None:
        leaves = min(leaves, 2**depth)
        key = (mask, depth, leaves, path)
        if key in self._known:
            return self._known[key]
        best = self._as_leaf(mask)
        for test, column in self._masks if depth and leaves > 1 else ():
            yes, no = mask & test, mask & ~test
            if not yes or not no:
                continue
            fee, below = self._fee(mask, column, path), path | {column} if column in self.fees else path
            full = 2 ** (depth - 1)
            for share in [full] if leaves >= 2 * full else range(1, leaves):
                one = self._best(yes, depth - 1, share, below)
                other = None if one is None else self._best(no, depth - 1, min(full, leaves - share), below)
                if one is not None and other is not None and (best is None or one + other + fee < best):
                    best = one + other + fee
        self._known[key] = best
        return best

    def _fee(self, mask: int, column: int, path: frozenset[int]) -> Fraction:
        """What the rows pay for a test of the column below tests of the columns of the path."""
        if column not in self.fees or column in path:
            return Fraction(0)
        prices = [self.discounts[column, above] for above in path if (column, above) in self.discounts]
        rows = sum(self.count[row] if self.count else 1 for row in range(self.rows) if mask >> row & 1)
        return min([self.fees[column], *prices]) * rows


def threshold_tests(columns: Sequence[Sequence[int]]) -> list[tuple[frozenset[int], int]]:
    """Every cut between two values of a column."""
    return [
        (frozenset(row for row, value in enumerate(values) if value <= cut), number)
        for number, values in enumerate(columns)
        for cut in sorted(set(values))[:-1]
    ]


Vector = tuple[int, ...]  # the cost of a tree, its bounded sums, and its number of leaves


@dataclass
class ExhaustiveSums:
    """What all trees cost and add up to. `values[j][row][k]` is what predicting class k adds to sum j; sum 0 is the
    cost, and a leaf adds `price` to it. None if there are more than `most` results."""

    tests: Sequence[frozenset[int]]
    values: Sequence[Sequence[Sequence[int]]]
    count: Sequence[int]
    support: int = 1
    price: int = 0
    most: int = 60_000
    _known: dict[tuple[frozenset[int], int], set[Vector] | None] = field(default_factory=dict)

    def best(
        self, depth: int, leaves: int | None, low: Sequence[int | None], high: Sequence[int | None]
    ) -> tuple[bool, int | None]:
        """Whether all trees were examined, and the least cost of those within the limits; None if there are none."""
        found = self._all(frozenset(range(len(self.count))), depth)
        if found is None:
            return False, None
        costs = [
            vector[0]
            for vector in found
            if (leaves is None or vector[-1] <= leaves)
            and all(
                (least is None or total >= least) and (largest is None or total <= largest)
                for total, least, largest in zip(vector[1:-1], low, high, strict=True)
            )
        ]
        return True, min(costs, default=None)

    def _leaves(self, rows: frozenset[int]) -> set[Vector]:
        if sum(self.count[row] for row in rows) < self.support:
            return set()
        classes = range(len(self.values[0][0]))
        sums = [[sum(values[row][own] for row in rows) for values in self.values] for own in classes]
        return {(own[0] + self.price, *own[1:], 1) for own in sums}

    def _all(self, rows: frozenset[int], depth: int) -> set[Vector] | None:
        key = (rows, depth)
        if key in self._known:
            return self._known[key]
        found: set[Vector] | None = self._leaves(rows)
        for test in self.tests if depth else ():
            yes, no = rows & test, rows - test
            if found is None or not yes or not no:
                continue
            one, other = self._all(yes, depth - 1), self._all(no, depth - 1)
            if one is None or other is None or len(one) * len(other) > 5 * self.most:
                found = None
                break
            found |= {tuple(map(sum, zip(a, b, strict=True))) for a in one for b in other}
            found = found if len(found) <= self.most else None
        self._known[key] = found
        return found
