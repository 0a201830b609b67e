"""A goal with a loss -> how far apart its values are, and smaller numbers that rank the best trees the same.

Squared losses are real numbers, so solvers round them, relative to the cost of a single leaf. One outlier can make the
rounding larger than the loss of the best tree. But once a tree is known, every leaf of a better tree costs less than
the known tree, so no such leaf holds rows from both sides of a wide gap between targets, and the exact width of the gap
does not matter. If such gaps are narrowed, trees that are as good as the known one keep their losses exactly, and all
others still cost more. The same holds for tests that cost more than the known tree.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import ceil, e, gcd, isqrt, lcm, log2

import numpy as np
from numpy.typing import NDArray

from treeml.problem.constants import exact_sum
from treeml.problem.terms import Loss, Sum, Term, TestCost

CLOSE = Fraction(1, 10**9)  # a proof up to this relative difference is reported like an exact one
_MOST_BITS = 1_000  # beyond this, differences are too small for any arithmetic used here


def smallest_difference(total: Sum, leaves: int) -> Fraction:
    """The least difference between two values of the sum, for trees of at most `leaves` leaves; 0 if not known.

    A loss is a whole number divided by the weights of the leaves, whose product is largest if all are equal.
    """
    steps: list[Fraction] = []
    bits = 0.0
    product = 1
    for factor, term in total.parts:
        if term.step is not None:
            steps.append(factor * term.step)
        elif isinstance(term, Loss):
            divisor = int(np.gcd.reduce(term.weight)) or 1
            weight = exact_sum(term.weight) // divisor
            steps.append(factor * term.scale * divisor / (term.level.denominator if term.kind == "quantile" else 1))
            if term.kind == "squared" and weight:
                alike = max(1, int(weight / e))  # with more leaves the product becomes smaller
                bits += min(leaves, alike + 1) * log2(max(2.0, weight / min(leaves, alike)))
                if bits > _MOST_BITS:
                    return Fraction(0)
                numbers = {min(leaves, alike), min(leaves, alike + 1)}
                product *= max(-(-(weight**number) // number**number) for number in numbers)
        else:
            return Fraction(0)
    steps = [step for step in steps if step]
    if not steps:
        return Fraction(0)
    denominator = lcm(*(step.denominator for step in steps))
    step = Fraction(gcd(*(abs(int(step * denominator)) for step in steps)), denominator)
    return step / product**2


def narrowed(total: Sum, value: Fraction) -> Sum | None:
    """The sum with smaller numbers: trees of at most this value keep their value, all others stay above it.

    None if that changes little, or if a part of the sum may be negative.
    """
    value -= total.constant
    if any(factor < 0 or not term.is_never_negative() for factor, term in total.parts):
        return None
    parts: list[tuple[Fraction, Term]] = []
    changed = False
    for factor, term in total.parts:
        smaller: Term | None = None
        if isinstance(term, Loss) and term.scale > 0 and factor:
            smaller = _closer(term, value / (factor * term.scale))
        elif isinstance(term, TestCost) and term.scale > 0 and factor:
            smaller = _cheaper(term, value / (factor * term.scale))
        changed = changed or smaller is not None
        parts.append((factor, term if smaller is None else smaller))
    return Sum(tuple(parts), total.constant) if changed else None


def _cheaper(term: TestCost, most: Fraction) -> TestCost | None:
    """A tree that tests a feature pays for at least two rows, so costs above the allowed total can be lowered to it."""
    if most <= 0 or max(term.costs, default=0) < 4 * most:
        return None
    finer = max(1, ceil(2**20 / most))
    limit = ceil(most * finer)
    return term.capped(finer, limit)


def _closer(loss: Loss, most: Fraction) -> Loss | None:
    """Narrow the gaps that no leaf with a loss of up to `most` can span."""
    targets = loss.targets.copy()
    before = after = 0
    for output in range(targets.shape[1]):
        column, spread = _narrowed(loss, output, most)
        targets[:, output] = column
        before += spread[0] ** 2
        after += spread[1] ** 2
    return replace(loss, targets=targets) if after * 4 < before else None


def _widest(loss: Loss, most: Fraction, below: int, above: int) -> int:
    """The width of a gap that costs more than `most` in a leaf with rows of these weights on either side."""
    if loss.kind == "squared":
        square = most * Fraction(below + above, below * above)
        return isqrt(square.numerator // square.denominator) + 1
    level = loss.level if loss.kind == "quantile" else Fraction(1)
    price = min(level * above, (1 - level if loss.kind == "quantile" else 1) * below)
    return int(most / price) + 1 if price else 2**62


def _narrowed(loss: Loss, output: int, most: Fraction) -> tuple[NDArray[np.int64], tuple[int, int]]:
    """The targets of one output, and their ranges before and after."""
    target, weight = loss.targets[:, output], loss.weight
    counted = weight > 0
    levels, place = np.unique(target[counted], return_inverse=True)
    if len(levels) < 2:
        return np.zeros(len(target), dtype=np.int64), (0, 0)
    lightest = np.full(len(levels), np.iinfo(np.int64).max)
    np.minimum.at(lightest, place.ravel(), weight[counted])
    left = np.minimum.accumulate(lightest)[:-1].tolist()
    right = np.minimum.accumulate(lightest[::-1])[::-1][1:].tolist()
    numbers: list[int] = levels.tolist()
    moved = [0]
    for (low, high), below, above in zip(pairwise(numbers), left, right, strict=True):
        moved.append(moved[-1] + min(high - low, _widest(loss, most, below, above)))
    middle = moved[-1] // 2
    column = np.zeros(len(target), dtype=np.int64)
    column[counted] = np.array([number - middle for number in moved], dtype=np.int64)[place.ravel()]
    return column, (numbers[-1] - numbers[0], moved[-1])
