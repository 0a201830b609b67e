"""Costs, limited sums -> guides: the combinations of both that make lists of trees short.

A guide says how much of `factor[0] * cost + factor[1] * sum + ...` a wanted tree has at most, so that most parts of
trees can be left out early. Any factors are safe. Good ones lie around those at which the least value of a tree, less
its share of the limits, is greatest: the Lagrangian dual of the best tree within the limits. That value is also a
lower bound on the cost of every tree within the limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.backends.contract import Deadline
from treeml.native.sets import TreeSets
from treeml.problem.magnitudes import row_reach

Whole = NDArray[np.int64]
Factors = tuple[int, ...]  # of the cost, and of every sum

MOST = 2**58  # no combination of cost and sums of a tree may be larger
FINE = 2**40  # about how many steps the cost of a combination has
AROUND = (0.25, 0.6, 0.85, 1.0, 1.2, 1.6, 3.0)  # multiples of the best factor of one sum
AROUND_SEVERAL = (0.6, 1.0, 1.6)
STEPS = 8  # of a search along one factor
ROUNDS = 3  # over the factors of several sums


@dataclass(eq=False)
class Guides:
    """The search for good factors.

    `kernel` makes the trees of a combination from its costs of rows and classes and its factor of the cost.
    """

    kernel: Callable[[Whole, int], TreeSets]
    cost: Whole  # rows x classes, of the listing's kernel
    reach: int  # no tree costs more
    sums: Whole  # sums x rows x classes
    low: tuple[int | None, ...]
    high: tuple[int | None, ...]
    bits: NDArray[np.bool_]
    deadline: Deadline
    lower: int = 0  # no tree within the limits costs less
    _reaches: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._reaches = [max(1, row_reach(each)) for each in self.sums]

    def factors(self) -> tuple[Factors, ...]:
        """The factors of all guides, each once."""
        best = self._best()
        found = dict.fromkeys(self._sums_alone())
        for multipliers in self._around(best):
            factors = self._whole(multipliers)
            if factors is not None:
                found[factors] = None
        return tuple(found)

    def _sums_alone(self) -> Iterator[Factors]:
        for place in range(len(self.sums)):
            for sign, limit in ((1, self.high[place]), (-1, self.low[place])):
                if limit is not None:
                    yield tuple(sign if number == place + 1 else 0 for number in range(len(self.sums) + 1))

    def _around(self, best: list[float]) -> Iterator[list[float]]:
        if not any(best):
            return
        several = sum(map(bool, best)) > 1
        for multiple in AROUND_SEVERAL if several else AROUND:
            yield [multiple * each for each in best]
        for place in range(len(best)) if several else ():
            for multiple in (0.0, 0.5, 2.0):
                yield [each * (multiple if number == place else 1) for number, each in enumerate(best)]

    def _whole(self, multipliers: list[float]) -> Factors | None:
        """The factors as integers; None if their sums are too large."""
        unit = max(1, FINE // max(1, self.reach))
        factors = (unit, *(round(each * unit) for each in multipliers))
        size = unit * self.reach + sum(abs(f) * r for f, r in zip(factors[1:], self._reaches, strict=True))
        return factors if size <= MOST else None

    # -- the best factors -----------------------------------------------------------------

    def _best(self) -> list[float]:
        best = [0.0] * len(self.sums)
        for _ in range(ROUNDS if len(self.sums) > 1 else 1):
            before = list(best)
            for place in range(len(self.sums)):
                best = self._along(best, place)
            if best == before:
                break
        return best

    def _along(self, begin: list[float], place: int) -> list[float]:
        """The best factor of one sum, those of the others given: the dual is concave in it."""

        def at(factor: float) -> _Point | None:
            return self._point([factor if number == place else each for number, each in enumerate(begin)], place)

        one = at(begin[place])
        if one is None or not one.slope:
            return begin
        scale = self.reach / self._reaches[place]
        other: _Point | None = None
        for power in count():
            step = scale * 4.0 ** (power - 2)
            other = at(begin[place] + (step if one.slope > 0 else -step))
            if other is None or other.slope * one.slope <= 0 or power > STEPS:
                break
            one = other
        best = max((each for each in (one, other) if each is not None), key=lambda each: each.value)
        for _ in range(STEPS):
            if other is None or other.slope * one.slope >= 0:
                break
            crossing = one.factor + (other.value - one.value + other.slope * (one.factor - other.factor)) / (
                one.slope - other.slope
            )
            middle = at(crossing)
            if middle is None or middle.factor in (one.factor, other.factor):
                break
            best = max(best, middle, key=lambda each: each.value)
            one, other = (middle, other) if middle.slope * one.slope > 0 else (one, middle)
        return [best.factor if number == place else each for number, each in enumerate(begin)]

    def _point(self, multipliers: list[float], place: int) -> _Point | None:
        """The dual at these factors, as a function of one of them; None if it is not known."""
        factors = self._whole(multipliers)
        if factors is None or self.deadline.passed or not self._is_limited(factors):
            return None
        cost = factors[0] * self.cost + np.tensordot(np.array(factors[1:], np.int64), self.sums, axes=1)
        least = cost.min(axis=1, keepdims=True)
        left = self.deadline.left()
        with self.kernel(np.ascontiguousarray(cost - least), factors[0]) as trees:
            value = trees.optimum(seconds=-1.0 if left == float("inf") else left)
            trees.build(value, seconds=-1.0 if left == float("inf") else self.deadline.left())
            if not trees.total:
                return None
            sums = self._sums_of(trees.tree(0))
        total = value + int(least.sum())
        total -= sum(f * self._limit(f, number) for number, f in enumerate(factors[1:]) if f)
        self.lower = max(self.lower, -(-total // factors[0]))
        return _Point(factors[place + 1] / factors[0], total / factors[0], self._slope(factors[place + 1], place, sums))

    def _is_limited(self, factors: Factors) -> bool:
        """Is there a limit on the side of every factor?"""
        pairs = zip(factors[1:], self.low, self.high, strict=True)
        return all((f <= 0 or high is not None) and (f >= 0 or low is not None) for f, low, high in pairs)

    def _limit(self, factor: int, place: int) -> int:
        limit = self.high[place] if factor > 0 else self.low[place]
        assert limit is not None
        return limit

    def _slope(self, factor: int, place: int, sums: list[int]) -> int:
        """How the dual grows with this factor: how far the sum is from the limit that the factor is about."""
        low, high = self.low[place], self.high[place]
        if high is not None and (factor > 0 or (not factor and sums[place] > high)):
            return sums[place] - high
        if low is not None and (factor < 0 or (not factor and sums[place] < low)):
            return sums[place] - low
        return 0

    def _sums_of(self, tree: tuple[Any, Any, Any]) -> list[int]:
        test, yes, no = (part.tolist() for part in tree)
        rows = {0: np.arange(self.cost.shape[0])}
        total = [0] * len(self.sums)
        for node in range(len(test)):
            here = rows.pop(node)
            if test[node] < 0:
                for number, each in enumerate(self.sums):
                    total[number] += int(each[here, yes[node]].sum())
                continue
            answers = self.bits[test[node]][here]
            rows[yes[node]], rows[no[node]] = here[answers], here[~answers]
        return total


@dataclass(frozen=True, slots=True)
class _Point:
    factor: float
    value: float
    slope: int
