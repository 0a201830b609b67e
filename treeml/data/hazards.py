"""Times and whether their end was observed -> hazards in whole numbers, and what a leaf of such rows costs.

The model of LeBlanc and Crowley (1992): every row dies at the rate of a common baseline times the relative hazard of
its leaf. The baseline is the cumulative hazard of Nelson and Aalen over all rows. With D deaths and the sum H of the
cumulative hazards of its rows, the likeliest relative hazard of a leaf is D / H, and minus the logarithm of the
likelihood, beyond that of a tree that knows every row, is the sum over deaths of -log(hazard), plus D log(H / D).

A row is one whole number: its cumulative hazard in units of 2^-40, times two, plus one if its end was observed.
"""

from __future__ import annotations

from fractions import Fraction
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.scaling import nearest
from treeml.data.spec_checks import numbers_of
from treeml.data.table import Dataset, Whole

UNITS = 2**40  # of a cumulative hazard of 1
_MANY = 2**22  # rows: from here on, sums of hazards need more than 64 bits


def hazards(times: NDArray[Any], observed: NDArray[np.bool_]) -> Whole:
    """Every row as one whole number. Before the first death, the hazard is 1 / (rows + 1), not 0."""
    order, last = _moments(times)
    died, at_risk = _between(observed[order], last), _left(last)
    gone = at_risk - np.append(at_risk[1:], 0)
    if len(times) >= _MANY:
        died, at_risk = died.astype(object), at_risk.astype(object)
    # deaths / at_risk in units of 1 / UNITS**2, rounded down, as a high and a low part, whose sums fit in 64 bits. All
    # of them together are off by less than rows / 2^80.
    high, low = np.cumsum(died * UNITS // at_risk), np.cumsum(died * UNITS % at_risk * UNITS // at_risk)
    whole, rest = high + low // UNITS, low % UNITS
    levels = whole + ((2 * rest > UNITS) | ((2 * rest == UNITS) & (whole % 2 == 1)))  # to the nearest, ties to even
    before = nearest(UNITS, len(times) + 1)
    levels = np.maximum(1, np.where(np.cumsum(died) > 0, levels, before)).astype(np.int64)
    rows = np.empty(len(times), dtype=np.int64)
    rows[order] = levels.repeat(gone)
    return rows * 2 + observed


def survival_times(dataset: Dataset) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The time of every row, and whether its end was observed."""
    assert dataset.target is not None
    return numbers_of(dataset.target), (dataset.targets[:, 0] & 1).astype(np.bool_)


def deaths_and_hazard(rows: Whole) -> tuple[int, int]:
    """The number of observed ends, and the sum of the cumulative hazards in units."""
    units = rows >> 1
    # High and low halves separately: neither sum can leave 64 bits.
    return int((rows & 1).sum()), (int((units >> 30).sum()) << 30) + int((units & (2**30 - 1)).sum())


def relative_hazard(rows: Whole) -> Fraction:
    """The likeliest relative hazard of a leaf with these rows."""
    return relative_hazard_of(*deaths_and_hazard(rows))


def relative_hazard_of(deaths: int, hazard: int) -> Fraction:
    """The same from the number of deaths and the sum of the hazards; without a death, half of one counts."""
    return Fraction(max(2 * deaths, 1) * UNITS, 2 * max(1, hazard))


def death_costs(rows: Whole) -> Whole:
    """Minus the logarithm of its hazard for every row that died, 0 for the others, in units."""
    costs = np.rint(-np.log((rows >> 1) / UNITS) * UNITS).astype(np.int64)
    return np.where(rows & 1, costs, 0)


def leaf_loss(costs: int, deaths: int, hazard: int) -> float:
    """The loss of a leaf, from its sums; it is never negative, but rounding could make it so."""
    if not deaths:
        return 0.0
    return max(0.0, costs / UNITS + deaths * log(hazard / (deaths * UNITS)))


Curve = tuple[tuple[float, float], ...]  # times, and the share that is left after each


def surviving(times: NDArray[Any], observed: NDArray[np.bool_]) -> Curve:
    """The curve of Kaplan and Meier: the share that survives each moment at which rows died or were lost."""
    return _product(times, observed, None)


def not_lost(times: NDArray[Any], observed: NDArray[np.bool_]) -> Curve:
    """The same for rows that are lost from sight; who dies at a moment can no longer be lost at it."""
    return _product(times, ~observed, observed)


def _product(times: NDArray[Any], leaves: NDArray[np.bool_], before: NDArray[np.bool_] | None) -> Curve:
    """Moment by moment the product of the shares that stay; rows marked `before` are gone before the others leave."""
    order, last = _moments(times)
    left = _left(last) if before is None else _left(last) - _between(before[order], last)
    shares = (1 - _between(leaves[order], last) / np.maximum(left, 1)).cumprod()
    return tuple(zip(times[order[last]].astype(np.float64).tolist(), shares.tolist(), strict=True))


def _moments(times: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows in the order of their times, and the place of the last row of each moment in that order."""
    order = times.argsort(kind="stable")
    ordered = times[order]
    is_last = np.ones(len(times), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_last[:-1])
    return order, is_last.nonzero()[0]


def _left(last: NDArray[np.intp]) -> NDArray[np.int64]:
    """How many rows there are just before each moment."""
    left = np.full(len(last), last[-1] + 1 if len(last) else 0, dtype=np.int64)
    left[1:] -= last[:-1] + 1
    return left


def _between(marked: NDArray[np.bool_], last: NDArray[np.intp]) -> NDArray[np.int64]:
    """How many rows are marked at each moment, given all rows in order."""
    sums: NDArray[np.int64] = marked.cumsum()[last]
    sums[1:] -= sums[:-1].copy()
    return sums
