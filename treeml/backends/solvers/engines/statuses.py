"""A solver's own word -> what of its answer carries meaning: one table per solver, and nothing else decides it.

A field that a solver leaves at its default looks like any other number. So values are read, a bound is believed, and
"optimal" or "infeasible" is repeated only where the row of the status says that the solver documents it so. A status
without a row is a failure. Rows in capitals or words are the solver's; rows named after a callback are about what it
passes on the way.

Of a bound from a solver that calculates with floats something is taken off before it is rounded up: `Accuracy`.
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
    """What a status is worth: how the search ended, and which fields of the answer mean something."""

    end: SolverEnd
    values: bool = False  # an assignment may be read
    bound: bool = False  # the bound is one, if it is a finite number
    optimal: bool = False  # the assignment is proved best, up to the gap that was allowed
    infeasible: bool = False  # there is no assignment
    infeasible_if_bounded: bool = False  # there is none, or no least one: none, where every column has two limits


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
    # Stopped before a solution, perhaps in presolve, where the bound is still the default 0.
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
    kSolutionLimit=IN_TIME,  # also: the limit on nodes
    kInterrupt=ASKED_TO,
    kHighsInterrupt=ASKED_TO,
    kMemoryLimit=IN_MEMORY,
    # Limits that are never set; what they would leave behind is not relied upon.
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

# The linear relaxation: its optimum bounds the program through its duals; no other end of it says anything of values.
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
    gaplimit=PROVED,  # the gap that is allowed is below one unit of a whole goal
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

# What python-sat's `solve_limited` returns.
SAT: Mapping[bool | None, Meaning] = MappingProxyType(
    {
        True: Meaning(SolverEnd.OPTIMAL, values=True),
        False: Meaning(SolverEnd.INFEASIBLE, infeasible=True),  # under the assumptions of the call, if there were any
        None: Meaning(SolverEnd.TIME),  # the budget ran out, or it was interrupted: neither a model nor a core
    }
)

TABLES: Mapping[str, Mapping[str, Meaning]] = MappingProxyType(
    {"CP-SAT": CPSAT, "HiGHS": HIGHS, "HiGHS (linear relaxation)": HIGHS_RELAXED, "SCIP": SCIP, "Gurobi": GUROBI}
)

ENDLESS = 1e15  # at or beyond this a bound is a solver's infinity, or a number that floats no longer hold exactly
USUAL_TOLERANCE = 1e-7  # of reduced costs, in HiGHS and SCIP
GAP = 0.5  # of a whole goal: half a unit is left for rounding


def row_of(solver: str, status: str) -> Meaning:
    """Raises where the solver says what is in no table, or that it failed."""
    row = TABLES[solver].get(status)
    if row is None:
        raise ValueError(f"{solver} ends with the status {status}, of which nothing is known")
    return row


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How exactly a solver that calculates with floats is to work, and how far its bounds can lie above the truth.

    It lets a reduced cost have the wrong sign by `tolerance`; the column then adds at most its range times that, and
    all columns together `reach` times that. The sum itself is rounded in the last places of its size.
    """

    tolerance: float
    reach: float

    def slack(self, bound: float) -> float:
        return 1e-6 + self.tolerance * self.reach + 1e-12 * abs(bound)

    def whole_bound(self, bound: float) -> int | None:
        return whole_bound(bound, self.slack(bound))


def accuracy_for(program: Program, finest: float) -> Accuracy:
    """The usual tolerance where it leaves a unit of the goal apart from the next one, else the finest there is."""
    reach = float(np.maximum(np.abs(program.lower), np.abs(program.upper)).astype(float).sum())
    reach += abs(program.offset) * 1e-9
    return Accuracy(USUAL_TOLERANCE if reach * USUAL_TOLERANCE <= GAP / 4 else finest, reach)


def whole_bound(bound: float, slack: float) -> int | None:
    """A whole goal is at least its bound rounded up, once that is lowered by what floats may have added to it."""
    if not isfinite(bound) or abs(bound) >= ENDLESS:
        return None
    return ceil(bound - slack)


def told_bound(solver: str, callback: str, bound: int | None) -> Proved | None:
    """A bound that a callback passes, if the table says that it is one."""
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
    """The outcome that the row of a status allows; `values` and `bound` are looked at only where they mean something.

    `value_of` is the goal of an assignment, in whole numbers; None where there is no goal. An optimum is one only if
    the bound meets its value: a solver that says otherwise, or whose floats leave less, has found a solution, no more.
    `cut_short` is how the search ended that was asked to stop, unless it had come to its end.
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
            # Above its own solution a bound cannot be right.
            return SolverOutcome(SolverEnd.FAILED, found, None, status, said)
        known = Proved(least, Evidence("solver optimal", f"{solver}: {status}"))
    return SolverOutcome(end, found, known, status, said, Evidence("solver optimal", f"{solver}: {status}"))
