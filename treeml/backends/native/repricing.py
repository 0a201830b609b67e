"""Problem -> a native solver that keeps its rows from call to call and takes new costs of predictions each time."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, Deadline, Limits, Reprice, Status, Stop
from treeml.backends.native.flat_tree import STATUS, STOP, flat_tree, tree_of
from treeml.native.solver import Found, Solver
from treeml.native.solver_input import ClassCosts, Conditions
from treeml.problem.problem import Problem
from treeml.problem.tree import Node

TAKEN = {("Depth", "<="), ("Leaves", "<="), ("Support", ">=")}
SEARCHED = (Evidence("search", "native pricing"),)
STOPPED = (Evidence("search bound", "native pricing"),)


class Repriced(Solver):
    """A native solver whose costs can change while its tests stay in memory."""

    def reprice(self, cost: NDArray[np.int64]) -> None:
        self._give_class_costs(cost)


def repricing(problem: Problem, limits: Limits, rows: NDArray[np.intp]) -> Reprice | None:
    """None if the solver does not support one of the bounds directly, or if options are set."""
    settings = _settings(problem, limits)
    if settings is None or limits.options:
        return None
    counted = settings.get("support", 1) > 1
    # Rows without costs matter only if leaves need a number of rows.
    kept = np.arange(problem.rows) if counted else rows
    solver: list[Repriced] = []

    def solve(costs: NDArray[np.int64], deadline: Deadline, start: Node | None) -> Answer:
        if solver:
            solver[0].reprice(costs[kept])
        else:
            bits = np.ascontiguousarray(problem.bits[:, kept])
            features = problem.feature_of_test
            conditions = Conditions(columns=features, count=problem.count if counted else None)
            solver.append(Repriced(bits, ClassCosts(costs[kept]), conditions))
        begin = None if start is None else flat_tree(start)
        found = solver[0].solve(seconds=deadline.left(), start=begin, options={"seed": limits.seed}, **settings)
        return answered(found, problem)

    return solve


def _settings(problem: Problem, limits: Limits) -> dict[str, Any] | None:
    """The limits of the search; None if the solver does not support one of the bounds directly."""
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
    return settings


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
