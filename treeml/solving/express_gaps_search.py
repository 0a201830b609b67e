"""Rows of 0 and 1, limits on gaps -> the tree with the fewest errors, and what the rows say about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import lcm

import numpy as np
from numpy.typing import NDArray

from treeml.backends.native.coupled.cases import cases_of
from treeml.backends.native.coupled.task import CoupledTask, LimitedSum, normal_form, restrictions
from treeml.backends.native.goals import NativeObjective
from treeml.native.coupled import Coupled, CoupledFound
from treeml.solving.overruled import listed_reasons

Bits = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Compared:
    """The rows of two groups, how many they are, and the largest difference of their rates."""

    rows: tuple[Bits, Bits]
    totals: tuple[int, int]
    limit: Fraction
    text: str

    def is_met(self, positives: tuple[int, int]) -> bool:
        """Are the rates close enough, with these numbers of positive predictions in the groups?"""
        one, other = map(Fraction, positives, self.totals)
        return abs(one - other) <= self.limit


@dataclass(frozen=True, slots=True)
class CountedLeaf:
    """The rows of a leaf by class, and why it predicts against its majority, if it does."""

    rows: tuple[int, int]
    because: str = ""


@dataclass(frozen=True, slots=True)
class CountedRows:
    """What the rows say about a tree."""

    columns: tuple[str, ...]  # of the tests
    leaves: dict[int, CountedLeaf]  # by their numbers
    errors: int
    wrong: list[str]  # where the rows contradict the claims of the search


class GapsSearch:
    """The search, and what the rows say about its tree."""

    def __init__(
        self,
        bits: Bits,
        actual: Bits,
        positive: int,
        compared: list[Compared],
        depth: int,
        columns: tuple[str, ...],
    ) -> None:
        self.bits, self.actual, self.positive, self.compared, self.depth = bits, actual, positive, compared, depth
        self.columns = columns

    def found(self, seconds: float) -> CoupledFound | None:
        """The outcome in `seconds`; None if the general way would not search like this."""
        kept, excluded = restrictions(map(self._limited, self.compared))
        if excluded is not None or not kept or _has_equals([limited.cost for limited in kept]):
            return None
        values = np.empty((1 + len(kept), len(self.actual), 2), np.int64)
        values[0, :, 0], values[0, :, 1] = self.actual, ~self.actual
        for place, limited in enumerate(kept, 1):
            values[place] = limited.cost
        lows, highs = tuple(limited.low for limited in kept), tuple(limited.high for limited in kept)
        if cases_of(CoupledTask(NativeObjective(), values, lows, highs, None, None)) is not None:
            return None
        try:
            return Coupled(self.bits, values).solve(lows, highs, depth=self.depth, seconds=seconds, is_brief=True)
        except MemoryError:
            return None

    def _limited(self, compared: Compared) -> LimitedSum:
        """The difference of two rates as a sum over the predictions, with its limits in whole numbers."""
        (one, other), totals = compared.rows, compared.totals
        common = lcm(*totals)
        cost = np.zeros((len(one), 2), np.int64)
        cost[:, self.positive] = one * np.int64(common // totals[0]) - other * np.int64(common // totals[1])
        plain, steps, shift = normal_form(cost)  # the difference is steps * the sum of `plain` + shift
        most, shift = compared.limit * common, shift if steps > 0 else -shift
        low, high = -((most + shift) // abs(steps)), (most - shift) // abs(steps)
        return LimitedSum(plain, low, high, ["a gap"])

    def counted(self, found: CoupledFound) -> CountedRows:
        """Sends the rows down the tree, and holds what is claimed against them."""
        ends: dict[int, NDArray[np.intp]] = {}
        wrong, todo = [], [(0, 0, np.arange(len(self.actual)))]
        while todo:
            node, depth, rows = todo.pop()
            test = int(found.test[node])
            if test < 0:
                ends[node] = rows
                if not len(rows) or depth > self.depth:
                    wrong.append("a leaf has no rows, or lies too deep")
                continue
            yes = self.bits[test].take(rows)
            todo.append((int(found.left[node]), depth + 1, rows.compress(yes)))
            todo.append((int(found.right[node]), depth + 1, rows.compress(~yes)))
        predicted = np.empty(len(self.actual), dtype=np.bool_)
        for node, rows in ends.items():
            predicted[rows] = found.label[node]
        errors = int(np.count_nonzero(predicted != self.actual))
        if found.value != errors or found.bound != errors:
            wrong.append(f"`errors` is {errors}, but {found.value} with the bound {found.bound} was claimed")
        is_positive = predicted if self.positive else ~predicted
        positives = [_counts(is_positive & rows for rows in each.rows) for each in self.compared]
        for each, counts in zip(self.compared, positives, strict=True):
            if not each.is_met(counts):
                wrong.append(f"`{each.text}` is not met: {counts} of {each.totals} rows are predicted positive")
        leaves = {node: self._leaf(int(found.label[node]), rows, positives) for node, rows in ends.items()}
        return CountedRows(self.columns, leaves, errors, wrong)

    def _leaf(self, label: int, rows: NDArray[np.intp], positives: list[tuple[int, int]]) -> CountedLeaf:
        """The leaf; against its majority it predicts for the sake of the limits that the majority would break."""
        ones = int(np.count_nonzero(self.actual.take(rows)))
        counts = len(rows) - ones, ones
        if counts[label] >= counts[1 - label]:
            return CountedLeaf(counts)
        more, needed = (-1 if label == self.positive else 1), list[str]()
        for each, (one, other) in zip(self.compared, positives, strict=True):
            here, there = _counts(mask.take(rows) for mask in each.rows)
            if not each.is_met((one + more * here, other + more * there)) and each.text not in needed:
                needed.append(each.text)
        return CountedLeaf(counts, listed_reasons(needed))


def _counts(masks: Iterable[Bits]) -> tuple[int, int]:
    one, other = map(int, map(np.count_nonzero, masks))
    return one, other


def _has_equals(sums: list[NDArray[np.int64]]) -> bool:
    return any(np.array_equal(one, other) for one, other in combinations(sums, 2))
