"""A back-end that minimizes sums -> one that minimizes a quotient of two sums, such as minus f1 or minus precision.

The method of Dinkelbach (1967): at the quotient q of the best tree so far, minimize numerator - q * denominator. A
negative minimum belongs to a better tree, whose quotient is the next q; a minimum of 0 proves that no tree is better.
Everything is in whole numbers and fractions, and a few solves are enough.

Searches are much faster on small numbers than on those of an exact q. So simple fractions on both sides of q are tried
first: if the best tree is optimal at one below q and at one above, it is optimal at q, which lies between. Whatever the
fraction s, a minimum m says that every quotient is at least s + m / denominator. All these lines together bound the
quotients of all trees, because the least and the greatest denominator are known.

Near the best quotient the terms nearly cancel, so a search that is stopped early has no useful bound there. Where time
is limited, a part of it is kept for a solve at the least quotient that single rows allow: for f1 that is 1, and the sum
is the number of errors, of which early bounds are much better. It begins sooner if the first searches show nothing
about quotients for a while. Rows alone draw a first line, at 0: the least numerator.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import ceil, inf
from time import monotonic

from treeml.backends.claims import BOUND, OPTIMAL, Contradiction, Evidence, Proof, combined, supporting
from treeml.backends.contract import Answer, Deadline, Limits, OnProgress, Progress, Solve, Status, Stop
from treeml.problem.evaluate import Routed, evaluate_sum, is_answer
from treeml.problem.least_sums import least_sum
from treeml.problem.magnitudes import added, row_ends
from treeml.problem.neighbors import simplest_between
from treeml.problem.problem import Goal, Problem
from treeml.problem.quotient import Quotient, quotient_of
from treeml.problem.terms import Predicted, Sum
from treeml.problem.tree import Leaf, Node

ZERO = Fraction(0)
BESIDE = Fraction(1, 12)  # simple fractions are taken from this share of a quotient beside it
HOPE = 0.35  # of the time, after which searches near the best quotient end if they have shown little:
LITTLE = 0.25  # the bound has come less than this share of the way to the best quotient
KEPT = 0.25  # of the time, for a bound if searches near the best quotient do not end;
KEPT_BESIDE_LIMITS = 0.5  # the same if predictions are limited: then bounds near the best quotient take even longer


def divide(inner: Solve) -> Solve:
    def solve(problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
        quotient = quotient_of(problem.goals[0]) if len(problem.goals) == 1 else None
        if quotient is None:
            return inner(problem, limits, start, on_progress)
        return _Quotients(inner, problem, quotient, limits, on_progress).solve(start)

    return solve


class _Quotients:
    """A loop over quotients, with what it has found so far. Quotients are minimized; `value` makes them the user's."""

    def __init__(
        self, inner: Solve, problem: Problem, quotient: Quotient, limits: Limits, on_progress: OnProgress | None
    ) -> None:
        self.began = monotonic()
        self.inner = inner
        self.problem = problem
        self.quotient = quotient
        self.limits = limits
        self.on_progress = on_progress
        self.tree: Node | None = None
        self.best: Fraction | None = None  # the quotient of the tree
        self.below = 0  # the denominator of the tree
        least = least_sum(quotient.below, problem.bounds)
        self.smallest = max(quotient.least_below, least)  # no positive denominator is smaller
        self.largest = max(1, quotient.most_below)
        # s -> m: no tree has numerator - s * denominator below m
        self.lines = {ZERO: Fraction(least_sum(quotient.above, problem.bounds))}
        self.searched_at: set[Fraction] = set()  # the s of searches
        self.may_be_empty = quotient.may_be_empty and least <= 0  # can a denominator be 0?
        self.low = quotient.least  # no quotient is smaller
        self.proofs = [Evidence("row by row", "quotients of single rows")]  # of `low`
        self.statistics: dict[str, float] = {}
        self.trace: list[Progress] = []
        self.notes: tuple[str, ...] = ()
        self.within_gap = False
        self.deadline = self.first_deadline()  # of searches near the best quotient
        self.hope = Deadline() if self.deadline is limits.deadline else Deadline.after(HOPE * limits.deadline.left())
        self.is_hopeless = False  # was such a search ended because it said nothing about quotients?
        self.low = self.low_of_rows = max(self.low, self.least_by_lines())

    def first_deadline(self) -> Deadline:
        """Some time is kept for a bound, unless one leaf has the least numerator - least * denominator of all trees."""
        left = self.limits.deadline.left()
        if left == inf or not left:
            return self.limits.deadline
        _, term = self.quotient.against(self.low).parts[0]
        assert isinstance(term, Predicted)
        least = row_ends(term.cost)[0]
        leaves = [Leaf(label) for label in range(self.problem.classes) if added(term.cost[:, label]) <= least]
        if any(is_answer(self.problem, leaf) for leaf in leaves):
            return self.limits.deadline
        limits_predictions = any(Predicted.__name__ in bound.sum.kinds() for bound in self.problem.bounds)
        return Deadline.after((1 - (KEPT_BESIDE_LIMITS if limits_predictions else KEPT)) * left)

    def solve(self, start: Node | None) -> Answer:
        for tree in (start, *map(Leaf, range(self.problem.classes))):
            if tree is not None and is_answer(self.problem, tree):
                self.improve(tree)
        ended = self.searched(self.settle_empty())
        if (
            (ended.stop is not Stop.TIME and not self.is_hopeless)
            or self.deadline is self.limits.deadline
            or self.quotient.least in self.searched_at
        ):
            return ended
        self.deadline, self.hope = self.limits.deadline, Deadline()
        return self.searched(self.settle_empty() or self.step_at(self.quotient.least))

    def searched(self, ended: Answer | None) -> Answer:
        while ended is None:
            ended = self.proved() if self.best is not None and self.best <= self.low else self.step()
        return ended

    def settle_empty(self) -> Answer | None:
        """Finds out whether a denominator of 0, which counts as 0, is possible, if it could be the best quotient."""
        if not self.may_be_empty or not int(self.quotient.above.max(initial=0)) > 0:
            return None
        if self.best is not None and self.best <= 0:
            return None
        answer = self.ask(self.quotient.denominator(), None)
        if answer.status is Status.INFEASIBLE:
            return self.infeasible(answer)
        if answer.tree is not None:
            self.improve(answer.tree)
        least = _proved(answer)
        if least is not None and least > 0:
            self.may_be_empty = False
            self.smallest = max(self.smallest, ceil(least))
            self.proofs += supporting(answer.evidence, BOUND)
        return None if least is not None and answer.status is Status.OPTIMAL else self.unproved(answer)

    def step(self) -> Answer | None:
        """One solve near the best quotient so far, or at it; the final answer if the loop ends with it."""
        return self.step_at(self.next_number())

    def step_at(self, at: Fraction) -> Answer | None:
        known = self.best
        self.searched_at.add(at)
        answer = self.ask(self.quotient.against(at), at)
        if answer.status is Status.INFEASIBLE:
            return self.infeasible(answer)
        if answer.tree is not None:
            self.improve(answer.tree)
        least = _proved(answer)
        if least is not None:
            self.draw(at, least, supporting(answer.evidence, BOUND) or supporting(answer.evidence, OPTIMAL))
        if self.best is not None and self.best <= self.low:
            return self.proved()
        if self.has_small_gap():
            return self.unproved(replace(answer, status=Status.FEASIBLE, stop=Stop.GAP))
        is_better = self.best is not None and (known is None or self.best < known)
        if answer.status is not Status.OPTIMAL and not (answer.stop is Stop.FINISHED and is_better):
            return self.unproved(answer)
        if at == known and not is_better and answer.tolerance:
            return self.unproved(replace(answer, status=Status.FEASIBLE, stop=Stop.FINISHED))
        if at == known and not is_better:
            raise Contradiction("its optimum is below 0, and its tree is no better than the tree that has 0")
        if self.deadline.passed:
            return self.unproved(replace(answer, status=Status.FEASIBLE, stop=Stop.TIME))
        return None

    def next_number(self) -> Fraction:
        """The number for the next solve: a simple one beside the best quotient, or that quotient itself."""
        if self.best is None:
            return self.quotient.least  # a bound by lines may have too many digits for the search
        for toward, low, high in ((-1, self.smallest, self.below), (1, self.below, self.largest)):
            simple = self.best and _simplest(self.best, self.best + toward * abs(self.best) * BESIDE)
            if simple and simple not in self.searched_at and self.least_between(low, high) < self.best:
                return simple
        return self.best

    def ask(self, total: Sum, at: Fraction | None) -> Answer:
        """The answer of the back-end that minimizes a sum; `at` is the number that the sum compares quotients with."""
        asked = self.problem.asking((Goal(total),), self.problem.bounds)
        # The gap is that of the quotient, and a line at the least quotient is for the bound alone.
        limits = replace(
            self.limits,
            gap=ZERO,
            deadline=self.deadline,
            for_bound=self.limits.for_bound or at == self.quotient.least,
            is_over=self.limits.is_over if self.hope.at == inf else self.is_over,
        )

        def listen(moment: Progress) -> bool | None:
            return self.hear(moment, at)

        listens = self.on_progress is not None or bool(self.limits.gap) or self.hope.at < inf
        answer = self.inner(asked, limits, self.tree, listen if listens else None)
        for name, number in answer.statistics.items():
            self.statistics[name] = self.statistics.get(name, 0) + number
        self.statistics["quotients"] = self.statistics.get("quotients", 0) + 1
        self.notes = tuple(dict.fromkeys((*self.notes, *answer.notes)))
        return answer

    def hear(self, moment: Progress, at: Fraction | None) -> bool | None:
        """Passes a report of the back-end on; False stops it."""
        if moment.tree is not None and is_answer(self.problem, moment.tree):
            self.improve(moment.tree)
        if moment.bound is not None and at is not None:
            self.draw(at, moment.bound, supporting(moment.evidence, BOUND))
        if self.on_progress is not None and self.on_progress(self.moment()) is False:
            return False
        return False if self.has_small_gap() or self.loses_hope() else None

    def is_over(self) -> bool:
        """Asked by a search now and then: one that has nothing new to report is not heard."""
        return (self.limits.is_over is not None and self.limits.is_over()) or self.loses_hope()

    def loses_hope(self) -> bool:
        """Is it time for the line at the least quotient, because the searches near the best one show too little?"""
        if self.hope.passed and self.quotient.least not in self.searched_at and self.has_come_little():
            self.is_hopeless = True
        return self.is_hopeless and self.hope.at < inf

    def has_come_little(self) -> bool:
        """Has the bound hardly come nearer to the best quotient than it was by rows alone?"""
        if self.best is None:
            return self.low <= self.low_of_rows
        return self.low - self.low_of_rows <= LITTLE * (self.best - self.low_of_rows)

    def moment(self) -> Progress:
        objective = None if self.best is None else (self.quotient.value(self.best),)
        return Progress(monotonic() - self.began, objective, self.bound(), self.tree, evidence=self.evidence())

    # -- what is known -----------------------------------------------------------------------

    def improve(self, tree: Node) -> bool:
        """Keeps the tree if its quotient is the smallest so far."""
        routed = Routed(self.problem, tree)
        found = self.quotient.of(routed)
        if self.best is not None and found >= self.best:
            return False
        self.tree, self.best, self.below = tree, found, max(1, self.quotient.denominator_of(routed))
        self.trace.append(Progress(monotonic() - self.began, (self.quotient.value(found),), None, tree))
        return True

    def draw(self, at: Fraction, least: Fraction, evidence: Proof) -> None:
        """No tree has numerator - at * denominator below `least`, in units of the denominator of `at`."""
        line = Fraction(ceil(least)) / at.denominator  # the sum is a whole number
        if not evidence or (at in self.lines and self.lines[at] > line):
            return
        self.lines[at] = line
        self.proofs += evidence
        self.low = max(self.least_by_lines(), self.low)

    def least_by_lines(self) -> Fraction:
        low = self.least_between(self.smallest, self.largest)
        return min(low, ZERO) if self.may_be_empty else low

    def least_between(self, low: int, high: int) -> Fraction:
        """No quotient with a denominator between these is smaller, by all lines together.

        Their upper envelope is lowest at an end or where two of them cross.
        """
        below = [Fraction(low), Fraction(high)]
        for (s, m), (other, n) in combinations(self.lines.items(), 2):
            crossing = (n - m) / (s - other)
            if low < crossing < high:
                below.append(crossing)
        lines = self.lines.items()
        return min(max((s + m / each for s, m in lines), default=self.low) for each in below)

    def bound(self) -> Fraction:
        low = self.low if self.best is None else min(self.low, self.best)
        return self.quotient.value(low)

    def evidence(self) -> Proof:
        return combined("quotient by quotient", self.proofs)

    def has_small_gap(self) -> bool:
        if not self.limits.gap or self.best is None:
            return False
        value = self.quotient.value(self.best)
        self.within_gap = value - self.bound() <= self.limits.gap * abs(value)
        return self.within_gap

    # -- the end -----------------------------------------------------------------------------

    def infeasible(self, answer: Answer) -> Answer:
        if self.tree is not None:
            raise Contradiction("it says infeasible, and a tree that meets every requirement is known")
        return replace(answer, statistics=self.statistics, bound=None)

    def proved(self) -> Answer:
        assert self.tree is not None
        value = evaluate_sum(self.problem.goals[0].sum, self.problem, self.tree)
        return Answer(
            Status.OPTIMAL,
            Stop.PROVED,
            self.tree,
            (value,),
            value,
            trace=tuple(self.trace),
            statistics=self.statistics,
            notes=self.notes,
            evidence=self.evidence(),
        )

    def unproved(self, answer: Answer) -> Answer:
        """The answer when the loop ends with this answer of the back-end, before the proof."""
        status = Status.UNKNOWN if self.tree is None else Status.FEASIBLE
        if self.tree is not None and answer.status is Status.LOCAL:
            status = Status.LOCAL
        stop = Stop.GAP if self.within_gap and answer.stop is Stop.INTERRUPTED else answer.stop
        objective = None if self.best is None else (self.quotient.value(self.best),)
        return Answer(
            status,
            Stop.FINISHED if stop is Stop.PROVED else stop,
            self.tree,
            objective,
            self.bound(),
            trace=tuple(self.trace),
            statistics=self.statistics,
            raw_status=answer.raw_status,
            notes=self.notes,
            evidence=self.evidence(),
        )


def _proved(answer: Answer) -> Fraction | None:
    """A number that no tree is below, by the answer; None if it shows none."""
    if answer.bound is not None:
        return answer.bound - answer.tolerance
    if answer.status is Status.OPTIMAL and answer.objective:
        return answer.objective[0] - answer.tolerance
    return None


def _simplest(one: Fraction, other: Fraction) -> Fraction:
    """The simplest fraction strictly between two that have the same sign."""
    low, high = sorted((abs(one), abs(other)))
    return simplest_between(low, high) * (1 if one > 0 else -1)
