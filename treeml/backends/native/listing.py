"""Problem -> all its trees in the order of the first goal: counted, and made from their numbers.

The C kernel `native/sets` counts trees by their cost in integers. Costs of classes, absolute and quantile losses are
exact. Squared losses and a user's own costs are rounded down to a fine grain: trees whose membership the grain cannot
decide are evaluated exactly, one by one.

docs/listing.md says which trees count as different.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.backends.contract import Deadline, Refusal
from treeml.backends.native.goals import MOST, NativeObjective, at_most, centred, floor, kind, objective_of, scaled_cost
from treeml.backends.native.inputs import forbidden_features, is_impossible, leaf_limit, purity_limit
from treeml.backends.native.refusals import refusals as solver_refusals
from treeml.native.sets import DEEPEST, MEMORY, TIME, LeafModel, SetsStopped, TreeLimits, TreeSets
from treeml.problem.constants import exact_squares
from treeml.problem.evaluate import evaluate_goals
from treeml.problem.neighbors import least_from
from treeml.problem.problem import Bound, Problem
from treeml.problem.reduce import reduce
from treeml.problem.shapes import deepest
from treeml.problem.terms import Predicted
from treeml.problem.tree import Leaf, Node, Split

FINEST = 40  # bits after the point of rounded costs
MOST_EXAMINED = 20_000  # trees that are evaluated one by one because rounding cannot decide about them
MOST_BITS = 2**31  # tests times rows
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


GOALS = frozenset({"Predicted", "Leaves", "TestCost", "Loss", "Custom"})
BOUNDS = frozenset({"Depth", "Leaves", "Support", "Purity", "LeafErrors", "Predicted", "Used"})


def listing_refusals(problem: Problem) -> Iterator[Refusal]:
    """Why the trees of a problem cannot be listed, in sentences.

    This asks for less than `native` can solve: its search for coupled requirements lists no trees.
    """
    found = [*_goal_refusals(problem), *_bound_refusals(problem)]
    yield from found
    if not found:
        yield from solver_refusals(problem.asking(problem.goals, _without(problem, _predicted(problem))))
    if problem.given_bits is None and len(problem.tests) * problem.rows > MOST_BITS:
        yield Refusal("the size", "the answers to all tests do not fit in memory", "take fewer cuts")


def _goal_refusals(problem: Problem) -> Iterator[Refusal]:
    for goal in problem.goals:
        for name in sorted(goal.sum.kinds() - GOALS):
            yield Refusal(f"the goal {goal.text}", f"trees are listed by goals that add up over leaves, not by {name}")
    if problem.classes and not any("Predicted" in goal.sum.kinds() for goal in problem.goals):
        yield Refusal(
            "the goal",
            "`list` needs a goal that depends on predictions: otherwise any class would do in any leaf",
            "add a second goal: `then minimize errors`",
        )


def _bound_refusals(problem: Problem) -> Iterator[Refusal]:
    for bound in problem.bounds:
        feature = f"the requirement {bound.name}" if bound.name else "a requirement"
        instead = "list the trees without it, and keep those that meet it: trees.where(...)"
        if len(bound.sum.parts) != 1 or not bound.sum.kinds() <= BOUNDS:
            names = ", ".join(sorted(bound.sum.kinds()))
            because = f"`list` cannot bound {names}: a requirement has to hold leaf by leaf, or limit the size"
            yield Refusal(feature, because, instead)
        elif kind(bound) is Predicted and not _is_goal(problem, bound):
            yield Refusal(feature, "`list` bounds a sum over the predictions only if the same sum is the goal", instead)


def _is_goal(problem: Problem, bound: Bound) -> bool:
    """Is the bounded sum, from above, a positive multiple of the only goal?"""
    goal = problem.goals[0].sum if len(problem.goals) == 1 else None
    if goal is None or goal.kinds() != {"Predicted"} or bound.sense == "=":
        return False
    theirs, mine = scaled_cost(goal), at_most(bound)
    assert theirs is not None
    return mine[0] * theirs[0] > 0 and np.array_equal(mine[1], theirs[1])


def _predicted(problem: Problem) -> list[Bound]:
    return [bound for bound in problem.bounds if kind(bound) is Predicted]


def _without(problem: Problem, bounds: list[Bound]) -> tuple[Bound, ...]:
    return tuple(bound for bound in problem.bounds if not any(bound is other for other in bounds))


class TreeListing:
    """The trees of one problem. `extend` counts; `total`, `tree` and the kernel itself (`sets`) then know them."""

    def __init__(self, problem: Problem, style: str = "", memory: int | None = None) -> None:
        self.asked, self.style, self.memory = problem, style, memory
        if style == "treefarms":
            self.problem, self._lift = reduce(problem, tests=False)
        else:
            self.problem, self._lift = reduce(problem)
        self.units = _Units(self.problem)
        self.limits = _tree_limits(self.problem, self.units, memory or 0)
        self._most = _bounded_value(self.problem)
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
        feature = np.array([test.feature for test in problem.tests], dtype=np.int32)
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
        )

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

    def histogram(self) -> list[tuple[Fraction, int]]:
        """Values of the first goal with their numbers of trees, the best first."""
        counts: dict[Fraction, int] = {}
        left = self.sure
        for cost, trees in zip(self.sets.costs, self.sets.counts, strict=True):
            taken = min(left, trees)
            left -= taken
            if taken:
                value = self.units.value(cost)
                counts[value] = counts.get(value, 0) + taken
        for number in self.examined:
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
        """Count the trees within the slack, or so many that the best `most` are known."""
        self.sure, self.examined, self.reached = 0, [], Reached()
        try:
            if is_impossible(self.problem, {"depth": self.limits.depth, "leaves": self._fewest_leaves()}):
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
        plain = not self.limits.leaves and not self.units.error
        if plain and (self.units.objective.loss is not None or not _has_leaf_conditions(self.problem)):
            return self.units.value(low)
        # With a limit on leaves, or a requirement on each of them, the best listed tree may cost more than that.
        step = 1
        while True:
            self._build(min(low, top), deadline, 1.0)
            if self.sets.costs:
                break
            if low >= top:
                return None
            low, step = low + step, step * 2
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
    for bound in _predicted(problem):
        assert _is_goal(problem, bound), "listing_refusals refuses other requirements on predictions"
        goal = problem.goals[0].sum
        theirs, (factor, _, limit) = scaled_cost(goal), at_most(bound)
        assert theirs is not None
        values.append(limit / factor * theirs[0] + goal.constant)
    return min(values, default=None)


def _tree_limits(problem: Problem, units: _Units, memory: int) -> TreeLimits:
    depth = min(deepest(problem), DEEPEST)
    leaves, support = problem.bound_on("Leaves", "<="), problem.bound_on("Support", ">=")
    fewest = 1 if support is None else max(1, -floor(-support))
    most = 0 if leaves is None or leaves >= problem.rows or leaves >= 2**depth else max(1, floor(leaves))
    if problem.max_depth is not None and problem.max_depth < 0:
        depth = problem.max_depth
    return TreeLimits(depth, most, min(fewest, 2**60), units.price, memory)


class _Units:
    """The goals in the integers of the kernel: value = (cost * step + shift) / scale + constant."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.objective: NativeObjective = objective_of(problem)
        self.step, self.shift, self.error, self.grain = 1, 0, 0, 0
        self.scale, self.constant = Fraction(self.objective.scale), self.objective.constant
        self.price = 0
        self.column_cost: NDArray[np.int64] | None = None
        self.most_predicted = 2**58  # all leaves together cost no more, without their prices
        if self.objective.loss is not None and self.objective.beside is None:
            self._whole_loss()
        elif self.objective.loss is not None or self.objective.custom is not None:
            self._rounded()
        else:
            self._classes()

    def _classes(self) -> None:
        goal, problem = self.objective, self.problem
        cost = goal.cost
        if cost is None:
            cost = np.zeros((problem.rows, max(1, problem.classes)), dtype=np.int64)
        least = cost.min(axis=1, keepdims=True) if cost.size else cost[:, :1]
        cost = cost - least
        columns = None if goal.column_cost is None else np.asarray(goal.column_cost, dtype=np.int64)
        numbers = [int(goal.price), int(np.gcd.reduce(cost, axis=None)) if cost.size else 0]
        numbers += [] if columns is None else [int(each) for each in columns]
        self.step, self.shift = gcd(*numbers) or 1, int(least.sum())
        self.cost, self.price = cost // self.step, int(goal.price) // self.step
        self.column_cost = None if columns is None else columns // self.step
        self.most_predicted = int(self.cost.max(axis=1, initial=0).astype(object).sum())

    def _whole_loss(self) -> None:
        goal = self.objective
        assert goal.loss is not None
        unit = goal.loss.level.denominator if goal.loss.kind == "quantile" else 1
        self.scale *= unit
        self.price = int(goal.price) * unit
        if goal.column_cost is not None:
            self.column_cost = np.asarray(goal.column_cost, dtype=np.int64) * unit

    def _rounded(self) -> None:
        """Everything is rounded down to 2^-grain: a tree costs less than `error` units more than it seems."""
        goal, problem = self.objective, self.problem
        if goal.loss is not None and goal.loss.kind != "squared":
            raise OverflowError("its integers do not fit in 64 bits")
        columns = goal.column_cost if goal.column_cost is not None else ()
        rows = int(problem.count.sum())
        beside = Fraction(goal.price) * problem.rows + rows * sum((Fraction(each) for each in columns), Fraction(0))
        if goal.loss is not None:
            targets = centred(goal.loss.targets)
            most: Fraction = Fraction(sum(exact_squares(column, goal.loss.weight) for column in targets.T))
            if most > MOST or most * int(goal.loss.weight.sum()) > 2**120:
                raise OverflowError("its integers do not fit in 64 bits")
        else:
            assert goal.custom is not None
            most = 2 * abs(Fraction(goal.custom.function(np.arange(problem.rows)))) + 1
        room = floor(Fraction(MOST) / max(Fraction(1), most + beside))
        self.grain = min(FINEST, max(0, room.bit_length() - 1))
        self.scale *= 2**self.grain
        if goal.loss is not None:
            self.most_predicted = floor(most * 2**self.grain) + 1
        self.price = floor(Fraction(goal.price) * 2**self.grain)
        if goal.column_cost is not None:
            self.column_cost = np.array([floor(Fraction(each) * 2**self.grain) for each in columns], dtype=np.int64)
        leaves = min(problem.rows, 2 ** min(deepest(problem), 40))
        self.error = 2 * leaves + (rows * len(columns) if goal.column_cost is not None else 0)

    def leaf_model(self, last: bool) -> LeafModel:
        goal = self.objective
        if goal.custom is not None:
            return LeafModel("custom", custom=self._custom(goal.custom.function))
        if goal.loss is None:
            return LeafModel(cost=self.cost, last=last, limit=leaf_limit(self.problem), purity=_purity(self.problem))
        weight = goal.loss.weight * goal.factor
        targets = centred(goal.loss.targets)
        if goal.loss.kind == "squared":
            return LeafModel("squared", targets, weight, grain=self.grain)
        level = goal.loss.level if goal.loss.kind == "quantile" else Fraction(1, 2)
        above, below = level.numerator, level.denominator - level.numerator
        return LeafModel("quantile", targets, weight, above, below)

    def _custom(self, function: Callable[[Any], float]) -> Callable[[NDArray[np.int32]], int]:
        def cost(rows: NDArray[np.int32]) -> int:
            value = Fraction(function(np.asarray(rows, dtype=np.intp)))
            if value < 0:
                raise ValueError("`list` needs leaf costs that are never negative")
            return floor(value * 2**self.grain)

        return cost

    def value(self, cost: int) -> Fraction:
        """The value of the first goal."""
        total = cost * self.step + self.shift
        goal = self.objective
        if goal.first_weighs > 1:
            total = (total - goal.later_least) // goal.first_weighs
        return Fraction(total) / self.scale + self.constant

    def budget(self, limit: Fraction) -> int:
        """The greatest cost of trees whose first goal is at most this."""
        goal, most = self.objective, floor((limit - self.constant) * self.scale)
        if goal.first_weighs > 1:
            most = most * goal.first_weighs + goal.later_most
        return max(-1, min((most - self.shift) // self.step, 2**60))

    def greatest(self, limits: TreeLimits) -> Fraction:
        """A value that no tree exceeds."""
        leaves = min(self.problem.rows, 2 ** min(limits.depth, 60))
        total = self.price * leaves + 2 * self.error
        if self.column_cost is not None:
            total += int(self.column_cost.sum()) * int(self.problem.count.sum())
        return self.value(total + self.most_predicted) + 1 / self.scale


def _purity(problem: Problem) -> tuple[NDArray[np.int64], int, int] | None:
    """Weights of classes, and the least share of the heaviest one as a fraction that leaves can have, of 64 bits."""
    limit = purity_limit(problem)
    if limit is None:
        return None
    weight, share = limit
    whole = max(1, int(weight.sum()))
    share = share if share > 1 else least_from(share, whole, whole) or share
    return weight, share.numerator, share.denominator


def _has_leaf_conditions(problem: Problem) -> bool:
    return leaf_limit(problem) is not None or purity_limit(problem) is not None
