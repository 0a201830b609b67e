"""Problem -> Answer by CP-SAT of OR-tools."""

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
from treeml.backends.frame import explained, importable, refuse, report_size, version_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from treeml.backends.encodings.program import Program
    from treeml.backends.encodings.search import Search
    from treeml.backends.engines.outcome import OnIncumbent, Outcome

    Whole = NDArray[np.int64]


class CpSat:
    name: ClassVar[str] = "cpsat"
    summary: ClassVar[str] = "constraint programming: OR-tools CP-SAT on the cover hyperflow, on rows, or on orders"
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
        merges_tests=True,
        numeric=True,
        starts=True,
        reports=True,
        explains=True,
        threads=True,
        writes=(".pb", ".txt"),
        keeps_memory=True,
    )
    options: ClassVar[Mapping[str, Option]] = {
        "encoding": Option(
            str, "auto", "cover: states of rows; rows: literals per row and leaf; order: directions on raw columns",
            ("auto", "cover", "rows", "order"),
        ),
        "deterministic": Option(float, 0.0, "a limit in CP-SAT's own measure of work, to repeat a run; 0: none", low=0),
        "write": Option(str, "", "a file to write the model to, as text (.txt) or as a protocol buffer (.pb)"),
        "explain": Option(bool, True, "name conflicting requirements where there is no tree"),
    }  # fmt: skip

    @staticmethod
    def missing() -> str | None:
        return importable("ortools", "pip install ortools")

    @staticmethod
    def version() -> str:
        return version_of("ortools")

    def refusals(self, problem: Problem, options: Mapping[str, Any] = MappingProxyType({})) -> Iterator[Refusal]:
        try:
            encoding_for(problem, read_problem(problem), options.get("encoding", "auto"))
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
            encoding = encoding_for(problem, asked, limits.options.get("encoding", "auto"))
        except Unsupported as unsupported:
            raise refuse(self.name, unsupported) from unsupported
        search = Search(problem, asked, limits, on_progress, began)
        try:
            search.notes.append(f"encoding {encoding}")
            answer = self._solve(search, encoding, start)
        except Unsupported as unsupported:
            raise refuse(self.name, unsupported) from unsupported
        except KeyboardInterrupt:
            answer = search.answer(Stop.INTERRUPTED)
        return explained(self, problem, limits, answer)

    def _solve(self, search: Search, encoding: str, start: Node | None) -> Answer:
        from treeml.backends.encodings.choices import read_choices
        from treeml.backends.encodings.cover_search import solve_cover
        from treeml.backends.encodings.cp_search import search_order, search_rows
        from treeml.backends.encodings.greedy import greedy_tree
        from treeml.backends.encodings.order import build_order
        from treeml.backends.encodings.rows import build_rows
        from treeml.backends.engines import cpsat

        problem, asked, limits = search.problem, search.asked, search.limits
        deadline = limits.deadline
        work = limits.options.get("deterministic", 0.0) or None
        path = limits.options.get("write", "")
        if encoding == "cover":

            def solver(program: Program, begin: Whole | None, on_incumbent: OnIncumbent) -> Outcome:
                return cpsat.solve_program(
                    program, deadline, threads=limits.threads, seed=limits.seed, start=begin,
                    on_incumbent=on_incumbent, deterministic=work,
                )  # fmt: skip

            def write(program: Program) -> None:
                cpsat.write_file(cpsat.write_model(program)[0], path)

            return solve_cover(search, start, solver, write if path else None)
        search.offer(start)
        if asked.depth < 0:
            return search.answer(Stop.PROVED)
        choices = read_choices(problem, binary=encoding == "rows")
        search.offer(greedy_tree(choices, asked))

        def run(model: Any, variables: list[Any], told: Callable[..., bool], has_goal: bool) -> Outcome:
            if path:
                cpsat.write_file(model, path)
            return cpsat.run_model(
                model, variables, deadline, threads=limits.threads, seed=limits.seed, on_incumbent=told,
                deterministic=work, linearization=0 if encoding == "rows" else 1,
                fixed_search=encoding == "rows" and limits.threads == 1,
            )  # fmt: skip

        if encoding == "rows":
            model = build_rows(problem, asked, choices)
            search.statistics["build_seconds"] = monotonic() - search.began
            return search.answer(search_rows(search, model, run))
        order = build_order(problem, asked, choices)
        search.statistics["build_seconds"] = monotonic() - search.began
        report_size(search, order.clauses.top, len(order.clauses.clauses))
        return search.answer(search_order(search, order, run))


def encoding_for(problem: Problem, asked: Asked, wanted: str) -> str:
    """The encoding that takes the problem and is smallest; one that was asked for, if it can."""
    from treeml.backends.encodings.sizes import MOST_CELLS, cover_cells, node_literals, takes_nodes

    if wanted != "auto":
        if wanted in ("rows", "order"):
            takes_nodes(asked)
        return wanted
    cells = cover_cells(problem, asked)
    if cells <= MOST_CELLS:
        return "cover"
    try:
        takes_nodes(asked)
    except Unsupported as unsupported:
        raise Unsupported(
            "a problem of this size",
            f"the cover encoding would hold about {cells:.0e} numbers, and the others cannot: {unsupported}",
            "bound depth lower, or binarize columns more coarsely",
        ) from unsupported
    return node_literals(problem, asked)
