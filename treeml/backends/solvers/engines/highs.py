"""Program -> SolverOutcome, by HiGHS."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.backends.claims import Evidence
from treeml.backends.contract import Deadline
from treeml.backends.solvers.engines.outcome import OnIncumbent, Proved, SolverEnd, SolverOutcome
from treeml.backends.solvers.engines.program import FREE, Program
from treeml.backends.solvers.engines.running import LEFT, RunLimits, cut_short, run_in_thread
from treeml.backends.solvers.engines.statuses import GAP, Accuracy, accuracy_for, callback_bound, outcome_of, row_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

PROBING = 2**15  # a presolve rule: on flows it takes minutes, cannot be stopped, and gains nothing
STUFFING = 2**16  # a presolve rule (singleton columns): in HiGHS 1.14 it cuts off optima if there are integer columns
PATIENCE = 1.0  # seconds that HiGHS gets to stop after Ctrl-C
WHOLE = 1e-6  # values this close to integers are rounded, and then checked exactly
FINEST = 1e-10  # the smallest tolerance of reduced costs that HiGHS accepts
NAME, RELAXED = "HiGHS", "HiGHS (linear relaxation)"


def solve_program(
    program: Program,
    run_limits: RunLimits,
    start: Whole | None = None,
    on_incumbent: OnIncumbent | None = None,
) -> SolverOutcome:
    """Solves the linear relaxation if it is known to be integral, otherwise (or if it is not) by branch and bound.

    Columns that are integral once the others are, are declared integer too: the presolve of HiGHS 1.14 cuts off the
    optimum of small programs with both kinds of columns, and then calls another solution optimal.
    """
    program = replace(program, whole=None)
    if program.integral_relaxation:
        relaxed = solve_relaxation(program, run_limits)
        if not relaxed.is_fractional:
            return relaxed.outcome
    accuracy = accuracy_for(program, FINEST)
    highs = _model(program, whole=True, threads=run_limits.threads, seed=run_limits.seed)
    if accuracy.tolerance == FINEST:
        highs.setOptionValue("dual_feasibility_tolerance", FINEST)
    highs.setOptionValue("mip_abs_gap", GAP)
    highs.setOptionValue("mip_rel_gap", 0.0)
    highs.setOptionValue("mip_feasibility_tolerance", 1e-7)
    if run_limits.work is not None:
        highs.setOptionValue("mip_max_nodes", int(run_limits.work))
    _limit_time(highs, run_limits.deadline)
    if start is not None:
        import highspy

        given = highspy.HighsSolution()
        given.col_value = start.astype(float)
        highs.setSolution(given)
    stopped: list[str] = []
    _listen(highs, program, on_incumbent, stopped, accuracy)
    return _outcome(highs, program, stopped, accuracy) if _run(highs, stopped, run_limits) else _left(stopped)


def write_file(program: Program, path: str) -> None:
    """Writes the program as LP or MPS, by the ending of the name."""
    # imported here: start-up time
    import highspy

    from treeml.system.confinement import MARK
    from treeml.system.writing import replaced_by

    def write(name: str) -> None:
        if _model(program, whole=True, threads=1, seed=0).writeModel(name) == highspy.HighsStatus.kError:
            raise OSError(f"HiGHS cannot write {path}")

    comment = "\\" if path.endswith(".lp") else "*"
    replaced_by(write, path, f"{comment} {MARK}\n".encode())


@dataclass(frozen=True, slots=True)
class Relaxed:
    """The outcome of the relaxation; `is_fractional`: it does not decide the program, but its bound is valid."""

    outcome: SolverOutcome
    is_fractional: bool = False


def solve_relaxation(program: Program, run_limits: RunLimits) -> Relaxed:
    highs = _model(program, whole=False, threads=run_limits.threads, seed=run_limits.seed)
    _limit_time(highs, run_limits.deadline)
    stopped: list[str] = []
    _listen(highs, program, None, stopped, None)
    if not _run(highs, stopped, run_limits):
        return Relaxed(_left(stopped))
    status = highs.getModelStatus().name
    statistics = {"iterations": float(highs.getInfo().simplex_iteration_count)}
    if not row_of(RELAXED, status).bound:
        end = cut_short(stopped) if stopped else None
        outcome = outcome_of(
            RELAXED, status, _nothing, _nothing, None, is_bounded=True, cut_short=end, statistics=statistics
        )
        return Relaxed(outcome)
    values = np.asarray(highs.getSolution().col_value)
    rounded = np.rint(values).astype(np.int64)
    least = exact_bound(program, np.asarray(highs.getSolution().row_dual))
    whole = bool(np.all(np.abs(values - rounded) <= WHOLE)) and holds(program, rounded)
    evidence = Evidence("relaxation", "duals of the linear relaxation, in whole numbers")
    bound = None if least is None else Proved(least, evidence)
    if whole and least is not None and int(program.cost @ rounded) + program.offset == least:
        proof = Evidence("bound meets tree", "", (evidence,))
        return Relaxed(SolverOutcome(SolverEnd.OPTIMAL, rounded, bound, status, statistics, proof))
    return Relaxed(SolverOutcome(SolverEnd.FAILED, None, bound, status, statistics), is_fractional=True)


def _nothing() -> None:
    return None


def exact_bound(program: Program, duals: NDArray[np.float64]) -> int | None:
    """b'y + sum of min(reduced cost * lower, reduced cost * upper), rounded up: a valid bound for any duals y.

    It is computed in integers: duals are rounded to multiples of 1 / unit, with the finest unit for which all sums fit
    in 63 bits; None if there is no such unit.
    """
    # A dual of the wrong sign on a one-sided row would give minus infinity, so it is set to zero.
    duals = np.where((duals > 0) & (program.low <= -FREE), 0.0, duals)
    duals = np.where((duals < 0) & (program.high >= FREE), 0.0, duals)
    size = float(np.abs(duals).max(initial=0.0)) + 1.0
    limits = np.where(duals > 0, program.low, program.high)
    limits[duals == 0] = 0
    row = np.repeat(np.arange(program.rows), np.diff(program.start))
    reach = np.maximum(np.abs(program.lower), np.abs(program.upper)).astype(float)
    # An upper bound on every sum below, per unit, with room for its own rounding.
    inner = np.abs(program.cost) + size * np.bincount(
        program.index, weights=np.abs(program.value).astype(float), minlength=program.columns
    )
    most = 2.0 * max(float((inner * reach).sum()), float(inner.max(initial=1.0)), 1.0)
    most += 2.0 * size * float(np.abs(limits).astype(float).sum())
    bits = int(61 - np.ceil(np.log2(most)))
    if bits < 0:
        return None
    unit = 1 << min(bits, 40)
    whole = np.rint(duals * unit).astype(np.int64)
    reduced = program.cost * unit
    np.subtract.at(reduced, program.index, program.value * whole[row])
    total = int((whole * limits).sum()) + int(np.minimum(reduced * program.lower, reduced * program.upper).sum())
    return -(-total // unit) + program.offset


def best_under_cuts(
    cuts: list[tuple[float, Whole, Whole]], center: Whole, box: float, denominator: int
) -> tuple[float, Whole]:
    """max t with t <= value + slope . (m - at) / denominator for every cut, 0 <= m, |m - center| <= box.

    Multipliers m are integer multiples of 1 / denominator. The result is rounded to them; any multipliers give a bound.
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
    options: dict[str, Any] = {
        "output_flag": False,
        "threads": threads,
        "random_seed": seed,
        "presolve_rule_off": PROBING | STUFFING,
    }
    if whole and program.whole is not None:
        options["presolve"] = "off"  # with mixed columns presolve lost optima of BinOCT
    for option, value in options.items():
        highs.setOptionValue(option, value)
    highs.passModel(lp)
    return highs


