"""A goal that is a quotient -> its two sums in whole numbers, and the plain sums that compare it with a number.

A tree has a quotient below a/b exactly if its numerator times b minus its denominator times a is negative. This holds
if the denominator is never negative, and if no tree has a denominator of 0 without a numerator of 0. With a denominator
of 0 a quotient counts as 0 in a goal.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from treeml.problem.magnitudes import SAFE, added, checked_product, largest, row_ends
from treeml.problem.neighbors import simplest_between
from treeml.problem.problem import Bound, Goal
from treeml.problem.terms import Predicted, Ratio, Sum

if TYPE_CHECKING:
    from treeml.problem.arrays import Whole
    from treeml.problem.evaluate import Routed


@dataclass(frozen=True, eq=False, slots=True)
class Quotient:
    """A goal: `worth` times the sum of `above` over the sum of `below`, plus a constant. `worth` is positive."""

    above: Whole  # rows x classes; carries the sign of the goal
    below: Whole  # rows x classes, never negative
    worth: Fraction
    constant: Fraction

    # -- on a tree ------------------------------------------------------------------------

    def of(self, routed: Routed) -> Fraction:
        """The quotient of a tree; 0 if its denominator is 0."""
        below = self.denominator_of(routed)
        return Fraction(added(routed.at_labels(self.above)), below) if below else Fraction(0)

    def denominator_of(self, routed: Routed) -> int:
        return added(routed.at_labels(self.below))

    def value(self, quotient: Fraction) -> Fraction:
        """What a quotient is worth as the user's goal."""
        return self.worth * quotient + self.constant

    def quotient(self, value: Fraction) -> Fraction:
        """The quotient behind a value of the user's goal."""
        return (value - self.constant) / self.worth

    # -- against a number -----------------------------------------------------------------

    def against(self, number: Fraction) -> Sum:
        """The sum that is negative for quotients below the number, and 0 for a denominator of 0.

        Raises OverflowError beyond 64 bits.
        """
        return self._weighed(number.denominator, number.numerator)

    def bound(self, number: Fraction) -> Bound:
        """The quotient is at most the number; a denominator of 0 counts as 0, unlike in a requirement."""
        if number >= 0:
            return Bound(self.against(number), "<=", Fraction(0))
        # A denominator of 0 is not enough now. No quotient lies strictly between the number and one slightly above it,
        # and the sum against that one is a negative whole number for the quotients wanted, and 0 for that denominator.
        beside = Fraction(1, number.denominator * max(1, self.most_below))
        return Bound(self.against(-simplest_between(-number - beside, -number)), "<=", Fraction(-1))

    def largest_sum(self) -> Sum:
        """A sum whose numbers are at least as large as those of every other sum and bound made here."""
        return self._weighed(*self._largest_weights())

    def examples(self) -> tuple[Sum, ...]:
        """Sums such as those that are minimized to minimize the quotient, the largest among them."""
        return self.largest_sum(), self.against(Fraction(1)), self.denominator()

    def denominator(self) -> Sum:
        return Sum(((Fraction(1), Predicted(self.below)),))

    @property
    def reach(self) -> int:
        """No number made here is larger."""
        above, below = self._largest_weights()
        return (above * largest(self.above) + below * largest(self.below)) * max(1, len(self.above))

    @property
    def is_small(self) -> bool:
        return self.reach < SAFE

    def _largest_weights(self) -> tuple[int, int]:
        """The simplest number between two quotients has at most the sum of their denominators as its own."""
        positive = self.below[self.below > 0]
        steepest = -(-largest(self.above) // int(positive.min())) if positive.size else 0
        if bool(self.above[self.below == 0].any()):  # sums above grow while the denominator stays as it is
            steepest = max(map(abs, row_ends(self.above))) // self.least_below + 1
        most = 2 * self.most_below + 1
        return most, steepest * most + 1

    def _weighed(self, above: int, below: int) -> Sum:
        first, second = checked_product(self.above, above), checked_product(self.below, below)
        if largest(first) + largest(second) >= 2**63:
            raise OverflowError("a difference of whole numbers does not fit in 64 bits")
        return Sum(((Fraction(1), Predicted(first - second)),))

    # -- the range of its values ------------------------------------------------------------

    @property
    def most_below(self) -> int:
        return row_ends(self.below)[1]

    @property
    def least_below(self) -> int:
        """No denominator is smaller, but 0 itself if `may_be_empty`."""
        positive = self.below[self.below > 0]
        return max(row_ends(self.below)[0], int(positive.min()) if positive.size else 1)

    @property
    def may_be_empty(self) -> bool:
        """Can a denominator be 0, as far as single rows show?"""
        return row_ends(self.below)[0] == 0

    @property
    def least(self) -> Fraction:
        """No quotient is smaller: it lies between the quotients of single rows, and 0 for a denominator of 0."""
        if int(self.above[self.below == 0].min(initial=0)) < 0:
            # Such rows lower the numerator alone, so the ends of both sums have to do; no denominator is 0 here.
            numerator = row_ends(self.above)[0]
            return Fraction(numerator, self.least_below if numerator < 0 else self.most_below)
        counted = self.below > 0
        above, below = self.above[counted], self.below[counted]
        least = Fraction(0)
        while above.size:
            number = int(np.argmin(above / below))  # rounded, so the smaller ones are looked for exactly
            least = Fraction(int(above[number]), int(below[number]))
            smaller = above * below[number] < above[number] * below
            above, below = above[smaller], below[smaller]
        return min(least, Fraction(0)) if self.may_be_empty else least


def quotient_of(goal: Goal) -> Quotient | None:
    """The quotient that a goal is; None if it is another goal, or a quotient that no plain sum compares exactly."""
    if len(goal.sum.parts) != 1 or not isinstance(goal.sum.parts[0][1], Ratio):
        return None
    factor, ratio = goal.sum.parts[0]
    assert isinstance(ratio, Ratio)
    top, bottom = _matrix(ratio.numerator), _matrix(ratio.denominator)
    if top is None or bottom is None or not factor or not top[0] or not bottom[0]:
        return None
    (scale, above), (other, below) = top, bottom
    worth = factor * scale / other
    if other < 0:
        below = -below
        worth = -worth
    if worth < 0:
        above, worth = -above, -worth
    if below.size and int(below.min()) < 0:
        return None
    if not _empty_together(above, below):
        return None
    return Quotient(above, below, worth, goal.sum.constant)


def _matrix(total: Sum) -> tuple[Fraction, Whole] | None:
    """The factor and the smallest whole numbers of a sum that is a single matrix of costs."""
    if len(total.parts) != 1 or total.constant or not isinstance(total.parts[0][1], Predicted):
        return None
    factor, term = total.parts[0]
    assert isinstance(term, Predicted)
    smaller = term.divided()
    return factor * smaller.scale, smaller.cost


def _empty_together(above: Whole, below: Whole) -> bool:
    """Is every numerator 0 whose denominator is 0?"""
    if not below.size or row_ends(below)[0] > 0:
        return True
    return not bool(above[below == 0].any())
