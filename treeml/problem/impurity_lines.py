"""The cost of a mixture of classes -> costs of rows, such that the least of a few sums of them is never above it.

What a mixture of two classes costs is concave in their shares, so that a chord is never above it between its ends, and
a chord is a cost per row of either class. Whatever the shares of a leaf, one of the chords has its ends around them, so
the least of all chords is a lower bound of the leaf. Chords are labels to a search: it chooses the cheapest one for
each leaf, as it chooses a class.

For more than two classes the labels are the classes, and their costs are the errors e among n rows: the Gini impurity
times n is at least e, and the entropy in bits times n at least 2 e (Hellman and Raviv 1970). No code is shorter than
the entropy (Krichevsky and Trofimov's chance of the classes is a mean over all frequencies, of which the best is the
entropy's), so that a code length has the same lower bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import floor, log
from typing import TYPE_CHECKING

import numpy as np

from treeml.problem.constants import exact_sum
from treeml.problem.impurity_cost import ImpurityCost

if TYPE_CHECKING:
    from treeml.problem.arrays import Whole

FINE, COARSE = 2**16, 2**10  # steps per unit of the cost of a row; costs are rounded down to a step,
SURE = 1  # and by one more, since they are computed in floating point
HALF = 2**30  # of the costs of all rows: searches are three times as fast where sums fit in half of a word,
MOST = 2**50  # and a search can add these, and prices beside them
WHOLE = (Fraction(0), Fraction(1, 2), Fraction(1))  # the ends of the chords that count errors


@dataclass(frozen=True, eq=False, slots=True)
class Lines:
    """No set of rows costs less than `unit` times the least sum of any column over them."""

    cost: Whole  # rows x lines
    unit: Fraction


def lines_below(impurity: ImpurityCost, ends: Sequence[Fraction]) -> Lines | None:
    """The chords between these shares of the second of two classes, or the errors for any other number of classes.

    `ends` go from 0 to 1. None if the weights of the rows are too large for useful steps.
    """
    weight, steps = exact_sum(impurity.weight), FINE
    while steps > COARSE and weight * steps > HALF:
        steps //= 2
    if weight * steps > MOST:
        return None
    if impurity.classes != 2:
        return Lines(impurity.errors(), Fraction(_steps(_of_half(impurity.kind) * 2, steps), steps) * impurity.scale)
    chords = np.array([_chord(impurity.kind, low, high, steps) for low, high in pairwise(ends)], dtype=np.int64)
    divisor = int(np.gcd.reduce(chords, axis=None)) or 1
    cost = (chords // divisor).T[impurity.labels] * impurity.weight[:, None]
    return Lines(np.ascontiguousarray(cost), Fraction(divisor, steps) * impurity.scale)


def _chord(kind: str, low: Fraction, high: Fraction, steps: int) -> tuple[int, int]:
    """What a row of each class costs by the chord between two shares of the second class, rounded down."""
    at_low, at_high = _per_row(kind, float(low)), _per_row(kind, float(high))
    rise = (at_high - at_low) / float(high - low)
    return _steps(at_low - rise * float(low), steps), _steps(at_low + rise * float(1 - low), steps)


def _per_row(kind: str, share: float) -> float:
    """A lower bound of what a row costs where this is the share of one of two classes; concave in the share."""
    if kind == "gini":
        return 2 * share * (1 - share)
    entropy = -sum(each * log(each) for each in (share, 1 - share) if each > 0)
    return entropy / log(2) if kind == "code length" else entropy


def _of_half(kind: str) -> float:
    return _per_row(kind, 0.5)


def _steps(value: float, steps: int) -> int:
    """Rounded down. A chord of a concave cost that is never negative is not negative at either end."""
    return max(0, floor(value * steps) - SURE)
