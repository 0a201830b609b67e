"""Problem -> Answer by MaxSAT: directions and orders as clauses, what is to be small as penalties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.backends.claims import Evidence
from treeml.backends.contract import Capabilities, Carries, Limits, Option, Stop
from treeml.backends.solvers.encodings.integer_task import (
    LARGEST_SHARE,
    LARGEST_SUM,
    IntegerTask,
    Unsupported,
    read_problem,
)
from treeml.backends.solvers.solver_backend import BOUNDS, EXPLAIN, GOALS, SolverBackend, Way
from treeml.problem.problem import Problem
from treeml.problem.tree import Node

if TYPE_CHECKING:
    from treeml.backends.solvers.encodings.clauses.order import OrderModel
    from treeml.backends.solvers.engines.sat import Sat
    from treeml.backends.solvers.solve_state import SolveState

SOLVERS = ("auto", "g3", "g4", "m22", "mgh", "cadical153", "cadical195")
ENCODING = Option(
    str, "order", "order: numeric and subset columns as they are; binary: every test by itself", ("order", "binary")
)
SOLVER = Option(str, "auto", "which solver of python-sat; auto is g4", SOLVERS)
MARGIN = Option(
    int, 1, "only tests that leave at least so many of all rows on either side; of other trees nothing is proved", low=1
)
CLAUSES_CARRY = Carries(LARGEST_SUM, LARGEST_SUM, LARGEST_SHARE)
CONFLICTS = Option(int, 0, "a limit in conflicts, to repeat a run; 0: none", low=0)


class ClauseBackend(SolverBackend):
    """What maxsat and sat share: clauses over directions, and the solvers of python-sat."""

    module, package, install = "pysat", "python-sat", "pip install python-sat"

    def way(self, problem: Problem, task: IntegerTask, options: Mapping[str, Any]) -> Way:
        from treeml.backends.solvers.encodings.encoding_choice import fitting_literals, takes_nodes

        takes_nodes(task)
        kind = options.get("encoding", "order")
        size = fitting_literals(problem, task, binary=kind == "binary")
        said = "columns as they are" if kind == "order" else "every test by itself, as asked for"
        return Way(kind, f"{said}, about {size:,} literals")

    def memory_is_kept(self, options: Mapping[str, Any]) -> str:
        return "clauses are counted before they are made, and what the process holds is looked at between two slices"

    def unsat_core(self, problem: Problem, limits: Limits) -> list[str] | None:
        """Names of bounds, not all of them, that a refutation used; None where it needs all, or time ran out.

        Every sum that a bound of one name keeps holds under an assumption of its own. What shapes the model (depth,
        conditions on leaves, monotony) cannot be assumed away, and is always among the names.
        """
        from treeml.backends.solvers.deadline import OutOfTime
        from treeml.backends.solvers.encodings.clauses.order import build_order
        from treeml.backends.solvers.encodings.clauses.order_search import EncodingTooLarge, decide, encode_limits
        from treeml.backends.solvers.encodings.node_questions import read_questions
        from treeml.backends.solvers.engines.sat import Stopped
        from treeml.backends.solvers.solve_state import SolveState

        try:
            task = read_problem(problem.asking((), problem.bounds))
            search = SolveState(problem.asking((), problem.bounds), task, limits, None)
            questions = read_questions(problem, binary=limits.options.get("encoding") == "binary")
            model = build_order(problem, task, questions, limits.deadline)
            sums = {item.name for item in task.requirements if item.name}
            shapes = {bound.name for bound in problem.bounds} - sums
            shapes |= {rule.name for rule in task.leaf_rules} | {name for _, name in task.monotone}
            chosen = {name: model.clauses.new() for name in sorted(sums - shapes)}
            if not chosen:
                return None
            encode_limits(model, limits.memory, chosen)
            if model.clauses.contradiction:
                return sorted(shapes)
            sat = open_solver(search, "g4", model.clauses.clauses)
            try:
                if decide(search, model, sat, list(chosen.values())):
                    return None
                used = set(sat.core())
            finally:
                sat.close()
        except (Unsupported, EncodingTooLarge, OutOfTime, Stopped):
            return None
        names = dict.fromkeys(bound.name for bound in problem.bounds)
        return [name for name in names if name in shapes or chosen.get(name) in used]


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

    def run(self, search: SolveState, kind: str, start: Node | None) -> Stop:
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


def prepare(search: SolveState, start: Node | None) -> OrderModel | Stop:
    """The clauses of the problem, sums included; or a Stop: no tree is so shallow, or there is no room."""
    from treeml.backends.solvers.deadline import in_time
    from treeml.backends.solvers.encodings.clauses.order import build_order, estimate_clauses
    from treeml.backends.solvers.encodings.clauses.order_search import BYTES_PER_CLAUSE, EncodingTooLarge, encode_limits
    from treeml.backends.solvers.encodings.node_questions import read_questions
    from treeml.backends.solvers.encodings.starts.greedy_start import first_trees

    problem, task, limits = search.problem, search.task, search.limits
    margin = limits.options.get("margin", 1)
    if margin > 1:
        keep_margin(search, margin)
    search.offer(start)
    if task.depth < 0:
        return search.no_tree(Evidence("counting", "no tree is so shallow"))
    in_time(limits.deadline)
    questions = read_questions(problem, binary=limits.options.get("encoding") == "binary")
    search.begin_with(first_trees(questions, task, limits.deadline))
    if search.is_met and not limits.options.get("write"):
        return search.close(Evidence("bound meets tree", "", search.bound_by))
    if limits.memory is not None and estimate_clauses(task, questions) * BYTES_PER_CLAUSE > limits.memory:
        search.notes.append(f"about {estimate_clauses(task, questions):,} clauses do not fit in the memory allowed")
        return Stop.MEMORY
    model = build_order(problem, task, questions, limits.deadline, margin)
    try:
        encode_limits(model, limits.memory)
    except EncodingTooLarge as large:
        search.notes.append(f"{large} do not fit in the memory allowed")
        return Stop.MEMORY
    search.is_built(model.clauses.top, len(model.clauses.clauses))
    return model


def keep_margin(search: SolveState, margin: int) -> None:
    """Only trees count whose every test leaves so many of all rows on either side."""
    import numpy as np

    from treeml.problem.evaluate import answers
    from treeml.problem.tree import Leaf

    problem = search.problem
    everything, total = np.arange(problem.rows), int(problem.count.sum())

    def accepts(node: Node) -> bool:
        if isinstance(node, Leaf):
            return True
        held = int(problem.count[answers(problem, node.test, everything)].sum())
        return min(held, total - held) >= margin and accepts(node.yes) and accepts(node.no)

    search.accepts = accepts
    search.notes.append(f"only trees count whose every test leaves at least {margin:,} of all rows on either side")


def open_solver(search: SolveState, name: str, clauses: Iterable[list[int]], proof: bool = False) -> Sat:
    from treeml.backends.solvers.engines.sat import Sat
    from treeml.backends.solvers.solver_backend import orders_of

    orders = orders_of(search.limits, search.limits.options.get("conflicts"))
    return Sat(name, clauses, orders, stop=lambda: search.stopped, proof=proof)


def write_wcnf(model: OrderModel, path: str) -> None:
    """Hard clauses marked h, penalties as soft unit clauses (the format of the MaxSAT evaluations since 2022)."""
    from treeml.backends.solvers.encodings.clauses.pseudo_boolean import normalized
    from treeml.system.confinement import MARK
    from treeml.system.writing import replacing

    items, _ = normalized(model.goal, 0)
    with replacing(path) as out:
        out.write(f"c {MARK}\n".encode("ascii"))
        for clause in model.clauses.clauses:
            out.write(("h " + " ".join(map(str, clause)) + " 0\n").encode("ascii"))
        out.writelines(f"{weight} {-literal} 0\n".encode("ascii") for weight, literal in items)
