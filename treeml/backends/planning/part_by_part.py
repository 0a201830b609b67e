"""A back-end that takes plain sums -> one that minimizes or maximizes sums with a gap, and bounds a gap from below.

A gap is the largest of several differences, and every tree has one that is its largest. So the trees fall into cases,
one for each difference. Within a case the goal, such as errors + 100 * gap, is a plain sum, and bounds on sums keep the
other differences below the one of the case. A gap that is maximized or bounded from below needs no such bounds: it is
large enough if one difference is. The best tree of all cases is the best tree. Each case looks only for trees that are
better than the best one so far.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
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
class GapCase:
    """The trees that meet `bounds`; the goal, if there is one, is a plain sum for them."""

    goals: tuple[Goal, ...]
    bounds: tuple[Bound, ...]


def has_cases(goal: Goal) -> bool:
    """Is the goal a sum with gaps between plain sums over the predictions, and are their differences few enough?"""
    return _has_plain_gaps(goal.sum)


def is_from_below(bound: Bound) -> bool:
    """Does the bound ask for gaps that are large enough, between plain sums over the predictions?"""
    upper = {"<=": 1, ">=": -1}.get(bound.sense, 0)
    return bool(upper) and _has_plain_gaps(bound.sum) and all(upper * each < 0 for each, _ in largest_terms(bound.sum))


def _has_plain_gaps(total: Sum) -> bool:
    gaps = largest_terms(total)
    parts = [part for _, term in gaps for part in term.parts]
    is_plain = all(part.all_kinds() == {"Predicted"} for part in parts)
    return bool(gaps) and is_plain and number_of_choices(total) <= MOST_CASES


@once
def goal_cases(problem: Problem, goal: Goal) -> tuple[GapCase, ...]:
    """The cases of a goal that has them, with their own bounds alone. May raise CostsTooLarge."""
    gaps = largest_terms(goal.sum)
    found = []
    for choice in choices(goal.sum):
        bounds: list[Bound] = []
        for (factor, term), largest in zip(gaps, choice, strict=True):
            lesser = [part for part in term.parts if part is not largest] if factor > 0 else []
            others = [difference(part, largest) for part in lesser]
            bounds += [Bound(Sum(each.parts), "<=", -each.constant) for each in others if each.parts]
        found.append(GapCase((replace(goal, sum=chosen(goal.sum, choice)),), tuple(bounds)))
    return tuple(found)


def bound_cases(bound: Bound) -> tuple[Bound, ...]:
    """Bounds on plain sums, of which one has to hold. May raise CostsTooLarge."""
    if not is_from_below(bound):
        return (bound,)
    return tuple(replace(bound, sum=chosen(bound.sum, choice)) for choice in choices(bound.sum))


@once
def cases_of(problem: Problem) -> tuple[GapCase, ...]:
    """The cases of a problem with at most one goal. May raise CostsTooLarge."""
    by_goal = [each for goal in problem.goals if has_cases(goal) for each in goal_cases(problem, goal)]
    by_bounds = list(product(*map(bound_cases, problem.bounds)))
    return tuple(
        GapCase(case.goals, (*bounds, *case.bounds))
        for case in by_goal or [GapCase(problem.goals, ())]
        for bounds in by_bounds
    )


def part_by_part(inner: Solve) -> Solve:
    def solve(problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
        has_any = any(map(has_cases, problem.goals)) or any(map(is_from_below, problem.bounds))
        if len(problem.goals) > 1 or not has_any:
            return inner(problem, limits, start, on_progress)
        return _PartByPart(inner, problem, limits, on_progress).solve(start)

    return solve


@dataclass(eq=False)
class _Open:
    """A case that is not settled: what is known about its trees, and why its last search ended."""

    case: GapCase
    bound: Fraction | None
    bound_by: Proof
    stop: Stop = Stop.TIME
    status: Status = Status.UNKNOWN


class _PartByPart:
    """The loop over cases, with the best tree so far."""

    def __init__(self, inner: Solve, problem: Problem, limits: Limits, on_progress: OnProgress | None) -> None:
        self.began = monotonic()
        self.inner, self.problem, self.limits, self.on_progress = inner, problem, limits, on_progress
        self.goal = problem.goals[0].sum if problem.goals else None
        self.tree: Node | None = None
        self.value: Fraction | None = None
        least = None if self.goal is None else self.goal.lower_bound(problem, row_by_row=True)
        known = () if least is None else (Evidence("row by row"),)
        self.open = [_Open(case, least, known) for case in cases_of(problem)]
        self.proofs: list[Evidence] = []  # of the cases that are settled
        self.tolerance = Fraction(0)
        self.statistics: dict[str, float] = {}
        self.trace: list[Progress] = []
        self.notes: tuple[str, ...] = ()
        self.within_gap = False

    def solve(self, start: Node | None) -> Answer:
        for tree in (start, *map(Leaf, range(self.problem.classes))):
            self.take(tree)
        if self.goal is None and self.tree is not None:
            return self.proved()
        for share in SHARES:
            waiting = [each for each in self.open if each.stop is Stop.TIME]
            for number, each in enumerate(waiting):
                left = self.limits.deadline.left()
                if not left:
                    break
                stop = self.search(each, share * left / (len(waiting) - number if share < 1 else 1))
                if stop is not None:
                    return self.unproved(stop)
                if self.goal is None and self.tree is not None:
                    return self.proved()
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
        limits_on_goal = [bound for goal in case.goals for bound in self.better(goal)]
        asked = self.problem.asking(case.goals, (*case.bounds, *limits_on_goal))
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

    def better(self, goal: Goal) -> tuple[Bound, ...]:
        """A limit on the goal below the best value so far, or at that value if the goal has no grid."""
        total = goal.sum
        if self.value is None or not total.kinds() <= {"Predicted", "Leaves"}:
            return ()
        grid = total.grid(self.problem)
        if grid is None or grid.unit <= 0:
            return (Bound(total, "<=", self.value),)
        steps = ceil((self.value - total.constant) / grid.unit) - 1
        return (Bound(total, "<=", total.constant + grid.unit * steps),)

    def take(self, tree: Node | None) -> None:
        """Keeps a better tree."""
        if tree is None or not is_answer(self.problem, tree):
            return
        if self.goal is None:
            self.tree = tree
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
        return Progress(monotonic() - self.began, self.objective(), bound, self.tree, evidence=evidence)

    def objective(self) -> tuple[Fraction, ...] | None:
        if self.tree is None:
            return None
        return () if self.value is None else (self.value,)

    # -- the end -----------------------------------------------------------------------------

    def proved(self) -> Answer:
        evidence = combined(RULE, self.proofs)
        if self.tree is None:
            return self.ended(Status.INFEASIBLE, Stop.PROVED, None, evidence)
        if self.goal is None:
            return self.ended(Status.OPTIMAL, Stop.PROVED, None, (Evidence("no goal"),))
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
            self.objective(),
            bound,
            trace=tuple(self.trace),
            statistics=self.statistics,
            notes=self.notes,
            evidence=evidence,
            tolerance=self.tolerance,
        )
