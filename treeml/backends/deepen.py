"""A back-end that bounds depth -> one that minimizes it: depth 0, 1, 2, ... until a tree is there.

With other terms beside depth in the goal, these are minimized under every depth in turn, until depth alone would cost
more than the best tree found. The loop ends: no tree is deeper than `deepest`, and a bound that no tree of any depth
can meet is seen before the first step.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from time import monotonic

from treeml.backends.contract import (
    Answer,
    Bound,
    Depth,
    Goal,
    Limits,
    Node,
    OnProgress,
    Problem,
    Progress,
    Solve,
    Status,
    Stop,
    Sum,
)
from treeml.backends.evaluate import evaluate_sum
from treeml.backends.shapes import at_best, deepest, impossible


def deepen(inner: Solve) -> Solve:
    def solve(problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
        if len(problem.goals) != 1 or "Depth" not in problem.goals[0].sum.kinds():
            return inner(problem, limits, start, on_progress)
        hopeless = impossible(problem)
        if hopeless is not None:
            names = (hopeless.name,) if hopeless.name else ()
            return Answer(Status.INFEASIBLE, Stop.PROVED, conflict=names, raw_status="no tree of any depth")
        return _by_levels(inner, problem, limits, start, on_progress)

    return solve


def without_depth(goal: Goal) -> tuple[Goal, ...]:
    """What is left to minimize under a bound on depth; nothing, if depth was all."""
    rest = Sum(tuple(part for part in goal.sum.parts if not isinstance(part[1], Depth)), goal.sum.constant)
    return (Goal(rest),) if rest.parts else ()


def _by_levels(
    inner: Solve, problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None
) -> Answer:
    began = monotonic()
    goal = problem.goals[0].sum
    price = sum((factor for factor, term in goal.parts if isinstance(term, Depth)), Fraction(0))
    rest_goals = without_depth(problem.goals[0])
    rest = rest_goals[0].sum if rest_goals else Sum((), goal.constant)
    rest_at_best = at_best(rest, problem)
    best: Answer | None = None
    value: Fraction | None = None
    conflict: tuple[str, ...] = ()
    statistics: dict[str, float] = {}
    trace: list[Progress] = []
    notes: list[str] = []

    def proved_so_far(level: int) -> Fraction | None:
        """No tree of this depth or deeper has less; shallower ones are known."""
        if rest_at_best is None:
            return None
        least = rest_at_best + price * level
        return least if value is None else min(least, value)

    for level in range(deepest(problem) + 1):
        least = proved_so_far(level)
        if value is not None and (not rest.parts or (least is not None and least >= value)):
            break
        if limits.deadline.passed:
            return _unproved(best, value, Stop.TIME, least, statistics, trace)
        limit = Bound(Sum(((Fraction(1), Depth()),)), "<=", Fraction(level))
        answer = inner(problem.asking(rest_goals, (*problem.bounds, limit)), limits, start, None)
        for name, number in answer.statistics.items():
            statistics[name] = statistics.get(name, 0) + number
        notes.extend(answer.notes)
        if answer.status is Status.INFEASIBLE:
            conflict = answer.conflict
            if (
                on_progress is not None
                and on_progress(Progress(monotonic() - began, None, proved_so_far(level + 1))) is False
            ):
                return _unproved(best, value, Stop.INTERRUPTED, proved_so_far(level + 1), statistics, trace)
            continue
        if answer.tree is not None:
            found = evaluate_sum(goal, problem, answer.tree)
            if value is None or found < value:
                best, value = answer, found
                trace.append(Progress(monotonic() - began, (value,), least, answer.tree))
                stopped = on_progress is not None and on_progress(trace[-1]) is False
                if stopped and (rest.parts or answer.status is not Status.OPTIMAL):
                    return _unproved(best, value, Stop.INTERRUPTED, least, statistics, trace)
        if answer.status is not Status.OPTIMAL:
            return _unproved(best, value, answer.stop, least, statistics, trace)
    if best is None or value is None:
        return Answer(Status.INFEASIBLE, Stop.PROVED, conflict=conflict, statistics=statistics)
    return replace(
        best,
        status=Status.OPTIMAL,
        stop=Stop.PROVED,
        objective=(value,),
        bound=value,
        trace=tuple(trace),
        statistics=statistics,
        notes=tuple(dict.fromkeys(notes)),
    )


def _unproved(
    best: Answer | None,
    value: Fraction | None,
    stop: Stop,
    least: Fraction | None,
    statistics: dict[str, float],
    trace: list[Progress],
) -> Answer:
    if best is None or value is None:
        return Answer(Status.UNKNOWN, stop, bound=least, statistics=statistics, trace=tuple(trace))
    return replace(
        best,
        status=Status.FEASIBLE,
        stop=stop,
        objective=(value,),
        bound=least if least is None else min(least, value),
        statistics=statistics,
        trace=tuple(trace),
    )
