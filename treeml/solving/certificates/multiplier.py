"""A goal, a requirement and its limit -> the multiplier with the best bound, and a tree to compare with.

The best bound of all multipliers is where the lower hull of the points (requirement, goal) of all trees meets the
limit. Two trees on different sides of the limit define a slope; the best tree at that slope either lies below the line
between them and replaces one of them, or the line is the hull.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from treeml.native.solver import Solver
from treeml.native.solver_input import ClassCosts
from treeml.solving.certificates.cells import refuse
from treeml.solving.certificates.statement import Amount, Statement

MOST_TESTS = 4000
MOST_STEPS = 60


def best_multiplier(statement: Statement, goal: Amount, require: Amount, limit: int) -> tuple[int, int] | None:
    """Numerator and denominator of the multiplier; None if every tree exceeds the limit of the requirement."""
    trees = _Trees(statement, goal, require)
    free, tight = trees.best(1, 0), trees.best(0, 1)
    if free[1] <= limit:
        return 0, 1
    if tight[1] > limit:
        return None
    for _ in range(MOST_STEPS):
        by = Fraction(tight[0] - free[0], free[1] - tight[1])
        if by < 0:
            return 0, 1
        found = trees.best(by.denominator, by.numerator)
        value = by.denominator * found[0] + by.numerator * found[1]
        if value >= by.denominator * free[0] + by.numerator * free[1]:
            return by.numerator, by.denominator
        if found[1] > limit:
            free = found
        else:
            tight = found
    raise refuse("no multiplier of the requirement was found in time")


class _Trees:
    """Best trees for weighted sums of the goal and the requirement, as points (goal, requirement)."""

    def __init__(self, statement: Statement, goal: Amount, require: Amount) -> None:
        if sum(family.cuts for family in statement.families) > MOST_TESTS:
            raise refuse(f"a requirement that couples the leaves is covered with up to {MOST_TESTS} tests")
        bits = [family.place <= cut for family in statement.families for cut in range(family.cuts)]
        self.bits = np.array(bits, dtype=bool).reshape(len(bits), len(goal.matrix))  # also if there is no test
        self.statement, self.goal, self.require = statement, goal, require

    def best(self, goal_by: int, require_by: int) -> tuple[int, int]:
        goal, require, statement = self.goal, self.require, self.statement
        costs: Any = goal_by * goal.matrix.astype(object) + require_by * require.matrix.astype(object)
        costs = costs - costs.min(axis=1)[:, None]  # the native solver takes costs of any size that are not negative
        if int(costs.sum()) >= 2**53:
            raise refuse("the multiplier of the requirement makes costs too large")
        price = goal_by * goal.price + require_by * require.price
        found = Solver(self.bits, ClassCosts(costs.astype(np.int64))).solve(
            depth=statement.depth, support=statement.support, leaves=statement.leaves or None, leaf_price=price
        )
        if found.status != "optimal":
            raise refuse("no tree was found for a multiplier of the requirement")
        labels = found.predict(self.bits)
        rows = np.arange(len(labels))
        points = [int(each.matrix[rows, labels].sum()) + each.price * found.leaves for each in (goal, require)]
        return points[0], points[1]
