"""Program -> Outcome by HiGHS."""

from __future__ import annotations

import warnings
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.encodings.program import FREE, Program
from treeml.backends.engines.outcome import LEFT, End, OnIncumbent, Orders, Outcome, cut_short, run_in_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

PROBING = 2**15  # of the rules of presolve: on flows it takes minutes, in which nothing can stop it, and gains nothing
PATIENCE = 1.0  # seconds after Ctrl-C
LEFT_BEHIND = Outcome(End.INTERRUPTED, raw="interrupted in a step that HiGHS does not leave")
WHOLE = 1e-6  # an assignment this close to whole numbers is rounded, and then checked exactly
INTEGRAL_GOAL = 1 - 1e-4  # goals are whole: a gap below one is none


def solve_program(
    program: Program,
    orders: Orders,
    start: Whole | None = None,
    on_incumbent: OnIncumbent | None = None,
) -> Outcome:
    """The linear relaxation first where it is known to be whole, and whole it is an answer; else branch and bound."""
    if program.integral_relaxation:
        relaxed = solve_relaxation(program, orders)
        if relaxed.end is not End.OPTIMAL or relaxed.values is not None:
            return relaxed
    highs = _model(program, whole=True, threads=orders.threads, seed=orders.seed)
    highs.setOptionValue("mip_abs_gap", INTEGRAL_GOAL)
    highs.setOptionValue("mip_rel_gap", 0.0)
    highs.setOptionValue("mip_feasibility_tolerance", 1e-7)
    if orders.work is not None:
        highs.setOptionValue("mip_max_nodes", int(orders.work))
    _limit_time(highs, orders.deadline)
    if start is not None:
        import highspy

        given = highspy.HighsSolution()
        given.col_value = start.astype(float)
        highs.setSolution(given)
    stopped: list[str] = []
    _listen(highs, program, on_incumbent, stopped)
    return _outcome(highs, program, stopped) if _run(highs, stopped, orders) else LEFT_BEHIND


def write_file(program: Program, path: str) -> None:
    """As LP or MPS, by the ending of the name."""
    import highspy

    from treeml.confined import MARK
    from treeml.replace import replaced_by

    def write(name: str) -> None:
        if _model(program, whole=True, threads=1, seed=0).writeModel(name) == highspy.HighsStatus.kError:
            raise OSError(f"HiGHS cannot write {path}")

    comment = "\\" if path.endswith(".lp") else "*"
    replaced_by(write, path, f"{comment} {MARK}\n".encode())


def solve_relaxation(program: Program, orders: Orders) -> Outcome:
    """OPTIMAL with `values` None means: solved, but not whole; `bound` is then still a bound."""
    import highspy

    highs = _model(program, whole=False, threads=orders.threads, seed=orders.seed)
    _limit_time(highs, orders.deadline)
    stopped: list[str] = []
    _listen(highs, program, None, stopped)
    if not _run(highs, stopped, orders):
        return LEFT_BEHIND
    status = highs.getModelStatus()
    kinds = highspy.HighsModelStatus
    if status == kinds.kOptimal:
        values = np.asarray(highs.getSolution().col_value)
        rounded = np.rint(values).astype(np.int64)
        bound = _safe_bound(program, highs)
        whole = bool(np.all(np.abs(values - rounded) <= WHOLE)) and holds(program, rounded)
        if whole and int(program.cost @ rounded) + program.offset > bound:
            # Rounding in the duals left less than a unit; a whole optimum of value v is proved by a bound above v - 1.
            whole = False
        statistics = {"iterations": float(highs.getInfo().simplex_iteration_count)}
        return Outcome(End.OPTIMAL, rounded if whole else None, bound, "Optimal (linear relaxation)", statistics)
    return _outcome(highs, program, stopped, relaxed=True)


