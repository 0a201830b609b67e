"""CP-SAT model over nodes -> an optimal tree; solved again while its solution violates monotonicity."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.backends.contract import Stop
from treeml.backends.solvers.encodings.clauses.order_model import OrderModel
from treeml.backends.solvers.encodings.clauses.order_search import excluding, start_literals
from treeml.backends.solvers.encodings.cpsat.constraints import RowsModel
from treeml.backends.solvers.encodings.monotone import Path, broken_pairs
from treeml.backends.solvers.engines.outcome import Proved, SolverEnd, SolverOutcome
from treeml.backends.solvers.solve_state import SolveState
from treeml.backends.task.deadline import in_time
from treeml.problem.tree import Node

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

Run = Callable[[Any, list[Any], Callable[["Whole | None", "Proved | None"], bool]], SolverOutcome]
Exclude = Callable[["Whole", Path, Path], None]


def search_rows(search: SolveState, rows: RowsModel, run: Run) -> Stop:
    def exclude(values: Whole, one: Path, other: Path) -> None:
        variables = rows.variables
        facts = _facts(rows, values, one) | _facts(rows, values, other)
        rows.model.add_bool_or([variables[fact].negated() for fact in facts])

    return _search(search, rows.model, rows.variables, rows.decode, exclude, run)


def search_order(search: SolveState, order: OrderModel, run: Run) -> Stop:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    literals: list[Any] = [None] + [model.new_bool_var("") for _ in range(order.clauses.top)]
    everything = literals[1:]

    def literal(number: int) -> Any:
        return literals[number] if number > 0 else literals[-number].negated()

    for place, clause in enumerate(order.clauses.clauses):
        if place % 4096 == 0:
            in_time(search.limits.deadline)
        model.add_bool_or([literal(number) for number in clause])
    for item in order.limits:
        in_time(search.limits.deadline)
        total = cp_model.LinearExpr.weighted_sum(
            [literal(number) for _, number in item.terms], [weight for weight, _ in item.terms]
        )
        constraint = model.add(total <= item.limit) if item.terms else None
        if constraint is None:
            if item.limit < 0:
                model.add_bool_or([literal(-number) for number in item.condition])
        elif item.condition:
            constraint.only_enforce_if([literal(number) for number in item.condition])
    if order.goal:
        goal = cp_model.LinearExpr.weighted_sum(
            [literal(number) for _, number in order.goal], [weight for weight, _ in order.goal]
        )
        model.minimize(goal + order.goal_constant)
    if search.tree is not None:
        hinted: set[int] = set()
        for number in start_literals(order, search.tree):
            if abs(number) not in hinted:
                hinted.add(abs(number))
                model.add_hint(literals[abs(number)], number > 0)

    def decode(values: Whole) -> Node:
        return order.decode(_true(values))

    def exclude(values: Whole, one: Path, other: Path) -> None:
        model.add_bool_or([literal(number) for number in excluding(order, _true(values), one, other)])

    return _search(search, model, everything, decode, exclude, run)


def _true(values: Whole) -> NDArray[np.bool_]:
    return np.concatenate([[False], values.astype(bool)])


def _search(
    search: SolveState,
    model: Any,
    variables: list[Any],
    decode: Callable[[Whole], Node],
    exclude: Exclude,
    run: Run,
) -> Stop:
    has_goal = bool(model.has_objective())

    def told(values: Whole | None, bound: Proved | None) -> bool:
        if values is not None:
            search.offer(decode(values))
        search.raise_bound(bound if has_goal else None)
        return not search.enough

    while True:
        outcome = run(model, variables, told)
        search.raw = outcome.raw
        search.add_statistics(outcome.statistics)
        if outcome.values is not None:
            tree = decode(outcome.values)
            if not search.offer(tree):
                terms = tuple(term for term, _ in search.task.monotone)
                pairs = list(broken_pairs(tree, search.problem, terms))
                if not pairs:
                    raise AssertionError("a tree of the model does not meet the requirements")
                for one, other in pairs:
                    exclude(outcome.values, one, other)
                if outcome.end is SolverEnd.OPTIMAL:
                    search.raise_bound(outcome.bound)
                    if search.proved and has_goal:
                        return search.close(search.bound_meets_tree())
                    model.clear_hints()
                    continue
        search.raise_bound(outcome.bound)
        if outcome.end is SolverEnd.INFEASIBLE:
            return search.no_tree(outcome.proof)
        if outcome.end is SolverEnd.OPTIMAL:
            return search.close(outcome.proof)
        if search.enough or outcome.end is SolverEnd.INTERRUPTED:
            return search.cut_short
        return {SolverEnd.MEMORY: Stop.MEMORY}.get(outcome.end, Stop.TIME)


def _facts(rows: RowsModel, values: Whole, path: Path) -> set[int]:
    """The places of the variables that determine the leaf at the end of a path: questions, no split, label."""
    node, tests, branches = 0, len(rows.questions), rows.nodes.branches
    found = set()
    for _, answer in path:
        found.add(node * tests + int(values[node * tests : (node + 1) * tests].argmax()))
        node = 2 * node + (1 if answer else 2)
    if node < branches:
        found.add(branches * tests + node)
        while node < branches:
            node = 2 * node + 1
    classes = len(rows.label[0])
    first = branches * tests + len(rows.leave) + (node - branches) * classes
    found.add(first + int(values[first : first + classes].argmax()))
    return found
