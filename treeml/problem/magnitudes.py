"""Problem -> exact bounds on what its trees can add up to.

Every quantity that a back-end sums or compares lies on a grid: a unit, and whole multiples of it from a least to a
greatest. The bounds hold for every tree whose leaves all hold rows, as those of answers do. They are Python's own
whole numbers, so nothing is lost while they are found, and rows are only looked at by numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING

from treeml.problem.problem import Problem
from treeml.problem.terms import (
    Depth,
    Largest,
    LeafErrors,
    Leaves,
    Monotone,
    Predicted,
    Sum,
    Support,
    Term,
    TestCost,
    Used,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

SAFE = 2**62  # numpy adds up to here without a thought


@dataclass(frozen=True, slots=True)
class Grid:
    """Values are unit * k for whole k from `least` to `greatest`."""

    unit: Fraction
    least: int
    greatest: int

    @property
    def size(self) -> int:
        """No value is further from zero than so many units."""
        return max(abs(self.least), abs(self.greatest))

    @property
    def span(self) -> int:
        return self.greatest - self.least

    def times(self, factor: Fraction) -> Grid:
        if factor >= 0:
            return Grid(self.unit * factor, self.least, self.greatest)
        return Grid(self.unit * -factor, -self.greatest, -self.least)

    def plus(self, other: Grid) -> Grid:
        unit = common_unit([self.unit, other.unit])
        mine, theirs = int(self.unit / unit), int(other.unit / unit)
        return Grid(unit, mine * self.least + theirs * other.least, mine * self.greatest + theirs * other.greatest)

    def moved(self, constant: Fraction) -> Grid:
        if not constant:
            return self
        unit = common_unit([self.unit, abs(constant)])
        finer, shift = int(self.unit / unit), int(constant / unit)
        return Grid(unit, finer * self.least + shift, finer * self.greatest + shift)


def grid_of(total: Sum, problem: Problem) -> Grid | None:
    """Where the values of a sum lie, its constant left out; None where a part of it has no grid."""
    grid: Grid | None = None
    for factor, term in total.parts:
        part = term_grid(term, problem)
        if part is None:
            return None
        part = part.times(factor)
        grid = part if grid is None else grid.plus(part)
    return grid or Grid(Fraction(1), 0, 0)


def rough_size(total: Sum, problem: Problem) -> int | None:
    """At least as many units as the values of a sum are from zero, seen from its largest numbers alone."""
    sizes: list[tuple[Fraction, int]] = []
    for factor, term in total.parts:
        if isinstance(term, Predicted):
            sizes.append((factor * term.scale, largest(term.cost) * len(term.cost)))
        elif isinstance(term, Leaves | Depth):
            sizes.append((factor, max(1, problem.rows)))
        else:
            grid = term_grid(term, problem)
            if grid is None:
                return None
            sizes.append((factor * grid.unit, grid.size))
    if len(sizes) == 1:
        return sizes[0][1]
    # Multiples of the inverse of a common denominator are whole, though perhaps not the smallest that are.
    denominator = lcm(*(each.denominator for each, _ in sizes))
    return sum(abs(each.numerator) * (denominator // each.denominator) * size for each, size in sizes)


def term_grid(term: Term, problem: Problem) -> Grid | None:
    """Where the values of a term lie; None for those that are real numbers or quotients."""
    match term:
        case Predicted():
            # One class a row: the best and the worst of each.
            least, greatest = row_ends(term.cost)
            return Grid(Fraction(1), least, greatest).times(term.scale)
        case LeafErrors():
            # The rows of a leaf are some of all rows, so those that better the sum may be alone in it.
            low, high = term.cost.min(axis=1, initial=0), term.cost.max(axis=1, initial=0)
            return Grid(Fraction(1), added(low), added(high)).times(term.scale)
        case TestCost():
            rows = added(problem.count)
            spent, saved = (sum(cost for cost in term.costs if cost * sign > 0) * rows for sign in (1, -1))
            return Grid(Fraction(1), saved, spent).times(term.scale)
        case Leaves():
            return Grid(Fraction(1), 1, most_leaves(problem))
        case Depth():
            return Grid(Fraction(1), 0, most_levels(problem))
        case Support():
            return Grid(Fraction(1), 0, added(problem.count))
        case Used():
            return Grid(Fraction(1), 0, len(term.features))
        case Monotone():
            return Grid(Fraction(1), 0, 1)
        case Largest():
            return _largest(term, problem)
    return None


def _largest(term: Largest, problem: Problem) -> Grid | None:
    grids = []
    for part in term.parts:
        grid = grid_of(part, problem)
        if grid is None:
            return None
        grids.append(grid.moved(part.constant))
    if not grids:
        return None
    unit = common_unit([grid.unit for grid in grids])
    least = max(int(grid.unit / unit) * grid.least for grid in grids)
    return Grid(unit, least, max(int(grid.unit / unit) * grid.greatest for grid in grids))


def levels_there_are(problem: Problem, enough: int | None = None) -> int:
    """No tree is deeper, whatever the bounds: what a path can ask, and a row for every leaf; counted up to `enough`.

    Seen without the answers to the tests, which may not be made yet.
    """
    most = max(0, problem.rows - 1)
    if enough is not None:
        most = max(0, min(most, enough))
    asked = 0
    for feature in problem.features:
        if asked >= most:
            break
        levels = 2 if feature.kind == "binary" else feature.levels
        asked += min(feature.tests, levels - 1 + feature.has_missing)
    return min(asked, most)


def most_levels(problem: Problem) -> int:
    """No tree within the bounds is deeper."""
    return levels_there_are(problem, problem.max_depth)


def leaves_at(depth: int, problem: Problem) -> int:
    """No tree so deep has more leaves."""
    return min(max(1, problem.rows), 1 << min(depth, 62))


def most_leaves(problem: Problem) -> int:
    """No tree within the bounds has more leaves."""
    leaves, limit = leaves_at(most_levels(problem), problem), problem.bound_on("Leaves", "<=")
    return leaves if limit is None else max(1, min(leaves, limit.numerator // limit.denominator))


def row_ends(cost: Whole) -> tuple[int, int]:
    """The least and the greatest sum of one entry of every row."""
    if not cost.size:
        return 0, 0
    return added(cost.min(axis=1)), added(cost.max(axis=1))


def added(values: Whole) -> int:
    """The exact sum."""
    if not values.size:
        return 0
    if largest(values) * values.size < SAFE:
        return int(values.sum())
    # High and low halves apart: neither sum can leave 64 bits.
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())


def largest(values: Whole) -> int:
    """How far from zero a value is at most."""
    return max(int(values.max()), -int(values.min())) if values.size else 0


def common_divisor(values: Whole) -> int:
    """The greatest whole number that divides all of them; 1 where all are zero."""
    import numpy as np

    return int(np.gcd.reduce(values, axis=None)) or 1


def common_unit(values: list[Fraction]) -> Fraction:
    """The largest fraction of which every one of these is a whole multiple; none of them is negative."""
    values = [value for value in values if value]
    if not values:
        return Fraction(1)
    denominator = lcm(*(value.denominator for value in values))
    return Fraction(gcd(*(int(value * denominator) for value in values)), denominator)


def product_at_least(left: Whole, factor: int, right: Whole, other: int) -> NDArray[np.bool_]:
    """left * factor >= right * other, exactly; nothing is negative or beyond 2^62."""
    import numpy as np

    if max(largest(left) * factor, largest(right) * other) < 2**63:
        return np.asarray(left * factor >= right * other)
    (high, low), (other_high, other_low) = _wide_product(left, factor), _wide_product(right, other)
    return np.asarray((high > other_high) | ((high == other_high) & (low >= other_low)))


def _wide_product(values: Whole, factor: int) -> tuple[Whole, Whole]:
    """values * factor as high * 2^62 + low, by halves of 31 bits."""
    half = 2**31 - 1
    above, below = values >> 31, values & half
    factor_above, factor_below = factor >> 31, factor & half
    lowest = below * factor_below
    middle = above * factor_below + below * factor_above + (lowest >> 31)
    return above * factor_above + (middle >> 31), (middle & half) << 31 | lowest & half


def checked_product(values: Whole, factor: int) -> Whole:
    """values * factor in 64 bits; OverflowError where that is not exact."""
    reach = largest(values) * abs(factor)
    if reach >= 2**63:
        raise OverflowError("a product of whole numbers does not fit in 64 bits")
    product: Whole = values * (factor if reach else 0)
    return product
