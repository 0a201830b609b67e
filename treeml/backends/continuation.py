"""A plan, and an answer that another back-end found before -> Answer: the plan goes on from its tree and its bound.

The back-end starts from the tree, and it is stopped as soon as it has a tree whose value is the known bound. The better
of the two bounds is kept, with the evidence of whoever proved it.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from treeml.backends.claims import BOUND, Proof, combined, supporting
from treeml.backends.contract import Answer, Limits, OnProgress, Progress, Status, Stop
from treeml.backends.planning.plan import Plan
from treeml.backends.run import run
from treeml.lang.diagnostic import BackendError, Diagnostic


def continued(plan: Plan, limits: Limits, known: Answer, on_progress: OnProgress | None = None) -> Answer:
    """The answer of the plan, improved by the bound of `known`; its tree is the start."""
    listener = Listener(len(plan.problem.goals), known, on_progress)
    return listener.combined(run(plan, limits, known.tree, listener.hear), plan.backend.name)


class Listener:
    """Adds the bound that is known to what the back-end reports."""

    def __init__(self, goals: int, known: Answer, on_progress: OnProgress | None) -> None:
        self.on_progress = on_progress
        # With several goals a report does not say which of them its bound refers to.
        self.bound: Fraction | None = known.bound if goals == 1 and not known.tolerance else None
        self.proof: Proof = () if self.bound is None else supporting(known.evidence, BOUND)
        self.is_stopped = False  # by the caller's on_progress

    def hear(self, moment: Progress) -> bool | None:
        if self.bound is not None and (moment.bound is None or moment.bound < self.bound):
            moment = replace(moment, bound=self.bound, evidence=self.proof)
        if self.on_progress is not None and self.on_progress(moment) is False:
            self.is_stopped = True
        return not self.is_stopped and not self.is_met(moment.objective)

    def is_met(self, objective: tuple[Fraction, ...] | None) -> bool:
        return self.bound is not None and objective is not None and objective[0] <= self.bound

    def combined(self, answer: Answer, name: str) -> Answer:
        if self.bound is None:
            return answer
        value = None if answer.objective is None else answer.objective[0]
        if value is not None and value < self.bound - answer.tolerance:
            raise BackendError(_contradiction(name, value, self.bound))
        if answer.status in (Status.OPTIMAL, Status.INFEASIBLE):
            return answer
        if answer.tree is not None and self.is_met(answer.objective) and not answer.tolerance:
            proof = combined("bound meets tree", self.proof)
            return replace(
                answer, status=Status.OPTIMAL, stop=Stop.PROVED, bound=value, bounded_goal=None, evidence=proof
            )
        if answer.bound is None or answer.bound < self.bound:
            bounded = 0 if answer.tree is not None else answer.bounded_goal
            return replace(answer, bound=self.bound, bounded_goal=bounded, evidence=self.proof)
        return answer


def _contradiction(name: str, value: Fraction, bound: Fraction) -> Diagnostic:
    note = f"{name} has a tree with {value}, and the back-end that it started from proved a bound of {bound}"
    return Diagnostic("B514", "two back-ends contradict each other", notes=(note,))
