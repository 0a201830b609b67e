"""A back-end that minimizes sums within bounds -> one that minimizes sums with a gap, such as errors + 100 * gap.

A gap is the largest of several differences, and every tree has one that is its largest. So the trees fall into cases,
one for each difference. Within a case the goal is a plain sum, and bounds on sums keep the other differences below the
one of the case. The best tree of all cases is the best tree. Each case looks only for trees that are better than the
best one so far.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from time import monotonic

from treeml.backends.claims import BOUND, INFEASIBLE, Evidence, Proof, combined, supporting
from treeml.backends.contract import Answer, Deadline, Limits, OnProgress, Progress, Solve, Status, Stop
from treeml.problem.choices import choices, chosen, difference, largest_terms, number_of_choices
from treeml.problem.evaluate import evaluate_sum, is_answer
from treeml.problem.problem import Bound, Goal, Problem, once
from treeml.problem.terms import Sum
from treeml.problem.tree import Leaf, Node

MOST_CASES = 30  # six groups, or two gaps with two and three groups and both kinds of errors
SHARES = (0.5, 1.0)  # of the time that is left: every case has its part of the first half before one takes long
RULE = "case by case"


@dataclass(frozen=True, slots=True)
class Case:
    """The trees with `bounds`, for which the goal is `goal`."""

    goal: Goal
    bounds: tuple[Bound, ...]


def has_cases(goal: Goal) -> bool:
    """Is the goal a sum with gaps between plain sums over the predictions, and are their differences few enough?"""
    gaps = largest_terms(goal.sum)
    return (
        bool(gaps)
        and all(factor > 0 for factor, _ in gaps)
        and all(part.all_kinds() == {"Predicted"} for _, term in gaps for part in term.parts)
        and number_of_choices(goal.sum) <= MOST_CASES
    )


@once
def cases_of(problem: Problem, goal: Goal) -> tuple[Case, ...]:
    """The cases of a goal that has them. Raises TooLarge if a sum is beyond 64 bits."""
    gaps = largest_terms(goal.sum)
    found = []
    for choice in choices(goal.sum):
        bounds: list[Bound] = []
        for (_, term), largest in zip(gaps, choice, strict=True):
            others = (difference(part, largest) for part in term.parts if part is not largest)
            bounds += [Bound(Sum(each.parts), "<=", -each.constant) for each in others if each.parts]
        found.append(Case(replace(goal, sum=chosen(goal.sum, choice)), tuple(bounds)))
    return tuple(found)


def part_by_part(inner: Solve) -> Solve:
    def solve(problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
        if len(problem.goals) != 1 or not has_cases(problem.goals[0]):
            return inner(problem, limits, start, on_progress)
        return _PartByPart(inner, problem, limits, on_progress).solve(start)

    return solve


@dataclass(eq=False)
class _Open:
    """A case that is not settled: what is known about its trees, and why its last search ended."""

    case: Case
    bound: Fraction | None
    bound_by: Proof
    stop: Stop = Stop.TIME
    status: Status = Status.UNKNOWN


class _PartByPart:
    """The loop over cases, with the best tree so far."""

    def __init__(self, inner: Solve, problem: Problem, limits: Limits, on_progress: OnProgress | None) -> None:
        self.began = monotonic()
        self.inner, self.problem, self.limits, self.on_progress = inner, problem, limits, on_progress
        self.goal = problem.goals[0].sum
        self.tree: Node | None = None
        self.value: Fraction | None = None
        least = self.goal.lower_bound(problem, row_by_row=True)
        known = () if least is None else (Evidence("row by row"),)
        self.open = [_Open(case, least, known) for case in cases_of(problem, problem.goals[0])]
        self.proofs: list[Evidence] = []  # of the cases that are settled
        self.tolerance = Fraction(0)
        self.statistics: dict[str, float] = {}
        self.trace: list[Progress] = []
        self.notes: tuple[str, ...] = ()
        self.within_gap = False

    def solve(self, start: Node | None) -> Answer:
        for tree in (start, *map(Leaf, range(self.problem.classes))):
            self.take(tree)
        for share in SHARES:
            waiting = [each for each in self.open if each.stop is Stop.TIME]
            for number, each in enumerate(waiting):
                left = self.limits.deadline.left()
                if not left:
                    break
                stop = self.search(each, share * left / (len(waiting) - number if share < 1 else 1))
                if stop is not None:
                    return self.unproved(stop)
        return self.unproved(self.open[0].stop) if self.open else self.proved()

    def search(self, open_case: _Open, seconds: float) -> Stop | None:
        """Searches one case; why to stop, if all of the search must."""
        answer = self.ask(open_case, seconds)
        self.take(answer.tree)
        self.tolerance = max(self.tolerance, answer.tolerance)
        if answer.status in (Status.OPTIMAL, Status.INFEASIBLE):
            self.open.remove(open_case)
            self.proofs += supporting(answer.evidence, INFEASIBLE if answer.status is Status.INFEASIBLE else BOUND)
        else:
            open_case.stop, open_case.status = answer.stop, answer.status
            self.raise_bound(open_case, answer.bound, answer.evidence)
        if self.has_small_gap():
            return Stop.GAP if self.open else None
        if self.on_progress is not None and self.on_progress(self.moment()) is False:
            return Stop.INTERRUPTED
        return Stop.INTERRUPTED if answer.stop is Stop.INTERRUPTED else None

    def ask(self, open_case: _Open, seconds: float) -> Answer:
        """The best tree of a case that is better than the best one so far."""
        case = open_case.case
        bounds = (*self.problem.bounds, *case.bounds)
        if self.value is not None:
            bounds += (Bound(case.goal.sum, "<=", self.better(case.goal.sum)),)
        asked = self.problem.asking((case.goal,), bounds)
        deadline = self.limits.deadline if seconds == float("inf") else Deadline.after(seconds)
        limits = replace(self.limits, gap=Fraction(0), deadline=deadline)  # the gap is that of all cases

        def listen(moment: Progress) -> bool | None:
            self.take(moment.tree)
            self.raise_bound(open_case, moment.bound, moment.evidence)
            if self.on_progress is not None and self.on_progress(self.moment()) is False:
                return False
            return False if self.has_small_gap() else None

        listens = self.on_progress is not None or bool(self.limits.gap)
        answer = self.inner(asked, limits, None, listen if listens else None)
        for name, number in answer.statistics.items():
            self.statistics[name] = self.statistics.get(name, 0) + number
        self.notes = tuple(dict.fromkeys((*self.notes, *answer.notes)))
        return answer

    # -- what is known -----------------------------------------------------------------------

    def better(self, total: Sum) -> Fraction:
        """The largest value of the sum below the best value so far, or that value if the sum has no grid."""
        assert self.value is not None
        grid = total.grid(self.problem)
        if grid is None or grid.unit <= 0:
            return self.value
        return total.constant + grid.unit * (ceil((self.value - total.constant) / grid.unit) - 1)

    def take(self, tree: Node | None) -> None:
        """Keeps a better tree."""
        if tree is None or not is_answer(self.problem, tree):
            return
        value = evaluate_sum(self.goal, self.problem, tree)
        if self.value is None or value < self.value:
            self.tree, self.value = tree, value
            self.trace.append(Progress(monotonic() - self.began, (value,), None, tree))

    def raise_bound(self, open_case: _Open, bound: Fraction | None, evidence: Proof) -> None:
        basis = supporting(evidence, BOUND)
        if bound is not None and basis and (open_case.bound is None or bound > open_case.bound):
            open_case.bound, open_case.bound_by = bound, basis

    def bound(self) -> tuple[Fraction | None, Proof]:
        """No tree is below this: those of settled cases are not better than the best one."""
        known = [each.bound for each in self.open]
        if not known or None in known:
            return None, ()
        least = min(bound for bound in known if bound is not None)
        evidence = combined(RULE, [*self.proofs, *(each for case in self.open for each in case.bound_by)])
        return (least if self.value is None else min(least, self.value)), evidence

    def has_small_gap(self) -> bool:
        bound, _ = self.bound()
        if not self.limits.gap or self.value is None or bound is None:
            return False
        self.within_gap = self.value - bound <= self.limits.gap * abs(self.value)
        return self.within_gap

    def moment(self) -> Progress:
        bound, evidence = self.bound()
        objective = None if self.value is None else (self.value,)
        return Progress(monotonic() - self.began, objective, bound, self.tree, evidence=evidence)

    # -- the end -----------------------------------------------------------------------------

    def proved(self) -> Answer:
        evidence = combined(RULE, self.proofs)
        if self.value is None:
            return self.ended(Status.INFEASIBLE, Stop.PROVED, None, evidence)
        return self.ended(Status.OPTIMAL, Stop.PROVED, self.value, evidence)

    def unproved(self, stop: Stop) -> Answer:
        bound, evidence = self.bound()
        status = Status.UNKNOWN if self.tree is None else Status.FEASIBLE
        if self.tree is not None and self.open and all(each.status is Status.LOCAL for each in self.open):
            status = Status.LOCAL
        if self.within_gap and stop is Stop.INTERRUPTED:
            stop = Stop.GAP
        return self.ended(status, stop, bound, evidence)

    def ended(self, status: Status, stop: Stop, bound: Fraction | None, evidence: Proof) -> Answer:
        return Answer(
            status,
            stop,
            self.tree,
            None if self.value is None else (self.value,),
            bound,
            trace=tuple(self.trace),
            statistics=self.statistics,
            notes=self.notes,
            evidence=evidence,
            tolerance=self.tolerance,
        )
