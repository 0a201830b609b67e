"""Prices -> the best tree, by one native solver that keeps its data from round to round.

Its answers are checked like those of any back-end: the rows are routed through the tree again, and its value and every
bound are recomputed.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, Deadline, Status, Stop
from treeml.backends.native.flat_tree import STATUS, STOP, flat_tree, tree_of
from treeml.backends.planning.plan import Plan
from treeml.backends.run import checked
from treeml.forests.best_tree import BestTree, BestTreeSolver, best_tree
from treeml.forests.examples import Whole
from treeml.native.solver import Found, Solver
from treeml.native.solver_input import ClassCosts, Conditions
from treeml.problem.problem import Problem
from treeml.problem.tree import Node

if TYPE_CHECKING:
    from treeml.forests.pricing import TreePricing

TAKEN = {("Depth", "<="), ("Leaves", "<="), ("Support", ">=")}


class Repriced(Solver):
    """A native solver whose costs can change while its tests stay in memory."""

    def reprice(self, cost: Whole) -> None:
        self._give_class_costs(cost)


SEARCHED = (Evidence("search", "native pricing"),)
STOPPED = (Evidence("search bound", "native pricing"),)


def native_solver(pricing: TreePricing) -> BestTreeSolver | None:
    """The native solver as a pricing solver; None if it does not support one of the bounds directly."""
    problem, limits = pricing.problem, pricing.limits
    for bound in problem.bounds:
        parts = bound.sum.parts
        if len(parts) != 1 or parts[0][0] <= 0 or (type(parts[0][1]).__name__, bound.sense) not in TAKEN:
            return None
    settings: dict[str, Any] = {"threads": limits.threads}
    if problem.max_depth is not None:
        settings["depth"] = problem.max_depth
    leaves, support = problem.bound_on("Leaves", "<="), problem.bound_on("Support", ">=")
    if leaves is not None:
        settings["leaves"] = leaves.numerator // leaves.denominator
    if support is not None:
        settings["support"] = max(1, -(-support.numerator // support.denominator))
    if settings.get("depth", 0) < 0 or settings.get("leaves", 1) < 1:
        return None
    if limits.memory is not None:
        settings["memory"] = limits.memory
    counted = settings.get("support", 1) > 1
    # Rows that are not examples cost nothing; they matter only if leaves need a number of rows.
    rows = np.arange(problem.rows) if counted else pricing.examples.row
    solver: list[Repriced] = []

    def solve(prices: Whole, deadline: Deadline, start: Node | None) -> BestTree:
        whole = pricing.cost(prices)
        cost = whole[rows]
        if solver:
            solver[0].reprice(cost)
        else:
            bits = np.ascontiguousarray(problem.bits[:, rows])
            features = np.array([test.feature for test in problem.tests], dtype=np.int32)
            conditions = Conditions(columns=features, count=problem.count if counted else None)
            solver.append(Repriced(bits, ClassCosts(cost), conditions))
        begin = None if start is None else flat_tree(start)
        found = solver[0].solve(seconds=deadline.left(), start=begin, options={"seed": limits.seed}, **settings)
        plan = Plan(pricing.problem_at(whole), pricing.backend, ())
        return best_tree(checked(plan, answered(found, plan.problem)))

    return solve


def answered(found: Found, problem: Problem) -> Answer:
    """The outcome of the solver as the answer of a back-end."""
    status = STATUS[found.status]
    stop = Stop.PROVED if status in (Status.OPTIMAL, Status.INFEASIBLE) else STOP.get(found.stop, Stop.TIME)
    if not len(found.test):
        names = tuple(bound.name for bound in problem.bounds) if status is Status.INFEASIBLE else ()
        return Answer(status, stop, conflict=names, evidence=SEARCHED if status is Status.INFEASIBLE else ())
    objective = None if found.value is None else (Fraction(found.value),)
    bound = None if found.bound is None else Fraction(found.bound)
    evidence = SEARCHED if status is Status.OPTIMAL else STOPPED
    return Answer(status, stop, tree_of(found, problem), objective, bound, evidence=evidence)
