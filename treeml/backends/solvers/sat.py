"""Problem -> Answer by SAT: is there a tree that meets every requirement? If there is none, with a proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.backends.claims import Evidence
from treeml.backends.contract import NO_OPTIONS, Capabilities, Option, Refusal, Stop
from treeml.backends.solvers.clause_backend import CLAUSES_CARRY, CONFLICTS, ClauseBackend, open_solver, prepare
from treeml.backends.solvers.clause_files import write_cnf
from treeml.backends.solvers.drat_proof import write_proof
from treeml.backends.solvers.solver_backend import BOUNDS, EXPLAIN, EncodingChoice
from treeml.backends.task.integer_task import IntegerTask
from treeml.backends.task.unsupported import Unsupported
from treeml.problem.problem import Problem
from treeml.problem.tree import Node

if TYPE_CHECKING:
    from treeml.backends.solvers.encodings.clauses.order_model import OrderModel
    from treeml.backends.solvers.encodings.perfect.perfect_search import PerfectTreeModel
    from treeml.backends.solvers.encodings.perfect.question import PerfectTreeTask
    from treeml.backends.solvers.solve_state import SolveState

ENCODINGS = ("auto", "order", "leaves", "binary", "complete", "partition")
ANY_TREE = Evidence("no goal")
FEW_ROWS = 200  # up to this many, all rows are encoded at once
SWITCH = 9  # depth; `python -m benchmarks.least --calibrate` measures where the two encodings break even


class SatBackend(ClauseBackend):
    name: ClassVar[str] = "sat"
    summary: ClassVar[str] = (
        "SAT for yes-or-no questions (a perfect tree, the least depth), with proofs that are checked"
    )
    can: ClassVar[Capabilities] = Capabilities(
        goals=frozenset(),
        bounds=BOUNDS | {"WeightedDepth"},
        sums=True,
        merges_rows=True,
        merges_tests=True,
        numeric=True,
        starts=True,
        reports=True,
        explains=True,
        writes=(".cnf",),
        keeps_memory=True,
        carries=CLAUSES_CARRY,
        many_tests=True,
        aliases=("pysat",),
    )
    options: ClassVar[Mapping[str, Option]] = {
        "encoding": Option(
            str,
            "auto",
            "order: columns as they are; leaves: with literals of leaves; binary: every test by itself; "
            "complete, partition: perfect trees",
            ENCODINGS,
        ),
        "switch": Option(int, SWITCH, "the depth from which auto uses partition for a perfect tree", low=0),
        "rows": Option(
            str,
            "auto",
            "for a perfect tree: grow: few rows first, then more; all: all at once; auto: by encoding and number",
            ("auto", "grow", "all"),
        ),
        "solver": Option(str, "g4", "which solver of python-sat", ("g3", "g4", "cadical153", "cadical195")),
        "conflicts": CONFLICTS,
        "proof": Option(
            str, "", "a file for the DRUP proof that there is no tree; its clauses go beside it (.cnf)", writes=True
        ),
        "write": Option(str, "", "a file to write the clauses to (.cnf)"),
        "explain": EXPLAIN,
    }  # fmt: skip

    def refusals(self, problem: Problem, options: Mapping[str, Any] = NO_OPTIONS) -> Iterator[Refusal]:
        if problem.goals:
            yield Refusal("a goal", "sat answers yes or no", "use maxsat, or `satisfy` with a bound on the goal")
        yield from super().refusals(problem, options)

    def choose_encoding(self, problem: Problem, task: IntegerTask, options: Mapping[str, Any]) -> EncodingChoice:
        # imported here: start-up time
        from treeml.backends.solvers.encodings.perfect.perfect_search import MOST_LITERALS, choose, estimate

        encoding = options.get("encoding", "auto")
        perfect = _perfect(problem, task, binary=encoding in ("binary", "complete"))
        if task.weighted_depths and (isinstance(perfect, str) or encoding not in ("auto", "partition")):
            because = "classes with weights need a perfect tree and `encoding = partition`"
            raise Unsupported("depth with weights of classes", because)
        if isinstance(perfect, str):
            if encoding in ("complete", "partition"):
                because = f"it is for perfect trees only, and here {perfect}"
                raise Unsupported(f"the encoding {encoding}", because, "use `encoding = order`")
            fallback = "order" if encoding == "auto" else encoding
            return super().choose_encoding(problem, task, {**options, "encoding": fallback})
        chosen, because = choose(perfect, encoding, options.get("switch", SWITCH))
        least = estimate(perfect, chosen, len(_first(perfect, chosen, options, 0)))
        if least > MOST_LITERALS:
            raise Unsupported(
                "a problem of this size",
                f"a model of {len(perfect.bound_groups):,} rows would have about {least:.0e} literals",
                "bound depth lower, or use fewer rows",
            )
        return EncodingChoice(chosen, because)

    def run(self, search: SolveState, encoding: str, start: Node | None) -> Stop:
        perfect = _perfect(search.problem, search.task, binary=encoding in ("binary", "complete"))
        if not isinstance(perfect, str):
            search.offer(start)
            if search.tree is not None:
                return search.close(ANY_TREE)
            return _find_perfect(search, perfect, encoding, start)
        model = prepare(search, start)
        if isinstance(model, Stop):
            return model
        if search.limits.options.get("write"):
            write_cnf(model.clauses, search.limits.options["write"])
        return search.close(ANY_TREE) if search.tree is not None else _decide(search, model)


def _perfect(problem: Problem, task: IntegerTask, binary: bool) -> PerfectTreeTask | str:
    """The question for a perfect tree, or the reason why this problem is a different one."""
    # imported here: start-up time
    from treeml.backends.solvers.encodings.perfect.question import read_perfect
    from treeml.backends.task.node_questions import read_questions

    if task.depth < 0:
        return "the depth limit is negative"
    return read_perfect(problem, task, read_questions(problem, binary=binary))


def _first(perfect: PerfectTreeTask, encoding: str, options: Mapping[str, Any], seed: int) -> list[int]:
    """The groups of rows to start with: all for the order encodings, which profit from more rows, else only a few."""
    # imported here: start-up time
    from treeml.backends.solvers.encodings.perfect.perfect_search import first_rows

    rows = options.get("rows", "auto")
    few = encoding in ("order", "leaves", "binary") or len(perfect.bound_groups) <= FEW_ROWS
    return first_rows(perfect, rows == "all" or (rows == "auto" and few), seed)


def _find_perfect(search: SolveState, perfect: PerfectTreeTask, encoding: str, start: Node | None) -> Stop:
    # imported here: start-up time
    from treeml.backends.solvers.encodings.clauses.order_search import EncodingTooLarge
    from treeml.backends.solvers.encodings.perfect.perfect_search import (
        BYTES_PER_LITERAL,
        MOST_LITERALS,
        answer,
        build,
    )
    from treeml.backends.solvers.engines.sat import Stopped
    from treeml.backends.task.deadline import in_time

    limits, options = search.limits, search.limits.options
    used = 0

    def room(rows: int, literals: int) -> None:
        nonlocal used
        used = rows
        in_time(limits.deadline)
        if literals > MOST_LITERALS or (limits.memory is not None and literals * BYTES_PER_LITERAL > limits.memory):
            raise EncodingTooLarge(f"about {literals:,} literals")

    def ask(model: PerfectTreeModel) -> Node | None:
        return _ask(search, model, start)

    try:
        if options.get("write"):
            everything = perfect.bound_groups.tolist()
            write_cnf(build(perfect, encoding, everything, limits.deadline).clauses, options["write"])
        first = _first(perfect, encoding, options, limits.seed)
        tree = answer(perfect, encoding, first, limits, ask, room)
    except Stopped as stopped:
        return stopped.stop
    except EncodingTooLarge as large:
        search.notes.append(f"{large} do not fit in the memory allowed")
        return Stop.MEMORY
    if used < len(perfect.bound_groups):
        search.notes.append(f"{used:,} of {len(perfect.bound_groups):,} rows decided it")
    if tree is None:
        refuted = Evidence("refutation", encoding)
        some = used < len(perfect.bound_groups)
        return search.no_tree(Evidence("fewer rows", f"{used:,}", (refuted,)) if some else refuted)
    if not search.offer(tree):
        raise AssertionError("a tree of the clauses does not meet the requirements")
    return search.close(ANY_TREE)


def _ask(search: SolveState, model: PerfectTreeModel, start: Node | None) -> Node | None:
    """The tree of a model of the clauses, or None if they have none."""
    # imported here: start-up time
    import numpy as np

    from treeml.backends.solvers.encodings.perfect.partition import PartitionModel

    proof = search.limits.options.get("proof", "")
    search.record_build(model.clauses.top, len(model.clauses.clauses))
    if model.clauses.contradiction:
        if proof:
            write_proof(search, model.clauses, proof, ["0"])
        return None
    sat = open_solver(search, search.limits.options.get("solver", "g4"), model.clauses.clauses, proof=bool(proof))
    try:
        if start is not None and isinstance(model, PartitionModel):
            sat.phases(model.hints(start))
        if not sat.solve():
            if proof:
                write_proof(search, model.clauses, proof, sat.proof())
            return None
        true = np.zeros(model.clauses.top + 1, bool)
        true[[literal for literal in sat.model() if 0 < literal <= model.clauses.top]] = True
        return model.decode(true)
    finally:
        search.add_statistics(sat.statistics())
        sat.close()


def _decide(search: SolveState, model: OrderModel) -> Stop:
    # imported here: start-up time
    from treeml.backends.solvers.encodings.clauses.order_search import decide
    from treeml.backends.solvers.engines.sat import Stopped

    proof = search.limits.options.get("proof", "")
    if model.clauses.contradiction:
        if proof:
            write_proof(search, model.clauses, proof, ["0"])
        return search.no_tree(Evidence("refutation", "while the clauses were written"))
    name = search.limits.options.get("solver", "g4")
    sat = open_solver(search, name, model.clauses.clauses, proof=bool(proof))
    try:
        if decide(search, model, sat):
            return search.close(ANY_TREE)
        if proof:
            write_proof(search, model.clauses, proof, sat.proof())
        return search.no_tree(Evidence("refutation", "no model"))
    except Stopped as stopped:
        return stopped.stop
    finally:
        search.statistics |= sat.statistics()
        sat.close()
