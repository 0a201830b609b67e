"""Problem -> Answer by MaxSAT: directions and orders as clauses, the goal as penalties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.backends.contract import Capabilities, Option, Stop
from treeml.backends.solvers.clause_backend import CLAUSES_CARRY, CONFLICTS, ClauseBackend, open_solver, prepare
from treeml.backends.solvers.clause_files import write_wcnf
from treeml.backends.solvers.solver_backend import BOUNDS, EXPLAIN, GOALS
from treeml.problem.problem import Problem
from treeml.problem.tree import Node

if TYPE_CHECKING:
    from treeml.backends.solvers.engines.sat import Sat
    from treeml.backends.solvers.solve_state import SolveState

SOLVERS = ("auto", "g3", "g4", "m22", "mgh", "cadical153", "cadical195")
ENCODING = Option(
    str,
    "order",
    "order: numeric and subset columns as they are; leaves: the same with literals of leaves, as published; "
    "binary: every test by itself",
    ("order", "leaves", "binary"),
)
SOLVER = Option(str, "auto", "which solver of python-sat; auto is g4", SOLVERS)
MARGIN = Option(
    int,
    1,
    "the fewest of all rows on either side of every test; other trees are not searched, so nothing is proved",
    low=1,
    restricts=True,
)

NOT_FOR_COUPLED = (
    "maxsat is not for requirements that couple the leaves: native, cpsat and mip prove such specs much sooner"
)


class MaxSatBackend(ClauseBackend):
    name: ClassVar[str] = "maxsat"
    summary: ClassVar[str] = (
        "MaxSAT on directions and orders; numeric columns as they are, by the solvers of python-sat"
    )
    can: ClassVar[Capabilities] = Capabilities(
        goals=GOALS,
        bounds=BOUNDS,
        sums=True,
        merges_rows=True,
        merges_tests=True,
        numeric=True,
        starts=True,
        reports=True,
        explains=True,
        writes=(".wcnf",),
        keeps_memory=True,
        carries=CLAUSES_CARRY,
        variants=("encoding = binary", "encoding = leaves", "strategy = core"),
        aliases=("rc2",),
    )
    options: ClassVar[Mapping[str, Option]] = {
        "encoding": ENCODING,
        "strategy": Option(
            str, "auto", "descend: from a tree down; core: from a bound up", ("auto", "descend", "core")
        ),
        "margin": MARGIN,
        "solver": SOLVER,
        "conflicts": CONFLICTS,
        "write": Option(str, "", "a file to write the weighted clauses to (.wcnf)"),
        "explain": EXPLAIN,
    }  # fmt: skip

    def remark(self, problem: Problem, options: Mapping[str, Any]) -> str:
        from treeml.backends.native.coupled.requirements import is_coupled  # imported here: start-up time

        said = super().remark(problem, options)
        return f"{said}; {NOT_FOR_COUPLED}" if is_coupled(problem) else said

    def run(self, search: SolveState, encoding: str, start: Node | None) -> Stop:
        # imported here: start-up time
        from treeml.backends.solvers.encodings.clauses.order_search import minimize

        model = prepare(search, start)
        if isinstance(model, Stop):
            return model
        options = search.limits.options
        if options.get("write"):
            write_wcnf(model, options["write"])

        def make(name: str, clauses: Iterable[list[int]]) -> Sat:
            return open_solver(search, name, clauses)

        solver = options.get("solver", "auto")
        return minimize(search, model, make, options.get("strategy", "auto"), "" if solver == "auto" else solver)
