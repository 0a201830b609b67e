"""A root of a two-by-two table -> counts of true and false positives in whole numbers, and what lines say about it.

`mcc` and `gmean` rise with the true positives and fall with the false positives. A line `a * right - b * wrong <= most`
that no tree exceeds bounds them: along a line, the square of `gmean` is a parabola with one greatest value, and `mcc`,
where it is positive, is greatest at an end (the set of points with a smaller one is convex). To minimize a measure is
to maximize minus the measure over the counts of the opposite predictions; minus `gmean` is also greatest at an end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING

from treeml.problem.magnitudes import added, checked_product, largest, row_ends
from treeml.problem.neighbors import simplest_between
from treeml.problem.problem import Bound
from treeml.problem.terms import Contingency, Predicted, Sum

if TYPE_CHECKING:
    from treeml.problem.arrays import Whole
    from treeml.problem.evaluate import Routed

STEEPEST = 4096  # slopes of lines are kept between 1 over this and this
NEAR = Fraction(1, 32)  # a slope is replaced by a simpler one that differs by at most this share
LARGEST = STEEPEST * 64  # no factor of a line is larger


@dataclass(frozen=True, slots=True)
class CountLine:
    """No tree has right * true positives - wrong * false positives above `most`; `right` is positive."""

    right: int
    wrong: int
    most: int

    def most_right(self, wrong: Fraction) -> Fraction:
        return Fraction(self.most + self.wrong * wrong) / self.right


@dataclass(frozen=True, eq=False, slots=True)
class PositiveCounts:
    """A contingency over whole numbers of true positives and false positives."""

    term: Contingency
    right: Whole  # rows x classes: true positives
    wrong: Whole  # rows x classes: false positives
    unit: Fraction  # the weight of one of them
    most_right: int
    most_wrong: int
    is_turned: bool = False  # whether the counts are those of the opposite predictions, and the value is minus that

    # -- on a tree, and for given counts ---------------------------------------------------

    def of(self, routed: Routed) -> tuple[int, int]:
        return added(routed.at_labels(self.right)), added(routed.at_labels(self.wrong))

    def value(self, right: Fraction | int, wrong: Fraction | int) -> Fraction:
        right, wrong = right * self.unit, wrong * self.unit
        if self.is_turned:
            return -self.term.at(self.term.positives - right, self.term.negatives - wrong)
        return self.term.at(right, wrong)

    def turned(self) -> PositiveCounts | None:
        """The counts of the opposite predictions, over which minus the measure rises and falls as the measure does.

        None if the rows have other weights than the term says.
        """
        ends = (self.term.positives / self.unit, self.term.negatives / self.unit)
        if ends != tuple(Fraction(row_ends(each)[1]) for each in (self.right, self.wrong)):
            return None
        right, wrong = (each.max(axis=1, keepdims=True) - each for each in (self.right, self.wrong))
        return replace(self, right=right, wrong=wrong, is_turned=True)

    # -- sums and bounds for back-ends -----------------------------------------------------

    def line(self, right: int, wrong: int) -> Sum:
        """wrong * false positives - right * true positives."""
        cost = checked_product(self.wrong, wrong) - checked_product(self.right, right)
        return Sum(((Fraction(1), Predicted(cost)),))

    def wrong_between(self, low: int, high: int, name: str = "") -> tuple[Bound, ...]:
        total = Sum(((Fraction(1), Predicted(self.wrong)),))
        bounds = []
        if low > 0:
            bounds.append(Bound(total, ">=", Fraction(low), name))
        if high < self.most_wrong:
            bounds.append(Bound(total, "<=", Fraction(high), name))
        return tuple(bounds)

    def right_bound(self, sense: str, limit: int, name: str) -> Bound:
        return Bound(Sum(((Fraction(1), Predicted(self.right)),)), sense, Fraction(limit), name)

    @property
    def is_small(self) -> bool:
        return (largest(self.right) + largest(self.wrong)) * LARGEST * max(1, len(self.right)) < 2**62

    # -- bounds on the value ---------------------------------------------------------------

    def highest(self, low: int, high: int, lines: Iterable[CountLine]) -> Fraction:
        """No tree with false positives between `low` and `high` has a greater value."""
        corner = min((line.most_right(Fraction(high)) for line in lines), default=Fraction(self.most_right))
        known = [self.value(self._possible(corner), low)]
        for line in lines:
            known.append(self._at_its_top(line, low, high) if self.is_bent else self._at_an_end(line, low, high))
        return min(known)

    @property
    def is_bent(self) -> bool:
        """Is the value along a line a root of a parabola, rather than greatest at an end?"""
        return self.term.kind == "gmean" and not self.is_turned

    def slope(self, low: int, high: int, lines: Iterable[CountLine]) -> tuple[int, int]:
        """The factors of a line that bounds the value well between `low` and `high`, the right ones first."""
        ends = [
            min([line.most_right(Fraction(end)) for line in lines] + [Fraction(self.most_right)]) for end in (low, high)
        ]
        first, last = map(self._possible, ends)
        if self.is_bent or not lines:
            middle, right = Fraction(low + high, 2), (first + last) / 2
            rest = self.term.negatives / self.unit - middle
            steep = right / rest if self.is_bent and rest else self.term.positives / self.term.negatives
        else:
            steep = (last - first) / (high - low) if high > low else Fraction(0)
        return _simple(steep)

    def _possible(self, right: Fraction) -> Fraction:
        return max(Fraction(0), min(right, Fraction(self.most_right)))

    def _at_its_top(self, line: CountLine, low: int, high: int) -> Fraction:
        """(most + b * wrong) * (negatives - wrong) is greatest halfway between its zeros."""
        at = Fraction(low)
        if line.wrong:
            top = (self.term.negatives / self.unit - Fraction(line.most, line.wrong)) / 2
            at = max(Fraction(low), min(Fraction(high), top))
        right = max(Fraction(0), line.most_right(at))
        # Where the line allows more than there is, its parabola still bounds the value.
        square = right * (self.term.negatives / self.unit - at)
        return _root_above(square * self.unit**2 / (self.term.positives * self.term.negatives))

    def _at_an_end(self, line: CountLine, low: int, high: int) -> Fraction:
        """The greatest value is at an end of the line (mcc: if it is positive); beyond all true positives it falls."""
        last = Fraction(high)
        if line.wrong:
            last = min(last, max(Fraction(low), Fraction(line.right * self.most_right - line.most) / line.wrong))
        values = [self.value(self._possible(line.most_right(end)), end) for end in (Fraction(low), last)]
        return max(values) if self.term.kind == "gmean" else max(*values, Fraction(0))

    # -- requirements -----------------------------------------------------------------------

    def least_right(self, wrong: int, limit: Fraction) -> int | None:
        """The least number of true positives with a value of at least the limit; None if there is none."""
        found = _first(self.most_right + 1, lambda right: self.value(right, wrong) >= limit)
        return None if found > self.most_right else found

    def greatest_right(self, wrong: int, limit: Fraction) -> int | None:
        """The greatest number of true positives with a value of at most the limit; None if there is none."""
        found = _first(self.most_right + 1, lambda right: self.value(right, wrong) > limit) - 1
        return None if found < 0 else found

    def greatest_wrong(self, low: int, high: int, limit: Fraction) -> int:
        """The greatest number of false positives up to `high` that allows the limit; `low - 1` if none does."""
        return low + _first(high - low + 1, lambda more: self.value(self.most_right, low + more) < limit) - 1

    def cut(self, low: int, high: int, limit: Fraction, name: str) -> Bound | None:
        """A line that every tree with at least this value is above, if its false positives are between the two.

        Both ends are possible. The curve of equal values bends towards more true positives for gmean, so the line
        touches it; for mcc it bends the other way, so the line joins the ends, and one count is left for rounding.
        """
        if limit <= 0 or high <= low:
            return None
        first, last = self.least_right(low, limit), self.least_right(high, limit)
        assert first is not None
        assert last is not None
        right, wrong = _simple(Fraction(last - first, high - low))
        if self.is_bent:
            negatives = self.term.negatives / self.unit
            square = 4 * right * wrong * limit**2 * negatives * self.term.positives / self.unit
            least = isqrt(square.numerator // square.denominator) - wrong * negatives
        else:
            least = Fraction(min(right * (first - 1) - wrong * low, right * (last - 1) - wrong * high))
        return Bound(self.line(right, wrong), "<=", -least, name)


def counts_of(total: Sum) -> PositiveCounts | None:
    """The counts behind a sum that is a single contingency; None for any other sum."""
    if len(total.parts) != 1 or not isinstance(total.parts[0][1], Contingency):
        return None
    term = total.parts[0][1]
    sides = [_matrix(side) for side in term.sums]
    if sides[0] is None or sides[1] is None or term.positives <= 0 or term.negatives <= 0:
        return None
    (scale, right), (other, wrong) = sides[0], sides[1]
    if min(int(right.min(initial=0)), int(wrong.min(initial=0))) < 0 or min(scale, other) <= 0:
        return None
    if scale != other:
        return None
    most = [
        min(row_ends(each)[1], int(end / scale)) for each, end in ((right, term.positives), (wrong, term.negatives))
    ]
    return PositiveCounts(term, right, wrong, scale, most[0], most[1])


def _matrix(total: Sum) -> tuple[Fraction, Whole] | None:
    if len(total.parts) != 1 or total.constant or not isinstance(total.parts[0][1], Predicted):
        return None
    factor, term = total.parts[0]
    assert isinstance(term, Predicted)
    return factor * term.scale, term.cost


def _simple(steep: Fraction) -> tuple[int, int]:
    """The factors of a simple slope near this one: that of the true positives, then that of the false positives."""
    steep = max(Fraction(1, STEEPEST), min(Fraction(STEEPEST), steep))
    simple = simplest_between(steep * (1 - NEAR), steep * (1 + NEAR))
    return simple.denominator, simple.numerator


def _root_above(square: Fraction) -> Fraction:
    """At least the root, within a share of 2^-80: bounds need no more digits."""
    return Fraction(isqrt(square.numerator * 4**90 // square.denominator) + 1, 2**90)


def _first(numbers: int, holds: Callable[[int], bool]) -> int:
    """The first number from 0 for which it holds, as it does for all after it; `numbers` if there is none."""
    low, high = 0, numbers
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
