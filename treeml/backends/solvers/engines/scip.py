"""Program -> SolverOutcome, by SCIP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.solvers.engines.highs import accept, goal_of
from treeml.backends.solvers.engines.outcome import OnIncumbent, SolverOutcome
from treeml.backends.solvers.engines.program import FREE, Program
from treeml.backends.solvers.engines.running import LEFT, RunLimits, cut_short, run_in_thread
from treeml.backends.solvers.engines.statuses import GAP, Accuracy, accuracy_for, callback_bound, outcome_of
from treeml.backends.task.deadline import NO_DEADLINE, in_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

FINEST = 1e-10  # the tolerance of reduced costs if columns have wide ranges
USUAL_ROW, FINEST_ROW = 1e-6, 1e-9  # tolerances of rows: the default, and one that linear programs still keep
NAME = "SCIP"


def solve_program(
    program: Program,
    run_limits: RunLimits,
    start: Whole | None = None,
    on_incumbent: OnIncumbent | None = None,
) -> SolverOutcome:
    """Solves the program; SCIP uses one thread, whatever the limits say."""
    model, variables = write_model(program, run_limits.deadline)
    model.setParam("randomization/randomseedshift", run_limits.seed % 2**31)
    model.setParam("misc/catchctrlc", False)
    accuracy = accuracy_for(program, FINEST)
    if accuracy.tolerance == FINEST:
        model.setParam("numerics/dualfeastol", FINEST)
    model.setParam("numerics/feastol", row_tolerance(program))
    if program.whole is None:
        model.setParam("limits/absgap", GAP)
    if run_limits.deadline.left() < float("inf"):
        model.setParam("limits/time", max(0.01, run_limits.deadline.left()))
    if run_limits.work is not None:
        model.setParam("limits/totalnodes", int(run_limits.work))
    if run_limits.memory_left is not None:
        model.setParam("limits/memory", run_limits.memory_left / 2**20)
    if start is not None:
        solution = model.createSol()
        for variable, value in zip(variables, start.tolist(), strict=True):
            model.setSolVal(solution, variable, value)
        model.addSol(solution)
    stopped = _listen(model, variables, program, on_incumbent, accuracy)
    stopped += run_in_thread(model.optimizeNogil, model.interruptSolve, run_limits)
    if LEFT in stopped:
        return SolverOutcome(cut_short(stopped), raw="left in a step that SCIP does not leave")
    return _outcome(model, variables, program, stopped, accuracy)


def row_tolerance(program: Program) -> float:
    """A hundredth of a unit of the longest row, relative to that row: SCIP compares sums by relative differences."""
    row = np.repeat(np.arange(program.rows), np.diff(program.start))
    most = np.maximum(np.abs(program.lower), np.abs(program.upper)).astype(float)
    longest = np.bincount(row, weights=np.abs(program.value) * most[program.index], minlength=1).max()
    return max(FINEST_ROW, min(USUAL_ROW, 0.01 / max(1.0, float(longest))))


def write_model(program: Program, deadline: Deadline = NO_DEADLINE) -> tuple[Any, list[Any]]:
    from pyscipopt import Model, quicksum

    model = Model()
    model.hideOutput()
    whole = np.ones(program.columns, bool) if program.whole is None else program.whole
    variables = []
    for column in range(program.columns):
        if column % 1024 == 0:
            in_time(deadline)
        low, high = int(program.lower[column]), int(program.upper[column])
        kind = ("B" if (low, high) == (0, 1) else "I") if whole[column] else "C"
        variables.append(model.addVar(f"x{column}", kind, low, high, int(program.cost[column])))
    model.addObjoffset(program.offset)
    start, index, value = program.start.tolist(), program.index.tolist(), program.value.tolist()
    for row, (low, high) in enumerate(zip(program.low.tolist(), program.high.tolist(), strict=True)):
        if row % 256 == 0:
            in_time(deadline)
        here = range(start[row], start[row + 1])
        terms = quicksum(value[k] * variables[index[k]] for k in here)
        if not len(here):
            if low > 0 or high < 0:
                model.addCons(model.addVar("never", "B", 0, 1) >= 2)
            continue
        if low == high:
            model.addCons(terms == low)
        else:
            if low > -FREE:
                model.addCons(terms >= low)
            if high < FREE:
                model.addCons(terms <= high)
    if program.whole is None:
        model.setObjIntegral()
    return model, variables


def _listen(
    model: Any, variables: list[Any], program: Program, on_incumbent: OnIncumbent | None, accuracy: Accuracy
) -> list[str]:
    from pyscipopt import SCIP_EVENTTYPE, Eventhdlr

    stopped: list[str] = []
    if on_incumbent is None:
        return stopped
    told = on_incumbent

    class ScipListener(Eventhdlr):  # type: ignore[misc]
        def eventinit(self) -> None:
            self.model.catchEvent(SCIP_EVENTTYPE.BESTSOLFOUND, self)

        def eventexit(self) -> None:
            self.model.dropEvent(SCIP_EVENTTYPE.BESTSOLFOUND, self)

        def eventexec(self, event: Any) -> None:
            if stopped:
                return
            best = self.model.getBestSol()
            found = np.array([self.model.getSolVal(best, variable) for variable in variables])
            values = accept(program, found)
            known = callback_bound(NAME, "solution_callback", accuracy.whole_bound(self.model.getDualbound()))
            if told(values, known) is False:
                stopped.append("asked")
                self.model.interruptSolve()

    model.includeEventhdlr(ScipListener(), "listener", "reports incumbents")
    return stopped


def _outcome(
    model: Any, variables: list[Any], program: Program, stopped: list[str], accuracy: Accuracy
) -> SolverOutcome:
    from pyscipopt import SCIP_STAGE

    def values() -> Whole | None:
        if not model.getNSols():
            return None
        best = model.getBestSol()
        return accept(program, np.array([model.getSolVal(best, variable) for variable in variables]))

    def bound() -> int | None:
        """None before branch and bound begins, or while the bound is still SCIP's infinity."""
        has_begun = SCIP_STAGE.SOLVING <= model.getStage() <= SCIP_STAGE.EXITSOLVE
        return accuracy.whole_bound(model.getDualbound()) if has_begun else None

    return outcome_of(
        NAME,
        model.getStatus(),
        values,
        bound,
        lambda found: goal_of(program, found, model.getObjVal()),
        is_bounded=True,
        cut_short=cut_short(stopped) if stopped else None,
        statistics={"nodes": float(model.getNTotalNodes())},
    )
