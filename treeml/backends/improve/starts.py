"""A tree -> a better one from several starts, while there is time.

Goals that add up over the leaves have a search that replaces parts and whole upper splits, and asks the kernel for
better trees of the whole problem. For other goals, greedy trees by other criteria are improved in the same way as the
first, and trees for prices on what the requirements limit after them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import monotonic

from treeml.backends.anytime import local_kernel, multipliers
from treeml.backends.anytime.multipliers import Multipliers
from treeml.backends.anytime.search import Anytime
from treeml.backends.contract import Answer, Deadline, Limits, OnProgress, Progress, Status, Stop
from treeml.backends.heuristics.cart import CartBackend
from treeml.backends.heuristics.impurity import CRITERIA
from treeml.backends.improve.rounds import ImproveSettings, Inners, improve
from treeml.problem.evaluate import evaluate_goals, is_answer
from treeml.problem.problem import Problem
from treeml.problem.tree import Node
from treeml.system.interrupt import remembering

MOST_IDLE = 20  # starts in a row that lead to no better tree, after which a run without a limit ends
MOST_IDLE_ROUNDS = 5  # rounds of prices in a row that lead to no better tree; on few rows they take a moment


def replaces_parts(problem: Problem, inners: Inners, settings: ImproveSettings) -> bool:
    """Does the search of parts by the kernels do all that is asked for? Options of the rounds are for rounds."""
    has_options = replace(settings, seconds=None) != ImproveSettings()
    return _is_plain(inners) and not has_options and local_kernel.takes(problem)


def _is_plain(inners: Inners) -> bool:
    return len(inners) == 1 and inners[0][0].can.shallow_search and not inners[0][1]


def from_other_starts(
    problem: Problem,
    first: Answer,
    inners: Inners,
    limits: Limits,
    settings: ImproveSettings,
    most: int | None = None,
    on_progress: OnProgress | None = None,
) -> Answer:
    """The answer, or a better one; it ends with the time, after `most` starts, or when no start is left."""
    spent = first.statistics.get("solve_seconds", 0.0)
    own = float("inf") if settings.seconds is None else monotonic() + settings.seconds - spent
    deadline = Deadline(min(limits.deadline.at, own))
    more = _MoreStarts(problem, first, on_progress, most)
    if _is_plain(inners) and local_kernel.takes(problem):
        return more.replacing(replace(limits, deadline=deadline))
    return more.growing(inners, replace(limits, deadline=deadline), settings)


@dataclass
class _MoreStarts:
    problem: Problem
    best: Answer
    on_progress: OnProgress | None
    most: int | None  # starts, the first one included
    began: float = field(default_factory=monotonic)
    starts: int = 1
    is_stopped: bool = False

    def replacing(self, limits: Limits) -> Answer:
        """By replacing parts, until the time is up or nothing is left; without a limit, until starts are in vain."""
        begin, idle = self.best.tree, MOST_IDLE if limits.deadline.at == float("inf") else None
        with remembering(self.stop):
            search = Anytime(
                self.problem,
                self.offer,
                lambda: self.is_stopped,
                limits.seed,
                heard=lambda: begin,
                has_tree=True,
                asks_kernel=True,
            )
            search.run(limits.deadline, None if self.most is None else self.most - 1, idle)
        if self.is_stopped or search.is_interrupted:
            return self.ended(Status.FEASIBLE, Stop.INTERRUPTED)
        if limits.deadline.passed:
            return self.ended(Status.FEASIBLE, Stop.TIME)
        return self.ended(Status.LOCAL, Stop.FINISHED)

    def growing(self, inners: Inners, limits: Limits, settings: ImproveSettings) -> Answer:
        """From greedy trees by every criterion."""
        for criterion in CRITERIA if self.problem.classes else ():
            if self.is_stopped or limits.deadline.passed or self.starts == self.most:
                break
            grown = CartBackend().solve(self.problem, replace(limits, options={"criterion": criterion}))
            if grown.stop is Stop.INTERRUPTED:
                self.is_stopped = True
                break
            if grown.tree is None:
                continue
            self.starts += 1
            found = improve(self.problem, grown.tree, inners, limits, settings, self.heard)
            if found.stop is Stop.INTERRUPTED:
                self.is_stopped = True
        if self.most is None and limits.deadline.at < float("inf"):
            self.pricing(inners, limits, settings)
        if self.is_stopped:
            return self.ended(Status.FEASIBLE, Stop.INTERRUPTED)
        if limits.deadline.passed:
            return self.ended(Status.FEASIBLE, Stop.TIME)
        return self.ended(Status.LOCAL, Stop.FINISHED)

    def pricing(self, inners: Inners, limits: Limits, settings: ImproveSettings) -> None:
        """From trees for prices on what the requirements limit, until the time is up or rounds are in vain."""
        if not multipliers.takes(self.problem):
            return
        with remembering(self.stop):
            search = Multipliers(self.problem, self.offer, lambda: self.is_stopped, [], limits.seed)
            idle = 0
            for is_better in search.rounds(limits.deadline):
                idle = 0 if is_better else idle + 1
                if idle == MOST_IDLE_ROUNDS:
                    break
                if is_better and self.best.tree is not None:
                    improve(self.problem, self.best.tree, inners, limits, settings, self.heard)
        self.is_stopped |= search.is_interrupted

    def stop(self) -> None:
        self.is_stopped = True

    def heard(self, moment: Progress) -> bool:
        if moment.tree is not None:
            self.offer(moment.tree)
        return not self.is_stopped

    def offer(self, tree: Node) -> bool:
        """Keeps a tree that is better than all before and meets every requirement; is it one?"""
        value = evaluate_goals(self.problem, tree)
        if (self.best.objective is not None and value >= self.best.objective) or not is_answer(self.problem, tree):
            return False
        moment = Progress(self.seconds, value, None, tree)
        self.best = replace(self.best, tree=tree, objective=value, trace=(*self.best.trace, moment))
        if self.on_progress is not None and self.on_progress(moment) is False:
            self.is_stopped = True
        return True

    @property
    def seconds(self) -> float:
        spent = self.best.statistics.get("solve_seconds", 0.0)
        return spent + monotonic() - self.began

    def ended(self, status: Status, stop: Stop) -> Answer:
        raw = self.best.raw_status if status is Status.LOCAL else ""
        return replace(self.best, status=status, stop=stop, raw_status=raw)
