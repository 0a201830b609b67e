"""A back-end that minimizes sums within bounds -> one that optimizes mcc or gmean, by search over the counts.

Both rise with the true positives and fall with the false positives. For an interval of numbers of false positives, the
back-end finds the tree that is best along a line: no tree with a number in the interval has more true positives than
the line allows, which bounds the measure. The tree itself is the best one with its number of false positives, so the
interval is divided there, and each part is searched further only if its bound is above the best value so far. The bound
of a search that is stopped is a line as well; if the first one takes long, it is repeated for the sake of its bound. To
minimize a measure is to maximize minus the measure over the counts of the opposite predictions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count as numbers
from math import floor, inf
from time import monotonic

from treeml.backends.claims import BOUND, INFEASIBLE, OPTIMAL, Contradiction, Evidence, Proof, combined, supporting
from treeml.backends.contract import Answer, Deadline, Limits, OnProgress, Progress, Solve, Status, Stop
from treeml.problem.counts import CountLine, PositiveCounts, counts_of
from treeml.problem.evaluate import Routed, evaluate_sum, is_answer
from treeml.problem.problem import Goal, Problem
from treeml.problem.tree import Leaf, Node

FIRST = 0.4  # of the time, for the first search; if it does not end, the rest is for its bound


def counts(goal: Goal) -> PositiveCounts | None:
    """The counts of a goal that maximizes or minimizes mcc or gmean; None for any other goal."""
    found = counts_of(goal.sum)
    if found is None or goal.sum.parts[0][0] == 0:
        return None
    return found if goal.sum.parts[0][0] < 0 else found.turned()


def count(inner: Solve) -> Solve:
    def solve(problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
        found = counts(problem.goals[0]) if len(problem.goals) == 1 else None
        if found is None:
            return inner(problem, limits, start, on_progress)
        return _Intervals(inner, problem, found, limits, on_progress).solve(start)

    return solve


@dataclass(frozen=True, slots=True)
class _Interval:
    """Numbers of false positives that are still to be searched, and lines that bound the true positives with them."""

    low: int
    high: int
    lines: tuple[CountLine, ...] = ()


class _Intervals:
    """A search over intervals, the one with the greatest bound first. Values here are those of the counts."""

    def __init__(
        self, inner: Solve, problem: Problem, table: PositiveCounts, limits: Limits, on_progress: OnProgress | None
    ) -> None:
        self.began = monotonic()
        self.inner = inner
        self.problem = problem
        self.table = table
        self.limits = limits
        self.on_progress = on_progress
        left = limits.deadline.left()
        self.first_until = limits.deadline if left == inf else Deadline.after(FIRST * left)
        self.is_first_try = left < inf  # are searches for better trees, too?
        self.factor = -abs(problem.goals[0].sum.parts[0][0])
        self.open: list[tuple[Fraction, int, _Interval]] = []  # minus the bound, a number that breaks ties
        self.ticket = numbers()
        self.tree: Node | None = None
        self.best: Fraction | None = None  # the value of the tree
        self.proofs: list[Evidence] = []
        self.statistics: dict[str, float] = {}
        self.trace: list[Progress] = []
        self.notes: tuple[str, ...] = ()

    def solve(self, start: Node | None) -> Answer:
        for tree in (start, *map(Leaf, range(self.problem.classes))):
            if tree is not None and is_answer(self.problem, tree):
                self.improve(tree)
        self.add(_Interval(0, self.table.most_wrong))
        while self.open:
            ended = self.step(self.open[0][2])
            if ended is not None and ended.status is Status.INFEASIBLE:
                return replace(ended, statistics=self.statistics, bound=None)
            if ended is not None and self.open:
                return self.unproved(ended)
            while self.open and self.best is not None and -self.open[0][0] <= self.best:
                heappop(self.open)
        return self.proved()

    def add(self, interval: _Interval) -> None:
        if interval.low > interval.high:
            return
        bound = self.table.highest(interval.low, interval.high, interval.lines)
        if self.best is None or bound > self.best:
            heappush(self.open, (-bound, next(self.ticket), interval))

    def step(self, interval: _Interval) -> Answer | None:
        """Searches one interval; the answer of the back-end if the whole search ends with it."""
        if self.limits.deadline.passed and self.tree is not None:
            return Answer(Status.FEASIBLE, Stop.TIME)
        right, wrong = self.table.slope(interval.low, interval.high, interval.lines)
        answer = self.ask(interval, right, wrong)
        if answer.stop is Stop.TIME and self.is_first_try and not self.limits.deadline.passed:
            self.is_first_try = False
            if answer.tree is not None:
                self.improve(answer.tree)
            answer = _with_better_bound(self.ask(interval, right, wrong), answer)
        if answer.status is Status.INFEASIBLE:
            if self.tree is None:
                return answer  # the first interval is that of all trees
            heappop(self.open)
            self.proofs += supporting(answer.evidence, INFEASIBLE)
            return None
        if answer.tree is not None:
            self.improve(answer.tree)
        if answer.status is not Status.OPTIMAL or answer.tree is None or answer.objective is None or answer.tolerance:
            self.narrow(interval, right, wrong, answer)
            return answer if answer.status is not Status.OPTIMAL else replace(answer, stop=Stop.FINISHED)
        heappop(self.open)
        self.proofs += supporting(answer.evidence, BOUND) or supporting(answer.evidence, OPTIMAL)
        line = CountLine(right, wrong, floor(-answer.objective[0]))
        at = self.table.of(Routed(self.problem, answer.tree))[1]
        if not interval.low <= at <= interval.high:
            raise Contradiction(f"its tree has {at} false positives, outside of the interval that was asked for")
        lines = (*interval.lines, line)
        self.add(_Interval(interval.low, at - 1, lines))
        self.add(_Interval(at + 1, interval.high, lines))
        if self.on_progress is not None and self.on_progress(self.moment()) is False:
            return Answer(Status.FEASIBLE, Stop.INTERRUPTED)
        return Answer(Status.FEASIBLE, Stop.GAP) if self.has_small_gap() else None

    def narrow(self, interval: _Interval, right: int, wrong: int, answer: Answer) -> None:
        """What the bound of a search without a proof says about its interval: no tree of it is beyond this line."""
        proof = supporting(answer.evidence, BOUND)
        if answer.bound is None or not proof:
            return
        heappop(self.open)
        self.proofs += proof
        line = CountLine(right, wrong, floor(answer.tolerance - answer.bound))
        self.add(replace(interval, lines=(*interval.lines, line)))

    def ask(self, interval: _Interval, right: int, wrong: int) -> Answer:
        within = self.table.wrong_between(interval.low, interval.high)
        asked = self.problem.asking((Goal(self.table.line(right, wrong)),), self.problem.bounds + within)
        until = self.first_until if self.is_first_try else self.limits.deadline
        # The gap is that of the measure.
        limits = replace(self.limits, gap=Fraction(0), deadline=until, for_bound=not self.is_first_try)
        start = self.tree if self.tree is not None and is_answer(asked, self.tree) else None
        answer = self.inner(asked, limits, start, self.hear if self.on_progress is not None else None)
        for name, number in answer.statistics.items():
            self.statistics[name] = self.statistics.get(name, 0) + number
        self.statistics["intervals"] = self.statistics.get("intervals", 0) + 1
        self.notes = tuple(dict.fromkeys((*self.notes, *answer.notes)))
        return answer

    def hear(self, moment: Progress) -> bool | None:
        """Passes a report of the back-end on, with the value of the measure."""
        if moment.tree is not None and is_answer(self.problem, moment.tree):
            self.improve(moment.tree)
        return None if self.on_progress is None else self.on_progress(self.moment())

    # -- what is known -----------------------------------------------------------------------

    def improve(self, tree: Node) -> None:
        found = self.table.value(*self.table.of(Routed(self.problem, tree)))
        if self.best is None or found > self.best:
            self.tree, self.best = tree, found
            self.trace.append(Progress(monotonic() - self.began, (self.goal(found),), None, tree))

    def goal(self, value: Fraction) -> Fraction:
        """The value as the goal, which is minimized."""
        return self.factor * value + self.problem.goals[0].sum.constant

    def bound(self) -> Fraction:
        highest = max((-bound for bound, _, _ in self.open), default=None)
        known = [value for value in (highest, self.best) if value is not None]
        return self.goal(max(known))

    def evidence(self) -> Proof:
        if self.proofs:
            return combined("count by count", self.proofs)
        return (Evidence("bound meets tree", "", (Evidence("row by row"),)),)

    def moment(self) -> Progress:
        objective = None if self.best is None else (self.goal(self.best),)
        return Progress(monotonic() - self.began, objective, self.bound(), self.tree, evidence=self.evidence())

    def has_small_gap(self) -> bool:
        if not self.limits.gap or self.best is None:
            return False
        value = self.goal(self.best)
        return value - self.bound() <= self.limits.gap * abs(value)

    # -- the end -----------------------------------------------------------------------------

    def proved(self) -> Answer:
        assert self.tree is not None
        value = evaluate_sum(self.problem.goals[0].sum, self.problem, self.tree)
        return self.answer(Status.OPTIMAL, Stop.PROVED, value, "")

    def unproved(self, answer: Answer) -> Answer:
        status = Status.UNKNOWN if self.tree is None else Status.FEASIBLE
        if self.tree is not None and answer.status is Status.LOCAL:
            status = Status.LOCAL
        stop = Stop.FINISHED if answer.stop is Stop.PROVED else answer.stop
        return self.answer(status, stop, self.bound(), answer.raw_status)

    def answer(self, status: Status, stop: Stop, bound: Fraction, raw_status: str) -> Answer:
        return Answer(
            status,
            stop,
            self.tree,
            None if self.best is None else (self.goal(self.best),),
            bound,
            trace=tuple(self.trace),
            statistics=self.statistics,
            raw_status=raw_status,
            notes=self.notes,
            evidence=self.evidence(),
        )


def _with_better_bound(answer: Answer, other: Answer) -> Answer:
    """The answer to a question that was asked twice, with the better bound if it proves nothing."""
    if answer.status in (Status.OPTIMAL, Status.INFEASIBLE) or other.bound is None:
        return answer
    if answer.bound is not None and answer.bound - answer.tolerance >= other.bound - other.tolerance:
        return answer
    return replace(answer, bound=other.bound, tolerance=other.tolerance, evidence=other.evidence)
