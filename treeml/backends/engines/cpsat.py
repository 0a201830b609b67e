"""Program -> Outcome by CP-SAT, and the running of any CP-SAT model."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.encodings.clock import NO_DEADLINE, in_time
from treeml.backends.encodings.program import FREE, Program
from treeml.backends.engines.outcome import End, OnIncumbent, Orders, Outcome, cut_short, run_in_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]


def solve_program(
    program: Program,
    orders: Orders,
    start: Whole | None = None,
    on_incumbent: OnIncumbent | None = None,
) -> Outcome:
    model, variables = write_model(program, orders.deadline)
    if start is not None:
        for variable, value in zip(variables, start.tolist(), strict=True):
            model.add_hint(variable, value)
    # The flow is a linear program with few fractional corners: the strongest linear relaxation decides it.
    return run_model(model, variables, orders, on_incumbent=on_incumbent, linearization=2)


def write_model(program: Program, deadline: Deadline = NO_DEADLINE) -> tuple[Any, list[Any]]:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    yes_or_no = ((program.lower == 0) & (program.upper == 1)).tolist()
    variables = [
        model.new_bool_var("") if either else model.new_int_var(lower, upper, "")
        for either, lower, upper in zip(yes_or_no, program.lower.tolist(), program.upper.tolist(), strict=True)
    ]
    start, index, value = program.start.tolist(), program.index.tolist(), program.value.tolist()
    for row, (low, high) in enumerate(zip(program.low.tolist(), program.high.tolist(), strict=True)):
        if row % 1024 == 0:
            in_time(deadline)
        here = slice(start[row], start[row + 1])
        columns, factors = index[here], value[here]
        terms = [variables[column] for column in columns]
        # The row of a requirement may look like one of the flow, with a count among its columns.
        if low == high == 1 and set(factors) == {1} and all(yes_or_no[column] for column in columns):
            model.add_exactly_one(terms)
            continue
        expression = cp_model.LinearExpr.weighted_sum(terms, factors)
        model.add_linear_constraint(expression, max(low, -FREE), min(high, FREE))
    used = np.flatnonzero(program.cost).tolist()
    goal = cp_model.LinearExpr.weighted_sum([variables[c] for c in used], program.cost[used].tolist())
    if used:
        model.minimize(goal + program.offset)
    return model, variables


def run_model(
    model: Any,
    variables: list[Any],
    orders: Orders,
    *,
    on_incumbent: OnIncumbent | None = None,
    linearization: int | None = None,
    fixed_search: bool = False,
) -> Outcome:
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = max(1, orders.threads)
    # Its own handler of Ctrl-C, set up outside the main thread, ends the process; Python hears it and stops the search.
    solver.parameters.catch_sigint_signal = False
    solver.parameters.random_seed = orders.seed % 2**31
    if orders.deadline.left() < float("inf"):
        solver.parameters.max_time_in_seconds = max(0.01, orders.deadline.left())
    if orders.work is not None:
        solver.parameters.max_deterministic_time = float(orders.work)
    if orders.memory is not None:
        solver.parameters.max_memory_in_mb = orders.memory // 2**20 + 1
    if linearization is not None:
        solver.parameters.linearization_level = linearization
    if fixed_search:
        solver.parameters.search_branching = cp_model.FIXED_SEARCH
    stopped: list[str] = []
    listener = _listener(cp_model, variables, on_incumbent, stopped)
    if on_incumbent is not None:

        def told(bound: float) -> None:
            if not stopped and on_incumbent(None, _whole_bound(bound)) is False:
                stopped.append("asked")
                solver.stop_search()

        solver.best_bound_callback = told

    statuses: list[Any] = []
    stopped += run_in_thread(lambda: statuses.append(solver.solve(model, listener)), solver.stop_search, orders)
    return _outcome(cp_model, solver, statuses[0], variables, stopped, bool(model.has_objective()))


def _listener(cp_model: Any, variables: list[Any], on_incumbent: OnIncumbent | None, stopped: list[str]) -> Any:
    if on_incumbent is None:
        return None
    told = on_incumbent

    class Listener(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
        def on_solution_callback(self) -> None:
            values = np.array([self.value(variable) for variable in variables], np.int64)
            if told(values, _whole_bound(self.best_objective_bound)) is False:
                stopped.append("asked")
                self.stop_search()

    return Listener()


def _whole_bound(bound: float) -> int | None:
    """The bound of a goal in whole numbers; CP-SAT keeps it as one."""
    if not np.isfinite(bound) or abs(bound) > FREE:
        return None
    return ceil(bound - 1e-6)


def _outcome(cp_model: Any, solver: Any, status: Any, variables: list[Any], stopped: list[str], goal: bool) -> Outcome:
    raw = solver.status_name(status)
    ends = {
        cp_model.OPTIMAL: End.OPTIMAL,
        cp_model.FEASIBLE: End.TIME,
        cp_model.INFEASIBLE: End.INFEASIBLE,
        cp_model.UNKNOWN: End.TIME,
    }
    if status not in ends:
        raise ValueError(f"CP-SAT says {raw}: {solver.solution_info()}")
    end = ends[status]
    if not goal and status == cp_model.FEASIBLE:
        end = End.OPTIMAL
    if stopped and end is End.TIME:
        end = cut_short(stopped)
    values = None
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        values = np.array([solver.value(variable) for variable in variables], np.int64)
    bound = None if end is End.INFEASIBLE or not goal else _whole_bound(solver.best_objective_bound)
    statistics = {
        "nodes": float(solver.num_branches),
        "failures": float(solver.num_conflicts),
        "deterministic_time": float(solver.response_proto.deterministic_time),
    }
    return Outcome(end, values, bound, raw, statistics)


def write_file(model: Any, path: str) -> None:
    """The model as a protocol buffer: as text where the name ends in .txt, else in binary."""
    from treeml.confined import MARK
    from treeml.replace import replaced_by

    model.name = MARK

    def write(name: str) -> None:
        if not model.export_to_file(name):
            raise OSError(f"OR-tools cannot write {path}")

    replaced_by(write, path)
