"""A back-end that bounds depth or leaves -> one that minimizes them: 0, 1, 2, ... until there is a tree.

If the goal has other terms besides depth, these are minimized under every depth in turn, until depth alone would cost
more than the best tree found; so are a quotient or a root with a price on leaves, under every number of leaves. The
loop ends, since no tree is deeper than `deepest` or has more leaves than `most_leaves`; a bound that no tree can meet
is detected before the first step. A greedy tree that meets the bounds is found first, if possible: then a loop that
runs out of time still returns a tree, and the loop can stop at its value.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from time import monotonic

from treeml.backends.claims import INFEASIBLE, OPTIMAL, Evidence, Proof, combined, supporting
from treeml.backends.contract import Answer, Deadline, Limits, OnProgress, Progress, Solve, Status, Stop
from treeml.problem.evaluate import evaluate_sum, meets_all
from treeml.problem.impossible import impossible
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.quotient import quotient_of
from treeml.problem.shapes import deepest, most_leaves
from treeml.problem.terms import Depth, Leaves, Sum
from treeml.problem.tree import Node

WORDS = {Depth: "depth", Leaves: "leaves"}
SECONDS_FOR_A_TREE = 0.5  # that a first greedy tree has, also when the time is up: a late tree is better than none


def deepen(inner: Solve) -> Solve:
    """Minimize depth with a back-end that bounds it."""
    return _counting_up(inner, Depth)


def grow(inner: Solve) -> Solve:
    """Minimize the number of leaves with a back-end that bounds it."""
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
        return _Levels(counted, problem, limits, on_progress).solve(inner, start)

    return solve


def without(goal: Goal, counted: type[Depth] | type[Leaves]) -> tuple[Goal, ...]:
    """What remains to be minimized under a bound on depth or leaves; nothing if the goal has no other terms."""
    rest = Sum(tuple(part for part in goal.sum.parts if not isinstance(part[1], counted)), goal.sum.constant)
    return (Goal(rest),) if rest.parts else ()


class _Levels:
    """A loop over depths, or over numbers of leaves, with what it has found so far."""

    def __init__(
        self, counted: type[Depth] | type[Leaves], problem: Problem, limits: Limits, on_progress: OnProgress | None
    ) -> None:
        self.began = monotonic()
        self.counted = counted
        self.problem = problem
        self.limits = limits
        self.on_progress = on_progress
        self.goal = problem.goals[0].sum
        self.price = sum((factor for factor, term in self.goal.parts if isinstance(term, counted)), Fraction(0))
        self.rest_goals = without(problem.goals[0], counted)
        self.rest = self.rest_goals[0].sum if self.rest_goals else Sum((), self.goal.constant)
        quotient = quotient_of(self.rest_goals[0]) if self.rest_goals else None
        self.rest_at_best = self.rest.lower_bound(problem) if quotient is None else quotient.value(quotient.least)
        self.best: Answer | None = None
        self.value: Fraction | None = None
        self.conflict: tuple[str, ...] = ()
        self.statistics: dict[str, float] = {}
        self.trace: list[Progress] = []
        self.notes: tuple[str, ...] = ()  # on the last level without a tree
        self.proofs: list[Evidence] = []  # of all levels so far
        self.tolerance = Fraction(0)

    def solve(self, inner: Solve, start: Node | None) -> Answer:
        first = _first_tree(self.problem, start, self.limits.deadline)
        if first is not None and not self.improve(Answer(Status.FEASIBLE, Stop.TIME, first), first, None, ()):
            return self.unproved(Stop.INTERRUPTED, None)
        for level in range(0 if self.counted is Depth else 1, _most(self.problem, self.counted) + 1):
            least = self.lower_bound(level)
            if self.value is not None and least is not None and least >= self.value:
                break
            if self.limits.deadline.passed:
                return self.unproved(Stop.TIME, least)
            limit = Bound(Sum(((Fraction(1), self.counted()),)), "<=", Fraction(level))
            asked = self.problem.asking(self.rest_goals, (*self.problem.bounds, limit))
            stopped = self.take(inner(asked, self.limits, start, None), level, least)
            if stopped is not None:
                return stopped
        return self.proved()

    def take(self, answer: Answer, level: int, least: Fraction | None) -> Answer | None:
        """Process the answer for one level; return the final answer if the loop ends here."""
        for name, number in answer.statistics.items():
            self.statistics[name] = self.statistics.get(name, 0) + number
        if answer.status is Status.INFEASIBLE:
            return self.take_no_tree(answer, level)
        if answer.tree is not None:
            goes_on = self.improve(answer, answer.tree, least, self.evidence())
            if not goes_on and (self.rest.parts or answer.status is not Status.OPTIMAL):
                return self.unproved(Stop.INTERRUPTED, least)
        if answer.status is not Status.OPTIMAL:
            self.notes = (*self.notes, *answer.notes)
            return self.unproved(answer.stop, least)
        self.proofs += supporting(answer.evidence, OPTIMAL)
        self.tolerance = max(self.tolerance, answer.tolerance)
        return None

    def take_no_tree(self, answer: Answer, level: int) -> Answer | None:
        self.conflict = answer.conflict
        self.proofs += supporting(answer.evidence, INFEASIBLE)
        how = f" ({'; '.join(answer.notes)})" if answer.notes else ""
        self.notes = (f"{WORDS[self.counted]} {level}: there is no tree{how}",)
        least = self.lower_bound(level + 1)
        moment = Progress(monotonic() - self.began, None, least, evidence=self.evidence())
        return None if self.report(moment) else self.unproved(Stop.INTERRUPTED, least)

    def improve(self, answer: Answer, tree: Node, least: Fraction | None, evidence: Proof) -> bool:
        """Keep the tree if it is the best so far; False if the listener then wants to stop."""
        value = evaluate_sum(self.goal, self.problem, tree)
        if self.value is not None and value >= self.value:
            return True
        self.best, self.value = answer, value
        self.trace.append(Progress(monotonic() - self.began, (value,), least, tree, evidence=evidence))
        return self.report(self.trace[-1])

    def report(self, moment: Progress) -> bool:
        return self.on_progress is None or self.on_progress(moment) is not False

    def evidence(self) -> Proof:
        return combined("level by level", [Evidence("row by row"), *self.proofs], WORDS[self.counted])

    def lower_bound(self, level: int) -> Fraction | None:
        """No tree has less, if all trees below this level are known."""
        if self.rest_at_best is None:
            return None
        least = self.rest_at_best + self.price * level
        return least if self.value is None else min(least, self.value)

    def proved(self) -> Answer:
        """The answer when no level is left."""
        if self.best is None or self.value is None:
            # If the back-end names no conflict, any requirement may be the cause, not only those that end the loop.
            ending = _ending(self.problem, self.counted) if self.conflict else ()
            return Answer(
                Status.INFEASIBLE,
                Stop.PROVED,
                conflict=tuple(dict.fromkeys((*self.conflict, *ending))),
                statistics=self.statistics,
                evidence=combined(
                    "level by level",
                    self.proofs or [Evidence("counting", "no level is allowed")],
                    WORDS[self.counted],
                ),
            )
        return replace(
            self.best,
            status=Status.OPTIMAL,
            stop=Stop.PROVED,
            objective=(self.value,),
            bound=self.value,
            trace=tuple(self.trace),
            statistics=self.statistics,
            notes=(*self.best.notes, *self.notes),
            tolerance=self.tolerance,
            evidence=self.evidence(),
        )

    def unproved(self, stop: Stop, least: Fraction | None) -> Answer:
        """The answer when the loop ends early; `least` is the bound that is proved by then."""
        best = Answer(Status.UNKNOWN, stop) if self.best is None else self.best
        if self.best is not None and self.value is not None:
            least = least if least is None else min(least, self.value)
            best = replace(self.best, status=Status.FEASIBLE, stop=stop, objective=(self.value,))
        return replace(
            best,
            bound=least,
            evidence=() if least is None else self.evidence(),
            statistics=self.statistics,
            trace=tuple(self.trace),
            notes=self.notes,
        )


def _most(problem: Problem, counted: type[Depth] | type[Leaves]) -> int:
    return deepest(problem) if counted is Depth else most_leaves(problem)


def _ending(problem: Problem, counted: type[Depth] | type[Leaves]) -> tuple[str, ...]:
    """Names of bounds that limit the number of levels: they are part of a conflict."""
    most = _most(problem, counted)
    names = dict.fromkeys(bound.name for bound in problem.bounds if bound.name)
    return tuple(
        name
        for name in names
        if _most(problem.asking((), tuple(other for other in problem.bounds if other.name != name)), counted) > most
    )


def _first_tree(problem: Problem, start: Node | None, deadline: Deadline) -> Node | None:
    """The start, if it meets the bounds, or a greedy tree that does; None if there is neither."""
    from treeml.backends.task.greedy_start import greedy_for_bound  # imported here: start-up time

    if start is not None and meets_all(problem, start):
        return start
    tree = greedy_for_bound(problem, Deadline(max(deadline.at, monotonic() + SECONDS_FOR_A_TREE)))
    return tree if tree is not None and meets_all(problem, tree) else None
