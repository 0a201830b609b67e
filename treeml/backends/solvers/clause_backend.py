"""Problem -> clauses in a SAT solver: what the back-ends `maxsat` and `sat` share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from treeml.backends.claims import Evidence
from treeml.backends.contract import Carries, Limits, Option, Stop
from treeml.backends.solvers.solver_backend import EncodingChoice, SolverBackend, run_limits_of
from treeml.backends.task.integer_task import LARGEST_SHARE, LARGEST_SUM, IntegerTask
from treeml.backends.task.read_problem import read_problem
from treeml.backends.task.unsupported import Unsupported
from treeml.problem.problem import Problem
from treeml.problem.tree import Node

if TYPE_CHECKING:
    from treeml.backends.solvers.encodings.clauses.order_model import OrderModel
    from treeml.backends.solvers.engines.sat import Sat
    from treeml.backends.solvers.solve_state import SolveState

CLAUSES_CARRY = Carries(LARGEST_SUM, LARGEST_SUM, LARGEST_SHARE)
CONFLICTS = Option(int, 0, "a limit in conflicts, to repeat a run; 0: none", low=0)


class ClauseBackend(SolverBackend):
    """The base of maxsat and sat: clauses over directions, and the solvers of python-sat."""

    module, package, install = "pysat", "python-sat", "pip install python-sat"

    def choose_encoding(self, problem: Problem, task: IntegerTask, options: Mapping[str, Any]) -> EncodingChoice:
        # imported here: start-up time
        from treeml.backends.solvers.encodings.encoding_choice import check_node_model, checked_literals

        check_node_model(task)
        encoding = options.get("encoding", "order")
        size = checked_literals(problem, task, binary=encoding == "binary")
        said = "every test by itself, as asked for" if encoding == "binary" else "columns as they are"
        said += ", with literals of leaves" if encoding == "leaves" else ""
        return EncodingChoice(encoding, f"{said}, about {size:,} literals")

    def memory_note(self, options: Mapping[str, Any]) -> str:
        return (
            "clauses are counted before they are written, and the memory of the process is checked between two slices"
        )

    def unsat_core(self, problem: Problem, limits: Limits) -> list[str] | None:
        """Names of the bounds that a refutation used; None if there is no refutation, or time ran out.

        All sums bounded under one name are enforced by one assumption literal. Bounds that shape the model itself
        (depth, conditions on leaves, monotonicity) cannot be made optional, so their names are always included.
        """
        # imported here: start-up time
        from treeml.backends.solvers.encodings.clauses.order import build_order
        from treeml.backends.solvers.encodings.clauses.order_search import EncodingTooLarge, decide, encode_limits
        from treeml.backends.solvers.engines.sat import Stopped
        from treeml.backends.solvers.solve_state import SolveState
        from treeml.backends.task.deadline import OutOfTime
        from treeml.backends.task.node_questions import read_questions

        try:
            task = read_problem(problem.asking((), problem.bounds))
            if task.weighted_depths:  # these clauses do not know weights of classes
                return None
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


def prepare(search: SolveState, start: Node | None) -> OrderModel | Stop:
    """The clauses of the problem, bounded sums included; or a Stop if no tree fits the depth or memory is too small."""
    # imported here: start-up time
    from treeml.backends.solvers.encodings.clauses.order import build_order, estimate_clauses
    from treeml.backends.solvers.encodings.clauses.order_search import BYTES_PER_CLAUSE, EncodingTooLarge, encode_limits
    from treeml.backends.task.deadline import in_time
    from treeml.backends.task.greedy_start import first_trees
    from treeml.backends.task.node_questions import read_questions

    problem, task, limits = search.problem, search.task, search.limits
    margin = limits.options.get("margin", 1)
    if margin > 1:
        keep_margin(search, margin)
    search.offer(start)
    if task.depth < 0:
        return search.no_tree(Evidence("counting", "the depth limit is negative"))
    in_time(limits.deadline)
    questions = read_questions(problem, binary=limits.options.get("encoding") == "binary")
    search.begin_with(first_trees(questions, task, limits.deadline))
    if search.is_met and not limits.options.get("write"):
        return search.close(Evidence("bound meets tree", "", search.bound_by))
    if limits.memory is not None and estimate_clauses(task, questions) * BYTES_PER_CLAUSE > limits.memory:
        search.notes.append(f"about {estimate_clauses(task, questions):,} clauses do not fit in the memory allowed")
        return Stop.MEMORY
    leaf_literals = limits.options.get("encoding") == "leaves"
    model = build_order(problem, task, questions, limits.deadline, margin, leaf_literals)
    try:
        encode_limits(model, limits.memory)
    except EncodingTooLarge as large:
        search.notes.append(f"{large} do not fit in the memory allowed")
        return Stop.MEMORY
    search.record_build(model.clauses.top, len(model.clauses.clauses))
    return model


def keep_margin(search: SolveState, margin: int) -> None:
    """Restricts the search to trees in which every test has at least `margin` of all rows on either side."""
    # imported here: start-up time
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
    search.notes.append(f"only trees with at least {margin:,} of all rows on either side of every test were considered")


def open_solver(search: SolveState, name: str, clauses: Iterable[list[int]], proof: bool = False) -> Sat:
    # imported here: start-up time
    from treeml.backends.solvers.engines.sat import Sat

    run_limits = run_limits_of(search.limits, search.limits.options.get("conflicts"))
    return Sat(name, clauses, run_limits, stop=lambda: search.stopped, proof=proof)
