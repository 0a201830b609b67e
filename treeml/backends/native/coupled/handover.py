"""An answer that memory cut short -> the answer of the next back-end, which goes on from its tree and bound.

The other back-end starts from the tree, and it stops as soon as it has a tree whose value is the bound. The better of
the two bounds is kept, with the evidence of whoever proved it.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from treeml.backends import registry
from treeml.backends.claims import BOUND, Evidence, Proof, combined, supporting
from treeml.backends.contract import Answer, Limits, OnProgress, Progress, Status, Stop
from treeml.backends.options import threaded
from treeml.problem.problem import Problem

OWN = "native"
SHORT = 0.2  # seconds; with less time left nobody is asked


def hand_over(problem: Problem, limits: Limits, answer: Answer, on_progress: OnProgress | None) -> Answer:
    """The combined answer; the given one with a note if nobody else can go on, or the time is up."""
    # imported here: start-up time, and a plan may use this back-end
    from treeml.backends.planning.plan import Plan, plan
    from treeml.backends.run import run

    if limits.deadline.left() < SHORT:
        return answer
    for other in registry.automatic():
        if other.name == OWN or not other.can.proves:
            continue
        planned = plan(problem, other)
        if isinstance(planned, Plan):
            note = f"{OWN} stopped at its memory limit; {other.name} went on from its tree and bound"
            listener = _Listener(problem, answer, on_progress)
            rest = run(planned, threaded(other, replace(limits, options={})), answer.tree, listener.hear)
            return listener.combined(rest, other.name, note)
    note = f"{OWN} stopped at its memory limit, and no other back-end takes this problem"
    return replace(answer, notes=(*answer.notes, note))


class _Listener:
    """Combines what the other back-end reports with the bound that was already known."""

    def __init__(self, problem: Problem, known: Answer, on_progress: OnProgress | None) -> None:
        self.known, self.on_progress = known, on_progress
        is_single = len(problem.goals) == 1
        self.bound: Fraction | None = known.bound if is_single else None
        self.proof: Proof = supporting(known.evidence, BOUND) if self.bound is not None else ()

    def hear(self, moment: Progress) -> bool | None:
        bound = moment.bound
        if self.bound is not None and (bound is None or bound < self.bound):
            moment = replace(moment, bound=self.bound, evidence=self.proof)
        if self.on_progress is not None and self.on_progress(moment) is False:
            return False
        return not self.is_met(moment.objective)

    def is_met(self, objective: tuple[Fraction, ...] | None) -> bool:
        return self.bound is not None and bool(objective) and objective is not None and objective[0] <= self.bound

    def combined(self, rest: Answer, name: str, note: str) -> Answer:
        known = self.known
        statistics = {**known.statistics, **rest.statistics}
        both = replace(
            rest,
            trace=(*known.trace, *rest.trace),
            statistics=statistics,
            notes=(*known.notes, note, *rest.notes),
            evidence=tuple(Evidence("handed over", name, (each,)) for each in rest.evidence),
        )
        if rest.status in (Status.OPTIMAL, Status.INFEASIBLE):
            return both
        if self.is_met(rest.objective):
            return replace(
                both,
                status=Status.OPTIMAL,
                stop=Stop.PROVED,
                bound=self.bound,
                bounded_goal=None,
                evidence=combined("bound meets tree", self.proof),
            )
        if self.bound is not None and (rest.bound is None or rest.bound < self.bound):
            return replace(both, bound=self.bound, bounded_goal=0, evidence=self.proof)
        return both
