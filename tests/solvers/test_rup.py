"""The proof checker accepts what solvers prove and rejects what was tampered with."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from pysat.solvers import Solver

from treeml.native.rup import check_text

PIGEONS = 4


def dimacs(clauses: list[list[int]]) -> bytes:
    top = max((abs(literal) for clause in clauses for literal in clause), default=0)
    return (f"p cnf {top} {len(clauses)}\n" + "".join(" ".join(map(str, [*c, 0])) + "\n" for c in clauses)).encode()


def pigeons() -> list[list[int]]:
    """The pigeonhole principle: one pigeon more than there are holes."""
    place = [[1 + bird * PIGEONS + hole for hole in range(PIGEONS)] for bird in range(PIGEONS + 1)]
    apart = [[-a[hole], -b[hole]] for hole in range(PIGEONS) for a, b in combinations(place, 2)]
    return [*place, *apart]


def proof_of(clauses: list[list[int]], name: str) -> list[str]:
    with Solver(name=name, bootstrap_with=clauses, with_proof=True) as solver:
        assert solver.solve() is False
        return list(solver.get_proof())


@pytest.mark.parametrize("name", ["g3", "g4", "cadical153", "cadical195"])
def test_accepts_proofs(name: str) -> None:
    clauses = pigeons()
    proof = "\n".join(proof_of(clauses, name)).encode()
    assert check_text(dimacs(clauses), proof) is None


def test_rejects_a_proof_of_another_formula() -> None:
    clauses = pigeons()
    proof = "\n".join(proof_of(clauses, "g4")).encode()
    for left_out in range(PIGEONS + 1):
        satisfiable = [clause for place, clause in enumerate(clauses) if place != left_out]
        assert check_text(dimacs(satisfiable), proof) is not None


def test_rejects_tampered_steps() -> None:
    """A step without one of its literals may still follow, but from satisfiable clauses the empty clause never does."""
    make = random.Random(3)
    rejected = 0
    for _ in range(60):
        variables = make.randint(6, 14)
        clauses = [
            [make.choice((-1, 1)) * v for v in make.sample(range(1, variables + 1), 3)] for _ in range(6 * variables)
        ]
        with Solver(name="g4", bootstrap_with=clauses) as solver:
            if solver.solve():
                continue
        proof = proof_of(clauses, "g4")
        assert check_text(dimacs(clauses), "\n".join(proof).encode()) is None
        for size in range(len(clauses) - 1, 0, -1):
            with Solver(name="g4", bootstrap_with=clauses[:size]) as solver:
                if solver.solve():
                    assert check_text(dimacs(clauses[:size]), "\n".join(proof).encode()) is not None
                    rejected += 1
                    break
    assert rejected > 10


@pytest.mark.parametrize(
    ("clauses", "proof"),
    [
        (b"p cnf 1 2\n1 0\n-1 0\n", b"0\n"),
        (b"c a comment\np cnf 2 4\n1 2 0 -1 2 0\n1 -2 0\n-1 -2 0\n", b"2 0\n0\n"),
        (b"p cnf 2 6\n1 2 0\n2 1 0\n-1 2 0\n1 -2 0\n-1 -2 0\n1 -1 0\n", b"d 1 2 0\n-1 0\n0\n"),
        (b"p cnf 1 1\n0\n", b"0\n"),
    ],
)
def test_accepts(clauses: bytes, proof: bytes) -> None:
    assert check_text(clauses, proof) is None


@pytest.mark.parametrize(
    ("clauses", "proof", "message"),
    [
        (b"p cnf 1 1\n1 0\n", b"0\n", "does not follow"),
        (b"p cnf 1 2\n1 0\n-1 0\n", b"", "not reached"),
        (b"p cnf 2 2\n1 2 0\n-1 2 0\n", b"1 0\n", "does not follow"),
        (b"p cnf 2 4\n1 2 0\n-1 2 0\n1 -2 0\n-1 -2 0\n", b"d 1 2 0\n0\n", "does not follow"),
        (b"p cnf 1 3\n1 0\n-1 0\n", b"0\n", "cannot be read"),
        (b"1 0\n", b"0\n", "cannot be read"),
        (b"p cnf 1 1\n1 x 0\n", b"0\n", "cannot be read"),
        (b"p cnf 1 1\n1 0\n", b"2", "cannot be read"),
        (b"p cnf 1 1\n99999999999999 0\n", b"0\n", "cannot be read"),
        (b"", b"", "cannot be read"),
    ],
)
def test_rejects(clauses: bytes, proof: bytes, message: str) -> None:
    assert message in str(check_text(clauses, proof))


def test_variables_beyond_the_header_are_known() -> None:
    assert check_text(b"p cnf 1 2\n900 0\n-900 0\n", b"0\n") is None