def _safe_bound(program: Program, highs: Any) -> int:
    """b'y + sum of min(0, reduced cost) * upper: true whatever the duals, up to rounding, which is allowed for."""
    duals = np.asarray(highs.getSolution().row_dual)
    row = np.repeat(np.arange(program.rows), np.diff(program.start))
    low, high = program.low.astype(float), program.high.astype(float)
    # A dual of the wrong sign on a one-sided row would be worth minus infinity: it is taken as zero.
    duals = np.where((duals > 0) & (program.low <= -FREE), 0.0, duals)
    duals = np.where((duals < 0) & (program.high >= FREE), 0.0, duals)
    reduced = program.cost - np.bincount(program.index, weights=program.value * duals[row], minlength=program.columns)
    chosen = np.where(duals > 0, low, high)
    from_rows = float(np.sum(np.where(duals != 0, duals * chosen, 0.0)))
    from_columns = float(np.sum(np.minimum(reduced * program.lower, reduced * program.upper)))
    total = from_rows + from_columns
    size = (
        float(np.sum(np.abs(np.where(duals != 0, duals * chosen, 0.0)))) + float(np.sum(np.abs(reduced) < 1e-9)) * 1e-9
    )
    return ceil(total - 1e-6 - 1e-11 * size) + program.offset


def best_under_cuts(
    cuts: list[tuple[float, Whole, Whole]], center: Whole, box: float, denominator: int
) -> tuple[float, Whole]:
    """max t with t <= value + slope . (m - at) / denominator for every cut, 0 <= m, |m - center| <= box.

    Multipliers m are whole multiples of 1 / denominator; the result is rounded to them, which keeps any bound true.
    """
    import highspy

    size = len(center)
    middle = center / denominator
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    inf = highspy.kHighsInf
    lower = np.concatenate([[-inf], np.maximum(0.0, middle - box)])
    upper = np.concatenate([[inf], middle + box])
    cost = np.concatenate([[-1.0], np.full(size, 1e-9)])
    highs.addVars(size + 1, lower, upper)
    for column in range(size + 1):
        highs.changeColCost(column, float(cost[column]))
    columns = np.arange(size + 1, dtype=np.int32)
    for value, slope, at in cuts:
        right = value - float(slope @ at) / denominator
        scale = max(1.0, float(np.abs(slope).max()))
        coefficients = np.concatenate([[1.0], -slope.astype(float)])
        highs.addRow(-inf, right / scale, size + 1, columns, coefficients / scale)
    highs.run()
    values = np.asarray(highs.getSolution().col_value)
    return float(values[0]), np.rint(values[1:] * denominator).astype(np.int64).clip(min=0)


def _model(program: Program, whole: bool, threads: int, seed: int) -> Any:
    import highspy

    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = program.columns, program.rows
    lp.col_cost_ = program.cost.astype(float)
    lp.col_lower_, lp.col_upper_ = program.lower.astype(float), program.upper.astype(float)
    inf = highspy.kHighsInf
    lp.row_lower_ = np.where(program.low <= -FREE, -inf, program.low.astype(float))
    lp.row_upper_ = np.where(program.high >= FREE, inf, program.high.astype(float))
    lp.offset_ = float(program.offset)
    matrix = lp.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kRowwise
    matrix.start_ = program.start.astype(np.int32)
    matrix.index_ = program.index
    matrix.value_ = program.value.astype(float)
    if whole:
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        mask = np.ones(program.columns, bool) if program.whole is None else program.whole
        lp.integrality_ = [kinds[int(whole)] for whole in mask]
    highs = highspy.Highs()
    options = {"output_flag": False, "threads": threads, "random_seed": seed, "presolve_rule_off": PROBING}
    for option, value in options.items():
        highs.setOptionValue(option, value)
    highs.passModel(lp)
    return highs


def _limit_time(highs: Any, deadline: Deadline) -> None:
    left = deadline.left()
    if left < float("inf"):
        highs.setOptionValue("time_limit", max(0.01, left))


