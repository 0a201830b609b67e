"""Answer about rounded numbers -> what it proves about the user's own numbers.

Weights or numbers to predict with more digits than 64 bits hold are rounded when the data are bound, if only the last
goal reads them. The best tree for the rounded numbers is then within a tolerance of the best tree for the user's.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from treeml.backends.claims import is_sharp
from treeml.backends.contract import Answer, Status, Stop
from treeml.backends.run import bounded_goal
from treeml.data.rounding import WeighedRows, tolerance_of_costs, tolerance_of_targets, tolerance_of_weights
from treeml.data.table import Dataset
from treeml.lang.measures import MEASURES
from treeml.lang.spec import CheckedGoal
from treeml.problem.constants import exact_sum, group_losses
from treeml.problem.magnitudes import largest
from treeml.problem.problem import Problem
from treeml.problem.terms import Sum


def for_the_users_numbers(answer: Answer, dataset: Dataset, value: Fraction | None, problem: Problem) -> Answer:
    """The answer with a tolerance that includes the rounding; `value` is that of the last goal, if there is a tree."""
    goals = dataset.spec.goals
    is_on_the_last = answer.bound is not None and bounded_goal(answer) % len(goals) == len(goals) - 1
    if value is None and is_on_the_last:
        value = answer.bound
    if not dataset.rounding or not goals or value is None:
        return answer
    tolerance = answer.tolerance + _tolerance(dataset, value)
    is_proof = answer.status is Status.OPTIMAL
    if is_proof and is_sharp(tolerance, value):
        return replace(answer, tolerance=tolerance)
    bound = answer.bound
    if bound is not None and is_on_the_last:
        bound -= tolerance
        if not dataset.rounding.costs and _is_never_negative(problem.goals[-1].sum):
            bound = max(bound, Fraction(0))
        least = _least_of_shares(goals[-1])
        bound = bound if least is None else max(bound, least)
    if not is_proof:
        return replace(answer, tolerance=tolerance, bound=bound)
    note = (
        f"no tree is better by more than {float(tolerance):.3g}, as numbers were rounded, which is too large relative "
        f"to {float(value):.6g} to call this tree optimal"
    )
    return replace(
        answer,
        status=Status.FEASIBLE,
        stop=Stop.FINISHED,
        tolerance=tolerance,
        bound=bound if len(goals) == 1 else None,
        notes=(*answer.notes, note),
    )


def _least_of_shares(goal: CheckedGoal) -> Fraction | None:
    """What no tree is better than, as a value to minimize, if the goal adds up shares alone; otherwise None.

    Every share lies between 0 and 1, so the least of it is 0 where it adds to the value, and 1 where it is subtracted.
    """
    if any(MEASURES[use.measure].unit != "share" for _, use in goal.expression.parts):
        return None
    sign = -1 if goal.sense == "maximize" else 1
    factors = [sign * factor for factor, _ in goal.expression.parts]
    return sum((min(factor, Fraction(0)) for factor in factors), sign * goal.expression.constant)


def _is_never_negative(total: Sum) -> bool:
    """Is the sum 0 or more for every tree, whatever the targets are, and for all weights from 0 on?"""
    return total.constant >= 0 and all(factor >= 0 and term.is_never_negative() for factor, term in total.parts)


def _tolerance(dataset: Dataset, value: Fraction) -> Fraction:
    goal, moved = dataset.spec.goals[-1], dataset.rounding
    weight = exact_sum(dataset.weight) * dataset.weight_scale
    dearest = largest(dataset.mistake_cost) * dataset.mistake_scale
    found = Fraction(0)
    if moved.weights:
        rows = WeighedRows(weight, dearest, _widest(dataset))
        found += tolerance_of_weights(goal, value, moved, rows)
    if moved.targets:
        outputs = max(1, dataset.targets.shape[1])
        found += tolerance_of_targets(goal, value, moved.targets, weight * outputs, _alone(dataset))
    if moved.costs:
        found += tolerance_of_costs(goal, moved.costs)
    return found


def _widest(dataset: Dataset) -> Fraction | None:
    """The range of the numbers to predict, added up over the outputs; None if leaves may predict beyond it."""
    if dataset.spec.linear is not None:
        return None
    if not dataset.targets.size:
        return Fraction(0)
    low, high = dataset.targets.min(axis=0).tolist(), dataset.targets.max(axis=0).tolist()
    return sum(int(most) - int(least) for least, most in zip(low, high, strict=True)) * dataset.target_scale


def _alone(dataset: Dataset) -> Fraction:
    """The squared loss of a single leaf, where a goal takes a share of it."""
    if all(use.measure != "r2" for _, use in dataset.spec.goals[-1].expression.parts):
        return Fraction(0)
    together = np.zeros(dataset.rows, dtype=np.intp)
    alone = group_losses("squared", dataset.targets[:, 0], dataset.weight, together, 1, Fraction(1, 2))
    return alone * dataset.weight_scale * dataset.target_scale**2
