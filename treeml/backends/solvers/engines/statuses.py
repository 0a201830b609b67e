"""Status of a solver -> which claims its result supports: one table per solver, and nothing else decides it.

A field that a solver leaves at its default looks like any other number. So an assignment is read, a bound is used, and
"optimal" or "infeasible" is claimed only if the row of the status says that the solver documents it. A status without
a row is an error. Rows have the solver's own names; rows named after a callback are about the values passed to it.

A bound of a solver that calculates with floats is lowered by its possible error before it is rounded up: `Accuracy`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.claims import Evidence
from treeml.backends.solvers.engines.outcome import Proved, SolverEnd, SolverOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from treeml.backends.solvers.engines.program import Program

    Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a status: how the search ended, and which fields of the result are valid."""

    end: SolverEnd
    values: bool = False  # there may be an assignment
    bound: bool = False  # the bound is valid, if it is finite
    optimal: bool = False  # the assignment is proved optimal, up to the allowed gap
    infeasible: bool = False  # it is proved that there is no assignment
    infeasible_if_bounded: bool = False  # infeasible or unbounded: infeasible if all columns are bounded


def _table(**rows: Meaning) -> Mapping[str, Meaning]:
    return MappingProxyType(rows)


PROVED = Meaning(SolverEnd.OPTIMAL, values=True, bound=True, optimal=True)
NONE = Meaning(SolverEnd.INFEASIBLE, infeasible=True)
NONE_OR_ENDLESS = Meaning(SolverEnd.FAILED, infeasible_if_bounded=True)
IN_TIME = Meaning(SolverEnd.TIME, values=True, bound=True)
IN_MEMORY = Meaning(SolverEnd.MEMORY, values=True, bound=True)
ASKED_TO = Meaning(SolverEnd.INTERRUPTED, values=True, bound=True)
BROKEN = Meaning(SolverEnd.FAILED)

CPSAT = _table(
    OPTIMAL=PROVED,
    FEASIBLE=IN_TIME,
    INFEASIBLE=NONE,
    # Stopped before a solution was found, perhaps in presolve, where the bound is still the default 0.
    UNKNOWN=Meaning(SolverEnd.TIME),
    MODEL_INVALID=BROKEN,
    solution_callback=IN_TIME,
    bound_callback=Meaning(SolverEnd.TIME, bound=True),
)

HIGHS = _table(
    kOptimal=PROVED,
    kInfeasible=NONE,
    kUnboundedOrInfeasible=NONE_OR_ENDLESS,
    kTimeLimit=IN_TIME,
    kIterationLimit=IN_TIME,
    kSolutionLimit=IN_TIME,  # also the limit on nodes
    kInterrupt=ASKED_TO,
    kHighsInterrupt=ASKED_TO,
    kMemoryLimit=IN_MEMORY,
    # TreeML never sets these limits, so their results are not used.
    kObjectiveBound=BROKEN,
    kObjectiveTarget=BROKEN,
    kUnbounded=BROKEN,
    kModelEmpty=BROKEN,
    kNotset=BROKEN,
    kLoadError=BROKEN,
    kModelError=BROKEN,
    kPresolveError=BROKEN,
    kSolveError=BROKEN,
    kPostsolveError=BROKEN,
    kUnknown=BROKEN,
    solution_callback=IN_TIME,
)

# The linear relaxation: its optimum gives a bound through its duals; no other status gives values.
HIGHS_RELAXED = _table(
    **{
        name: row if row in (NONE, NONE_OR_ENDLESS, BROKEN) else Meaning(row.end)
        for name, row in HIGHS.items()
        if name != "kOptimal"
    },
    kOptimal=Meaning(SolverEnd.OPTIMAL, values=True, bound=True),
)

SCIP = _table(
    optimal=PROVED,
    infeasible=NONE,
    inforunbd=NONE_OR_ENDLESS,
    timelimit=IN_TIME,
    nodelimit=IN_TIME,
    totalnodelimit=IN_TIME,
    stallnodelimit=IN_TIME,
    gaplimit=PROVED,  # the allowed gap is below one unit of an integer goal
    memlimit=IN_MEMORY,
    userinterrupt=ASKED_TO,
    sollimit=BROKEN,
    bestsollimit=BROKEN,
    restartlimit=BROKEN,
    primallimit=BROKEN,
    duallimit=BROKEN,
    unbounded=BROKEN,
    unknown=BROKEN,
    solution_callback=IN_TIME,
)

GUROBI = _table(
    LOADED=BROKEN,
    OPTIMAL=PROVED,
    INFEASIBLE=NONE,
    INF_OR_UNBD=NONE_OR_ENDLESS,
    UNBOUNDED=BROKEN,
    CUTOFF=BROKEN,
    ITERATION_LIMIT=IN_TIME,
    NODE_LIMIT=IN_TIME,
    TIME_LIMIT=IN_TIME,
    SOLUTION_LIMIT=BROKEN,
    INTERRUPTED=ASKED_TO,
    NUMERIC=BROKEN,
    SUBOPTIMAL=Meaning(SolverEnd.TIME, values=True),
    INPROGRESS=BROKEN,
    USER_OBJ_LIMIT=BROKEN,
    WORK_LIMIT=IN_TIME,
    MEM_LIMIT=IN_MEMORY,
    solution_callback=IN_TIME,
)

