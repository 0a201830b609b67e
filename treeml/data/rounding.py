"""Spec -> may a column of too many digits be rounded? And what rounding means for the proof of a goal.

Whole numbers of 64 bits do not hold every column of floats. A rounded column moves every value that is computed from
it a little. A requirement turns that little into a wrong yes or no, and so does an earlier goal, whose best value later
goals must keep. So a column is rounded only in these cases:

- The last goal reads it. The proof of that goal then states a tolerance.
- A requirement reads weights. The search then uses a limit that is looser by all that rounding can change, so it misses
  no tree that meets the requirement, and `verify` measures the tree with the weights as they were given. If that tree
  is good, it is also the best; if there is none for the looser limit, there is none at all. Otherwise the last digits
  of the weights decide, and the problem is refused.

In all other cases the column is exact, or refused. That includes lists of trees: whether a tree is within a distance of
the best is a yes or no as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from treeml.lang.measures import BUILT_IN, MEASURES, chosen_loss
from treeml.lang.spec import CheckedGoal, Requirement, Spec, Use

_UNWEIGHTED_UNITS = frozenset({"count", "rows", "truth"})
_UNKNOWN_EFFECT = frozenset({"value", "quotient"})  # how far rounded weights move these is not known
_NOT_ADDED_UP = frozenset({"ratio", "mcc", "gmean"})  # nor how far they move these as goals
_PER_WEIGHT = frozenset({"weight", "cost", "loss"})  # a measure of these units grows in proportion to the weights
_MEANS = frozenset({"mse", "mean_absolute_error"})  # losses that are divided by the weight of all rows
_ROWS_OF_ALL = frozenset({"errors", "mistake_cost"})  # sums over all rows
_SHARES_OF_ALL = frozenset({"error_rate", "accuracy"})  # and shares of the weight of all rows

_ROOT_DIGITS = Fraction(1, 10**9)  # a root is rounded up by less than this, relative to its value


@dataclass(frozen=True, slots=True)
class Rounding:
    """How far rounding moved the numbers of a data set; all 0: not at all."""

    weights: Fraction = Fraction(0)  # the largest change of a weight, relative to the weight
    targets: Fraction = Fraction(0)  # the largest change of a number to predict
    total: Fraction = Fraction(0)  # the changes of all weights, added up
    costs: Fraction = Fraction(0)  # the largest change of the sum of all costs of rows

    def __bool__(self) -> bool:
        return bool(self.weights or self.targets or self.costs)


EXACT_NUMBERS = Rounding()


def reads_weights(use: Use) -> bool:
    """Does the measure depend on the weights of rows? Measures of other packages are taken to do so."""
    return MEASURES[use.measure].unit not in _UNWEIGHTED_UNITS and use.measure != "test_cost"


def reads_targets(use: Use) -> bool:
    """Does the measure depend on the numbers to predict? Measures of other packages are taken to do so."""
    return MEASURES[use.measure].leaf_loss is not None or use.measure not in BUILT_IN


def reads_costs(use: Use) -> bool:
    """Does the measure depend on the costs of rows? Measures of other packages are taken to do so."""
    return use.measure in ("mistake_cost", "gain") or use.measure not in BUILT_IN


def weights_may_be_rounded(spec: Spec) -> bool:
    """Do no earlier goals read the weights, and is it known what rounding means for the last one and requirements?"""
    if spec.listing is not None or spec.row_costs:
        return False
    readers = [each for each in spec.requirements if any(reads_weights(use) for _, use in each.expression.parts)]
    if _reads(spec.goals[:-1], reads_weights) or not all(map(_can_be_loosened, readers)):
        return False
    if spec.ensemble is not None:  # a variance is a small difference of large sums; an own criterion may be anything
        return spec.ensemble.name in ("lpboost", "hardmargin") and not readers
    goal = spec.goals[-1] if spec.goals else None
    if goal is None:
        return True
    if any(cost < 0 for cost in spec.mistake_costs.values()):
        return False
    uses = [use for _, use in goal.expression.parts if reads_weights(use)]
    in_proportion = [use for use in uses if MEASURES[use.measure].unit in _PER_WEIGHT]
    if any(use.measure not in BUILT_IN or use.measure in _NOT_ADDED_UP for use in uses) or len(in_proportion) > 1:
        return False
    return _only_adds_up(goal) or all(_is_share_of_variance(use) for use in uses if reads_targets(use))


def targets_may_be_rounded(spec: Spec) -> bool:
    """The same for the numbers to predict."""
    if spec.listing is not None or _reads((*spec.requirements, *spec.goals[:-1]), reads_targets):
        return False
    goal = spec.goals[-1] if spec.goals else None
    uses = [use for _, use in goal.expression.parts if reads_targets(use)] if goal is not None else []
    if goal is None or not uses:
        return True
    return len(uses) == 1 and uses[0].measure in BUILT_IN and (_only_adds_up(goal) or _is_share_of_variance(uses[0]))


def costs_may_be_rounded(spec: Spec) -> bool:
    """The same for the costs of rows, which every goal adds up."""
    return spec.listing is None and not _reads((*spec.requirements, *spec.goals[:-1]), reads_costs)


def _reads(asked: Iterable[Requirement | CheckedGoal], reads: Callable[[Use], bool]) -> bool:
    return any(reads(use) for each in asked for _, use in each.expression.parts)


def _can_be_loosened(requirement: Requirement) -> bool:
    """Is it known how far rounded weights move the value, and can the limit move to one side?"""
    uses = [use for _, use in requirement.expression.parts if reads_weights(use)]
    return requirement.sense != "=" and not any(
        reads_targets(use) or MEASURES[use.measure].unit in _UNKNOWN_EFFECT for use in uses
    )


def looser(requirement: Requirement, limit: Fraction, rounding: Rounding, dearest: Fraction) -> Fraction:
    """A limit that every tree meets with rounded weights if it meets `limit` with the weights as they were given.

    `dearest` is the largest cost of a mistake.
    """
    if not rounding.weights or _is_an_end(requirement, limit):
        return limit
    slack = Fraction(0)
    for factor, use in requirement.expression.parts:
        if reads_weights(use):
            unit = MEASURES[use.measure].unit
            of_sums = rounding.total * (max(Fraction(1), dearest) if unit == "cost" else 1)
            slack += abs(factor) * (of_sums if unit in _PER_WEIGHT else 16 * rounding.weights)
    return limit + slack if requirement.sense == "<=" else limit - slack


def _is_an_end(requirement: Requirement, limit: Fraction) -> bool:
    """Is the limit one that rounding cannot cross? No weight becomes 0, so no rows stay no rows, and all stay all."""
    if len(requirement.expression.parts) != 1 or requirement.expression.constant:
        return False
    factor, use = requirement.expression.parts[0]
    measure = MEASURES[use.measure]
    if factor <= 0 or measure.fairness:
        return False
    return limit == 0 or (measure.unit == "share" and limit == factor)


def _is_share_of_variance(use: Use) -> bool:
    """Is the loss divided by that of a single leaf, which no tree exceeds?"""
    return use.measure == "r2"


def _only_adds_up(goal: CheckedGoal) -> bool:
    """Is a sum of nonnegative parts minimized, so that no part exceeds the goal?"""
    expression = goal.expression
    return goal.sense == "minimize" and expression.constant >= 0 and all(factor >= 0 for factor, _ in expression.parts)


@dataclass(frozen=True, slots=True)
class WeighedRows:
    """What bounds the effect of rounded weights: the weight of all rows, and the most that one unit of it costs."""

    weight: Fraction
    dearest: Fraction = Fraction(1)  # the largest cost of a mistake
    # The range of the numbers to predict, added up over the outputs. None: what leaves predict may lie outside of it,
    # as linear models do, and then a row of little weight can cost more than all others together.
    widest: Fraction | None = Fraction(0)


def tolerance_of_weights(goal: CheckedGoal, value: Fraction, rounding: Rounding, rows: WeighedRows) -> Fraction:
    """How much worse than the best tree a tree can be that is best for the rounded weights.

    Let e be the largest relative change of a weight. A sum of weights changes by a factor between 1 - e and 1 + e, a
    share by at most 3 e, and the difference of two shares by at most 6 e, as long as e is at most 10^-9. `value` is the
    goal of the tree. Whatever the single weights are, a sum over all rows changes by at most the changes of all weights
    together: that is less if few of the weights are tiny.
    """
    tolerance = Fraction(0)
    relative = rounding.weights
    for factor, use in goal.expression.parts:
        if not reads_weights(use):
            continue
        if MEASURES[use.measure].unit not in _PER_WEIGHT:
            by_factor = 16 * relative * abs(factor)
        else:
            reach = abs(value) if _only_adds_up(goal) else abs(factor) * rows.weight * max(Fraction(1), rows.dearest)
            by_factor = 8 * relative * (reach + 16 * relative * sum(abs(other) for other, _ in goal.expression.parts))
        each = _most_of_a_row(use, rows)
        tolerance += by_factor if each is None else min(by_factor, 4 * rounding.total * each * abs(factor))
    return tolerance


def _most_of_a_row(use: Use, rows: WeighedRows) -> Fraction | None:
    """The most that a unit of weight adds to a sum over all rows; None if the measure is something else.

    A share or a mean is divided by the weight of all rows, which changes by no more than the sum does.
    """
    loss = chosen_loss(use)
    if use.measure in _SHARES_OF_ALL:
        return 1 / rows.weight
    if use.measure in _ROWS_OF_ALL:
        return max(Fraction(1), rows.dearest)
    if use.measure in _MEANS or (loss is not None and loss.kind in ("squared", "absolute", "quantile")):
        if _is_share_of_variance(use) or rows.widest is None:
            return None
        most = rows.widest**2 if loss is not None and loss.kind == "squared" else rows.widest
        return most / rows.weight if use.measure in _MEANS else most
    return None


def weights_are_added_up(spec: Spec) -> bool:
    """Are weights read by sums over all rows alone, so that even a tiny weight may lose its digits?"""
    goals = [use for goal in spec.goals for _, use in goal.expression.parts if reads_weights(use)]
    known = WeighedRows(Fraction(1), widest=None if spec.linear is not None else Fraction(0))
    return not _reads(spec.requirements, reads_weights) and all(_most_of_a_row(use, known) is not None for use in goals)


def weighs_distances(spec: Spec) -> bool:
    """Does a goal multiply weights with distances between numbers, in one sum of whole numbers?"""
    losses = [chosen_loss(use) for goal in spec.goals for _, use in goal.expression.parts]
    return any(loss is not None and loss.kind in ("absolute", "quantile") for loss in losses)


def tolerance_of_targets(
    goal: CheckedGoal, value: Fraction, moved: Fraction, weight: Fraction, alone: Fraction
) -> Fraction:
    """The same for rounded numbers to predict; `weight` is that of all rows, times the number of outputs.

    A linear loss changes by at most `moved` for each unit of weight. The root of a squared loss is a distance, so it
    changes by at most the root of what the changes alone would cost. A mean has one unit of weight, whatever the rows
    weigh. `alone` is the squared loss of a single leaf, of which `r2` takes a share.
    """
    tolerance = Fraction(0)
    for factor, use in goal.expression.parts:
        loss = chosen_loss(use)
        if loss is None or not factor:
            continue
        counted = Fraction(1) if use.measure in _MEANS else weight
        change = _root(moved * moved * counted)
        if _is_share_of_variance(use):
            largest, least = _root(alone) + change, _root(alone) * (1 - _ROOT_DIGITS) - change
            moves = 2 * largest * change + change * change
            # No share is below 0 or above 1, whatever the numbers.
            tolerance += abs(factor) * (min(Fraction(1), 2 * moves / least**2) if least > 0 else 1)
        elif loss.kind == "squared":
            largest = _root(abs(value) / factor) + change  # no better tree has a larger root
            tolerance += 2 * factor * (2 * largest * change + change * change)
        else:
            tolerance += 2 * factor * moved * counted
    return tolerance


def tolerance_of_costs(goal: CheckedGoal, moved: Fraction) -> Fraction:
    """The same for rounded costs of rows: the costs of both trees may have moved."""
    return sum((2 * moved * abs(factor) for factor, use in goal.expression.parts if reads_costs(use)), Fraction(0))


def _root(value: Fraction) -> Fraction:
    """The square root, rounded up in its tenth digit or later."""
    finer = 1
    while value * finer * finer < 10**20 and value:
        finer *= 10**5
    return Fraction(isqrt(int(value * finer * finer)) + 1, finer) if value else Fraction(0)
