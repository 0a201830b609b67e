"""A sum over predictions, limits on others -> the least that the sum can be if every row has a label of its own.

Rows alone show more if a limit has a price: whatever the price, the least priced sum, minus the priced limit, is a
lower bound for all predictions that keep the limit (Lagrange). The best price is one at which some row changes its
label. Recall, for instance, limits from below how many rows are predicted positive.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from treeml.problem.magnitudes import SAFE, added, row_ends, row_reach
from treeml.problem.problem import Bound
from treeml.problem.terms import Predicted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from treeml.problem.arrays import Whole

MOST_PRICES = 32  # for every limit, and fewer for many rows:
MOST_ENTRIES = 4_000_000  # of matrices, for all prices of a limit: about a tenth of a second
MOST_LOOKED_AT = 4096  # rows that show prices


def least_sum(cost: Whole, bounds: Iterable[Bound]) -> int:
    """No predictions that keep the bounds have a smaller sum of `cost`; each bound is looked at by itself."""
    return max([row_ends(cost)[0], *(least for bound in bounds for least in _with_prices(cost, bound))])


def _with_prices(cost: Whole, bound: Bound) -> Iterator[int]:
    """Lower bounds by different prices on what the bound limits."""
    factor, term = bound.sum.parts[0] if len(bound.sum.parts) == 1 else (Fraction(0), None)
    if not isinstance(term, Predicted) or not factor * term.scale or not len(cost):
        return
    share = factor * term.scale
    limit = (bound.limit - bound.sum.constant) / share
    for sign in {"<=": (1,), ">=": (-1,), "=": (1, -1)}[bound.sense]:
        limited, most = (term.cost, limit) if sign * share > 0 else (-term.cost, -limit)
        for price in _turning_prices(cost, limited):
            weight = price.denominator
            if row_reach(cost) * weight + row_reach(limited) * price.numerator < SAFE:
                best = (cost * weight + limited * price.numerator).min(axis=1)
                yield ceil((added(best) - price.numerator * most) / weight)


def _turning_prices(cost: Whole, limited: Whole) -> list[Fraction]:
    """Positive prices at which two labels of a row cost the same; some of them, if they are many."""
    most = max(1, min(MOST_PRICES, MOST_ENTRIES // cost.size))
    step = 1 + len(cost) // MOST_LOOKED_AT
    cost, limited = cost[::step], limited[::step]
    found: set[tuple[int, int]] = set()
    for one, other in combinations(range(cost.shape[1]), 2):
        more, less = cost[:, one] - cost[:, other], limited[:, other] - limited[:, one]
        kept = (more * np.sign(less) > 0) & (less != 0)
        pairs = np.stack([np.abs(more[kept]), np.abs(less[kept])], axis=1)
        if len(pairs):
            ordered = np.unique(pairs, axis=0)
            places = np.linspace(0, len(ordered) - 1, min(len(ordered), most)).astype(np.intp)
            found.update((int(above), int(below)) for above, below in ordered[places])
    prices = sorted({Fraction(above, below) for above, below in found})
    return prices[:: -(-len(prices) // most) or 1]