def _limit_time(highs: Any, deadline: Deadline) -> None:
    left = deadline.left()
    if left < float("inf"):
        highs.setOptionValue("time_limit", max(0.01, left))


def _listen(
    highs: Any, program: Program, on_incumbent: OnIncumbent | None, stopped: list[str], accuracy: Accuracy | None
) -> None:
    def tell(event: Any) -> None:
        if on_incumbent is None or accuracy is None or stopped:
            return
        found = accept(program, np.asarray(event.data_out.mip_solution))
        least = accuracy.whole_bound(event.data_out.mip_dual_bound)
        bound = callback_bound(NAME, "solution_callback", least)
        if found is not None and on_incumbent(found, bound) is False:
            stopped.append("asked")

    def poll(event: Any) -> None:
        if stopped:
            event.interrupt()

    highs.cbMipImprovingSolution += tell
    highs.cbMipInterrupt += poll
    highs.cbSimplexInterrupt += poll


def _run(highs: Any, stopped: list[str], run_limits: RunLimits) -> bool:
    """Runs HiGHS in a thread. It has no memory limit of its own, so it is watched and stopped between simplex steps.

    False: Ctrl-C or the deadline came during presolve or the root linear program, which cannot be interrupted.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reasons = run_in_thread(highs.run, lambda: stopped.append("asked"), run_limits, PATIENCE)
    if reasons:
        stopped[:] = reasons
    return LEFT not in reasons


def _left(stopped: list[str]) -> SolverOutcome:
    return SolverOutcome(cut_short(stopped), raw="left in a step that HiGHS does not leave")


def holds(program: Program, values: Whole) -> bool:
    """Does the assignment satisfy the program exactly, in integers?"""
    if np.any(values < program.lower) or np.any(values > program.upper):
        return False
    row = np.repeat(np.arange(program.rows), np.diff(program.start))
    sums = np.zeros(program.rows, np.int64)
    np.add.at(sums, row, program.value * values[program.index])
    return bool(np.all((sums >= program.low) & (sums <= program.high)))


def accept(program: Program, found: NDArray[np.float64]) -> Whole | None:
    """The assignment rounded to integers, if it is then exactly feasible; continuous columns are not checked."""
    if len(found) != program.columns:
        return None
    rounded = np.rint(found).astype(np.int64)
    if program.whole is not None:
        return rounded if np.all(np.abs(found - rounded)[program.whole] <= 1e-4) else None
    return rounded if holds(program, rounded) else None


def _outcome(highs: Any, program: Program, stopped: list[str], accuracy: Accuracy) -> SolverOutcome:
    info = highs.getInfo()

    def values() -> Whole | None:
        found = np.asarray(highs.getSolution().col_value)
        if len(found) != program.columns or info.primal_solution_status != 2:
            return None
        return accept(program, found)

    def bound() -> int | None:
        # If branch and bound did not run, this field is a default.
        return accuracy.whole_bound(info.mip_dual_bound) if info.valid and info.mip_node_count >= 0 else None

    return outcome_of(
        NAME,
        highs.getModelStatus().name,
        values,
        bound,
        lambda found: goal_of(program, found, info.objective_function_value),
        is_bounded=True,
        cut_short=cut_short(stopped) if stopped else None,
        statistics={"nodes": float(max(0, info.mip_node_count)), "iterations": float(info.simplex_iteration_count)},
    )


def goal_of(program: Program, values: Whole, told: float) -> int | None:
    """The goal of an assignment; with continuous columns, the solver's own value if it is an integer."""
    if program.whole is None:
        return int(program.cost @ values) + program.offset
    return round(told) if abs(told - round(told)) <= 1e-4 else None
