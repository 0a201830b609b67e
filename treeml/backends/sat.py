"""Problem -> Answer by SAT alone: is there a tree that meets every requirement? With a proof where there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.backends.contract import Capabilities, Node, Option, Problem, Refusal, Stop
from treeml.backends.frame import BOUNDS, EXPLAIN, NO_OPTIONS
from treeml.backends.maxsat import CONFLICTS, ENCODING, ClauseBackend, open_solver, prepare

if TYPE_CHECKING:
    from treeml.backends.encodings.order import OrderModel
    from treeml.backends.encodings.search import Search


class PlainSat(ClauseBackend):
    name: ClassVar[str] = "sat"
    summary: ClassVar[str] = (
        "SAT for yes-or-no questions (a perfect tree, the least depth), with proofs that are checked"
    )
    can: ClassVar[Capabilities] = Capabilities(
        goals=frozenset(),
        bounds=BOUNDS,
        sums=True,
        merges_rows=True,
        merges_tests=True,
        numeric=True,
        starts=True,
        reports=True,
        explains=True,
        writes=(".cnf",),
        keeps_memory=True,
    )
    options: ClassVar[Mapping[str, Option]] = {
        "encoding": ENCODING,
        "solver": Option(str, "g4", "which solver of python-sat", ("g3", "g4", "cadical153", "cadical195")),
        "conflicts": CONFLICTS,
        "proof": Option(str, "", "a file for the DRUP proof that there is no tree; its clauses go beside it (.cnf)"),
        "write": Option(str, "", "a file to write the clauses to (.cnf)"),
        "explain": EXPLAIN,
    }  # fmt: skip

    def refusals(self, problem: Problem, options: Mapping[str, Any] = NO_OPTIONS) -> Iterator[Refusal]:
        if problem.goals:
            yield Refusal("a goal", "sat answers yes or no", "use maxsat, or `satisfy` with a bound on the goal")
        yield from super().refusals(problem, options)

    def run(self, search: Search, kind: str, start: Node | None) -> Stop:
        model = prepare(search, start)
        if isinstance(model, Stop):
            return model
        if search.limits.options.get("write"):
            write_cnf(model.clauses.clauses, model.clauses.top, search.limits.options["write"])
        return Stop.PROVED if search.tree is not None else _decide(search, model)


def _decide(search: Search, model: OrderModel) -> Stop:
    from treeml.backends.encodings.order_search import decide
    from treeml.backends.engines.sat import Stopped

    proof = search.limits.options.get("proof", "")
    if model.clauses.contradiction:
        if proof:
            _keep_proof(search, model, proof, ["0"])
        return Stop.PROVED
    name = search.limits.options.get("solver", "g4")
    sat = open_solver(search, name, model.clauses.clauses, proof=bool(proof))
    try:
        if not decide(search, model, sat) and proof:
            _keep_proof(search, model, proof, sat.proof())
        return Stop.PROVED
    except Stopped as stopped:
        return stopped.stop
    finally:
        search.statistics |= sat.statistics()
        sat.close()


def _keep_proof(search: Search, model: OrderModel, path: str, lines: list[str]) -> None:
    """The clauses and the proof as files, and the proof checked by a program that shares nothing with the solver."""
    from treeml.native.rup import check_proof

    write_cnf(model.clauses.clauses, model.clauses.top, path + ".cnf")
    with open(path, "w", encoding="ascii") as out:
        out.writelines(line + "\n" for line in lines)
    verdict = check_proof(path + ".cnf", path)
    if verdict is not None:
        raise AssertionError(f"the proof does not hold: {verdict}")
    search.notes.append(f"proof of {len(lines):,} steps written to {path} and checked")


def write_cnf(clauses: list[list[int]], top: int, path: str) -> None:
    with open(path, "w", encoding="ascii") as out:
        out.write(f"p cnf {top} {len(clauses)}\n")
        for clause in clauses:
            out.write(" ".join(map(str, (*clause, 0))) + "\n")
