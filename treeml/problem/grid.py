"""Whole numbers and units -> the grid on which the values of a sum lie.

Every quantity that a back-end sums or compares lies on a grid: whole multiples of a unit between two ends. The ends are
Python integers, so they are exact whatever their size. They hold for every tree whose leaves all hold rows, as those of
answers do.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm


@dataclass(frozen=True, slots=True)
class Grid:
    """Values are unit * k for whole k from `least` to `greatest`."""

    unit: Fraction
    least: int
    greatest: int

    @property
    def size(self) -> int:
        """The largest distance of a value from zero, in units."""
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


def counting(least: int, greatest: int) -> Grid:
    """The whole numbers between two ends."""
    return Grid(Fraction(1), least, greatest)


def common_unit(values: list[Fraction]) -> Fraction:
    """The largest fraction of which every value is a whole multiple; no value is negative."""
    values = [value for value in values if value]
    if not values:
        return Fraction(1)
    denominator = lcm(*(value.denominator for value in values))
    return Fraction(gcd(*(int(value * denominator) for value in values)), denominator)
