"""Problem -> Answer by mixed-integer programming: HiGHS, SCIP or Gurobi."""

from __future__ import annotations

from collections.abc import Mapping
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
from treeml.backends.task.integer_task import (
    LARGEST_SHARE,
    LARGEST_SUM,
    Form,
    IntegerTask,
    LeafRule,
    form_range,
)
from treeml.backends.task.unsupported import Unsupported
from treeml.problem.magnitudes import added
from treeml.problem.problem import Problem
from treeml.problem.tree import Node

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from treeml.backends.solvers.engines.outcome import OnIncumbent, SolverOutcome
    from treeml.backends.solvers.engines.program import Program
    from treeml.backends.solvers.solve_state import SolveState

    Whole = NDArray[np.int64]


LARGEST_GOAL = 10**9  # the largest goal that solvers with floats prove to its last unit
# Solvers accept rows and integrality within a tolerance of 1e-7; up to this size that is less than one unit of a row.
LARGEST_ROW = 10**6
NODE_FORMULATIONS = ("flow", "binoct", "aggregated")  # over the nodes of a complete tree


class MipBackend(SolverBackend):
    name: ClassVar[str] = "mip"
    summary: ClassVar[str] = (
        "mixed-integer programming: HiGHS, SCIP or Gurobi on the cover hyperflow, on flows, or BinOCT"
    )
    word: ClassVar[str] = "formulation"
    module, package, install = "highspy", "highspy", "pip install 'highspy<1.15'"
    can: ClassVar[Capabilities] = Capabilities(
        goals=GOALS | {"Loss"},
        bounds=BOUNDS | {"Loss"},
        sums=True,
        starts=True,
        reports=True,
        explains=True,
        threads=True,
        writes=(".lp", ".mps"),
        keeps_memory=True,
        carries=Carries(LARGEST_SUM, LARGEST_GOAL, LARGEST_SHARE),
        variants=(
            "formulation = flow",
            "formulation = binoct",
            "formulation = aggregated",
            "presolve = false",
            "solver = scip",
        ),
        aliases=("scip", "highs", "gurobi", "cplex", "milp", "ilp", "flowoct", "bendersoct", "odtlearn"),
    )
    options: ClassVar[Mapping[str, Option]] = {
        "solver": Option(str, "highs", "which solver", ("highs", "scip", "gurobi")),
        "formulation": Option(
            str, "auto", "cover: states of rows; flow: flows of rows to leaves; binoct: as published, with the bits of "
            "thresholds; aggregated: like binoct, with a variable for every test",
            ("auto", "cover", "flow", "binoct", "aggregated"),
        ),
        "presolve": PRESOLVE,
        "nodes": Option(int, 0, "a limit in nodes of the search, to repeat a run; 0: none", low=0),
        "write": Option(str, "", "a file to write the model to (.lp or .mps)"),
        "explain": EXPLAIN,
    }  # fmt: skip

    def choose_encoding(self, problem: Problem, task: IntegerTask, options: Mapping[str, Any]) -> EncodingChoice:
        # imported here: start-up time
        from treeml.backends.solvers.encodings.cover.cover import check_cover, couples, is_whole
        from treeml.backends.solvers.encodings.encoding_choice import (
            check_node_model,
            cover_or_other,
            flow_columns,
            flow_encoding,
        )
        from treeml.backends.solvers.encodings.mip.aggregated import class_weights
        from treeml.backends.solvers.engines import gurobi
        from treeml.backends.task.node_questions import read_questions

        if options.get("solver") == "gurobi" and gurobi.missing() is not None:
            raise Unsupported("solver = gurobi", "it is not installed", gurobi.missing() or "")
        wanted = options.get("formulation", "auto")
        whole = is_whole(options)
        low, high = form_range(task.goal, problem, task)
        huge = max(abs(low), abs(high)) > LARGEST_GOAL
        if huge and (wanted in NODE_FORMULATIONS or couples(task) or not options.get("presolve", True)):
            raise Unsupported(
                "a goal of this size",
                "with floats a solver cannot prove the last unit of it",
                "use cpsat, which counts exactly",
            )
        _refuse_large_rows(problem, task)
        if wanted in NODE_FORMULATIONS:
            check_node_model(task)
            flow_encoding(problem, task)
            if wanted != "flow":
                class_weights(problem, task, read_questions(problem, binary=True))
            choice = EncodingChoice(wanted, f"asked for; about {flow_columns(problem, task):,} columns")
        else:
            encoding, because = cover_or_other(
                problem, task, wanted == "cover" or huge, lambda: flow_encoding(problem, task), whole
            )
            choice = EncodingChoice(encoding, because)
        if choice.encoding == "cover":
            check_cover(problem, task, whole)
        elif max((task.largest_share, *map(_weight, task.leaf_rules))) > LARGEST_ROW:
            raise _too_large("a condition on leaves")
        elif options.get("solver") == "gurobi":
            gurobi.check_licence(flow_columns(problem, task), 0)
        return choice

    def memory_note(self, options: Mapping[str, Any]) -> str:
        own = {"scip": "SCIP has a limit of its own", "gurobi": "Gurobi has a soft limit of its own"}
        solver = options.get("solver", "highs")
        return f"{own.get(solver, 'HiGHS has no limit of its own')}; {super().memory_note(options)}"

    def run(self, search: SolveState, encoding: str, start: Node | None) -> Stop:
        # imported here: start-up time
        from treeml.backends.solvers.encodings.cover.cover_search import solve_cover
        from treeml.backends.solvers.encodings.mip.aggregated import build_aggregated
        from treeml.backends.solvers.encodings.mip.binoct import build_binoct
        from treeml.backends.solvers.encodings.mip.flow import build_flow
        from treeml.backends.solvers.encodings.mip.mip_search import search_nodes
        from treeml.backends.solvers.engines import gurobi, highs, scip
        from treeml.backends.task.greedy_start import first_trees
        from treeml.backends.task.node_questions import read_questions

        problem, task, limits = search.problem, search.task, search.limits
        engine = {"highs": highs, "scip": scip, "gurobi": gurobi}[limits.options.get("solver", "highs")]
        run_limits = run_limits_of(limits, limits.options.get("nodes"))
        path = limits.options.get("write", "")

        def run(program: Program, begin: Whole | None, on_incumbent: OnIncumbent) -> SolverOutcome:
            outcome: SolverOutcome = engine.solve_program(program, run_limits, begin, on_incumbent)
            return outcome

        def write(program: Program) -> None:
            highs.write_file(program, path)

        if encoding == "cover":
            return solve_cover(search, start, run, write if path else None)
        search.offer(start)
        if task.depth < 0:
            return search.no_tree(Evidence("counting", "the depth limit is negative"))
        questions = read_questions(problem, binary=True)
        search.begin_with(first_trees(questions, task, limits.deadline))
        build = {"binoct": build_binoct, "aggregated": build_aggregated}.get(encoding, build_flow)
        return search_nodes(search, build(problem, task, questions, limits.deadline), run, write if path else None)


def _refuse_large_rows(problem: Problem, task: IntegerTask) -> None:
    """Raises Unsupported for sums that become rows of the model but are too large for floats."""
    for item in task.requirements:
        if _reach(item.form, problem, task) > LARGEST_ROW:
            raise _too_large(f"the requirement {item.name}" if item.name else "a requirement")
    for _, parts in task.goal.largest:
        if any(_reach(part, problem, task) > LARGEST_ROW for part in parts):
            raise _too_large("the largest of several sums")


def _reach(form: Form, problem: Problem, task: IntegerTask) -> int:
    return max(map(abs, form_range(form, problem, task)))


def _weight(rule: LeafRule) -> int:
    """The largest sum in a condition on leaves."""
    return 0 if rule.cost is None else added(rule.cost.max(axis=1))


def _too_large(feature: str) -> Unsupported:
    return Unsupported(
        feature,
        f"its sums reach beyond {LARGEST_ROW:,}, beyond which floats cannot separate one unit from the next",
        "use cpsat, which counts exactly",
    )
