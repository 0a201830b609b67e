"""Goals of a problem -> costs in the integers of the kernel that lists trees, and back."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.backends.native.goals import MOST, NativeObjective, centred, floor, objective_of
from treeml.backends.native.inputs import leaf_limit, purity_limit
from treeml.native.sets import LeafModel, TreeLimits
from treeml.problem.constants import exact_squares
from treeml.problem.neighbors import least_from
from treeml.problem.problem import Problem
from treeml.problem.shapes import deepest

FINEST = 40  # bits after the point of rounded costs


class ListingUnits:
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
        return self.value(self.reach(limits)) + 1 / self.scale

    def reach(self, limits: TreeLimits) -> int:
        """A cost that no tree exceeds."""
        leaves: int = min(self.problem.rows, 2 ** min(limits.depth, 60))
        columns = 0 if self.column_cost is None else int(self.column_cost.sum()) * int(self.problem.count.sum())
        return int(self.price) * leaves + 2 * self.error + columns + self.most_predicted


def _purity(problem: Problem) -> tuple[NDArray[np.int64], int, int] | None:
    """Weights of classes, and the least share of the heaviest one as a fraction that leaves can have, of 64 bits."""
    limit = purity_limit(problem)
    if limit is None:
        return None
    weight, share = limit
    whole = max(1, int(weight.sum()))
    share = share if share > 1 else least_from(share, whole, whole) or share
    return weight, share.numerator, share.denominator
