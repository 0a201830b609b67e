"""Spec -> may a column of too many digits be rounded? And what rounding means for the proof of a goal.

Whole numbers of 64 bits do not hold every column of floats. A rounded column moves every value that is computed from
it a little. A requirement turns that little into a wrong yes or no, and so does an earlier goal, whose best value later
goals must keep. So a column is rounded only if nothing but the last goal reads it, and the proof of that goal then
states a tolerance; in all other cases the column is exact, or refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from treeml.lang.measures import BUILT_IN, MEASURES, chosen_loss
from treeml.lang.spec import CheckedGoal, Spec, Use

_UNWEIGHTED_UNITS = frozenset({"count", "rows", "truth"})
_PER_WEIGHT = frozenset({"weight", "cost", "loss"})  # a measure of these units grows in proportion to the weights


@dataclass(frozen=True, slots=True)
class Rounding:
    """How far rounding moved the numbers of a data set; all 0: not at all."""

    weights: Fraction = Fraction(0)  # the largest change of a weight, relative to the weight
    targets: Fraction = Fraction(0)  # the largest change of a number to predict

    def __bool__(self) -> bool:
        return bool(self.weights or self.targets)


EXACT_NUMBERS = Rounding()


def reads_weights(use: Use) -> bool:
    """Does the measure depend on the weights of rows? Measures of other packages are taken to do so."""
    return MEASURES[use.measure].unit not in _UNWEIGHTED_UNITS and use.measure != "test_cost"


def reads_targets(use: Use) -> bool:
    """Does the measure depend on the numbers to predict? Measures of other packages are taken to do so."""
    return MEASURES[use.measure].leaf_loss is not None or use.measure not in BUILT_IN


def weights_may_be_rounded(spec: Spec) -> bool:
    """Does at most the last goal read the weights, and is the tolerance of its proof known?"""
    if _is_read_before(spec, reads_weights):
        return False
    if spec.ensemble is not None:  # a variance is a small difference of large sums; an own criterion may be anything
        return spec.ensemble.name in ("lpboost", "hardmargin")
    goal = spec.goals[-1] if spec.goals else None
    if goal is None:
        return True
    if any(cost < 0 for cost in spec.mistake_costs.values()):
        return False
    uses = [use for _, use in goal.expression.parts if reads_weights(use)]
    in_proportion = [use for use in uses if MEASURES[use.measure].unit in _PER_WEIGHT]
    if any(use.measure not in BUILT_IN for use in uses) or len(in_proportion) > 1:
        return False
    return _only_adds_up(goal) or not any(map(reads_targets, uses))


def targets_may_be_rounded(spec: Spec) -> bool:
    """The same for the numbers to predict."""
    if _is_read_before(spec, reads_targets):
        return False
    goal = spec.goals[-1] if spec.goals else None
    uses = [use for _, use in goal.expression.parts if reads_targets(use)] if goal is not None else []
    if goal is None or not uses:
        return True
    return len(uses) == 1 and uses[0].measure in BUILT_IN and _only_adds_up(goal)


def _is_read_before(spec: Spec, reads: Callable[[Use], bool]) -> bool:
    """Does a requirement or an earlier goal read the column?"""
    expressions = [*(each.expression for each in spec.requirements), *(goal.expression for goal in spec.goals[:-1])]
    return any(reads(use) for expression in expressions for _, use in expression.parts)


def _only_adds_up(goal: CheckedGoal) -> bool:
    """Is a sum of nonnegative parts minimized, so that no part exceeds the goal?"""
    expression = goal.expression
    return goal.sense == "minimize" and expression.constant >= 0 and all(factor >= 0 for factor, _ in expression.parts)


def tolerance_of_weights(goal: CheckedGoal, value: Fraction, moved: Fraction, most: Fraction) -> Fraction:
    """How much worse than the best tree a tree can be that is best for the rounded weights.

    Let e be the largest relative change of a weight, at most 10^-9. A sum of weights changes by a factor between 1 - e
    and 1 + e, a share by at most 3 e, and the difference of two shares by at most 6 e. `value` is the goal of the tree;
    `most` bounds what the weights can add up to, for goals that could be small though one of their parts is large.
    """
    tolerance = Fraction(0)
    for factor, use in goal.expression.parts:
        if not reads_weights(use):
            continue
        if MEASURES[use.measure].unit not in _PER_WEIGHT:
            tolerance += 16 * moved * abs(factor)
        else:
            reach = abs(value) if _only_adds_up(goal) else abs(factor) * most
            tolerance += 8 * moved * (reach + 16 * moved * sum(abs(other) for other, _ in goal.expression.parts))
    return tolerance


def tolerance_of_targets(goal: CheckedGoal, value: Fraction, moved: Fraction, weight: Fraction) -> Fraction:
    """The same for rounded numbers to predict; `weight` is that of all rows, times the number of outputs.

    A linear loss changes by at most `moved` for each unit of weight. The root of a squared loss is a distance, so it
    changes by at most the root of what the changes alone would cost.
    """
    tolerance = Fraction(0)
    for factor, use in goal.expression.parts:
        loss = chosen_loss(use)
        if loss is None or not factor:
            continue
        if loss.kind == "squared":
            change = _root(moved * moved * weight)
            largest = _root(abs(value) / factor) + change  # no better tree has a larger root
            tolerance += 2 * factor * (2 * largest * change + change * change)
        else:
            tolerance += 2 * factor * moved * weight
    return tolerance


def _root(value: Fraction) -> Fraction:
    """The square root, rounded up in its tenth digit or later."""
    finer = 1
    while value * finer * finer < 10**20 and value:
        finer *= 10**5
    return Fraction(isqrt(int(value * finer * finer)) + 1, finer) if value else Fraction(0)
