"""Prices -> the best tree, by one native solver that keeps its data from round to round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.backends.contract import Deadline, Leaf, Node, Split, Stop
from treeml.ensembles.examples import Whole
from treeml.native.solver import Found, Solver

if TYPE_CHECKING:
    from treeml.ensembles.pricing import Best, TreePricing
    from treeml.ensembles.pricing import Solver as PricingSolver

TAKEN = {("Depth", "<="), ("Leaves", "<="), ("Support", ">=")}
STOPS = {"time": Stop.TIME, "interrupted": Stop.INTERRUPTED, "memory": Stop.MEMORY}


class Repriced(Solver):
    """A native solver whose costs change while its tests stay where they are."""

    def reprice(self, cost: Whole) -> None:
        matrix = np.ascontiguousarray(cost, dtype=np.int64)
        self._call("treeml_costs", matrix.ctypes.data, matrix.shape[1])
        self._classes = matrix.shape[1]


def native_solver(pricing: TreePricing) -> PricingSolver | None:
    """None where a bound of the problem is none that the solver takes as it is."""
    from treeml.ensembles.pricing import Best

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
    # Rows that are no example cost nothing; they matter only where leaves need rows.
    rows = np.arange(problem.rows) if counted else pricing.examples.row
    solver: list[Repriced] = []

    def solve(prices: Whole, deadline: Deadline, start: Node | None) -> Best:
        cost = pricing.cost(prices)[rows]
        if solver:
            solver[0].reprice(cost)
        else:
            bits = np.ascontiguousarray(problem.bits[:, rows])
            features = np.array([test.feature for test in problem.tests], dtype=np.int32)
            solver.append(Repriced(bits, cost=cost, columns=features, count=problem.count if counted else None))
        begin = None if start is None else flat(start)
        found = solver[0].solve(seconds=deadline.left(), start=begin, options={"seed": limits.seed}, **settings)
        if found.status == "infeasible":
            return Best(None, None, infeasible=True, conflict=tuple(bound.name for bound in problem.bounds))
        edge = None
        if found.status == "optimal":
            edge = -int(found.value) if found.value is not None else None
        elif found.bound is not None:
            edge = -int(found.bound)
        tree = raised(found) if len(found.test) else None
        return Best(tree, edge, None if found.status == "optimal" else STOPS.get(found.stop, Stop.TIME))

    return solve


def raised(found: Found) -> Node:
    nodes: list[Node] = [Leaf(0)] * len(found.test)
    for at in range(len(nodes) - 1, -1, -1):
        if found.test[at] >= 0:
            nodes[at] = Split(int(found.test[at]), nodes[found.left[at]], nodes[found.right[at]])
        else:
            nodes[at] = Leaf(int(found.label[at]))
    return nodes[0]


def flat(tree: Node) -> tuple[list[int], list[int], list[int]]:
    """A tree as arrays of tests and children, every child after its parent."""
    test: list[int] = []
    children: list[tuple[int, int]] = []
    todo: list[tuple[Node, int, int]] = [(tree, -1, 0)]
    links: list[list[int]] = []
    while todo:
        node, parent, side = todo.pop()
        number = len(test)
        test.append(node.test if isinstance(node, Split) else -1)
        links.append([-1, -1])
        if parent >= 0:
            links[parent][side] = number
        if isinstance(node, Split):
            todo += [(node.no, number, 1), (node.yes, number, 0)]
    children = [(yes, no) for yes, no in links]
    return test, [yes for yes, _ in children], [no for _, no in children]
