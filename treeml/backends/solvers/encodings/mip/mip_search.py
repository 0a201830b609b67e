"""Mixed-integer program over nodes -> an optimal tree; solved again while its solution violates monotonicity."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.claims import Evidence
from treeml.backends.contract import Stop
from treeml.backends.solvers.encodings.mip.flow import NodeProgram
from treeml.backends.solvers.encodings.monotone import broken_pairs
from treeml.backends.solvers.engines.outcome import OnIncumbent, Proved, SolverEnd, SolverOutcome
from treeml.backends.solvers.engines.program import Program
from treeml.backends.solvers.solve_state import SolveState

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

Run = Callable[[Program, "Whole | None", OnIncumbent], SolverOutcome]


def search_nodes(search: SolveState, model: NodeProgram, run: Run, write: Callable[[Program], None] | None) -> Stop:
    def told(values: Whole | None, bound: Proved | None) -> bool:
        if values is not None:
            search.offer(model.decode(values))
        search.raise_bound(bound)
        return not search.enough

    program = model.draft.program()
    search.record_build(program.columns, program.rows)
    if write is not None:
        write(program)
    while True:
        outcome = run(program, None, told)
        search.raw = outcome.raw
        search.add_statistics(outcome.statistics)
        search.raise_bound(outcome.bound)
        if outcome.end is SolverEnd.INFEASIBLE:
            return search.no_tree(outcome.proof)
        if outcome.values is not None:
            tree = model.decode(outcome.values)
            if not search.offer(tree):
                terms = tuple(term for term, _ in search.task.monotone)
                pairs = list(broken_pairs(tree, search.problem, terms))
                if not pairs:
                    # The solution is not a valid tree: the solver exceeded its tolerances.
                    return Stop.FAILED
                for one, other in pairs:
                    model.exclude(outcome.values, one, other)
                if search.proved and search.problem.goals:
                    return search.close(search.bound_meets_tree())
                if outcome.end is SolverEnd.OPTIMAL:
                    program = model.draft.program()
                    continue
        if outcome.end is SolverEnd.OPTIMAL:
            if not search.problem.goals:
                return search.close(Evidence("no goal"))
            return search.close(search.bound_meets_tree()) if search.proved else Stop.FAILED
        if search.enough or outcome.end is SolverEnd.INTERRUPTED:
            return search.cut_short
        return {SolverEnd.TIME: Stop.TIME, SolverEnd.MEMORY: Stop.MEMORY}.get(outcome.end, Stop.FAILED)
