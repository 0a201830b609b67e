"""Problem -> Answer by mixed-integer programming: HiGHS, SCIP or Gurobi."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.backends.contract import (
    NO_LIMITS,
    Answer,
    Capabilities,
    Limits,
    Node,
    OnProgress,
    Option,
    Problem,
    Refusal,
    Stop,
)
from treeml.backends.encodings.asked import Asked, Unsupported, read_problem
from treeml.backends.frame import explained, importable, refuse, version_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from treeml.backends.encodings.program import Program
    from treeml.backends.encodings.search import Search
    from treeml.backends.engines.outcome import OnIncumbent, Outcome

    Whole = NDArray[np.int64]


LARGEST_GOAL = 10**9  # up to here floats prove a goal to its last unit


class Mip:
    name: ClassVar[str] = "mip"
    summary: ClassVar[str] = (
        "mixed-integer programming: HiGHS, SCIP or Gurobi on the cover hyperflow, on flows, or BinOCT"
    )
    can: ClassVar[Capabilities] = Capabilities(
        goals=frozenset(["Predicted", "Leaves", "Depth", "TestCost", "Used", "Loss", "Largest"]),
        bounds=frozenset(
            [
                "Predicted",
                "Leaves",
                "Depth",
                "TestCost",
                "Used",
                "Loss",
                "Support",
                "Purity",
                "LeafErrors",
                "Monotone",
                "Largest",
                "Ratio",
            ]
        ),
        sums=True,
        starts=True,
        reports=True,
        explains=True,
        threads=True,
        writes=(".lp", ".mps"),
        keeps_memory=True,
    )
    options: ClassVar[Mapping[str, Option]] = {
        "solver": Option(str, "highs", "which solver", ("highs", "scip", "gurobi")),
        "formulation": Option(
            str, "auto", "cover: states of rows; flow: flows of rows to leaves; binoct: as published, to compare with",
            ("auto", "cover", "flow", "binoct"),
        ),
        "nodes": Option(int, 0, "a limit in nodes of the search, to repeat a run; 0: none", low=0),
        "write": Option(str, "", "a file to write the model to (.lp or .mps)"),
        "explain": Option(bool, True, "name conflicting requirements where there is no tree"),
    }  # fmt: skip

    @staticmethod
    def missing() -> str | None:
        return importable("highspy", "pip install 'highspy<1.15'")

    @staticmethod
    def version() -> str:
        return version_of("highspy")

    def refusals(self, problem: Problem, options: Mapping[str, Any] = MappingProxyType({})) -> Iterator[Refusal]:
        try:
            formulation_for(problem, read_problem(problem), options.get("formulation", "auto"))
        except Unsupported as unsupported:
            yield unsupported.refusal

    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        from treeml.backends.encodings.search import Search

        began = monotonic()
        try:
            asked = read_problem(problem)
            formulation = formulation_for(problem, asked, limits.options.get("formulation", "auto"))
        except Unsupported as unsupported:
            raise refuse(self.name, unsupported) from unsupported
        search = Search(problem, asked, limits, on_progress, began)
        try:
            search.notes.append(f"formulation {formulation}")
            answer = self._solve(search, formulation, start)
        except Unsupported as unsupported:
            raise refuse(self.name, unsupported) from unsupported
        except KeyboardInterrupt:
            answer = search.answer(Stop.INTERRUPTED)
        return explained(self, problem, limits, answer)

    def _solve(self, search: Search, formulation: str, start: Node | None) -> Answer:
        from treeml.backends.encodings.binoct import build_binoct
        from treeml.backends.encodings.choices import read_choices
        from treeml.backends.encodings.cover_search import solve_cover
        from treeml.backends.encodings.flow import build_flow
        from treeml.backends.encodings.greedy import greedy_tree
        from treeml.backends.encodings.node_search import search_nodes

        problem, asked = search.problem, search.asked
        run, write = self._engine(search.limits)
        if formulation == "cover":
            return solve_cover(search, start, run, write)
        search.offer(start)
        if asked.depth < 0:
            return search.answer(Stop.PROVED)
        choices = read_choices(problem, binary=True)
        search.offer(greedy_tree(choices, asked))
        model = (build_binoct if formulation == "binoct" else build_flow)(problem, asked, choices)
        return search.answer(search_nodes(search, model, run, write))

    def _engine(
        self, limits: Limits
    ) -> tuple[Callable[[Program, Whole | None, OnIncumbent], Outcome], Callable[[Program], None] | None]:
        from treeml.backends.engines import gurobi, highs, scip

        engine = {"highs": highs, "scip": scip, "gurobi": gurobi}[limits.options.get("solver", "highs")]
        path = limits.options.get("write", "")
        nodes = limits.options.get("nodes", 0) or None

        def run(program: Program, begin: Whole | None, on_incumbent: OnIncumbent) -> Outcome:
            outcome: Outcome = engine.solve_program(
                program, limits.deadline, threads=limits.threads, seed=limits.seed, start=begin,
                on_incumbent=on_incumbent, deterministic=nodes,
            )  # fmt: skip
            return outcome

        def write(program: Program) -> None:
            highs.write_file(program, path)

        return run, write if path else None


def formulation_for(problem: Problem, asked: Asked, wanted: str) -> str:
    """The cover hyperflow while its tables fit; else flows."""
    from treeml.backends.encodings.cover import couples
    from treeml.backends.encodings.cover_rows import form_range
    from treeml.backends.encodings.sizes import MOST_CELLS, cover_cells, node_literals, takes_nodes

    low, high = form_range(asked.goal, problem, asked)
    huge = max(abs(low), abs(high)) > LARGEST_GOAL
    if huge and (wanted in ("flow", "binoct") or couples(asked)):
        raise Unsupported(
            "a goal of this size",
            "with floats a solver cannot prove the last unit of it",
            "use cpsat, which counts exactly",
        )
    if wanted != "auto":
        if wanted != "cover":
            takes_nodes(asked)
        return wanted
    cells = cover_cells(problem, asked)
    if cells <= MOST_CELLS or huge:
        return "cover"
    try:
        takes_nodes(asked)
        node_literals(problem, asked)
    except Unsupported as unsupported:
        raise Unsupported(
            "a problem of this size",
            f"the cover formulation would hold about {cells:.0e} numbers, and flows cannot: {unsupported}",
            "bound depth lower, or binarize columns more coarsely",
        ) from unsupported
    return "flow"
