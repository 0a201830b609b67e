"""Problem -> Answer by MaxSAT: directions and orders as clauses, what is to be small as penalties."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

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
from treeml.backends.frame import explained, importable, refuse, report_size, version_of

if TYPE_CHECKING:
    from treeml.backends.encodings.order import OrderModel
    from treeml.backends.encodings.search import Search
    from treeml.backends.engines.sat import Sat

BOUNDS = frozenset(
    [
        "Predicted",
        "Leaves",
        "Depth",
        "TestCost",
        "Used",
        "Support",
        "Purity",
        "LeafErrors",
        "Monotone",
        "Largest",
        "Ratio",
    ]
)
SOLVERS = ("auto", "g3", "g4", "m22", "mgh", "cadical153", "cadical195")
ENCODING = Option(
    str, "order", "order: numeric and subset columns as they are; binary: every test by itself", ("order", "binary")
)
SOLVER = Option(str, "auto", "which solver of python-sat; auto is g4", SOLVERS)
CONFLICTS = Option(int, 0, "a limit in conflicts, to repeat a run; 0: none", low=0)
EXPLAIN = Option(bool, True, "name conflicting requirements where there is no tree")


class MaxSat:
    name: ClassVar[str] = "maxsat"
    summary: ClassVar[str] = (
        "MaxSAT on directions and orders; numeric columns as they are, by the solvers of python-sat"
    )
    can: ClassVar[Capabilities] = Capabilities(
        goals=frozenset(["Predicted", "Leaves", "Depth", "TestCost", "Used", "Largest"]),
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
    )
    options: ClassVar[Mapping[str, Option]] = {
        "encoding": ENCODING,
        "strategy": Option(
            str, "auto", "descend: from a tree down; core: from a bound up", ("auto", "descend", "core")
        ),
        "solver": SOLVER,
        "conflicts": CONFLICTS,
        "write": Option(str, "", "a file to write the weighted clauses to (.wcnf)"),
        "explain": EXPLAIN,
    }  # fmt: skip

    @staticmethod
    def missing() -> str | None:
        return importable("pysat", "pip install python-sat")

    @staticmethod
    def version() -> str:
        return version_of("python-sat")

    def refusals(self, problem: Problem) -> Iterator[Refusal]:
        yield from clause_refusals(problem)

    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        from treeml.backends.encodings.order_search import minimize
        from treeml.backends.encodings.search import Search

        began = monotonic()
        try:
            search = Search(problem, read_problem(problem), limits, on_progress, began)
        except Unsupported as unsupported:
            raise refuse(self.name, unsupported) from unsupported
        try:
            model = prepare(search, start)
        except Unsupported as unsupported:
            raise refuse(self.name, unsupported) from unsupported
        except KeyboardInterrupt:
            return search.answer(Stop.INTERRUPTED)
        if model is None:
            return explained(self, problem, limits, search.answer(Stop.PROVED))
        if isinstance(model, Stop):
            return search.answer(model)
        options = limits.options
        if options.get("write"):
            write_wcnf(model, options["write"])

        def make(name: str, clauses: Iterable[list[int]]) -> Sat:
            return open_solver(search, name, clauses)

        solver = options.get("solver", "auto")
        stop = minimize(search, model, make, options.get("strategy", "auto"), "" if solver == "auto" else solver)
        return explained(self, problem, limits, search.answer(stop))


def clause_refusals(problem: Problem) -> Iterator[Refusal]:
    """Reasons why clauses cannot express the problem, or would be too many."""
    from treeml.backends.encodings.sizes import node_literals, takes_nodes

    try:
        asked = read_problem(problem)
        takes_nodes(asked)
        node_literals(problem, asked)
    except Unsupported as unsupported:
        yield unsupported.refusal


def prepare(search: Search, start: Node | None) -> OrderModel | Stop | None:
    """The clauses of the problem, sums included; None if no tree is so shallow, a Stop without room or time."""
    from treeml.backends.encodings.choices import read_choices
    from treeml.backends.encodings.greedy import greedy_tree
    from treeml.backends.encodings.order import build_order, estimate_clauses
    from treeml.backends.encodings.order_search import BYTES_PER_CLAUSE, TooLarge, encode_limits

    problem, asked, limits = search.problem, search.asked, search.limits
    search.offer(start)
    if asked.depth < 0:
        return None
    if limits.deadline.passed:
        return Stop.TIME
    choices = read_choices(problem, binary=limits.options.get("encoding") == "binary")
    search.offer(greedy_tree(choices, asked))
    if limits.memory is not None and estimate_clauses(asked, choices) * BYTES_PER_CLAUSE > limits.memory:
        search.notes.append(f"about {estimate_clauses(asked, choices):,} clauses do not fit in the memory allowed")
        return Stop.MEMORY
    model = build_order(problem, asked, choices)
    try:
        encode_limits(model, limits.memory)
    except TooLarge as large:
        search.notes.append(f"{large} do not fit in the memory allowed")
        return Stop.MEMORY
    search.statistics["build_seconds"] = monotonic() - search.began
    report_size(search, model.clauses.top, len(model.clauses.clauses))
    return model


def open_solver(search: Search, name: str, clauses: Iterable[list[int]], proof: bool = False) -> Sat:
    from treeml.backends.engines.sat import Sat

    limits = search.limits
    conflicts = limits.options.get("conflicts", 0) or None
    return Sat(name, clauses, limits.deadline, conflicts=conflicts, stop=lambda: search.stopped, proof=proof)


def write_wcnf(model: OrderModel, path: str) -> None:
    """Hard clauses marked h, penalties as soft unit clauses (the format of the MaxSAT evaluations since 2022)."""
    from treeml.backends.encodings.pb import normalized

    items, _ = normalized(model.goal, 0)
    with open(path, "w", encoding="ascii") as out:
        for clause in model.clauses.clauses:
            out.write("h " + " ".join(map(str, clause)) + " 0\n")
        for weight, literal in items:
            out.write(f"{weight} {-literal} 0\n")
