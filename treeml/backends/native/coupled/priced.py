"""Problem with coupled requirements -> a bound and trees from searches without them, with prices on what they limit.

With a price on every limited sum the problem is additive, and the kernels for such problems are much faster on deep
trees than lists of vectors are. Whatever the prices, the least cost with them, minus the priced limits, is a lower
bound of every tree that keeps the limits (Lagrange). Prices follow the steps of Polyak (1969). The trees that are found
mostly keep the requirements with other labels in some leaves.

Where the numeric kernel divides a few leaves between the sides of splits, every leaf has a price as well, which the
bound gets back for as many leaves as are allowed. Such a price excludes most of the divisions early.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import NO_OPTIONS, Answer, Deadline, Limits, OnProgress, Progress, Solve, Status, Stop
from treeml.backends.native.coupled.relabeling import Relabeling, labeled
from treeml.backends.native.coupled.requirements import uncoupled
from treeml.backends.native.coupled.task import CoupledTask, cost_of
from treeml.problem.evaluate import Routed, is_answer
from treeml.problem.magnitudes import added, row_reach
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Depth, Leaves, Predicted, Sum
from treeml.problem.tree import Node

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST = 2**54  # of the priced sums: the kernels add them in 64 bits
FINE = 2**12  # steps of a price, at least, where the numbers leave room for them;
COARSE = 2**3  # with a price per leaf, small numbers are worth more: they make the searches twice as fast
MOST_ROUNDS = 24
REPAIR = 0.1  # of the time, at most, for other labels of one tree
SHORTEST = 0.005  # seconds; no search is started with less
LEAST_STEP = 1 / 64
ENOUGH = 0.75  # of what prices add to the bound of less deep trees
EASIER = 1.5  # the factor by which the price of a leaf falls; the time that a search takes grows faster
SHALLOW = 3  # levels of the tree that such a search starts from
SHARE_OF_START = 0.1  # of the time, at most, for that tree


@dataclass(eq=False)
class PricedBounds:
    """The best bound (in the whole numbers of the search) and the best tree so far."""

    problem: Problem
    task: CoupledTask
    limits: Limits
    solve: Solve  # for problems without coupled requirements
    on_progress: OnProgress | None = None
    bounding: Solve | None = None  # if bounds take long: the same, with its time for the bound rather than for trees
    depth: int | None = None  # of trees that are tried, if they are to be less deep; then there is no bound
    on_columns: bool = False  # does the search of the whole problem work on columns as they are?
    leaves: int | None = None  # the limit on them, if the kernel divides so few between the sides of splits
    bound: int | None = None
    tree: Node | None = None
    cost: int | None = None
    is_interrupted: bool = False
    first: NDArray[np.float64] | None = None  # the prices to begin with; 0 if None
    reached: int | None = None  # the greatest bound of a search; if it limits the depth, not one of deeper trees
    tried: list[tuple[NDArray[np.float64], int]] = field(
        default_factory=list
    )  # prices, and the bounds of such a search
    ease: float = EASIER  # the price of a leaf is divided by this

    def search_first(self, depth: int, seconds: float) -> None:
        """Looks for good prices and trees among trees of less depth, which takes a fraction of the time.

        Prices on requirements make the bounds of deep trees less tight, so the lowest ones that do most are kept.
        """
        self.depth = depth
        self.search(seconds)
        self.depth = None
        if self.tried:
            low, high = self.tried[0][1], max(bound for _, bound in self.tried)
            self.first = next(prices for prices, bound in self.tried if bound - low >= ENOUGH * (high - low))

    def search(self, seconds: float) -> None:
        """Tries prices until the time is up, the bound meets the tree, or nothing moves any more."""
        deadline = Deadline.after(min(seconds, self.limits.deadline.left()))
        prices, step = np.zeros(self.task.sums) if self.first is None else self.first, 1.0
        self.reached = None
        self.tried.clear()
        for _ in range(MOST_ROUNDS):
            if deadline.left() < SHORTEST or self.is_interrupted or self.is_met or step < LEAST_STEP:
                return
            known = self.reached
            tree = self.evaluate(prices, deadline)
            is_better = self.reached is not None and (known is None or self.reached > known)
            step = step if is_better else step / 2
            if tree is None:
                return
            if self.eases(tree):
                continue
            ascent = self.ascent(tree, prices)
            size = float((ascent**2).sum())
            if not size:
                return
            prices = self.projected(prices + step * self.distance() / size * ascent)

    @property
    def is_met(self) -> bool:
        return self.bound is not None and self.cost is not None and self.bound >= self.cost

    def evaluate(self, prices: NDArray[np.float64], deadline: Deadline) -> Node | None:
        """Raises the bound by a search at these prices, and offers its tree; None if the search was cut short."""
        whole, prices_whole = self.in_whole_numbers(prices)
        if not whole:
            return None
        cost = self.priced_cost(whole, prices_whole)
        leaf_price = self.price_of_leaf(cost)
        answer = self.solved(cost, whole * int(self.task.objective.price) + leaf_price, leaf_price > 0, deadline)
        self.is_interrupted = self.is_interrupted or answer.stop is Stop.INTERRUPTED
        if answer.bound is not None:
            allowed = self.priced_limits(prices_whole) + leaf_price * (self.leaves or 0)
            bound = ceil((answer.bound - allowed) / whole)
            self.reached = bound if self.reached is None else max(self.reached, bound)
            self.tried.append((prices.copy(), bound))
            if self.depth is None:
                self.bound = bound if self.bound is None else max(self.bound, bound)
        if answer.tree is None:
            return None
        self.offer(answer.tree, deadline)
        return answer.tree if answer.status is Status.OPTIMAL else None

    def priced_limits(self, prices: list[int]) -> int:
        """What a tree at its limits would pay."""
        total = 0
        for price, low, high in zip(prices, self.task.low, self.task.high, strict=True):
            limit = high if price > 0 else low
            total += price * limit if price and limit is not None else 0
        return total

    def in_whole_numbers(self, prices: NDArray[np.float64]) -> tuple[int, list[int]]:
        """The weight of the cost, and prices in units of it, for a whole sum per extent; 0 if they are too large.

        Without prices the cost is what it is, and searches are faster on small numbers.
        """
        if not prices.any():
            return 1, [0] * len(prices)
        reach = self.extent
        scale = 1 if 4 * reach * (1 + float(np.abs(prices).sum())) < LARGEST else 0
        steps = FINE if self.leaves is None or self.depth is not None else COARSE
        while 0 < scale < steps and 4 * scale * reach * (1 + float(np.abs(prices).sum())) < LARGEST:
            scale *= 2
        each = [float(price) * scale * reach / size for price, size in zip(prices, self.sizes, strict=True)]
        return scale, [round(price) for price in each]

    @property
    def extent(self) -> int:
        return max(1, row_reach(self.task.values[0]))

    @property
    def sizes(self) -> list[int]:
        return [max(1, row_reach(values)) for values in self.task.values[1:]]

    def priced_cost(self, whole: int, prices: list[int]) -> NDArray[np.int64]:
        """What every label of every row costs at these prices."""
        cost = self.task.values[0] * whole
        for price, values in zip(prices, self.task.values[1:], strict=True):
            if price:
                cost = cost + price * values
        return np.asarray(cost)

    def price_of_leaf(self, cost: NDArray[np.int64]) -> int:
        """At first a bit less than what a leaf of the best tree saves on average: high prices end a search soon."""
        if self.leaves is None or self.depth is not None:
            return 0
        single = int(cost.sum(axis=0).min())
        reached = single // 2 if self.tree is None else added(Routed(self.problem, self.tree).at_labels(cost))
        return int(max(0, single - reached) / ((self.leaves - 1) * self.ease))

    def eases(self, tree: Node) -> bool:
        """Is the price of a leaf too high, so that the tree has fewer leaves than are allowed? Then it falls."""
        if self.leaves is None or self.depth is not None:
            return False
        if len(Routed(self.problem, tree).leaves) >= self.leaves:
            return False
        self.ease *= EASIER
        return True

    def solved(self, cost: NDArray[np.int64], price: int, starts: bool, deadline: Deadline) -> Answer:
        """The answer to the problem without coupled requirements, at this cost, and this price of a leaf."""
        parts = ((Fraction(1), Predicted(cost)), (Fraction(price), Leaves()))
        goal = Goal(Sum(parts if price else parts[:1]))
        free = uncoupled(self.problem, on_columns=self.on_columns)
        asked = self.problem.asking((goal,), free if self.depth is None else (*free, _depth_limit(self.depth)))
        limits = replace(self.limits, deadline=deadline, options=NO_OPTIONS, gap=Fraction(0))
        start = None
        if starts:
            soon = replace(limits, deadline=Deadline.after(SHARE_OF_START * deadline.left()))
            shallow = self.problem.asking((goal,), (*free, _depth_limit(SHALLOW)))
            start = self.solve(shallow, soon, None, self._stopping()).tree
        solve = self.bounding if self.bounding is not None and self.depth is None else self.solve
        return solve(asked, limits, start, self._stopping())

    def _stopping(self) -> OnProgress | None:
        """Reports the time until the user wants to stop, and no values: with prices they are not those of the goal."""
        listener = self.on_progress
        if listener is None:
            return None

        def listen(moment: Progress) -> bool:
            self.is_interrupted = self.is_interrupted or listener(Progress(moment.seconds)) is False
            return not self.is_interrupted

        return listen

    def offer(self, tree: Node, deadline: Deadline) -> None:
        """Keeps a tree that meets all requirements, maybe with other labels, if it costs less than the best one."""
        relabeling = Relabeling(self.task, Routed(self.problem, tree), Deadline.after(REPAIR * deadline.left()))
        for labels in relabeling.repaired():
            found = labeled(tree, iter(labels))
            cost = cost_of(self.problem, self.task, found)
            if (self.cost is None or cost < self.cost) and is_answer(self.problem, found):
                self.tree, self.cost = found, cost

    def ascent(self, tree: Node, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """How the bound grows with every price, seen from this tree."""
        routed = Routed(self.problem, tree)
        ascent = np.zeros(self.task.sums)
        for at, (values, size) in enumerate(zip(self.task.values[1:], self.sizes, strict=True)):
            total, low, high = added(routed.at_labels(values)), self.task.low[at], self.task.high[at]
            if high is not None and (total > high or prices[at] > 0):
                ascent[at] = (total - high) / size
            elif low is not None and (total < low or prices[at] < 0):
                ascent[at] = (total - low) / size
        return ascent

    def distance(self) -> float:
        """About how far the bound may still rise, as a share of the extent of the cost."""
        if self.reached is None:
            return 0.1
        most = self.reached + self.extent // 10 + 1 if self.cost is None else self.cost
        return max(1, most - self.reached) / self.extent

    def projected(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Prices of the right sign: a limit from above is never rewarded, one from below never charged."""
        for at, (low, high) in enumerate(zip(self.task.low, self.task.high, strict=True)):
            if (low is None and prices[at] < 0) or (high is None and prices[at] > 0):
                prices[at] = 0.0
        return prices


def _depth_limit(depth: int) -> Bound:
    return Bound(Sum(((Fraction(1), Depth()),)), "<=", Fraction(depth))
