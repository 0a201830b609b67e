"""A back-end that bounds depth or leaves -> one that minimizes them: 0, 1, 2, ... until a tree is there.

With other terms beside depth in the goal, these are minimized under every depth in turn, until depth alone would cost
more than the best tree found. The loop ends: no tree is deeper than `deepest` or has more than `most_leaves`, and a
bound that no tree at all can meet is seen before the first step. A greedy tree that meets the bounds is there from the
beginning, so that a loop that runs out of time has one to show, and one that comes up to it need not ask again.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from time import monotonic

from treeml.backends.claims import INFEASIBLE, OPTIMAL, Evidence, Proof, combined, supporting
from treeml.backends.contract import Answer, Limits, OnProgress, Progress, Solve, Status, Stop
from treeml.problem.evaluate import evaluate_sum, meets_all
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.shapes import at_best, deepest, impossible, most_leaves
from treeml.problem.terms import Depth, Leaves, Sum
from treeml.problem.tree import Node

WORDS = {Depth: "depth", Leaves: "leaves"}


def deepen(inner: Solve) -> Solve:
    """Around a back-end that bounds depth."""
    return _counting_up(inner, Depth)


def grow(inner: Solve) -> Solve:
    """Around a back-end that bounds the number of leaves."""
    return _counting_up(inner, Leaves)


def _counting_up(inner: Solve, counted: type[Depth] | type[Leaves]) -> Solve:
    def solve(problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
        if len(problem.goals) != 1 or counted.__name__ not in problem.goals[0].sum.kinds():
            return inner(problem, limits, start, on_progress)
        hopeless = impossible(problem)
        if hopeless is not None:
            names = (hopeless.name,) if hopeless.name else ()
            evidence = (Evidence("counting", "no tree of any depth"),)
            return Answer(
                Status.INFEASIBLE, Stop.PROVED, conflict=names, raw_status="no tree of any depth", evidence=evidence
            )
        return _by_levels(inner, counted, problem, limits, start, on_progress)

    return solve


def without(goal: Goal, counted: type[Depth] | type[Leaves]) -> tuple[Goal, ...]:
    """What is left to minimize under a bound on depth or leaves; nothing, if they were all."""
    rest = Sum(tuple(part for part in goal.sum.parts if not isinstance(part[1], counted)), goal.sum.constant)
    return (Goal(rest),) if rest.parts else ()


def _by_levels(
    inner: Solve,
    counted: type[Depth] | type[Leaves],
    problem: Problem,
    limits: Limits,
    start: Node | None,
    on_progress: OnProgress | None,
) -> Answer:
    began = monotonic()
    goal = problem.goals[0].sum
    price = sum((factor for factor, term in goal.parts if isinstance(term, counted)), Fraction(0))
    rest_goals = without(problem.goals[0], counted)
    rest = rest_goals[0].sum if rest_goals else Sum((), goal.constant)
    rest_at_best = at_best(rest, problem)
    best: Answer | None = None
    value: Fraction | None = None
    conflict: tuple[str, ...] = ()
    statistics: dict[str, float] = {}
    trace: list[Progress] = []
    proved: tuple[str, ...] = ()  # of the level below
    levels: list[Evidence] = []  # of all levels below
    tolerance = Fraction(0)
    first = _first_tree(problem, start)
    if first is not None:
        best, value = Answer(Status.FEASIBLE, Stop.TIME, first), evaluate_sum(goal, problem, first)
        trace.append(Progress(monotonic() - began, (value,), None, first))
        if on_progress is not None and on_progress(trace[-1]) is False:
            return _unproved(best, value, Stop.INTERRUPTED, None, (), statistics, trace)

    def so_far() -> Proof:
        return combined("level by level", [Evidence("row by row"), *levels], WORDS[counted])

    def proved_so_far(level: int) -> Fraction | None:
        """No tree of this depth or deeper has less; shallower ones are known."""
        if rest_at_best is None:
            return None
        least = rest_at_best + price * level
        return least if value is None else min(least, value)

    for level in range(0 if counted is Depth else 1, _most(problem, counted) + 1):
        least = proved_so_far(level)
        if value is not None and least is not None and least >= value:
            break
        if limits.deadline.passed:
            return _unproved(best, value, Stop.TIME, least, so_far(), statistics, trace, proved)
        limit = Bound(Sum(((Fraction(1), counted()),)), "<=", Fraction(level))
        answer = inner(problem.asking(rest_goals, (*problem.bounds, limit)), limits, start, None)
        for name, number in answer.statistics.items():
            statistics[name] = statistics.get(name, 0) + number
        if answer.status is Status.INFEASIBLE:
            conflict = answer.conflict
            levels += supporting(answer.evidence, INFEASIBLE)
            how = f" ({'; '.join(answer.notes)})" if answer.notes else ""
            proved = (f"{WORDS[counted]} {level}: there is no tree{how}",)
            least = proved_so_far(level + 1)
            told = Progress(monotonic() - began, None, least, evidence=so_far())
            if on_progress is not None and on_progress(told) is False:
                return _unproved(best, value, Stop.INTERRUPTED, least, so_far(), statistics, trace, proved)
            continue
        if answer.tree is not None:
            found = evaluate_sum(goal, problem, answer.tree)
            if value is None or found < value:
                best, value = answer, found
                trace.append(Progress(monotonic() - began, (value,), least, answer.tree, evidence=so_far()))
                stopped = on_progress is not None and on_progress(trace[-1]) is False
                if stopped and (rest.parts or answer.status is not Status.OPTIMAL):
                    return _unproved(best, value, Stop.INTERRUPTED, least, so_far(), statistics, trace, proved)
        if answer.status is not Status.OPTIMAL:
            return _unproved(best, value, answer.stop, least, so_far(), statistics, trace, (*proved, *answer.notes))
        levels += supporting(answer.evidence, OPTIMAL)
        tolerance = max(tolerance, answer.tolerance)
    if best is None or value is None:
        # A back-end that names no conflict leaves all requirements under suspicion, not only those on the levels.
        conflict = tuple(dict.fromkeys((*conflict, *_ending(problem, counted)))) if conflict else ()
        none = combined("level by level", levels or [Evidence("counting", "no level is allowed")], WORDS[counted])
        return Answer(Status.INFEASIBLE, Stop.PROVED, conflict=conflict, statistics=statistics, evidence=none)
    return replace(
        best,
        status=Status.OPTIMAL,
        stop=Stop.PROVED,
        objective=(value,),
        bound=value,
        trace=tuple(trace),
        statistics=statistics,
        notes=(*best.notes, *proved),
        tolerance=tolerance,
        evidence=so_far(),
    )


def _most(problem: Problem, counted: type[Depth] | type[Leaves]) -> int:
    return deepest(problem) if counted is Depth else most_leaves(problem)


def _ending(problem: Problem, counted: type[Depth] | type[Leaves]) -> tuple[str, ...]:
    """Names of bounds without which there would have been more levels to ask for: they are part of a conflict."""
    most = _most(problem, counted)
    names = dict.fromkeys(bound.name for bound in problem.bounds if bound.name)
    return tuple(
        name
        for name in names
        if _most(problem.asking((), tuple(other for other in problem.bounds if other.name != name)), counted) > most
    )


def _first_tree(problem: Problem, start: Node | None) -> Node | None:
    """A tree that meets the bounds, if the start is one or a greedy one is found; it takes no search."""
    from treeml.backends.task.greedy_start import greedy_for_bound

    if start is not None and meets_all(problem, start):
        return start
    tree = greedy_for_bound(problem)
    return tree if tree is not None and meets_all(problem, tree) else None


def _unproved(
    best: Answer | None,
    value: Fraction | None,
    stop: Stop,
    least: Fraction | None,
    evidence: Proof,
    statistics: dict[str, float],
    trace: list[Progress],
    notes: tuple[str, ...] = (),
) -> Answer:
    if best is None or value is None:
        common = Answer(Status.UNKNOWN, stop, statistics=statistics, trace=tuple(trace), notes=notes)
        return replace(common, bound=least, evidence=() if least is None else evidence)
    return replace(
        best,
        status=Status.FEASIBLE,
        stop=stop,
        objective=(value,),
        bound=least if least is None else min(least, value),
        evidence=() if least is None else evidence,
        statistics=statistics,
        trace=tuple(trace),
        notes=notes,
    )
