"""The rows of a leaf -> the constant that fits them best, and what it costs, exactly.

A relative hazard (`treeml.data.hazards`) is no constant of this kind, but is computed here, too. The mean has the least
squared loss. The q-quantile is the lowest value of a row such that rows up to it hold at least
the share q of the weight: of all constants with the least pinball loss it is the lowest that is the value of a row. The
median is the quantile at one half.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from treeml.data.hazards import relative_hazard, relative_hazard_of
from treeml.problem.arrays import Whole
from treeml.problem.magnitudes import SAFE, largest

_MANY = 2**22  # rows: up to here, numbers of 30 bits add up exactly in float64


def best_constant(kind: str, values: Whole, weight: Whole, level: Fraction = Fraction(1, 2)) -> Fraction:
    """The best constant for rows with these values; if all weights are zero, every row counts the same."""
    if kind == "hazard":
        return relative_hazard(values)
    if not weight.any():
        weight = np.ones(len(values), dtype=np.int64)
    if kind == "squared":
        return Fraction(exact_sum(values, weight), exact_sum(weight))
    return Fraction(_quantile(values, weight, Fraction(1, 2) if kind == "absolute" else level))


def constant_loss(kind: str, values: Whole, weight: Whole, level: Fraction = Fraction(1, 2)) -> Fraction:
    """What the best constant costs: weighted squares, distances or pinball losses."""
    total = exact_sum(weight)
    if total == 0:
        return Fraction(0)
    if kind == "squared":
        return exact_squares(values, weight) - Fraction(exact_sum(values, weight) ** 2, total)
    constant = _quantile(values, weight, Fraction(1, 2) if kind == "absolute" else level)
    above = values > constant
    over = exact_sum(values[above], weight[above]) - constant * exact_sum(weight[above])
    under = constant * exact_sum(weight[~above]) - exact_sum(values[~above], weight[~above])
    return Fraction(over + under) if kind == "absolute" else level * over + (1 - level) * under


def group_constants(
    kind: str, values: Whole, weight: Whole, group: NDArray[np.intp], groups: int, level: Fraction = Fraction(1, 2)
) -> list[Fraction]:
    """The best constant of every group of rows, 0 for a group without rows; `group` is the group of every row."""
    if kind == "squared":
        totals, sums = group_sums(group, groups, weight), group_sums(group, groups, values, weight)
        if all(totals):
            return [Fraction(part, total) for part, total in zip(sums, totals, strict=True)]
    if kind == "hazard":
        sums_of = (group_sums(group, groups, each) for each in (values & 1, values >> 1))
        return [relative_hazard_of(*sums) if sums[1] else Fraction(0) for sums in zip(*sums_of, strict=True)]
    each = rows_of_groups(group, groups)
    return [best_constant(kind, values[rows], weight[rows], level) if len(rows) else Fraction(0) for rows in each]


def group_losses(
    kind: str, values: Whole, weight: Whole, group: NDArray[np.intp], groups: int, level: Fraction = Fraction(1, 2)
) -> Fraction:
    """The total cost of the best constants of all groups."""
    if kind != "squared" or largest(values) ** 2 >= SAFE:
        rows = rows_of_groups(group, groups)
        return sum((constant_loss(kind, values[here], weight[here], level) for here in rows), Fraction(0))
    totals, sums = group_sums(group, groups, weight), group_sums(group, groups, values, weight)
    saved = sum((Fraction(part * part, total) for part, total in zip(sums, totals, strict=True) if total), Fraction(0))
    return exact_squares(values, weight) - saved


def rows_of_groups(group: NDArray[np.intp], groups: int) -> list[NDArray[np.intp]]:
    """The row numbers of every group."""
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=groups))
    return np.split(order, ends[:-1])


def group_sums(group: NDArray[np.intp], groups: int, values: Whole, factors: Whole | None = None) -> list[int]:
    """The sum of values, or of products, of every group, without overflow."""
    reach = largest(values) * len(values) * (1 if factors is None else largest(factors))
    if reach < 2**53:  # float64 adds these exactly
        products = values if factors is None else values * factors
        sums: list[int] = np.bincount(group, weights=products, minlength=groups).astype(np.int64).tolist()
        return sums
    if factors is None and len(values) <= _MANY and largest(values) < 2**60:  # as two halves, each of them exactly
        high, low = (group_sums(group, groups, each) for each in (values >> 30, values & (2**30 - 1)))
        return [(above << 30) + below for above, below in zip(high, low, strict=True)]
    return [
        exact_sum(values[rows], None if factors is None else factors[rows]) for rows in rows_of_groups(group, groups)
    ]


def in_units(count: int, scale: Fraction) -> Fraction:
    """count * scale; the scale is mostly one."""
    return whole_fraction(count) if scale == 1 else count * scale


@lru_cache(maxsize=4096)
def whole_fraction(number: int) -> Fraction:
    """A cached Fraction: counts are mostly small, and making fractions takes longer than counting."""
    return Fraction(number)


def exact_sum(values: Whole, factors: Whole | None = None) -> int:
    """The sum of values, or of products, without overflow."""
    reach = largest(values) * len(values) * (1 if factors is None else largest(factors))
    if reach < SAFE:
        return int(values.sum() if factors is None else values @ factors)
    if factors is None:
        return sum(values.tolist())
    return sum(value * factor for value, factor in zip(values.tolist(), factors.tolist(), strict=True))


def exact_squares(values: Whole, weight: Whole) -> int:
    """The weighted sum of squares, without overflow."""
    if largest(values) ** 2 < SAFE:
        return exact_sum(values * values, weight)
    return sum(share * value * value for value, share in zip(values.tolist(), weight.tolist(), strict=True))


def _quantile(values: Whole, weight: Whole, level: Fraction) -> int:
    order = np.argsort(values, kind="stable")
    if largest(weight) * len(weight) < SAFE:
        running = np.cumsum(weight[order])
        # The first place where running >= level * total, in whole numbers.
        needed = -(-level.numerator * int(running[-1]) // level.denominator)
        return int(values[order][np.searchsorted(running, needed)])
    so_far, needed = 0, level * sum(weight.tolist())
    for place in order.tolist():
        so_far += int(weight[place])
        if so_far >= needed:
            break
    return int(values[place])
