"""Program, or any CP-SAT model -> SolverOutcome, by CP-SAT."""

from __future__ import annotations

from math import ceil, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.solvers.engines.outcome import OnIncumbent, SolverOutcome
from treeml.backends.solvers.engines.program import FREE, Program
from treeml.backends.solvers.engines.running import LEFT, RunLimits, cut_short, run_in_thread
from treeml.backends.solvers.engines.statuses import callback_bound, outcome_of
from treeml.backends.task.deadline import NO_DEADLINE, in_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]


NAME = "CP-SAT"


def solve_program(
    program: Program,
    run_limits: RunLimits,
    start: Whole | None = None,
    on_incumbent: OnIncumbent | None = None,
) -> SolverOutcome:
    model, variables = write_model(program, run_limits.deadline)
    if start is not None:
        for variable, value in zip(variables, start.tolist(), strict=True):
            model.add_hint(variable, value)
    # The flow is a linear program with few fractional vertices, so the strongest linear relaxation pays off.
    return run_model(model, variables, run_limits, on_incumbent=on_incumbent, linearization=2)


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
        # The row of a requirement may look like a row of the flow, but with an integer count among its columns.
        if low == high == 1 and set(factors) == {1} and all(yes_or_no[column] for column in columns):
            model.add_exactly_one(terms)
            continue
        expression = cp_model.LinearExpr.weighted_sum(terms, factors)
        model.add_linear_constraint(expression, max(low, -FREE), min(high, FREE))
    used = np.flatnonzero(program.cost).tolist()
    goal = cp_model.LinearExpr.weighted_sum([variables[c] for c in used], program.cost[used].tolist())
    if used or program.offset:  # a constant goal has a value too
        model.minimize(goal + program.offset)
    return model, variables


def run_model(
    model: Any,
    variables: list[Any],
    run_limits: RunLimits,
    *,
    on_incumbent: OnIncumbent | None = None,
    linearization: int | None = None,
    fixed_search: bool = False,
) -> SolverOutcome:
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = max(1, run_limits.threads)
    # CP-SAT's own Ctrl-C handler, outside of the main thread, would end the process; Python stops the search instead.
    solver.parameters.catch_sigint_signal = False
    solver.parameters.random_seed = run_limits.seed % 2**31
    # With numbers beyond 2^31 this detection is wrong: it made feasible models infeasible.
    solver.parameters.auto_detect_greater_than_at_least_one_of = False
    # Up to 9.15, presolve drops conditions of rows when it compares rows with sets of which exactly one member is true,
    # and then calls another solution optimal (google/or-tools#5293).
    solver.parameters.presolve_inclusion_work_limit = 0
    if run_limits.deadline.left() < float("inf"):
        solver.parameters.max_time_in_seconds = max(0.01, run_limits.deadline.left())
    if run_limits.work is not None:
        solver.parameters.max_deterministic_time = float(run_limits.work)
    if run_limits.memory is not None:
        solver.parameters.max_memory_in_mb = run_limits.memory // 2**20 + 1
    if linearization is not None:
        solver.parameters.linearization_level = linearization
    if fixed_search:
        solver.parameters.search_branching = cp_model.FIXED_SEARCH
    stopped: list[str] = []
    # Without an objective the bound fields exist but mean nothing.
    has_goal = bool(model.has_objective())
    error = _float_error(model)
    listener = _listener(cp_model, variables, on_incumbent, stopped, has_goal, error)
    if on_incumbent is not None:

        def told(bound: float) -> None:
            known = callback_bound(NAME, "bound_callback", _whole_bound(bound, error) if has_goal else None)
            if not stopped and on_incumbent(None, known) is False:
                stopped.append("asked")
                solver.stop_search()

        solver.best_bound_callback = told

    statuses: list[Any] = []
    stopped += run_in_thread(lambda: statuses.append(solver.solve(model, listener)), solver.stop_search, run_limits)
    if LEFT in stopped:
        return SolverOutcome(cut_short(stopped), raw="left in a step that CP-SAT does not leave")
    return _outcome(solver, model, statuses[0], variables, stopped, error)


def _listener(
    cp_model: Any,
    variables: list[Any],
    on_incumbent: OnIncumbent | None,
    stopped: list[str],
    has_goal: bool,
    error: float,
) -> Any:
    if on_incumbent is None:
        return None
    told = on_incumbent

    class CpSatListener(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
        def on_solution_callback(self) -> None:
            if stopped:
                return
            values = np.array([self.value(variable) for variable in variables], np.int64)
            least = _whole_bound(self.best_objective_bound, error) if has_goal else None
            known = callback_bound(NAME, "solution_callback", least)
            if told(values, known) is False:
                stopped.append("asked")
                self.stop_search()

    return CpSatListener()


def _float_error(model: Any) -> float:
    """By how much a value of the goal that CP-SAT reports as a float may be wrong.

    Presolve moves fixed parts of the goal into an offset and divides the rest by a common factor; both are floats. So a
    small value may be the rounded difference of large ones, and only the size of the terms bounds its error.
    """
    if not model.has_objective():
        return 0.0
    proto = model.proto
    goal, columns = proto.objective, proto.variables
    size = float(abs(goal.offset))
    for factor, place in zip(goal.coeffs, goal.vars, strict=True):
        column = columns[place if place >= 0 else -place - 1]
        size += abs(factor) * max(map(abs, column.domain))
    return 1e-6 + size * 2.0**-48


def _whole_bound(bound: float, error: float) -> int | None:
    """An integer bound that CP-SAT reports as a float, lowered by the possible rounding error."""
    if not isfinite(bound) or abs(bound) > FREE:
        return None
    return ceil(bound - error)


def _outcome(
    solver: Any, model: Any, status: Any, variables: list[Any], stopped: list[str], error: float
) -> SolverOutcome:
    response = solver.response_proto
    # Accessing the objective of a model without one would create it.
    goal = model.proto.objective if model.has_objective() else None
    offset: int = 0 if goal is None else round(goal.offset)

    def values() -> Whole:
        return np.array([solver.value(variable) for variable in variables], np.int64)

    def bound() -> int | None:
        told = _whole_bound(solver.best_objective_bound, error)
        exact = int(response.inner_objective_lower_bound) + offset
        # The float has lost its last digits if terms of the goal are large; the integer has not.
        return exact if told is not None and 0 <= exact - told <= 1 + 2 * error else told

    def value_of(_: Whole) -> int:
        assert goal is not None
        found = response.solution
        terms = zip(goal.coeffs, goal.vars, strict=True)
        return int(sum(factor * found[place] for factor, place in terms)) + offset

    return outcome_of(
        NAME,
        solver.status_name(status),
        values,
        bound,
        value_of if goal is not None else None,
        cut_short=cut_short(stopped) if stopped else None,
        statistics={
            "nodes": float(solver.num_branches),
            "failures": float(solver.num_conflicts),
            "deterministic_time": float(response.deterministic_time),
        },
    )


def write_file(model: Any, path: str) -> None:
    """Writes the model as a protocol buffer: as text if the name ends in .txt, otherwise in binary."""
    # imported here: start-up time
    from treeml.system.confinement import MARK
    from treeml.system.writing import replaced_by

    model.name = MARK

    def write(name: str) -> None:
        if not model.export_to_file(name):
            raise OSError(f"OR-tools cannot write {path}")

    replaced_by(write, path)
