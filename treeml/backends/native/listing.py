"""Problem -> all its trees in the order of the first goal: counted, and made from their numbers.

The C kernel `native/sets` counts trees by their cost in integers. Costs of classes, absolute and quantile losses are
exact. Squared losses and a user's own costs are rounded down to a fine grain: trees whose membership the grain cannot
decide are evaluated exactly, one by one.

docs/listing.md says which trees count as different.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from treeml.backends.contract import Deadline
from treeml.backends.native.coupled.task import LimitedSum, limited_sums, normal_form, restrictions
from treeml.backends.native.goals import at_most, floor, scaled_cost
from treeml.backends.native.guides import Guides
from treeml.backends.native.inputs import forbidden_features, is_impossible
from treeml.backends.native.listing_refusals import coupling_bounds, is_goal, predicted_bounds
from treeml.backends.native.listing_units import ListingUnits
from treeml.native.sets import DEEPEST, MEMORY, TIME, LimitedSums, SetsStopped, TreeLimits, TreeSets
from treeml.problem.evaluate import evaluate_goals
from treeml.problem.problem import Problem
from treeml.problem.reduce import reduce
from treeml.problem.shapes import deepest
from treeml.problem.tree import Leaf, Node, Split

MOST_EXAMINED = 20_000  # trees that are evaluated one by one because rounding cannot decide about them
SHARES = (Fraction(1), Fraction(1, 4), Fraction(1, 16), Fraction(1, 64), Fraction(0))  # of a slack that is too large


@dataclass(frozen=True, slots=True)
class Slack:
    """How far from the best value a tree may be: a share of it, or an amount in units of the goal."""

    amount: Fraction
    relative: bool

    def limit(self, best: Fraction) -> Fraction:
        return best + (abs(best) * self.amount if self.relative else self.amount)


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a listing got. Values are those of the first goal, as it is minimized."""

    best: Fraction | None = None  # of a tree; None if none is known
    limit: Fraction | None = None  # every tree up to this value is counted; None: every tree there is
    stop: str = ""  # "", "time", "memory" or "count": why trees within the slack are not counted
    exhausted: bool = False  # there are no further trees


