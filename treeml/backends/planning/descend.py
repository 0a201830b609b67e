"""A back-end that finds trees within bounds -> one that minimizes the largest of several sums.

A gap between groups is the largest of its differences. Any tree gives a first value. Every next tree must have
all parts lower by at least one step of the grid on which the values lie; if there is no such tree, the last is optimal.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import lcm
from time import monotonic

from treeml.backends.claims import INFEASIBLE, combined, supporting
from treeml.backends.contract import Answer, Limits, OnProgress, Progress, Solve, Status, Stop
from treeml.problem.evaluate import evaluate_sum
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Largest, Sum
from treeml.problem.tree import Node


def descends(goal: Goal) -> bool:
    """Is the goal a `Largest` of sums whose values lie on a grid?"""
    if len(goal.sum.parts) != 1:
        return False
    factor, term = goal.sum.parts[0]
    return isinstance(term, Largest) and factor > 0 and all(_step(part) is not None for part in term.parts)


def descend(inner: Solve) -> Solve:
    def solve(problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
        if len(problem.goals) != 1 or not descends(problem.goals[0]):
            return inner(problem, limits, start, on_progress)
        return _lower_and_lower(inner, problem, limits, start, on_progress)

    return solve


def _lower_and_lower(
    inner: Solve, problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None
) -> Answer:
    began = monotonic()
    goal = problem.goals[0].sum
    factor, largest = goal.parts[0]
    assert isinstance(largest, Largest)
    step = Fraction(1, lcm(*((_step(part) or Fraction(1)).denominator for part in largest.parts)))
    best: Answer | None = None
    value = Fraction(0)
    lower: tuple[Bound, ...] = ()
    statistics: dict[str, float] = {}
    trace: list[Progress] = []
    while True:
        answer = inner(problem.asking((), problem.bounds + lower), limits, start if best is None else None, None)
        for name, number in answer.statistics.items():
            statistics[name] = statistics.get(name, 0) + number
        if answer.tree is None:
            break
        best, value = answer, evaluate_sum(goal, problem, answer.tree)
        trace.append(Progress(monotonic() - began, (value,), None, answer.tree))
        if on_progress is not None and on_progress(trace[-1]) is False:
            answer = Answer(Status.UNKNOWN, Stop.INTERRUPTED)
            break
        lower = (Bound(Sum(((Fraction(1), largest),)), "<=", (value - goal.constant) / factor - step),)
    if best is None:
        return replace(answer, statistics=statistics)
    proved = answer.status is Status.INFEASIBLE
    return replace(
        best,
        status=Status.OPTIMAL if proved else Status.FEASIBLE,
        stop=answer.stop,
        objective=(value,),
        bound=value if proved else None,
        evidence=combined("less and less", supporting(answer.evidence, INFEASIBLE)),
        trace=tuple(trace),
        statistics=statistics,
    )


def _step(total: Sum) -> Fraction | None:
    """A number of which all values of the sum are whole multiples; None if no such number is known."""
    denominators = [total.constant.denominator]
    for factor, term in total.parts:
        if term.step is None:
            return None
        denominators.append((factor * term.step).denominator)
    return Fraction(1, lcm(*denominators))
