"""A back-end that finds trees within bounds -> one that minimizes the largest of several sums.

A gap between groups is the largest of its differences. All values lie on a grid, so the least one is found by halving:
ask for a tree in the lower half of what is still possible. A tree lowers the value, a proof that there is none raises
the bound, and the search ends when they meet.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, lcm
from time import monotonic

from treeml.backends.claims import INFEASIBLE, Contradiction, Evidence, Proof, combined, supporting
from treeml.backends.contract import Answer, Limits, OnProgress, Progress, Solve, Status, Stop
from treeml.problem.evaluate import evaluate_sum, is_answer
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Largest, Sum
from treeml.problem.tree import Leaf, Node


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
        return _Halving(inner, problem, limits, on_progress).solve(start)

    return solve


class _Halving:
    """A search for the least value of a `Largest`, in steps of its grid; `low` and `high` are numbers of steps."""

    def __init__(self, inner: Solve, problem: Problem, limits: Limits, on_progress: OnProgress | None) -> None:
        self.began = monotonic()
        self.inner = inner
        self.problem = problem
        self.limits = limits
        self.on_progress = on_progress
        self.goal = problem.goals[0].sum
        self.factor, largest = self.goal.parts[0]
        assert isinstance(largest, Largest)
        self.largest = Sum(((Fraction(1), largest),))
        self.step = Fraction(1, lcm(*((_step(part) or Fraction(1)).denominator for part in largest.parts)))
        least = self.largest.lower_bound(problem)
        self.low: int | None = None if least is None else ceil(least / self.step)  # no tree has less
        self.high: int | None = None  # the value of the tree
        self.tree: Node | None = None
        self.proofs: list[Evidence] = []  # that there is no tree below `low`; empty if single rows show it
        self.statistics: dict[str, float] = {}
        self.trace: list[Progress] = []
        self.notes: tuple[str, ...] = ()

    def solve(self, start: Node | None) -> Answer:
        for tree in (start, *map(Leaf, range(self.problem.classes))):
            if tree is not None and is_answer(self.problem, tree):
                self.take(tree)
        if self.high is None:
            answer = self.ask((), start)
            if answer.tree is None:
                return answer
            self.take(answer.tree)
        while not self.is_proved:
            stop = self.halve()
            if stop is not None:
                return self.unproved(stop)
        return self.proved()

    def halve(self) -> Stop | None:
        """Asks for a tree in the lower half of the values that are still possible; why to stop, if it must."""
        if not self.told():
            return Stop.INTERRUPTED
        if self.is_near:
            return Stop.GAP
        if self.limits.deadline.passed:
            return Stop.TIME
        assert self.high is not None
        limit = self.high - 1 if self.low is None else (self.low + self.high - 1) // 2
        answer = self.ask((Bound(self.largest, "<=", self.step * limit),), None)
        if answer.tree is not None:
            if self.steps(answer.tree) > limit:
                raise Contradiction(f"its tree has {self.steps(answer.tree) * self.step}, above the limit of its bound")
            self.take(answer.tree)
            return None
        if answer.status is not Status.INFEASIBLE:
            return answer.stop
        self.low = limit + 1
        self.proofs += supporting(answer.evidence, INFEASIBLE)
        return None

    def ask(self, more: tuple[Bound, ...], start: Node | None) -> Answer:
        """Any tree that meets the bounds of the problem and these."""
        answer = self.inner(self.problem.asking((), self.problem.bounds + more), self.limits, start, None)
        for name, number in answer.statistics.items():
            self.statistics[name] = self.statistics.get(name, 0) + number
        self.notes = tuple(dict.fromkeys((*self.notes, *answer.notes)))
        return answer

    # -- what is known -----------------------------------------------------------------------

    def steps(self, tree: Node) -> int:
        return floor(evaluate_sum(self.largest, self.problem, tree) / self.step)

    def take(self, tree: Node) -> None:
        steps = self.steps(tree)
        if self.high is None or steps < self.high:
            self.tree, self.high = tree, steps
            self.trace.append(Progress(monotonic() - self.began, (self.value(steps),), None, tree))

    def value(self, steps: int) -> Fraction:
        return self.factor * self.step * steps + self.goal.constant

    @property
    def is_proved(self) -> bool:
        return self.low is not None and self.high is not None and self.high <= self.low

    @property
    def is_near(self) -> bool:
        """Is the value within the gap that ends the search?"""
        if not self.limits.gap or self.low is None or self.high is None:
            return False
        value = self.value(self.high)
        return value - self.value(self.low) <= self.limits.gap * abs(value)

    @property
    def bound(self) -> Fraction | None:
        return None if self.low is None else self.value(self.low)

    def evidence(self) -> Proof:
        if self.low is None:
            return ()
        if self.proofs:
            return combined("less and less", self.proofs)
        return (Evidence("bound meets tree", "", (Evidence("row by row"),)),)

    def told(self) -> bool:
        """Reports what is known; False if the listener wants to stop."""
        if self.on_progress is None:
            return True
        objective = None if self.high is None else (self.value(self.high),)
        moment = Progress(monotonic() - self.began, objective, self.bound, self.tree, evidence=self.evidence())
        return self.on_progress(moment) is not False

    # -- the end -----------------------------------------------------------------------------

    def proved(self) -> Answer:
        return self.answer(Status.OPTIMAL, Stop.PROVED)

    def unproved(self, stop: Stop) -> Answer:
        return self.answer(Status.FEASIBLE, Stop.FINISHED if stop is Stop.PROVED else stop)

    def answer(self, status: Status, stop: Stop) -> Answer:
        assert self.high is not None
        return Answer(
            status,
            stop,
            self.tree,
            (self.value(self.high),),
            self.bound,
            trace=tuple(self.trace),
            statistics=self.statistics,
            notes=self.notes,
            evidence=self.evidence(),
        )


def _step(total: Sum) -> Fraction | None:
    """A number of which all values of the sum are whole multiples; None if no such number is known."""
    denominators = [total.constant.denominator]
    for factor, term in total.parts:
        if term.step is None:
            return None
        denominators.append((factor * term.step).denominator)
    return Fraction(1, lcm(*denominators))
