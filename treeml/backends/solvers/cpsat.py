"""Problem -> Answer by CP-SAT of OR-tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.backends.claims import Evidence
from treeml.backends.contract import Capabilities, Carries, Option, Stop
from treeml.backends.solvers.solver_backend import (
    BOUNDS,
    EXPLAIN,
    GOALS,
    PRESOLVE,
    EncodingChoice,
    SolverBackend,
    run_limits_of,
)
from treeml.backends.task.integer_task import LARGEST_SHARE, LARGEST_SUM, IntegerTask
from treeml.problem.problem import Problem
from treeml.problem.tree import Node

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from treeml.backends.solvers.engines.outcome import OnIncumbent, SolverOutcome
    from treeml.backends.solvers.engines.program import Program
    from treeml.backends.solvers.solve_state import SolveState

    Whole = NDArray[np.int64]


class CpSatBackend(SolverBackend):
    name: ClassVar[str] = "cpsat"
    summary: ClassVar[str] = "constraint programming: OR-tools CP-SAT on the cover hyperflow, on rows, or on orders"
    module, package, install = "ortools", "ortools", "pip install ortools"
    can: ClassVar[Capabilities] = Capabilities(
        goals=GOALS | {"Loss"},
        bounds=BOUNDS | {"Loss"},
        sums=True,
        merges_tests=True,
        numeric=True,
        starts=True,
        reports=True,
        explains=True,
        threads=True,
        writes=(".pb", ".txt"),
        keeps_memory=True,
        carries=Carries(LARGEST_SUM, LARGEST_SUM, LARGEST_SHARE),
        variants=("encoding = rows", "encoding = order", "presolve = false", "threads = 2"),
        aliases=("cp_sat", "cp-sat", "ortools", "or_tools", "cp"),
    )
    options: ClassVar[Mapping[str, Option]] = {
        "encoding": Option(
            str, "auto", "cover: states of rows; rows: literals per row and leaf; order: directions on raw columns",
            ("auto", "cover", "rows", "order"),
        ),
        "presolve": PRESOLVE,
        "deterministic": Option(float, 0.0, "a limit in CP-SAT's own measure of work, to repeat a run; 0: none", low=0),
        "write": Option(str, "", "a file to write the model to, as text (.txt) or as a protocol buffer (.pb)"),
        "explain": EXPLAIN,
    }  # fmt: skip

    def choose_encoding(self, problem: Problem, task: IntegerTask, options: Mapping[str, Any]) -> EncodingChoice:
        # imported here: start-up time
        from treeml.backends.solvers.encodings.cover.cover import check_cover, is_whole
        from treeml.backends.solvers.encodings.encoding_choice import (
            check_node_model,
            check_purity_size,
            checked_literals,
            cover_or_other,
            node_encoding,
        )

        wanted = options.get("encoding", "auto")
        if wanted in ("rows", "order"):
            check_node_model(task)
            check_purity_size(task)
            size = checked_literals(problem, task, binary=wanted == "rows")
            return EncodingChoice(wanted, f"asked for; about {size:,} literals")
        whole = is_whole(options)
        encoding, because = cover_or_other(
            problem, task, wanted == "cover", lambda: node_encoding(problem, task), whole
        )
        if encoding == "cover":
            check_cover(problem, task, whole)
        return EncodingChoice(encoding, because)

    def memory_note(self, options: Mapping[str, Any]) -> str:
        return f"CP-SAT has a limit of its own, which is approximate; and {super().memory_note(options)}"

    def run(self, search: SolveState, encoding: str, start: Node | None) -> Stop:
        # imported here: start-up time
        from treeml.backends.solvers.encodings.clauses.order import build_order
        from treeml.backends.solvers.encodings.cover.cover_search import solve_cover
        from treeml.backends.solvers.encodings.cpsat.constraints import build_rows
        from treeml.backends.solvers.encodings.cpsat.cpsat_search import search_order, search_rows
        from treeml.backends.solvers.engines import cpsat
        from treeml.backends.task.greedy_start import first_trees
        from treeml.backends.task.node_questions import read_questions

        problem, task, limits = search.problem, search.task, search.limits
        run_limits = run_limits_of(limits, limits.options.get("deterministic"))
        path = limits.options.get("write", "")
        if encoding == "cover":

            def solver(program: Program, begin: Whole | None, on_incumbent: OnIncumbent) -> SolverOutcome:
                return cpsat.solve_program(program, run_limits, begin, on_incumbent)

            def write(program: Program) -> None:
                cpsat.write_file(cpsat.write_model(program)[0], path)

            return solve_cover(search, start, solver, write if path else None)
        search.offer(start)
        if task.depth < 0:
            return search.no_tree(Evidence("counting", "the depth limit is negative"))
        questions = read_questions(problem, binary=encoding == "rows")
        search.begin_with(first_trees(questions, task, limits.deadline))

        def run(model: Any, variables: list[Any], told: Callable[..., bool]) -> SolverOutcome:
            if path:
                cpsat.write_file(model, path)
            return cpsat.run_model(
                model, variables, run_limits, on_incumbent=told, linearization=0 if encoding == "rows" else 1,
                fixed_search=encoding == "rows" and limits.threads == 1,
            )  # fmt: skip

        if encoding == "rows":
            model = build_rows(problem, task, questions, limits.deadline)
            search.record_build()
            return search_rows(search, model, run)
        order = build_order(problem, task, questions, limits.deadline)
        search.record_build(order.clauses.top, len(order.clauses.clauses))
        return search_order(search, order, run)