# The results of python-sat's `solve_limited`.
SAT: Mapping[bool | None, Meaning] = MappingProxyType(
    {
        True: Meaning(SolverEnd.OPTIMAL, values=True),
        False: Meaning(SolverEnd.INFEASIBLE, infeasible=True),  # under the assumptions of the call, if any
        None: Meaning(SolverEnd.TIME),  # budget exhausted or interrupted: neither a model nor a core
    }
)

TABLES: Mapping[str, Mapping[str, Meaning]] = MappingProxyType(
    {"CP-SAT": CPSAT, "HiGHS": HIGHS, "HiGHS (linear relaxation)": HIGHS_RELAXED, "SCIP": SCIP, "Gurobi": GUROBI}
)

ENDLESS = 1e15  # a bound of at least this size is a solver's infinity, or not exact as a float
USUAL_TOLERANCE = 1e-7  # of reduced costs; the default of HiGHS and SCIP
GAP = 0.5  # the absolute gap for an integer goal: half a unit is left for rounding


def row_of(solver: str, status: str) -> Meaning:
    """The row of a status; raises ValueError if there is none."""
    row = TABLES[solver].get(status)
    if row is None:
        raise ValueError(f"{solver} ended with the unknown status {status}")
    return row


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The tolerance of a solver that calculates with floats, and the possible error of its bounds.

    The solver accepts reduced costs whose sign is wrong by up to `tolerance`. Such a column adds at most its range
    times the tolerance, and all columns together `reach` times the tolerance. The float error of the sum comes on top.
    """

    tolerance: float
    reach: float

    def slack(self, bound: float) -> float:
        return 1e-6 + self.tolerance * self.reach + 1e-12 * abs(bound)

    def whole_bound(self, bound: float) -> int | None:
        return whole_bound(bound, self.slack(bound))


def accuracy_for(program: Program, finest: float) -> Accuracy:
    """The usual tolerance if it separates one unit of the goal from the next, otherwise the finest one."""
    reach = float(np.maximum(np.abs(program.lower), np.abs(program.upper)).astype(float).sum())
    reach += abs(program.offset) * 1e-9
    return Accuracy(USUAL_TOLERANCE if reach * USUAL_TOLERANCE <= GAP / 4 else finest, reach)


def whole_bound(bound: float, slack: float) -> int | None:
    """The bound of an integer goal: lowered by the possible error, then rounded up."""
    if not isfinite(bound) or abs(bound) >= ENDLESS:
        return None
    return ceil(bound - slack)


def callback_bound(solver: str, callback: str, bound: int | None) -> Proved | None:
    """A bound that was passed to a callback, if the table says that it is valid."""
    if bound is None or not row_of(solver, callback).bound:
        return None
    return Proved(bound, Evidence("solver bound", f"{solver}, on the way"))


def outcome_of(
    solver: str,
    status: str,
    values: Callable[[], Whole | None],
    bound: Callable[[], int | None],
    value_of: Callable[[Whole], int | None] | None,
    *,
    is_bounded: bool = False,
    cut_short: SolverEnd | None = None,
    statistics: dict[str, float] | None = None,
) -> SolverOutcome:
    """The outcome that the row of a status allows; `values` and `bound` are called only if they are valid.

    `value_of` gives the goal of an assignment in integers; None if there is no goal. A solution counts as optimal only
    if the bound equals its value; otherwise it is just a solution. `cut_short` is how a search ended that was asked to
    stop, unless it completed.
    """
    row = row_of(solver, status)
    said = statistics or {}
    if row.infeasible or (row.infeasible_if_bounded and is_bounded):
        evidence = Evidence("solver infeasible", f"{solver}: {status}")
        return SolverOutcome(SolverEnd.INFEASIBLE, raw=status, statistics=said, evidence=evidence)
    found = values() if row.values else None
    least = bound() if row.bound and value_of is not None else None
    end = row.end
    if end is not SolverEnd.OPTIMAL and cut_short is not None:
        end = cut_short
    known = None if least is None else Proved(least, Evidence("solver bound", f"{solver}: {status}"))
    if end is not SolverEnd.OPTIMAL:
        return SolverOutcome(end, found, known, status, said)
    if not row.optimal or found is None:
        return SolverOutcome(SolverEnd.FAILED, found, known, status, said)
    if value_of is not None:
        value = value_of(found)
        if value is None or least is None or least < value:
            return SolverOutcome(SolverEnd.FAILED, found, known, status, said)
        if least > value:
            # A bound above the value of the solver's own solution cannot be right.
            return SolverOutcome(SolverEnd.FAILED, found, None, status, said)
        known = Proved(least, Evidence("solver optimal", f"{solver}: {status}"))
    return SolverOutcome(end, found, known, status, said, Evidence("solver optimal", f"{solver}: {status}"))
