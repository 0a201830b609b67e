"""Problem -> Answer by MaxSAT: directions and orders as clauses, errors as soft ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    Stop,
)
from treeml.backends.encodings.asked import Unsupported, read_problem


class MaxSat:
    name: ClassVar[str] = "maxsat"
    summary: ClassVar[str] = "MaxSAT on directions and orders; numeric columns as they are"
    can: ClassVar[Capabilities] = Capabilities(
        goals=frozenset("Predicted Leaves Depth TestCost Used Largest".split()),
        bounds=frozenset("Predicted Leaves Depth TestCost Used Support Purity LeafErrors Monotone Largest Ratio".split()),
        sums=True,
        merges_rows=True,
        merges_tests=True,
        numeric=True,
        starts=True,
        reports=True,
        explains=True,
        writes=(".wcnf", ".cnf"),
    )
    options: ClassVar[dict[str, Option]] = {
        "encoding": Option(str, "order", "how", ("order", "binary")),
        "strategy": Option(str, "auto", "how", ("auto", "descend", "core")),
        "solver": Option(str, "", "sat solver"),
    }

    @staticmethod
    def missing() -> str | None:
        return None

    @staticmethod
    def version() -> str:
        from importlib.metadata import version

        return "python-sat " + version("python-sat")

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
        from treeml.backends.encodings.choices import read_choices
        from treeml.backends.encodings.greedy import greedy_tree
        from treeml.backends.encodings.order import build_order
        from treeml.backends.encodings.order_search import encode_limits, minimize
        from treeml.backends.encodings.search import Search
        from treeml.backends.engines.sat import Sat

        asked = read_problem(problem)
        search = Search(problem, asked, limits, on_progress)
        search.offer(start)
        if asked.depth < 0:
            return search.answer(Stop.PROVED)
        options = limits.options
        choices = read_choices(problem, binary=options.get("encoding") == "binary")
        search.offer(greedy_tree(choices, asked))
        model = build_order(problem, asked, choices)
        encode_limits(model, limits.memory)
        search.statistics["build_seconds"] = monotonic() - search.began

        def make(name: str, clauses: Iterable[list[int]]) -> Sat:
            return Sat(name, clauses, limits.deadline, stop=lambda: search.stopped)

        stop = minimize(search, model, make, options.get("strategy", "auto"), options.get("solver", ""))
        return search.answer(stop)
