"""Coupled requirements without a limit on depth -> Answer: depth 1, 2, 3 ... until no deeper tree can be better.

Without the requirements the problem is additive, and the search for it needs no depth limit: its bound holds for every
depth, and if its tree meets the requirements, it is the answer. Otherwise one coupled search is made for every depth,
until a tree reaches that bound, deeper trees cost more because of their leaves, or no tree is deeper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, isfinite
from time import monotonic
from typing import TYPE_CHECKING, Any

from treeml.backends.claims import BOUND, Evidence, Proof, combined, supporting
from treeml.backends.contract import NO_OPTIONS, Answer, Deadline, OnProgress, Progress, Status, Stop
from treeml.backends.native.coupled.requirements import uncoupled
from treeml.backends.native.coupled.task import cost_of
from treeml.backends.native.flat_tree import STOP, tree_of
from treeml.backends.native.run import NativeRun
from treeml.problem.evaluate import evaluate_goals, meets_all
from treeml.problem.terms import Predicted
from treeml.problem.tree import Node

if TYPE_CHECKING:
    from treeml.backends.native.coupled.run import CoupledRun
    from treeml.backends.native.coupled.task import CoupledTask
    from treeml.backends.native.coupled.thresholds import CoupledThresholds
    from treeml.native.coupled import Coupled
    from treeml.native.solver import Found

SHARE = 0.2  # of the time that is left, for the search without the requirements
AT_MOST = 20.0  # seconds for it
SHARE_OF_PRICES = 0.4  # of the time that is left, for searches with prices on the requirements
# The same if few leaves are allowed: with a price per leaf, too, the bound rises much further in the time.
SHARE_WITH_FEW_LEAVES, SHARE_OF_PRICES_OF_LEAVES = 0.05, 0.7
SHALLOW = 2  # levels of the trees that show good prices
FIRST = 2.0  # seconds for a first tree, at most
LARGEST = ("peak_memory", "longest_list", "tests", "rows")  # statistics of several searches that do not add up,
OF_ONE = ("objective", "objective_bound")  # and those that have no meaning for all of them


def by_depths(run: CoupledRun, solver: Coupled | CoupledThresholds, task: CoupledTask, deepest: int) -> Answer:
    first = _first_tree(run, solver, task, deepest)
    if first is not None and (first.status in ("optimal", "infeasible") or first.stop == "interrupted"):
        return run.answered(first, task.objective)
    relaxed = _without_requirements(run)
    settled = _settled(run, relaxed)
    if settled is not None:
        return settled
    depths = _Depths(run, task, relaxed)
    _raise_by_prices(depths, first)
    goes_on = first is None or depths.take(first)
    if not goes_on or relaxed.stop is Stop.INTERRUPTED:
        return depths.unproved(Stop.INTERRUPTED)
    return depths.answer(solver, deepest)


def _first_tree(run: CoupledRun, solver: Coupled | CoupledThresholds, task: CoupledTask, deepest: int) -> Found | None:
    """A short search without a limit on depth, which finds good trees soon; only the search over columns has one."""
    if not run.on_columns:
        return None
    return run.search(solver, task, deepest, run.start, seconds=min(FIRST, SHARE * run.limits.deadline.left()))


def _without_requirements(run: CoupledRun) -> Answer:
    """The answer to the problem without its limits on predictions and on costs of tests.

    On columns, what is required of every leaf would lead back to this search, so it is left out as well.
    """
    if run.relaxed is not None and run.relaxed.status in (Status.OPTIMAL, Status.INFEASIBLE):
        return run.relaxed
    problem, limits = run.problem, run.limits
    free = problem.asking(problem.goals, uncoupled(problem, on_columns=run.on_columns))
    seconds = min(AT_MOST, (SHARE if run.few_leaves is None else SHARE_WITH_FEW_LEAVES) * limits.deadline.left())
    # Options of the coupled search mean nothing to the other kernels.
    shorter = replace(limits, deadline=Deadline.after(seconds), options=NO_OPTIONS, gap=Fraction(0))
    if run.bounding is None:
        answer = NativeRun(free, shorter, None, _stopping(run), run.began).answer()
    else:
        answer = run.bounding(free, shorter, None, _stopping(run))
    run.relaxed = replace(answer, evidence=combined("fewer requirements", answer.evidence))
    return run.relaxed


def _stopping(run: CoupledRun) -> OnProgress | None:
    """A listener that only passes on whether the user wants to stop: the values here are not those of the problem."""
    if run.on_progress is None:
        return None
    listener = run.on_progress
    return lambda moment: listener(Progress(moment.seconds))


def _raise_by_prices(depths: _Depths, first: Found | None) -> None:
    """A better bound from searches with prices on the requirements, whose trees have any depth, too."""
    run, task = depths.run, depths.task
    if first is None or run.one_goal is None or len(run.problem.goals) != 1:
        return
    prices = run.prices_of(task, run.bounding)
    if len(first.test):
        prices.tree = tree_of(first, run.problem)
        prices.cost = cost_of(run.problem, task, prices.tree)
    seconds = _seconds_for_prices(run)
    prices.search_first(SHALLOW, seconds / 4)
    prices.search(seconds)
    if prices.bound is None:
        return
    bound = Fraction(prices.bound) / task.objective.scale + task.objective.constant
    if depths.bound is None or bound > depths.bound:
        depths.bound, depths.bound_by = bound, run.stopped_at
    if prices.tree is not None and prices.cost is not None:
        depths.tree, depths.cost = prices.tree, prices.cost


def _seconds_for_prices(run: CoupledRun) -> float:
    left = run.limits.deadline.left()
    if run.few_leaves is None or not isfinite(left):
        return min(AT_MOST, SHARE_OF_PRICES * left)
    return min(SHARE_OF_PRICES_OF_LEAVES * left, max(AT_MOST, SHARE_OF_PRICES * left))


def _settled(run: CoupledRun, relaxed: Answer) -> Answer | None:
    """The relaxed answer where it answers the whole problem."""
    if relaxed.status is Status.INFEASIBLE:
        return relaxed
    if relaxed.status is Status.OPTIMAL and relaxed.tree is not None and meets_all(run.problem, relaxed.tree):
        return replace(relaxed, trace=tuple(run.trace))
    return None


def together(known: Mapping[str, float], more: Mapping[str, float]) -> dict[str, float]:
    """The statistics of several searches: sums, where they count something."""
    joined = dict(known)
    for name, number in more.items():
        if name in LARGEST:
            joined[name] = max(number, joined.get(name, number))
        elif name not in OF_ONE:
            joined[name] = joined.get(name, 0) + number
    return joined


class _Depths:
    """The loop over depths, with the best tree so far and the bound that holds for all depths."""

    def __init__(self, run: CoupledRun, task: CoupledTask, relaxed: Answer) -> None:
        self.run, self.task, self.problem = run, task, run.problem
        self.tree: Node | None = None
        self.cost: int | None = None  # of the tree, in the whole numbers of the search
        self.proofs: list[Evidence] = []
        self.bound: Fraction | None = None
        self.bound_by: Proof = ()
        if relaxed.bound is not None and len(self.problem.goals) == 1:
            self.bound, self.bound_by = relaxed.bound, supporting(relaxed.evidence, BOUND)
        self.least = Predicted(task.values[0]).lower_bound(self.problem, Fraction(1), row_by_row=False)
        self.statistics: dict[str, float] = {}

    def answer(self, solver: Coupled | CoupledThresholds, deepest: int) -> Answer:
        run, start = self.run, self.run.start
        run.tells = False  # a bound for one depth does not hold for deeper trees
        for depth in range(deepest + 1):
            below = None if self.cost is None else self.cost - 1
            found = run.search(
                solver, self.task, depth, start if self.tree is None else None, lower=self.lower, upper=below
            )
            goes_on = self.take(found)
            if found.status not in ("optimal", "infeasible"):
                return self.unproved(STOP[found.stop])
            self.proofs += run.ended
            if self.tree is not None and not self.problem.goals:
                return self.proved((Evidence("no goal"),))
            if self.is_reached:
                return self.proved(combined("bound meets tree", self.bound_by))
            if self.is_dearer_below(depth):
                return self.proved(combined("level by level", self.proofs, "depth"))
            if not goes_on:
                return self.unproved(Stop.INTERRUPTED)
        return self.proved(run.ended)  # no tree is deeper, so the last search was over all of them

    @property
    def lower(self) -> int | None:
        """No tree costs less, in the whole numbers of the search."""
        if self.bound is None:
            return None
        objective = self.task.objective
        return ceil((self.bound - objective.constant) * objective.scale)

    @property
    def is_reached(self) -> bool:
        return self.bound is not None and self.tree is not None and self.values[0] <= self.bound

    @property
    def values(self) -> tuple[Fraction, ...]:
        assert self.tree is not None
        return evaluate_goals(self.problem, self.tree)

    def is_dearer_below(self, depth: int) -> bool:
        """Does every deeper tree cost at least as much as the best one, because of its leaves?"""
        price = int(self.task.objective.price)
        return self.cost is not None and price > 0 and self.least + price * (depth + 2) >= self.cost

    def take(self, found: Found) -> bool:
        """Keeps the tree of a search; False if the listener wants to stop."""
        self.statistics = together(self.statistics, self.run.statistics(found, None, None))
        if not len(found.test) or found.value is None or (self.cost is not None and found.value >= self.cost):
            return True
        self.tree, self.cost = tree_of(found, self.problem), int(found.value)
        if not self.problem.goals:
            return True
        moment = Progress(monotonic() - self.run.began, self.values[:1], self.bound, self.tree, evidence=self.bound_by)
        self.run.trace.append(moment)
        return self.run.on_progress is None or self.run.on_progress(moment) is not False

    def proved(self, evidence: Proof) -> Answer:
        common: dict[str, Any] = {"trace": tuple(self.run.trace), "statistics": self.statistics}
        if self.tree is None:
            return Answer(Status.INFEASIBLE, Stop.PROVED, evidence=evidence, **common)
        values = self.values
        bound = values[-1] if values else None
        return Answer(Status.OPTIMAL, Stop.PROVED, self.tree, values, bound, evidence=evidence, **common)

    def unproved(self, stop: Stop) -> Answer:
        common: dict[str, Any] = {"trace": tuple(self.run.trace), "statistics": self.statistics}
        if self.tree is None:
            return Answer(Status.UNKNOWN, stop, bound=self.bound, evidence=self.bound_by, **common)
        bound = None if self.bound is None else min(self.bound, self.values[0])
        return Answer(
            Status.FEASIBLE, stop, self.tree, self.values, bound, bounded_goal=0, evidence=self.bound_by, **common
        )
