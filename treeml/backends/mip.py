"""Problem -> Answer by mixed-integer programming: HiGHS, SCIP or Gurobi."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import ClassVar

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
)
from treeml.backends.encodings.asked import Unsupported, read_problem


class Mip:
    name: ClassVar[str] = "mip"
    summary: ClassVar[str] = "mixed-integer programming"
    can: ClassVar[Capabilities] = Capabilities(
        goals=frozenset("Predicted Leaves Depth TestCost Used Loss Largest".split()),
        bounds=frozenset("Predicted Leaves Depth TestCost Used Loss Support Purity LeafErrors Monotone Largest Ratio".split()),
        sums=True,
        starts=True,
        reports=True,
        explains=True,
        threads=True,
        writes=(".lp", ".mps"),
    )
    options: ClassVar[dict[str, Option]] = {
        "solver": Option(str, "highs", "which solver", ("highs", "scip", "gurobi")),
    }

    @staticmethod
    def missing() -> str | None:
        return None

    @staticmethod
    def version() -> str:
        from importlib.metadata import version

        return "HiGHS " + version("highspy")

    def refusals(self, problem: Problem) -> Iterator[Refusal]:
        try:
            read_problem(problem)
        except Unsupported as unsupported:
            yield unsupported.refusal

    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        from treeml.backends.encodings.cover_search import solve_cover
        from treeml.backends.encodings.search import Search
        from treeml.backends.engines import highs

        began = monotonic()
        asked = read_problem(problem)
        search = Search(problem, asked, limits, on_progress, began)

        def solver(program, start, on_incumbent):
            return highs.solve_program(program, limits.deadline, threads=limits.threads, seed=limits.seed, start=start, on_incumbent=on_incumbent)

        return solve_cover(search, start, solver, None)
