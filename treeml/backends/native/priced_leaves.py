"""A limit on leaves -> a lower bound from searches that pay for leaves instead, and the trees that they find.

At any price, no tree of at most k leaves costs less than the least cost plus price of any tree, minus k times the price
(Lagrangian relaxation). A price prunes far more than a limit, so these searches end soon. The price is moved to where
the best tree has about k leaves; if one has exactly k, it is optimal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isfinite
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.backends.claims import combined
from treeml.backends.contract import Answer
from treeml.backends.native.flat_tree import tree_of
from treeml.backends.native.goals import NativeObjective, kind
from treeml.backends.native.inputs import make_solver
from treeml.problem.magnitudes import row_reach
from treeml.problem.terms import Depth, Leaves, Support

if TYPE_CHECKING:
    from treeml.backends.native.run import NativeRun
    from treeml.native.solver import Found

FIRST_SECONDS = 0.2  # of the search with the limit itself, which is often enough
SHARE = 0.4  # of the time that is left after that
MOST_SECONDS = 20.0  # if no time limit is given
MOST_PRICES = 16
LAST_LEAF = 8  # the last of the leaves saves about this many times less than the average one
FEW_LEAVES = 8  # that the numeric kernel bounds better by itself, as in treeml/native/numeric/relax.c
STEPS = 8  # prices per unit of the cost
MOST_REACH = 2**50  # of the costs, so that prices and steps stay far from overflow


def takes(run: NativeRun, objective: NativeObjective, settings: Mapping[str, Any]) -> bool:
    """Is there one goal of whole costs, and a limit on leaves that matters?"""
    leaves, depth = settings.get("leaves"), settings.get("depth", 62)
    if leaves is None or leaves < 3 or leaves >= 2 ** min(depth, 62) or len(run.problem.goals) != 1:
        return False
    if run.kernel == "numeric" and leaves <= FEW_LEAVES:
        return False
    if objective.cost is None or objective.price or objective.column_cost is not None or "upper" in settings:
        return False
    if objective.loss is not None or objective.custom is not None or "enough" in settings:
        return False
    shapes = all(kind(bound) in (Depth, Leaves, Support) for bound in run.problem.bounds)
    return shapes and row_reach(objective.cost) <= MOST_REACH


def answer(run: NativeRun, objective: NativeObjective, settings: dict[str, Any]) -> Answer:
    """The search with the limit, for a moment; then the bound by prices; then the search again, from the best tree."""
    solver = make_solver(run.problem, objective, run.kernel)
    found = run.run(solver, objective, settings, FIRST_SECONDS)
    if found is None or found.stop != "time" or run.limits.deadline.passed:
        return run.answered(found, objective)
    prices = Prices(run, objective, settings, found)
    prices.search()
    if prices.bound is not None:
        run.floor = objective.bound_of_first_goal(Fraction(prices.bound))
        run.floor_proof = combined("price of leaves", run.ended, f"{prices.price / STEPS:g} per leaf")
        settings["enough"] = prices.bound + 1
    if prices.tree is not None:
        run.start = tree_of(prices.tree, run.problem)
    return run.answered(run.run(solver, objective, settings), objective)


@dataclass
class Prices:
    """The search for the best price; costs and prices are in steps of the unit of the costs."""

    run: NativeRun
    objective: NativeObjective
    settings: Mapping[str, Any]
    first: Found  # of the search with the limit
    bound: int | None = None  # no tree with so few leaves costs less
    price: int = 0  # that gave the bound
    tree: Found | None = None  # the best that keeps the limit
    few: tuple[int, int] = (0, 0)  # cost and leaves of the last tree that keeps the limit, and of one that does not
    many: tuple[int, int] | None = None
    tried: set[int] = field(default_factory=set)

    @property
    def most_leaves(self) -> int:
        return int(self.settings["leaves"])

    def search(self) -> None:
        cost, deadline = self.objective.cost, self.run.limits.deadline
        assert cost is not None
        left = deadline.left()
        until = monotonic() + (SHARE * left if isfinite(left) else MOST_SECONDS)
        solver = make_solver(self.run.problem, replace(self.objective, cost=cost * STEPS), self.run.kernel)
        settings = {name: value for name, value in self.settings.items() if name != "leaves"}
        self.few = (STEPS * int(cost.sum(axis=0).min()), 1)
        price = self.first_price()
        while price > 0 and price not in self.tried and len(self.tried) < MOST_PRICES:
            self.tried.add(price)
            seconds = (until - monotonic()) / 2
            if seconds <= 0 or self.is_over():
                return
            found = solver.solve(**{**settings, "leaf_price": price}, seconds=seconds, on_progress=self.listen)
            self.take(found, price)
            if found.stop == "time":
                price *= 2  # lower prices are harder
            elif found.status != "optimal":
                return
            else:
                price = self.next_price(price)

    def is_over(self) -> bool:
        return self.run.limits.is_over is not None and self.run.limits.is_over()

    def listen(self, _seconds: float, _value: Any, _bound: Any) -> bool:
        """Reports that time passes; values with a price are not those of the goal."""
        return self.run.progress(self.objective, None, None)

    def first_price(self) -> int:
        """About what the last leaf saves, by the tree that is known."""
        saved, leaves = self.few[0], _leaves(self.first)
        if self.first.value is not None:
            saved -= STEPS * int(self.first.value)
        return max(1, saved // (max(1, leaves - 1) * LAST_LEAF))

    def next_price(self, price: int) -> int:
        """Between a price at which trees have too many leaves, and one at which they do not; half of it before that."""
        if self.few[1] == self.most_leaves:
            return 0
        if self.many is None:
            return price // 2
        return (self.few[0] - self.many[0]) // (self.many[1] - self.few[1])

    def take(self, found: Found, price: int) -> None:
        if found.bound is not None:
            bound = -((price * self.most_leaves - int(found.bound)) // STEPS)  # rounded up: costs are whole
            if self.bound is None or bound > self.bound:
                self.bound, self.price = bound, price
        if found.value is None:
            return
        leaves = _leaves(found)
        cost = int(found.value) - price * leaves
        if leaves > self.most_leaves:
            self.many = (cost, leaves)
            return
        self.few = (cost, leaves)
        best = STEPS * int(self.first.value) if self.first.value is not None else None
        if self.tree is not None and self.tree.value is not None:
            best = STEPS * int(self.tree.value)
        if best is None or cost < best:
            self.tree = replace(found, value=cost // STEPS)


def _leaves(found: Found) -> int:
    return int(np.count_nonzero(np.asarray(found.test) < 0))
