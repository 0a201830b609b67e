"""Fewest leaves among trees with the least possible cost of predictions -> an answer, by a single search.

The cost first and the number of leaves second form one additive goal, so one search suffices. Trying one leaf, two
leaves, and so on would take many searches, and would have no tree until the last of them.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import Answer, Status, Stop
from treeml.backends.native.flat_tree import STATUS, STOP, tree_of
from treeml.backends.native.goals import at_most, floor, objective_of
from treeml.backends.native.inputs import make_solver, search_settings
from treeml.problem.evaluate import evaluate_goals, meets_all
from treeml.problem.problem import Bound, Goal
from treeml.problem.terms import Leaves, Predicted, Sum

if TYPE_CHECKING:
    from treeml.backends.native.run import NativeRun


def smallest_perfect(run: NativeRun, bound: Bound) -> Answer | None:
    """None if the bound on predictions is above the least possible cost, or if the joint goal overflows."""
    # imported here: start-up time
    from treeml.backends.task.greedy_start import greedy_for_bound

    problem = run.problem
    factor, cost, limit = at_most(bound)
    signed = np.asarray(cost) * (1 if factor > 0 else -1)
    least = Predicted(signed).lower_bound(problem, Fraction(1), row_by_row=False)
    if least is None or least != floor(limit / abs(factor)):
        return None
    goals = (Goal(Sum(((Fraction(1), Predicted(signed)),))), Goal(Sum(((Fraction(1), Leaves()),))))
    both = problem.asking(goals, tuple(other for other in problem.bounds if other is not bound))
    try:
        joined = objective_of(both)
    except OverflowError:
        return None
    settings = {
        **search_settings(problem, joined, run.limits, run.kernel),
        "upper": joined.first_weighs * (int(least) + 1) + joined.later_most,
    }
    start = greedy_for_bound(problem) if run.start is None else run.start
    inner = replace(run, problem=both, start=start, on_progress=None, trace=[])
    found = inner.run(make_solver(both, joined, run.kernel), joined, settings)
    assert found is not None
    tree = tree_of(found, problem) if len(found.test) else None
    if tree is None or not meets_all(problem, tree):
        proved = found.status in ("optimal", "infeasible")
        status = Status.INFEASIBLE if proved else Status.UNKNOWN
        stop = Stop.PROVED if proved else STOP[found.stop]
        statistics = run.statistics(found, None, None)
        evidence = run.ended if proved else ()
        return Answer(status, stop, statistics=statistics, raw_status=found.status, evidence=evidence)
    goal = problem.goals[0].sum
    objective = evaluate_goals(problem, tree)
    below = (
        Fraction(1) if found.bound is None else max(Fraction(1), Fraction(found.bound) - joined.first_weighs * least)
    )
    price = sum((part for part, _ in goal.parts), Fraction(0))
    lower = objective[0] if found.status == "optimal" else min(objective[0], price * below + goal.constant)
    return Answer(
        STATUS[found.status],
        Stop.PROVED if found.status == "optimal" else STOP[found.stop],
        tree,
        objective,
        lower,
        statistics=run.statistics(found, objective[0], lower),
        raw_status=f"{found.status}, {found.stop}",
        evidence=run.ended if found.status == "optimal" else run.stopped_at,
    )
