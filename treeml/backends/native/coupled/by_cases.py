"""CoupledTask, Cases -> Answer: the task as a whole for a moment, then case by case.

A case that ends closes; what stays open has bounds of its own. Every search looks only for trees that are better than
the best one so far. Memory is released between cases.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from time import monotonic
from typing import TYPE_CHECKING, Any

from treeml.backends.claims import BOUND, Evidence, Proof, supporting
from treeml.backends.contract import Answer, Deadline, Progress, Status, Stop
from treeml.backends.native.coupled.cases import Cases
from treeml.backends.native.coupled.cases import Limits as CaseLimits
from treeml.backends.native.coupled.depths import together
from treeml.backends.native.coupled.task import cost_of

if TYPE_CHECKING:
    from treeml.backends.native.coupled.run import CoupledRun
    from treeml.backends.native.coupled.task import CoupledTask

AT_ONCE, SHARE_AT_ONCE = (0.3, 5.0), 0.2  # seconds for the task as a whole, at least and at most, and share of the
# time: mostly that is enough, and its bound holds for all cases
SHARES = (0.5, 1.0)  # of the time that is left: every case has its part of the first half before one takes long
RULE = "case by case"


def by_cases(run: CoupledRun, task: CoupledTask, cases: Cases) -> Answer:
    """The answer to the whole task."""
    first = _within(run, task, min(max(AT_ONCE[0], SHARE_AT_ONCE * run.limits.deadline.left()), AT_ONCE[1]))
    if first.status in (Status.OPTIMAL, Status.INFEASIBLE) or first.stop not in (Stop.TIME, Stop.MEMORY):
        return first
    if run.limits.deadline.passed:
        return first
    return _ByCases(run, task, cases, first).answer()


def _within(run: CoupledRun, task: CoupledTask, seconds: float) -> Answer:
    """The answer to a task in at most this time."""
    limits = run.limits
    run.limits = replace(limits, deadline=Deadline.after(min(seconds, limits.deadline.left())))
    try:
        return run.solved(task)
    finally:
        run.limits = limits


@dataclass(eq=False)
class _OpenCase:
    limits: tuple[CaseLimits, CaseLimits]
    bound: Fraction | None = None
    bound_by: Proof = ()
    stop: Stop = Stop.TIME


class _ByCases:
    """The loop over cases, with the best tree so far."""

    def __init__(self, run: CoupledRun, task: CoupledTask, cases: Cases, first: Answer) -> None:
        self.run, self.task, self.cases, self.first = run, task, cases, first
        self.best = first
        self.most = task.most if first.tree is None else self.cost(first) - 1
        self.proofs: list[Evidence] = []
        self.statistics = together({}, first.statistics)

    def cost(self, answer: Answer) -> int:
        """What the tree of an answer costs in the whole numbers of the search."""
        assert answer.tree is not None
        return cost_of(self.run.problem, self.task, answer.tree)

    def answer(self) -> Answer:
        run = self.run
        run.tells = False  # what holds for one case need not hold for the others
        left = [_OpenCase(limits) for limits in self.cases.limits]
        for share in SHARES:
            waiting, left = left, []
            while waiting:
                case = waiting.pop(0)
                if case.stop is Stop.MEMORY or run.limits.deadline.passed:
                    left.append(case)
                    continue
                seconds = share * run.limits.deadline.left() / (len(waiting) + 1 if share < 1 else 1)
                stop = self.search(case, seconds)
                if stop is Stop.INTERRUPTED:
                    return self.unproved(None, stop)
                if self.best.tree is not None and not run.problem.goals:
                    return self.ended(Stop.PROVED, Evidence("no goal"))
                if stop is not Stop.PROVED:
                    left.append(case)
            if not left:
                return self.proved()
        return self.unproved(left, Stop.MEMORY if any(case.stop is Stop.MEMORY for case in left) else Stop.TIME)

    def search(self, case: _OpenCase, seconds: float) -> Stop:
        """Searches one case, and keeps a better tree and the bound."""
        low, high = case.limits
        task = replace(self.task, values=self.cases.values, low=low, high=high, most=self.most)
        answer = _within(self.run, task, seconds)
        self.statistics = together(self.statistics, answer.statistics)
        if answer.tree is not None and not self.take(answer):
            return Stop.INTERRUPTED
        if answer.status in (Status.OPTIMAL, Status.INFEASIBLE):
            self.proofs += answer.evidence
            return Stop.PROVED
        case.bound, case.bound_by, case.stop = answer.bound, supporting(answer.evidence, BOUND), answer.stop
        return answer.stop

    def take(self, answer: Answer) -> bool:
        """Keeps a better tree; False if the listener wants to stop."""
        cost = self.cost(answer)
        if self.most is not None and cost > self.most:
            return True
        self.best, self.most = answer, cost - 1
        if not self.run.problem.goals:
            return True
        assert answer.objective is not None
        evidence = supporting(self.first.evidence, BOUND)
        seconds = monotonic() - self.run.began
        moment = Progress(seconds, answer.objective[:1], self.first.bound, answer.tree, evidence=evidence)
        self.run.trace.append(moment)
        return self.run.on_progress is None or self.run.on_progress(moment) is not False

    def proved(self) -> Answer:
        basis = tuple(dict.fromkeys(self.proofs)) or (Evidence("counting", "a gap that no counts of rows have"),)
        return self.ended(Stop.PROVED, Evidence(RULE, f"{len(self.cases.limits)} cases", basis))

    def unproved(self, left: list[_OpenCase] | None, stop: Stop) -> Answer:
        """The best tree, and the better of the bound of all trees and those of the open cases."""
        answer = self.ended(stop, None)
        values = answer.objective[:1] if answer.objective else ()
        bounds = [(self.first.bound, supporting(self.first.evidence, BOUND))]
        if left is not None and all(case.bound is not None for case in left):
            basis = (*self.proofs, *(each for case in left for each in case.bound_by))
            least = min(case.bound for case in left if case.bound is not None)
            bounds.append((least, (Evidence(RULE, "", tuple(dict.fromkeys(basis))),)))
        bound, evidence = max((pair for pair in bounds if pair[0] is not None), default=(None, ()), key=_first)
        if bound is not None:
            bound = min((bound, *values))
        return replace(answer, bound=bound, bounded_goal=None if bound is None else 0, evidence=evidence)

    def ended(self, stop: Stop, proof: Evidence | None) -> Answer:
        tree, values = self.best.tree, self.best.objective
        common: dict[str, Any] = {"trace": tuple(self.run.trace), "statistics": self.statistics}
        if values:
            self.statistics["objective"] = float(values[0])
        if proof is None:
            status = Status.UNKNOWN if tree is None else Status.FEASIBLE
            return Answer(status, stop, tree, values, **common)
        if tree is None:
            return Answer(Status.INFEASIBLE, stop, evidence=(proof,), **common)
        bound = values[-1] if values else None
        return Answer(Status.OPTIMAL, stop, tree, values, bound, evidence=(proof,), **common)


def _first(pair: tuple[Fraction | None, Proof]) -> Fraction:
    assert pair[0] is not None
    return pair[0]