class TreeListing:
    """The trees of one problem. `extend` counts; `total`, `tree` and the kernel itself (`sets`) then know them."""

    def __init__(self, problem: Problem, style: str = "", memory: int | None = None) -> None:
        self.asked, self.style, self.memory = problem, style, memory
        if style == "treefarms":
            self.problem, self._lift = reduce(problem, tests=False)
        else:
            self.problem, self._lift = reduce(problem)
        self.units = ListingUnits(self.problem)
        self.limits = _tree_limits(self.problem, self.units, memory or 0)
        self._most = _bounded_value(self.problem)
        found, excluded = limited_sums(coupling_bounds(self.problem))
        # Also limits that every tree meets: whether labels are free depends on the spec.
        self.coupled = found
        self.excluded = excluded or restrictions(self.coupled)[1]  # a requirement that no labels of the rows meet
        self._limited: LimitedSums | None = None
        self._lower = 0  # no tree within the limited sums costs less
        self.examined: list[int] = []  # numbers of trees behind those that surely belong, evaluated one by one
        self.sure = 0  # trees of the kernel that surely belong
        self.reached = Reached()
        self._sets: TreeSets | None = None

    @property
    def sets(self) -> TreeSets:
        """The kernel; made again after its memory was exceeded."""
        if self._sets is None:
            self._sets = self._made()
        return self._sets

    def _made(self) -> TreeSets:
        problem = self.problem
        feature = problem.feature_of_test
        apart = [each.kind == "binary" for each in problem.features]
        group = np.array([-1 if apart[number] else number for number in feature], dtype=np.int32)
        allowed = ~np.isin(feature, sorted(forbidden_features(problem)))
        self.tests = np.flatnonzero(allowed)
        return TreeSets(
            problem.bits[allowed],
            self.units.leaf_model(self.style == "treefarms"),
            self.limits,
            count=problem.count,
            column=feature[allowed],
            group=None if self.style == "treefarms" else group[allowed],
            column_cost=self.units.column_cost,
            limited=self._limited,
        )

    def _guide(self, deadline: Deadline) -> None:
        """Choose the guides of limited sums, before the kernel is made."""
        if not self.coupled or self._limited is not None:
            return
        sums = np.stack([each.cost for each in self.coupled])
        low, high = tuple(each.low for each in self.coupled), tuple(each.high for each in self.coupled)
        allowed = ~np.isin([test.feature for test in self.problem.tests], sorted(forbidden_features(self.problem)))
        free = not all(_follows_goal(each, self.units.cost) for each in self.coupled)
        bits = self.problem.bits[allowed]
        reach = self.units.reach(self.limits)
        guides = Guides(partial(self._combined, bits), self.units.cost, reach, sums, low, high, bits, deadline)
        self._limited = LimitedSums(sums, low, high, guides.factors(), free)
        self._lower = guides.lower

    def _combined(self, bits: NDArray[np.bool_], cost: NDArray[np.int64], factor: int) -> TreeSets:
        """The trees of a guide: those of other costs, without limited sums."""
        problem, columns = self.problem, self.units.column_cost
        model = replace(self.units.leaf_model(False), cost=cost)
        limits = replace(self.limits, price=factor * self.limits.price, leaves=0)
        feature = np.array([test.feature for test in problem.tests], dtype=np.int32)
        column = feature[~np.isin(feature, sorted(forbidden_features(problem)))]
        paid = None if columns is None else factor * columns
        return TreeSets(bits, model, limits, count=problem.count, column=column, column_cost=paid)

    def statistics(self) -> dict[str, int]:
        """Those of the kernel; none if its memory was not even enough to begin."""
        return {} if self._sets is None else self._sets.statistics()

    @property
    def total(self) -> int:
        """How many trees are counted."""
        return self.sure + len(self.examined)

    def tree(self, number: int) -> Node:
        """A tree over the tests of the problem as asked."""
        return self.tree_of_kernel(self.kernel_number(number))

    def trees(self, first: int, count: int) -> Iterator[Node]:
        """Many trees at once, over the tests of the problem as asked; their subtrees are shared."""
        sure = max(0, min(count, self.sure - first))
        roots = self.sets.trees(first, sure)
        tests = self.lifted_tests().tolist()
        made: list[Node] = []
        nodes = self.sets.nodes()
        for test, yes, no in zip(nodes.test.tolist(), nodes.yes.tolist(), nodes.no.tolist(), strict=True):
            made.append(Leaf(yes) if test < 0 else Split(tests[test], made[yes], made[no]))
        for test, yes, no in zip(*(part.tolist() for part in roots), strict=True):
            yield Leaf(yes) if test < 0 else Split(tests[test], made[yes], made[no])
        for number in range(first + sure, first + count):
            yield self.tree(number)

    def kernel_number(self, number: int) -> int:
        return number if number < self.sure else self.examined[number - self.sure]

    def lifted_tests(self) -> NDArray[np.int64]:
        """For every test of the kernel its number in the problem as asked."""
        _ = self.sets
        numbers = [self._lift(Split(int(test), Leaf(), Leaf())) for test in self.tests]
        return np.array([each.test for each in numbers if isinstance(each, Split)], dtype=np.int64)

    def histogram(self, first: int | None = None) -> list[tuple[Fraction, int]]:
        """Values of the first goal with their numbers of trees, the best first; of the first trees only, if given."""
        counts: dict[Fraction, int] = {}
        first = self.total if first is None else first
        left = min(self.sure, first)
        for cost, trees in zip(self.sets.costs, self.sets.counts, strict=True):
            taken = min(left, trees)
            left -= taken
            if taken:
                value = self.units.value(cost)
                counts[value] = counts.get(value, 0) + taken
        for number in self.examined[: max(0, first - self.sure)]:
            value = evaluate_goals(self.asked, self.tree_of_kernel(number))[0]
            counts[value] = counts.get(value, 0) + 1
        return sorted(counts.items())

    def tree_of_kernel(self, number: int) -> Node:
        test, yes, no = self.sets.tree(number)
        nodes: list[Node] = [Leaf(-1)] * len(test)
        for at in range(len(test) - 1, -1, -1):
            leaf = test[at] < 0
            nodes[at] = Leaf(int(yes[at])) if leaf else Split(int(self.tests[test[at]]), nodes[yes[at]], nodes[no[at]])
        return self._lift(nodes[0])

    # -- counting -------------------------------------------------------------------------

    def extend(self, slack: Slack | None, most: int | None, deadline: Deadline) -> Reached:
        """Count the trees within the slack, or enough of them to know the best `most`."""
        self.sure, self.examined, self.reached = 0, [], Reached()
        try:
            self._guide(deadline)
            if self.excluded is not None or is_impossible(
                self.problem, {"depth": self.limits.depth, "leaves": self._fewest_leaves()}
            ):
                self.reached = Reached(exhausted=True)
            elif slack is None:
                assert most is not None
                self._best_trees(most, deadline)
            else:
                self._within(slack, deadline)
        except SetsStopped as stopped:
            self.sure, self.examined = 0, []
            self.reached = Reached(self.reached.best, None, _reason(stopped))
        return self.reached

    def recount(self, deadline: Deadline) -> None:
        """Count the same trees again, after making them took too much memory."""
        if self.reached.limit is None and not self.reached.exhausted:
            return
        self._sets = None
        limit = self.reached.limit
        if limit is None:
            limit = self._capped(self.units.greatest(self.limits))
        try:
            self._build(self.units.budget(limit), deadline, 1.0)
            self._settle(limit, deadline)
        except SetsStopped as stopped:
            self.sure, self.examined = 0, []
            self.reached = Reached(self.reached.best, None, _reason(stopped))

    def _fewest_leaves(self) -> int:
        leaves = self.problem.bound_on("Leaves", "<=")
        return 1 if leaves is None else floor(leaves)

    def _within(self, slack: Slack, deadline: Deadline) -> None:
        best = self._best(deadline)
        if best is None:
            self.reached = Reached(exhausted=True)
            return
        self.reached = Reached(best, best, "time")
        wanted = self._capped(slack.limit(best))
        stop = ""
        for share in SHARES:
            limit = best + (wanted - best) * share
            try:
                self._build(self.units.budget(limit), deadline, 0.6 if share else 1.0)
                self._settle(limit, deadline)
            except SetsStopped as stopped:
                stop = _reason(stopped)
                self._recover(stopped)
                continue
            self.reached = Reached(best, limit, stop)
            return
        self.reached = Reached(best, None, stop)

    def _best_trees(self, most: int, deadline: Deadline) -> None:
        """Double the distance from the best until there are enough trees."""
        best = self._best(deadline)
        if best is None:
            self.reached = Reached(exhausted=True)
            return
        low = self.units.budget(best)
        top = self.units.budget(self._capped(self.units.greatest(self.limits)))
        self._build(low, deadline, 1.0)
        self._settle(best, deadline)
        self.reached = Reached(best, best)
        step, known = max(1, abs(low) >> 10), low
        while self.total < most:
            if known >= top:
                self.reached = Reached(best, None, exhausted=True)
                return
            budget = min(top, known + step)
            try:
                self._build(budget, deadline, 0.6)
            except SetsStopped as stopped:
                self._recover(stopped)
                if step > 1 and not deadline.passed:
                    step = max(1, step // 4)
                    continue
                self._build(known, Deadline(), 1.0)  # it was counted before
                self._settle(self.units.value(known), Deadline())
                self.reached = Reached(best, self.units.value(known), _reason(stopped))
                return
            known, step = budget, 2 * step
            self._settle(self.units.value(known), deadline)
            self.reached = Reached(best, self.units.value(known))
        self._trim(most, deadline)

    def _trim(self, most: int, deadline: Deadline) -> None:
        """Keep what is needed for the best `most` trees, so that making them is fast."""
        for cost, trees in zip(self.sets.costs, accumulate(self.sets.counts), strict=True):
            if trees >= most:
                if trees < self.sets.total and not self.units.error:
                    self._build(cost, deadline, 1.0)
                    self._settle(self.units.value(cost), deadline)
                    self.reached = Reached(self.reached.best, self.units.value(cost))
                return

    def _build(self, budget: int, deadline: Deadline, share: float) -> None:
        left = deadline.left()
        self.sets.build(budget, -1.0 if left == float("inf") else left * share)

    def _recover(self, stopped: SetsStopped) -> None:
        """After memory ran out, begin with an empty one; after the time, with what is known."""
        if stopped.code != TIME and self._sets is not None:
            self._sets.close()
            self._sets = None

    def _capped(self, limit: Fraction) -> Fraction:
        return limit if self._most is None else min(limit, self._most)

    def _best(self, deadline: Deadline) -> Fraction | None:
        """The best value of a tree that is listed; None if there is none."""
        left = deadline.left()
        low = self.sets.optimum(seconds=-1.0 if left == float("inf") else left)
        top = self.units.budget(self._capped(self.units.greatest(self.limits)))
        if low > top:
            return None
        if self.coupled:
            low = max(low, self._lower)
        plain = not self.limits.leaves and not self.units.error and not self.coupled
        if plain:
            return self.units.value(low)
        # With a limit on leaves, or a requirement on all predictions, the best tree may be more expensive than that.
        step = 1 if not self.coupled else max(1, top >> 12)
        while True:
            self._build(min(low, top), deadline, 1.0)
            if self.sets.costs:
                break
            if low >= top:
                return None
            low, step = low + step, -(-step * 8 // 5) if self.coupled else step * 2
        first = self.sets.costs[0]
        if not self.units.error:
            return self.units.value(first)
        self._build(min(first + self.units.error, top), deadline, 1.0)
        if self.sets.total > MOST_EXAMINED:
            raise SetsStopped(MEMORY)
        return min(evaluate_goals(self.asked, self.tree_of_kernel(number))[0] for number in range(self.sets.total))

    def _settle(self, limit: Fraction, deadline: Deadline) -> None:
        """Decide which of the counted trees have at most this value."""
        self.examined = []
        if not self.units.error:
            self.sure = self.sets.total
            return
        certain = self.units.budget(limit) - self.units.error
        self.sure = sum(n for cost, n in zip(self.sets.costs, self.sets.counts, strict=True) if cost <= certain)
        if self.sets.total - self.sure > MOST_EXAMINED:
            raise SetsStopped(MEMORY)
        for number in range(self.sure, self.sets.total):
            if deadline.passed:
                raise SetsStopped(TIME)
            if evaluate_goals(self.asked, self.tree_of_kernel(number))[0] <= limit:
                self.examined.append(number)


def _reason(stopped: SetsStopped) -> str:
    return {TIME: "time", MEMORY: "memory"}.get(stopped.code, "count")


def _bounded_value(problem: Problem) -> Fraction | None:
    """The largest value of the goal that a requirement on the same sum of predictions allows."""
    values = []
    for bound in predicted_bounds(problem):
        if not is_goal(problem, bound):
            continue
        goal = problem.goals[0].sum
        theirs, (factor, _, limit) = scaled_cost(goal), at_most(bound)
        assert theirs is not None
        values.append(limit / factor * theirs[0] + goal.constant)
    return min(values, default=None)


def _follows_goal(limited: LimitedSum, cost: NDArray[np.int64]) -> bool:
    """Is the label that costs least also the best one for the limit? Then other labels are of no use."""
    plain, steps, _ = normal_form(cost)
    if not steps or not np.array_equal(plain, limited.cost):
        return False
    return (limited.low if steps > 0 else limited.high) is None


def _tree_limits(problem: Problem, units: ListingUnits, memory: int) -> TreeLimits:
    depth = min(deepest(problem), DEEPEST)
    leaves, support = problem.bound_on("Leaves", "<="), problem.bound_on("Support", ">=")
    fewest = 1 if support is None else max(1, -floor(-support))
    most = 0 if leaves is None or leaves >= problem.rows or leaves >= 2**depth else max(1, floor(leaves))
    if problem.max_depth is not None and problem.max_depth < 0:
        depth = problem.max_depth
    return TreeLimits(depth, most, min(fewest, 2**60), units.price, memory)
