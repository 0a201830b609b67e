"""Clauses -> files: DIMACS CNF (.cnf), and weighted clauses for MaxSAT (.wcnf)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from treeml.system.confinement import MARK

if TYPE_CHECKING:
    from treeml.backends.solvers.encodings.clauses.order_model import OrderModel
    from treeml.backends.solvers.encodings.clauses.pseudo_boolean import Clauses


def write_cnf(clauses: Clauses, path: str) -> None:
    from treeml.system.writing import replacing  # imported here: start-up time

    with replacing(path) as out:
        out.writelines(line.encode("ascii") for line in cnf_lines(clauses))


def cnf_lines(clauses: Clauses) -> Iterator[str]:
    yield f"c {MARK}\n"
    yield f"p cnf {clauses.top} {len(clauses.clauses)}\n"
    for clause in clauses.clauses:
        yield " ".join(map(str, (*clause, 0))) + "\n"


def write_wcnf(model: OrderModel, path: str) -> None:
    """Hard clauses marked with h, penalties as soft unit clauses (the MaxSAT Evaluation format since 2022)."""
    # imported here: start-up time
    from treeml.backends.solvers.encodings.clauses.pseudo_boolean import normalized
    from treeml.system.writing import replacing

    items, _ = normalized(model.goal, 0)
    with replacing(path) as out:
        out.write(f"c {MARK}\n".encode("ascii"))
        for clause in model.clauses.clauses:
            out.write(("h " + " ".join(map(str, clause)) + " 0\n").encode("ascii"))
        out.writelines(f"{weight} {-literal} 0\n".encode("ascii") for weight, literal in items)
