"""Clauses and the solver's refutation -> proof files (DRUP, a subset of DRAT), checked before they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treeml.backends.solvers.clause_files import cnf_lines
from treeml.system.confinement import MARK

if TYPE_CHECKING:
    from treeml.backends.solvers.encodings.clauses.pseudo_boolean import Clauses
    from treeml.backends.solvers.solve_state import SolveState


def write_proof(search: SolveState, clauses: Clauses, path: str, lines: list[str]) -> None:
    """Writes the proof to `path` and the clauses beside it (.cnf).

    The proof is first checked by a program that shares no code with the solver.
    """
    # imported here: start-up time
    from treeml.native.rup import check_text
    from treeml.system.writing import beside, replace_file

    formula = "".join(cnf_lines(clauses)).encode("ascii")
    proof = "\n".join((f"c {MARK}", *lines, "")).encode("ascii")
    verdict = check_text(formula, proof)
    if verdict is not None:
        raise AssertionError(f"the proof does not hold: {verdict}")
    replace_file(beside(path, ".cnf"), formula)
    replace_file(path, proof)
    search.notes.append(f"proof of {len(lines):,} steps written to {path} and checked")
