"""The cost of a mixture of classes -> costs of rows, such that the least of a few sums of them is never above it.

A mixture costs at least what it would if all classes but one were one class, and that is concave in the share p of the
one class, so that a chord is never above it between its ends. A chord is a cost per row of the class and of the others.
Take the class with the greatest share. If that is 1/2 or more, one of its chords has its ends around it. If it is less,
the mixture costs at least the line of the chord from 1/2 to 1, which is that of the errors: the Gini impurity is at
least 1 - p, and the entropy in bits at least 2 (1 - p) (Hellman and Raviv 1970). There the line of any other chord that
begins at 1/2 is lower still, since it is less steep. So the least of all lines, for all classes and chords from 1/2 to
1, is a lower bound of a leaf. Lines are labels to a search: it chooses the cheapest one for each leaf, as it chooses a
class.

No code is shorter than the entropy (Krichevsky and Trofimov's chance of the classes is a mean over all frequencies, of
which the best is the entropy's), so that a code length has the same lower bounds.
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
HALF_TO_ONE = (Fraction(1, 2), Fraction(1))  # the ends of the only chord that counts errors


@dataclass(frozen=True, eq=False, slots=True)
class MixtureLines:
    """No set of rows costs less than `unit` times the least sum of any column over them."""

    cost: Whole  # rows x lines
    unit: Fraction


def lines_below(impurity: ImpurityCost, ends: Sequence[Fraction]) -> MixtureLines | None:
    """The lines of the chords between these shares, from 1/2 to 1, of every class.

    None if the weights of the rows are too large for useful steps.
    """
    weight, steps = exact_sum(impurity.weight), FINE
    while steps > COARSE and weight * steps > HALF:
        steps //= 2
    if weight * steps > MOST:
        return None
    chords = np.array([_chord(impurity.kind, low, high, steps) for low, high in pairwise(ends)], dtype=np.int64)
    divisor = int(np.gcd.reduce(chords, axis=None)) or 1
    others, own = (chords // divisor).T
    is_own = impurity.labels[:, None] == np.arange(impurity.classes)
    each = np.where(is_own[:, :, None], own, others)  # rows x classes x chords
    cost = each.reshape(len(each), -1) * impurity.weight[:, None]
    return MixtureLines(np.ascontiguousarray(cost), Fraction(divisor, steps) * impurity.scale)


def _chord(kind: str, low: Fraction, high: Fraction, steps: int) -> tuple[int, int]:
    """What a row of the other classes and one of the class costs by a chord between two of its shares, rounded down."""
    at_low, at_high = _per_row(kind, float(low)), _per_row(kind, float(high))
    rise = (at_high - at_low) / float(high - low)
    return _steps(at_low - rise * float(low), steps), _steps(at_low + rise * float(1 - low), steps)


def _per_row(kind: str, share: float) -> float:
    """A lower bound of what a row costs in a mixture of two classes, one with this share; concave in the share."""
    if kind == "gini":
        return 2 * share * (1 - share)
    entropy = -sum(each * log(each) for each in (share, 1 - share) if each > 0)
    return entropy / log(2) if kind == "code length" else entropy


def _steps(value: float, steps: int) -> int:
    """Rounded down. A chord of a concave cost that is never negative is not negative at either end."""
    return max(0, floor(value * steps) - SURE)