def _listen(highs: Any, program: Program, on_incumbent: OnIncumbent | None, stopped: list[str]) -> None:
    def tell(event: Any) -> None:
        if on_incumbent is None or stopped:
            return
        found = accept(program, np.asarray(event.data_out.mip_solution))
        bound = whole_bound(event.data_out.mip_dual_bound)
        if found is not None and on_incumbent(found, bound) is False:
            stopped.append("asked")

    def poll(event: Any) -> None:
        if stopped:
            event.interrupt()

    highs.cbMipImprovingSolution += tell
    highs.cbMipInterrupt += poll
    highs.cbSimplexInterrupt += poll


def _run(highs: Any, stopped: list[str], orders: Orders) -> bool:
    """HiGHS has no limit on memory of its own: it is watched, and stopped between two steps of the simplex.

    False: Ctrl-C fell into presolve or the linear program at the root, where it listens to nothing.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reasons = run_in_thread(highs.run, lambda: stopped.append("asked"), orders, PATIENCE)
    if reasons:
        stopped[:] = reasons
    return LEFT not in reasons


def holds(program: Program, values: Whole) -> bool:
    """Exactly, in whole numbers."""
    if np.any(values < program.lower) or np.any(values > program.upper):
        return False
    row = np.repeat(np.arange(program.rows), np.diff(program.start))
    sums = np.zeros(program.rows, np.int64)
    np.add.at(sums, row, program.value * values[program.index])
    return bool(np.all((sums >= program.low) & (sums <= program.high)))


def accept(program: Program, found: NDArray[np.float64]) -> Whole | None:
    """The assignment in whole numbers if it is one exactly; columns that need not be whole are not looked at."""
    if len(found) != program.columns:
        return None
    rounded = np.rint(found).astype(np.int64)
    if program.whole is not None:
        return rounded if np.all(np.abs(found - rounded)[program.whole] <= 1e-4) else None
    return rounded if holds(program, rounded) else None


def whole_bound(bound: float) -> int | None:
    """A whole goal is at least its bound rounded up; a little is taken off first for the solver's tolerances."""
    if not np.isfinite(bound):
        return None
    return ceil(bound - 1e-6 * max(1.0, abs(bound) * 1e-3))


def settled(
    program: Program, end: End, values: Whole | None, bound: int | None, raw: str, statistics: dict[str, float]
) -> Outcome:
    """An outcome of which an optimum that is not exactly one has failed, and one that is bounds itself."""
    if end is End.OPTIMAL and values is None:
        end = End.FAILED
    if end is End.OPTIMAL and values is not None and program.whole is None:
        bound = int(program.cost @ values) + program.offset
    return Outcome(end, values, bound, raw, statistics)


def _outcome(highs: Any, program: Program, stopped: list[str], relaxed: bool = False) -> Outcome:
    import highspy

    status = highs.getModelStatus()
    raw = highs.modelStatusToString(status)
    kinds = highspy.HighsModelStatus
    ends = {
        kinds.kOptimal: End.OPTIMAL,
        kinds.kInfeasible: End.INFEASIBLE,
        kinds.kUnboundedOrInfeasible: End.INFEASIBLE,  # every variable is bounded
        kinds.kTimeLimit: End.TIME,
        kinds.kIterationLimit: End.TIME,
        kinds.kSolutionLimit: End.TIME,
        kinds.kInterrupt: End.INTERRUPTED,
        kinds.kMemoryLimit: End.MEMORY,
        kinds.kHighsInterrupt: End.INTERRUPTED,
    }
    ends[kinds.kModelEmpty] = End.OPTIMAL
    end = ends.get(status, End.FAILED)
    if stopped and end not in (End.OPTIMAL, End.INFEASIBLE):
        end = cut_short(stopped)
    info = highs.getInfo()
    statistics = {"nodes": float(max(0, info.mip_node_count)), "iterations": float(info.simplex_iteration_count)}
    if relaxed:
        return Outcome(end, None, None, raw, statistics)
    values = None
    found = np.asarray(highs.getSolution().col_value)
    if len(found) == program.columns and info.primal_solution_status == 2:
        values = accept(program, found)
    bound = whole_bound(info.mip_dual_bound)
    return settled(program, end, values, bound, raw, statistics)
