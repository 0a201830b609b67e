"""Terms with factors -> the same sum with like terms joined, in exact integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from treeml.problem.arrays import Whole
from treeml.problem.magnitudes import SAFE
from treeml.problem.terms import Depth, Leaves, Predicted, Support, Term

Weighted = tuple[Fraction, Term]


class CostsTooLarge(ArithmeticError):
    """The joined costs would not fit into 64 bits."""


def joined_terms(parts: Sequence[Weighted]) -> tuple[Weighted, ...]:
    """Like terms joined: one Predicted of positive scale, one Leaves, one Depth, one Support.

    May raise CostsTooLarge.
    """
    if len(parts) == 1 and parts[0][0] == 1:
        return (parts[0],)
    predicted = [(factor, term) for factor, term in parts if isinstance(term, Predicted) and factor]
    joined: list[Weighted] = []
    if predicted:
        joined.append((Fraction(1), _joined(predicted)))
    for kind in (Leaves, Depth, Support):
        factors = [factor for factor, term in parts if isinstance(term, kind)]
        factor = sum(factors[1:], factors[0]) if factors else Fraction(0)
        if factor:
            joined.append((factor, kind()))
    joined += [
        (factor, term) for factor, term in parts if factor and not isinstance(term, (Predicted, Leaves, Depth, Support))
    ]
    return tuple(joined)


def _joined(parts: list[tuple[Fraction, Predicted]]) -> Predicted:
    if len(parts) == 1 and parts[0][0].numerator > 0:
        factor, term = parts[0]
        return term if factor == 1 else Predicted(term.cost, term.scale * factor)
    scales = [factor * term.scale for factor, term in parts]
    costs = [term.cost for _, term in parts]
    if len(parts) > 1:
        # Common factors of a matrix move to its scale first, which keeps common denominators small.
        common = [int(np.gcd.reduce(cost, axis=None)) or 1 for cost in costs]
        costs = [cost // each for cost, each in zip(costs, common, strict=True)]
        scales = [scale * each for scale, each in zip(scales, common, strict=True)]
    scale = _common_scale([abs(each) for each in scales])
    multiples = [int(each / scale) for each in scales]
    reach = sum(abs(multiple) * _reach(cost) for multiple, cost in zip(multiples, costs, strict=True))
    if reach >= SAFE:
        raise CostsTooLarge
    total = costs[0] * multiples[0]
    for cost, multiple in zip(costs[1:], multiples[1:], strict=True):
        total += cost * multiple
    return Predicted(total, scale)


def _reach(cost: Whole) -> int:
    """An upper bound on the absolute sum over rows for any choice of classes."""
    return int(np.abs(cost).max(axis=1, initial=0).sum())


def _common_scale(scales: Iterable[Fraction]) -> Fraction:
    """The largest fraction that divides every scale."""
    scales = list(scales)
    denominator = lcm(*(scale.denominator for scale in scales))
    return Fraction(gcd(*(int(scale * denominator) for scale in scales)), denominator)
