"""A problem whose own search has a bound late -> the same search, with bounds from easier problems.

Requirements that single leaves have to keep, and goals that look at the mixture of classes in a leaf, rule out what
makes the searches for sums over predictions fast. Their bounds then stay at 0 for long. An easier problem that these
searches take has a bound soon, and it holds for the problem itself. So the own search has a moment, which is enough for
a small problem; then easier problems have a share of the time, and the own search goes on from what they found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from time import monotonic

from treeml.backends.claims import BOUND, LOOSEST, Proof, combined, supporting
from treeml.backends.continuation import Listener
from treeml.backends.contract import NO_OPTIONS, Answer, Deadline, Limits, OnProgress, Progress, Solve, Status, Stop
from treeml.problem.evaluate import evaluate_goals, is_answer
from treeml.problem.problem import Problem
from treeml.problem.tree import Node

LITTLE = 1.0  # seconds; with less, the own search has all of the time
FIRST, SHARE_OF_FIRST = 1.0, 0.15  # seconds for the own search before easier problems, and their share of the time
MOST, SHARE = 20.0, 0.4  # seconds for easier problems if the time is not limited, and their share of it otherwise


@dataclass(frozen=True, eq=False, slots=True)
class EasierProblem:
    """An easier problem: no tree of the whole problem costs less than `least` of a bound of this one."""

    problem: Problem
    rule: str  # why that is so
    least: Callable[[Fraction], Fraction]  # a bound on the goal of this problem -> one on the first goal of the whole
    labeled: Callable[[Node], Node]  # a tree of this problem -> the same with labels of the whole problem


@dataclass
class Known:
    """The best bound and the best tree of a problem so far, found in easier ones."""

    problem: Problem
    limits: Limits
    on_progress: OnProgress | None
    bounding: Solve  # for easier problems
    tree: Node | None = None
    value: tuple[Fraction, ...] | None = None
    bound: Fraction | None = None  # on the first goal
    proof: Proof = ()
    told: tuple[tuple[Fraction, ...] | None, Fraction | None] = (None, None)  # value and bound, as last reported
    is_interrupted: bool = False
    began: float = field(default_factory=monotonic)

    def ask(self, easier: EasierProblem, deadline: Deadline, start: Node | None = None) -> Answer:
        """The answer to an easier problem; its bound is kept, and its tree if that is one of the whole problem."""

        def heard(moment: Progress) -> bool:
            if moment.bound is not None and len(easier.problem.goals) == 1:
                self.raise_to(easier, moment.bound, moment.evidence)
            self.is_interrupted = self.is_interrupted or not self.tell()
            return not self.is_interrupted

        limits = replace(self.limits, deadline=deadline, options=NO_OPTIONS, gap=Fraction(0), share=None, news=None)
        answer = self.bounding(easier.problem, limits, start, heard)
        self.is_interrupted = self.is_interrupted or answer.stop is Stop.INTERRUPTED
        if answer.status is Status.OPTIMAL and answer.objective:
            self.raise_to(easier, answer.objective[0] - answer.tolerance, answer.evidence)
        elif answer.bound is not None and answer.bounded_goal in (None, 0):
            self.raise_to(easier, answer.bound - answer.tolerance, answer.evidence)
        if answer.tree is not None:
            self.offer(easier.labeled(answer.tree))
        return answer

    def raise_to(self, easier: EasierProblem, bound: Fraction, evidence: Proof) -> None:
        least, proof = easier.least(bound), combined(easier.rule, supporting(evidence, BOUND))
        if proof and (self.bound is None or least > self.bound):
            self.bound, self.proof = least, proof

    def offer(self, tree: Node) -> None:
        if not is_answer(self.problem, tree):
            return
        value = evaluate_goals(self.problem, tree)
        if self.value is None or value < self.value:
            self.tree, self.value = tree, value

    def tell(self) -> bool:
        """Reports the bound and the tree if they are new, else the time; False if the listener wants to stop."""
        if self.on_progress is None:
            return True
        seconds, known = monotonic() - self.began, (self.value, self.bound)
        if len(self.problem.goals) > 1 or known == self.told:
            return self.on_progress(Progress(seconds)) is not False
        self.told = known
        return self.on_progress(Progress(seconds, self.value, self.bound, self.tree, evidence=self.proof)) is not False

    @property
    def distance(self) -> Fraction | None:
        """How far the tree may be above the best one; None if that is not known, or there are several goals."""
        if self.value is None or self.bound is None or len(self.problem.goals) != 1:
            return None
        return max(Fraction(0), self.value[0] - self.bound)

    @property
    def is_proved(self) -> bool:
        """Is the tree optimal, up to a difference that is below what rounded numbers show?"""
        if self.distance is None or self.value is None:
            return False
        return self.distance <= (LOOSEST / 2 * abs(self.value[0]) if self.problem.goals[0].sum.is_real else 0)

    def answer(self, stop: Stop) -> Answer:
        if self.is_proved and self.value is not None and self.distance is not None:
            proof = combined("bound meets tree", self.proof)
            values = self.value
            return Answer(
                Status.OPTIMAL, Stop.PROVED, self.tree, values, values[0], tolerance=self.distance, evidence=proof
            )
        status = Status.UNKNOWN if self.tree is None else Status.FEASIBLE
        bound = self.bound
        if self.value is not None and bound is not None:
            bound = min(bound, self.value[0])
        return Answer(status, stop, self.tree, self.value, bound, bounded_goal=0, evidence=self.proof)


Search = Callable[[Known, Deadline], None]  # asks easier problems until the deadline


def with_easier(
    problem: Problem,
    limits: Limits,
    start: Node | None,
    on_progress: OnProgress | None,
    own: Solve,
    bounding: Solve,
    search: Search,
) -> Answer:
    began, left = monotonic(), limits.deadline.left()
    if left < LITTLE:
        return own(problem, limits, start, on_progress)
    moment = Deadline.after(min(FIRST, SHARE_OF_FIRST * left))
    first = own(problem, replace(limits, deadline=moment), start, on_progress)
    if first.stop is not Stop.TIME or limits.deadline.passed:
        return first
    known = Known(problem, limits, on_progress, bounding)
    for tree in (start, first.tree):
        if tree is not None:
            known.offer(tree)
    if first.bound is not None and first.bounded_goal in (None, 0):
        known.bound, known.proof = first.bound - first.tolerance, supporting(first.evidence, BOUND)
    search(known, Deadline.after(min(MOST, SHARE * limits.deadline.left())))
    found = known.answer(Stop.INTERRUPTED if known.is_interrupted else Stop.GAP)
    if known.is_interrupted or found.status is Status.OPTIMAL or _is_close(found, limits.gap):
        return replace(found, trace=first.trace, statistics=first.statistics)
    listener, waited = Listener(len(problem.goals), found, on_progress), monotonic() - began
    answer = listener.combined(own(problem, limits, known.tree, listener.hear), "native")
    if answer.status is Status.UNKNOWN:
        answer = replace(found, stop=answer.stop, statistics=answer.statistics)  # the search did not even begin
    later = (replace(moment, seconds=moment.seconds + waited) for moment in answer.trace)
    return replace(answer, trace=(*first.trace, *later))


def _is_close(found: Answer, gap: Fraction) -> bool:
    if not gap or not found.objective or len(found.objective) > 1 or found.bound is None:
        return False
    return found.objective[0] - found.bound <= gap * abs(found.objective[0])
