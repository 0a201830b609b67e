"""A back-end that bounds sums -> one that also bounds mcc and gmean, by search over the counts.

With a given number of false positives, such a requirement is a limit on the true positives. For an interval of these
numbers it implies weaker limits and a line. If the best tree within those does not meet the requirement itself, the
interval is divided at its number of false positives, so that no part allows this tree again.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count as numbers
from time import monotonic

from treeml.backends.claims import BOUND, INFEASIBLE, OPTIMAL, Evidence, Proof, combined, supporting
from treeml.backends.contract import Answer, Limits, OnProgress, Progress, Solve, Status, Stop
from treeml.problem.counts import LARGEST, PositiveCounts, counts_of
from treeml.problem.evaluate import Routed, evaluate_goals, is_answer
from treeml.problem.problem import Bound, Problem
from treeml.problem.tree import Node

TURNED = {"<=": ">=", ">=": "<=", "=": "="}


def narrows(bound: Bound) -> bool:
    """Is this a requirement on mcc or gmean alone?"""
    return counts_of(bound.sum) is not None


def example_bounds(bound: Bound) -> tuple[Bound, ...]:
    """Bounds such as those that stand for a requirement on mcc or gmean."""
    table = counts_of(bound.sum)
    assert table is not None
    line = Bound(table.line(LARGEST, LARGEST), "<=", Fraction(1), bound.name)
    return (*table.wrong_between(1, table.most_wrong - 1, bound.name), table.right_bound(">=", 1, bound.name), line)


def narrow(inner: Solve) -> Solve:
    def solve(problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
        place = next((number for number, bound in enumerate(problem.bounds) if narrows(bound)), None)
        if place is None:
            return inner(problem, limits, start, on_progress)
        bound = problem.bounds[place]
        rest = problem.bounds[:place] + problem.bounds[place + 1 :]
        if bound.sense == "=":
            sides = (replace(bound, sense="<="), replace(bound, sense=">="))
            return solve(problem.asking(problem.goals, rest + sides), limits, start, on_progress)
        # Other requirements of this kind are left to the same function.
        return _Parts(solve, problem, bound, rest, limits, on_progress).solve(start)

    return solve


class _Parts:
    """A search over intervals of numbers of false positives, the one with the least bound first."""

    def __init__(
        self,
        inner: Solve,
        problem: Problem,
        bound: Bound,
        rest: tuple[Bound, ...],
        limits: Limits,
        on_progress: OnProgress | None,
    ) -> None:
        table = counts_of(bound.sum)
        assert table is not None
        self.began = monotonic()
        self.inner, self.problem, self.rest = inner, problem, rest
        self.table: PositiveCounts = table
        factor = bound.sum.parts[0][0]
        self.limit = (bound.limit - bound.sum.constant) / factor
        self.sense = bound.sense if factor > 0 else TURNED[bound.sense]
        self.name = bound.name
        self.limits, self.on_progress = limits, on_progress
        self.open: list[tuple[tuple[Fraction, ...], int, tuple[int, int]]] = []
        self.ticket = numbers()
        self.tree: Node | None = None
        self.best: tuple[Fraction, ...] | None = None
        self.proofs: list[Evidence] = []  # for intervals that are done
        self.bounded: list[Evidence] = []  # for intervals that were divided: no part has a better tree
        self.conflicts: list[tuple[str, ...]] = []
        self.statistics: dict[str, float] = {}
        self.trace: list[Progress] = []
        self.notes: tuple[str, ...] = ()
        self.tolerance = Fraction(0)

    def solve(self, start: Node | None) -> Answer:
        if start is not None and is_answer(self.problem, start):
            self.improve(start)
        self.open.append(((), next(self.ticket), (0, self.table.most_wrong)))
        while self.open and not (self.best is not None and self.settled(self.open[0][0])):
            known, _, part = heappop(self.open)
            answer = self.ask(*part)
            if answer is None:
                self.proofs.append(Evidence("counting", "no number of true positives is enough"))
                self.conflicts.append((self.name,))
                continue
            ended = self.take(answer, known, part)
            if ended is not None:
                return ended
        return self.finished()

    def settled(self, bound: tuple[Fraction, ...]) -> bool:
        """Is no tree with this bound better than the best one?"""
        return not self.problem.goals or (bool(bound) and self.best is not None and bound >= self.best)

    def take(self, answer: Answer, known: tuple[Fraction, ...], part: tuple[int, int]) -> Answer | None:
        """Learns from the answer for an interval; the final answer if the search ends with it."""
        self.tolerance = max(self.tolerance, answer.tolerance)
        if answer.status is Status.INFEASIBLE:
            self.proofs += supporting(answer.evidence, INFEASIBLE)
            self.conflicts.append(answer.conflict)
            return None
        meets = answer.tree is not None and is_answer(self.problem, answer.tree)
        if meets:
            self.improve(answer.tree)
        if answer.status is not Status.OPTIMAL or answer.tree is None:
            return self.unproved(answer, known)
        proof = supporting(answer.evidence, BOUND) or supporting(answer.evidence, OPTIMAL)
        if meets:
            self.proofs += proof
        else:
            self.bounded += proof
            self.divide(part, answer.objective or (), self.table.of(Routed(self.problem, answer.tree))[1])
        if self.on_progress is not None and self.on_progress(self.moment()) is False:
            return self.unproved(Answer(Status.FEASIBLE, Stop.INTERRUPTED), known)
        return self.unproved(Answer(Status.FEASIBLE, Stop.TIME), known) if self.is_late() else None

    def is_late(self) -> bool:
        return bool(self.open) and self.limits.deadline.passed

    def divide(self, part: tuple[int, int], value: tuple[Fraction, ...], at: int) -> None:
        low, high = part
        middle = at if self.sense == ">=" else at + 1
        for each in ((low, middle - 1), (middle, high)):
            heappush(self.open, (value, next(self.ticket), each))

    def ask(self, low: int, high: int) -> Answer | None:
        """The best tree within what the requirement implies for the interval; None if no counts are left."""
        table = self.table
        bounds: list[Bound] = []
        if self.sense == ">=":
            high = table.greatest_wrong(low, high, self.limit)
            least = table.least_right(low, self.limit) if high >= low else None
            if least is None:
                return None
            cut = table.cut(low, high, self.limit, self.name)
            bounds += [] if cut is None else [cut]
            bounds += [table.right_bound(">=", least, self.name)] if least else []
        else:
            most = table.greatest_right(high, self.limit)
            if most is None:
                return None
            bounds += [table.right_bound("<=", most, self.name)] if most < table.most_right else []
        bounds += table.wrong_between(low, high, self.name)
        asked = self.problem.asking(self.problem.goals, (*self.rest, *bounds))
        start = self.tree if self.tree is not None and is_answer(asked, self.tree) else None
        answer = self.inner(asked, self.limits, start, None)
        for name, number in answer.statistics.items():
            self.statistics[name] = self.statistics.get(name, 0) + number
        self.statistics["intervals"] = self.statistics.get("intervals", 0) + 1
        self.notes = tuple(dict.fromkeys((*self.notes, *answer.notes)))
        return answer

    # -- what is known -----------------------------------------------------------------------

    def improve(self, tree: Node | None) -> None:
        assert tree is not None
        value = evaluate_goals(self.problem, tree)
        if self.best is None or value < self.best:
            self.tree, self.best = tree, value
            self.trace.append(Progress(monotonic() - self.began, value, None, tree))

    def bound(self, more: list[tuple[Fraction, ...]]) -> Fraction | None:
        """A number that no tree is below; None if an interval has none yet."""
        known = [value for value, _, _ in self.open] + more + ([] if self.best is None else [self.best])
        return min(value[0] for value in known) if known and all(known) else None

    def evidence(self) -> Proof:
        return combined("count by count", [*self.proofs, *self.bounded])

    def moment(self) -> Progress:
        evidence = self.evidence()
        bound = self.bound([]) if evidence else None
        return Progress(monotonic() - self.began, self.best, bound, self.tree, evidence=evidence)

    # -- the end -----------------------------------------------------------------------------

    def finished(self) -> Answer:
        if self.tree is None:
            names = tuple(dict.fromkeys(name for each in self.conflicts for name in each))
            conflict = names if all(self.conflicts) else ()
            return self.answer(Status.INFEASIBLE, Stop.PROVED, None, conflict=conflict)
        if not self.problem.goals:
            return self.answer(Status.OPTIMAL, Stop.PROVED, None)
        assert self.best is not None
        return self.answer(Status.OPTIMAL, Stop.PROVED, self.best[0])

    def unproved(self, answer: Answer, known: tuple[Fraction, ...]) -> Answer:
        """The answer when the search ends with this answer for an interval whose bound is known."""
        own = known if answer.bound is None else (answer.bound,)
        bound = self.bound([] if answer.status is Status.FEASIBLE and answer.tree is None else [own])
        if answer.bound is not None:
            self.proofs += supporting(answer.evidence, BOUND)
        status = Status.UNKNOWN if self.tree is None else Status.FEASIBLE
        if self.tree is not None and answer.status is Status.LOCAL:
            status = Status.LOCAL
        stop = Stop.FINISHED if answer.stop is Stop.PROVED else answer.stop
        return self.answer(status, stop, bound, raw_status=answer.raw_status)

    def answer(
        self,
        status: Status,
        stop: Stop,
        bound: Fraction | None,
        conflict: tuple[str, ...] = (),
        raw_status: str = "",
    ) -> Answer:
        evidence = self.evidence()
        if status is Status.INFEASIBLE:
            evidence = combined("count by count", self.proofs)
        if status is Status.OPTIMAL and not self.problem.goals:
            evidence = (Evidence("no goal"),)
        return Answer(
            status,
            stop,
            self.tree,
            self.best,
            bound if evidence else None,
            conflict=conflict,
            trace=tuple(self.trace),
            statistics=self.statistics,
            raw_status=raw_status,
            notes=self.notes,
            tolerance=self.tolerance if status is not Status.INFEASIBLE else Fraction(0),
            evidence=evidence,
        )
