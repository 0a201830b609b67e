"""Program -> SolverOutcome, by Gurobi, if it is installed and licensed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.backends.solvers.engines.highs import accept, goal_of
from treeml.backends.solvers.engines.outcome import OnIncumbent, SolverOutcome
from treeml.backends.solvers.engines.program import FREE, Program
from treeml.backends.solvers.engines.running import LEFT, RunLimits, cut_short, run_in_thread
from treeml.backends.solvers.engines.statuses import GAP, Accuracy, accuracy_for, callback_bound, outcome_of
from treeml.backends.task.unsupported import Unsupported

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

NAME = "Gurobi"
FINEST = 1e-9  # the smallest tolerance of reduced costs that Gurobi accepts; its default is 1e-6
MOST_COLUMNS = MOST_ROWS = 2_000  # the limits of the licence that comes with the package


def missing() -> str | None:
    """None if it can run here, otherwise how to install it."""
    from importlib.util import find_spec

    if find_spec("gurobipy") is None:
        return "pip install gurobipy, and a licence for models beyond 2,000 columns"
    return None


def check_licence(columns: int, rows: int) -> None:
    """Raises Unsupported if the licence does not allow a model of this size."""
    if max(columns, rows) > min(MOST_COLUMNS, MOST_ROWS) and _is_size_limited():
        raise Unsupported(
            "solver = gurobi",
            f"its size-limited licence takes {MOST_COLUMNS:,} columns and {MOST_ROWS:,} rows, and this model has "
            + (f"{columns:,} and {rows:,}" if rows else f"about {columns:,} columns"),
            "solver = highs, or a full licence",
        )


def solve_program(
    program: Program,
    run_limits: RunLimits,
    start: Whole | None = None,
    on_incumbent: OnIncumbent | None = None,
) -> SolverOutcome:
    lacks = missing()
    if lacks is not None:
        raise Unsupported("solver = gurobi", "it is not installed", lacks)
    import gurobipy

    check_licence(program.columns, program.rows)
    environment = gurobipy.Env(params={"OutputFlag": 0})
    model, variables = write_model(program, environment)
    model.Params.Threads = max(1, run_limits.threads)
    model.Params.Seed = run_limits.seed % 2_000_000_000
    model.Params.MIPGap = 0
    model.Params.MIPGapAbs = GAP
    accuracy = accuracy_for(program, FINEST)
    model.Params.OptimalityTol = accuracy.tolerance
    model.Params.IntegralityFocus = 1
    if run_limits.deadline.left() < float("inf"):
        model.Params.TimeLimit = max(0.01, run_limits.deadline.left())
    if run_limits.work is not None:
        model.Params.NodeLimit = float(run_limits.work)
    if run_limits.memory_left is not None:
        model.Params.SoftMemLimit = run_limits.memory_left / 1e9
    if start is not None:
        variables.Start = start.astype(float)
    stopped: list[str] = []

    def told(here: Any, where: int) -> None:
        if on_incumbent is None or stopped or where != gurobipy.GRB.Callback.MIPSOL:
            return
        values = accept(program, np.asarray(here.cbGetSolution(variables)))
        least = accuracy.whole_bound(here.cbGet(gurobipy.GRB.Callback.MIPSOL_OBJBND))
        if on_incumbent(values, callback_bound(NAME, "solution_callback", least)) is False:
            stopped.append("asked")
            here.terminate()

    stopped += run_in_thread(lambda: model.optimize(told), model.terminate, run_limits)
    if LEFT in stopped:
        return SolverOutcome(cut_short(stopped), raw="left in a step that Gurobi does not leave")
    return _outcome(gurobipy, model, variables, program, stopped, accuracy)


def write_model(program: Program, environment: Any) -> tuple[Any, Any]:
    import gurobipy
    from scipy.sparse import csr_matrix

    model = gurobipy.Model(env=environment)
    whole = np.ones(program.columns, bool) if program.whole is None else program.whole
    variables = model.addMVar(
        program.columns,
        lb=program.lower.astype(float),
        ub=program.upper.astype(float),
        obj=program.cost.astype(float),
        vtype=np.where(whole, "I", "C"),
    )
    model.ObjCon = program.offset
    shape = (program.rows, program.columns)
    matrix = csr_matrix((program.value.astype(float), program.index, program.start), shape=shape)
    for side, rows in (("=", program.low == program.high), ("<", program.high < FREE), (">", program.low > -FREE)):
        chosen = np.flatnonzero(rows if side == "=" else rows & (program.low != program.high))
        if len(chosen):
            limit = (program.low if side == ">" else program.high)[chosen].astype(float)
            model.addMConstr(matrix[chosen], variables, side, limit)
    return model, variables


@cache
def _is_size_limited() -> bool:
    import gurobipy

    try:
        probe = gurobipy.Model(env=gurobipy.Env(params={"OutputFlag": 0}))
        probe.addMVar(MOST_COLUMNS + 1)
        probe.optimize()
    except gurobipy.GurobiError:
        return True
    return False


def _outcome(
    gurobipy: Any, model: Any, variables: Any, program: Program, stopped: list[str], accuracy: Accuracy
) -> SolverOutcome:
    kinds = gurobipy.GRB.Status
    names = {getattr(kinds, name): name for name in dir(kinds) if name.isupper()}

    def values() -> Whole | None:
        return accept(program, np.asarray(variables.X)) if model.SolCount else None

    return outcome_of(
        NAME,
        names.get(model.Status, str(model.Status)),
        values,
        lambda: accuracy.whole_bound(model.ObjBound),
        lambda found: goal_of(program, found, model.ObjVal),
        is_bounded=True,
        cut_short=cut_short(stopped) if stopped else None,
        statistics={"nodes": float(model.NodeCount)},
    )
