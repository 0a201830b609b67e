"""Problem with coupled requirements, limits -> Answer, by the coupled search in C."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, Solve, Status, Stop
from treeml.backends.native.coupled.by_cases import by_cases
from treeml.backends.native.coupled.cases import cases_of
from treeml.backends.native.coupled.depths import by_depths
from treeml.backends.native.coupled.easy_tree import easy_tree
from treeml.backends.native.coupled.priced import PricedBounds
from treeml.backends.native.coupled.task import CoupledTask, cost_of, read_coupled
from treeml.backends.native.flat_tree import flat_tree, labels_of, tree_of
from treeml.backends.native.goals import floor
from treeml.backends.native.inputs import forbidden_features, is_impossible, search_settings
from treeml.backends.native.priced_leaves import FEW_LEAVES
from treeml.backends.native.run import NativeRun
from treeml.problem.evaluate import evaluate_goals, meets_all
from treeml.problem.problem import Problem
from treeml.problem.shapes import deepest
from treeml.problem.tree import Node

if TYPE_CHECKING:
    from treeml.backends.native.coupled.thresholds import CoupledThresholds
    from treeml.native.coupled import Coupled
    from treeml.native.solver import Found

DEEP = 3  # from this depth on, prices on requirements and smaller depths may come first,
SHORT, SHORT_SHARE = 0.3, 0.25  # if a search has not ended after this many seconds, or this share of the time
SLOW_BOUND = {"coupled": 5, "coupled numeric": 4}  # from this depth on, a search has a bound late
PRICED, PRICED_SHARE = (1.0, 20.0), 0.5  # seconds for searches with prices, if bounds are not slow and if they are,
MANY_CELLS = 100_000  # rows times columns: from here on, searches with coupled requirements take long at any such depth
LITTLE, LARGER_SHARE = 2.0, 0.7  # and their share of the time, at most; with so little time, it is larger
MUCH = 60.0  # seconds; with more time, slow bounds may come from the search itself
MANY_ENTRIES, SECONDS_PER_ENTRY = 1 << 24, 2.5e-9  # tests times rows; to make these answers ready for a search
NO_GOAL = (Evidence("no goal"),)
FEWEST_LEAVES = 4  # that are better bounded with a price
DEEPEST_AT_ONCE = 4  # up to this depth that follows from the rows, one search is made; beyond it, one for every depth


@dataclass
class CoupledRun(NativeRun):
    """One search, or one for every depth where the problem limits none, or for every case of narrow requirements."""

    kernel: str = "coupled"
    one_goal: Solve | None = None  # solves problems without coupled requirements
    bounding: Solve | None = None  # the same, with its time for the bound rather than for trees
    divides_leaves: bool = False  # does `bounding` divide few leaves between the sides of splits, as on columns?
    relaxed: Answer | None = None  # to the problem without its requirements on predictions, once it is known
    _settings: dict[str, Any] | None = field(default=None, init=False)
    _is_ending: bool = field(default=False, init=False)  # did a report of a search say that it should stop?

    def answer(self) -> Answer:
        task = read_coupled(self.problem)
        settings = self.settings(task)
        if task.excluded is not None or is_impossible(self.problem, settings):
            return self.answered(None, task.objective)
        cases = cases_of(task)
        answer = self.solved(task) if cases is None else by_cases(self, task, cases)
        return self.with_easy_tree(answer, task) if answer.status is Status.UNKNOWN else answer

    def with_easy_tree(self, answer: Answer, task: CoupledTask) -> Answer:
        """An answer without a tree, because the search was stopped -> with one, if there is an easy one."""
        tree = easy_tree(self.problem, task)
        if tree is None:
            return answer
        if not self.problem.goals:
            return replace(answer, status=Status.OPTIMAL, stop=Stop.PROVED, tree=tree, objective=(), evidence=NO_GOAL)
        return replace(answer, status=Status.FEASIBLE, tree=tree, objective=evaluate_goals(self.problem, tree))

    def solved(self, task: CoupledTask) -> Answer:
        """The answer to a task with the shape limits of the problem."""
        depth = depth_of(self.problem)
        is_given = self.problem.max_depth is not None
        if self.is_too_late:
            return self.without_search(Stop.TIME)
        try:
            solver = self.solver(task)
        except MemoryError:
            return self.without_memory()
        try:
            if not is_given and depth > DEEPEST_AT_ONCE:
                return by_depths(self, solver, task, depth)
            found = self.deepened(solver, task, depth)
        except MemoryError:
            return self.without_memory()
        finally:
            solver.close()
        return self.answered(found, task.objective, self.bound_of(found, task))

    @property
    def is_too_late(self) -> bool:
        """Would the time be over before the tests are made and compared? Nothing looks at the clock meanwhile."""
        entries = 0 if self.on_columns else len(self.problem.tests) * self.problem.rows
        return entries > MANY_ENTRIES and self.limits.deadline.left() < SECONDS_PER_ENTRY * entries

    def bound_of(self, found: Found, task: CoupledTask) -> Fraction | None:
        """The bound of a search that has no tree yet; `answered` reads that of the others."""
        if found.bound is None or found.status != "unknown" or not self.problem.goals:
            return None
        return task.objective.bound_of_first_goal(Fraction(found.bound))

    @property
    def few_leaves(self) -> int | None:
        """The limit on leaves, if it is so low that a price per leaf beside it makes bounds better."""
        limit = self.problem.bound_on("Leaves", "<=") if self.divides_leaves else None
        return floor(limit) if limit is not None and FEWEST_LEAVES <= limit < FEW_LEAVES + 1 else None

    def deepened(self, solver: Coupled | CoupledThresholds, task: CoupledTask, depth: int) -> Found:
        """A search of this depth. If it takes long, smaller depths come first: they take a fraction of the time, and
        their best tree is what a search that runs out of time has to offer."""
        if depth < DEEP:
            return self.search(solver, task, depth, self.start)
        seconds = min(SHORT, SHORT_SHARE * self.limits.deadline.left())
        first = self.search(solver, task, depth, self.start, seconds=seconds)
        if first.stop != "time" or self.limits.deadline.passed:
            return first
        best, start = first, tree_of(first, self.problem) if len(first.test) else self.start
        lower = _whole(first.bound)
        on_columns = self.on_columns
        turn = self.turn_of_prices(depth)
        is_slow = on_columns and self.problem.rows * len(self.problem.features) >= MANY_CELLS
        tells, self.tells = self.tells, False  # a bound for one depth does not hold for deeper trees
        for shallow in range(2, depth):
            if shallow == turn and not self._is_ending:
                lower, start = self.priced(task, lower, start, tells, is_slow)
            if on_columns and depth == DEEP:
                break
            # With prices still to come, the best tree of two levels is worth a share of the time, but no more.
            is_first = on_columns and turn is not None and shallow < turn
            share = SHORT_SHARE * self.limits.deadline.left() if is_first else inf
            found = self.search(solver, task, shallow, start, seconds=share)
            if found.value is not None and (best.value is None or found.value < best.value):
                best, start = found, tree_of(found, self.problem)
            if found.stop not in ("proved", "time"):
                status = "feasible" if len(best.test) else "unknown"
                return replace(best, status=status, stop=found.stop, bound=lower)
            if found.stop != "proved" and not is_first:
                break
            is_slow = is_slow or found.stop != "proved"
        if turn == depth and not self._is_ending:
            lower, start = self.priced(task, lower, start, tells, is_slow)
        self.tells = tells
        return self.search(solver, task, depth, start, lower=lower)

    def turn_of_prices(self, depth: int) -> int | None:
        """The depth before whose search prices on the requirements are tried; None if they are not worth their time."""
        if self.on_columns:
            return 2 if depth == DEEP else 3
        if depth >= SLOW_BOUND[self.kernel]:
            return min(DEEP + 1, depth)
        return depth if depth > DEEP and self.limits.deadline.left() < LITTLE else None

    def priced(
        self, task: CoupledTask, lower: int | None, start: Node | None, tells: bool, has_most_time: bool
    ) -> tuple[int | None, Node | None]:
        """A bound and a tree that are at least as good, from searches with prices on the requirements.

        These have most of the time if the searches after them are unlikely to end.
        """
        if self.one_goal is None:
            return lower, start
        depth, on_columns = depth_of(self.problem), self.on_columns
        prices = self.prices_of(task, self.bounding if on_columns and depth > DEEP else None)
        if start is not None and meets_all(self.problem, start):
            prices.tree, prices.cost = start, cost_of(self.problem, task, start)
        left = self.limits.deadline.left()
        seconds = (LARGER_SHARE if left < LITTLE or has_most_time else PRICED_SHARE) * left
        is_slow = depth >= SLOW_BOUND[self.kernel]
        if not has_most_time and (left > MUCH or not is_slow):
            seconds = min(PRICED[depth > DEEP + 1], seconds)
        if on_columns and depth > DEEP and task.sums:
            prices.search_first(DEEP, seconds / 3)
        prices.search(seconds)
        self._is_ending = self._is_ending or prices.is_interrupted
        bounds = [bound for bound in (lower, prices.bound) if bound is not None]
        best = max(bounds, default=None)
        if tells and prices.cost is not None and not prices.is_interrupted:
            self.tells = True
            self._goes_on(task, prices.cost, best)
            self.tells = False
        return best, start if prices.tree is None else prices.tree

    def prices_of(self, task: CoupledTask, bounding: Solve | None) -> PricedBounds:
        """Searches with prices on the requirements; `bounding` is for those whose bounds take long."""
        assert self.one_goal is not None
        return PricedBounds(
            self.problem,
            task,
            self.limits,
            self.one_goal,
            self.on_progress,
            bounding,
            on_columns=self.on_columns,
            leaves=self.few_leaves,
        )

    @property
    def on_columns(self) -> bool:
        return self.kernel == "coupled numeric"

    def settings(self, task: CoupledTask) -> dict[str, Any]:
        """The settings of every search of this run; all of its tasks have one objective."""
        if self._settings is None:
            self._settings = search_settings(self.problem, task.objective, self.limits, self.kernel)
        return self._settings

    def solver(self, task: CoupledTask) -> Coupled | CoupledThresholds:
        problem, forbidden = self.problem, forbidden_features(self.problem)
        if self.on_columns:
            from treeml.backends.native.coupled.thresholds import CoupledThresholds  # imported here: start-up time

            return CoupledThresholds(problem, task, forbidden)
        from treeml.native.coupled import Coupled  # imported here: start-up time

        columns = problem.feature_of_test
        coupled = Coupled(
            problem.bits,
            task.values,
            count=problem.count,
            columns=columns,
            forbidden=np.isin(columns, list(forbidden)) if forbidden else None,
        )
        if task.fees:
            coupled.set_fees(task.fees.in_goal, task.fees.limited, task.fees.most)
        if task.rules:
            coupled.set_rules(task.rules.purity, task.rules.cost, task.rules.most)
        return coupled

    def search(
        self,
        solver: Coupled | CoupledThresholds,
        task: CoupledTask,
        depth: int,
        start: Node | None,
        lower: int | None = None,
        seconds: float = inf,
        upper: int | None = None,
    ) -> Found:
        """One search; no tree costs less than `lower`, and only trees that cost at most `upper` are of interest."""
        if task.most is not None:
            upper = task.most if upper is None else min(upper, task.most)
        begin = None
        if start is not None and meets_all(self.problem, start):
            begin = (*flat_tree(start), labels_of(start))
        return solver.solve(
            task.low,
            task.high,
            **{**self.settings(task), "depth": depth},
            seconds=min(seconds, self.limits.deadline.left()),
            upper=upper,
            lower=lower,
            start=begin,
            on_progress=lambda seconds, value, bound: self._goes_on(task, value, bound),
        )

    def _goes_on(self, task: CoupledTask, value: Any, bound: Any) -> bool:
        """Reports a value and a bound. A search that has just ended ignores a False; what follows it must not."""
        self._is_ending = self._is_ending or not self.progress(task.objective, value, bound)
        return not self._is_ending


def _whole(bound: int | Fraction | None) -> int | None:
    return None if bound is None else int(bound)


def depth_of(problem: Problem) -> int:
    """The depth limit of the problem, or else one that follows from its rows, tests and other limits."""
    if problem.max_depth is None:
        return deepest(problem)
    limits = [problem.max_depth, len(problem.tests)]
    leaves = problem.bound_on("Leaves", "<=")
    if leaves is not None:
        limits.append(floor(leaves) - 1)
    return max(0, min(limits))
