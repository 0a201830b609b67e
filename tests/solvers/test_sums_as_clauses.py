"""Sums of weighted literals as clauses allow exactly the assignments that they should."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pysat.solvers import Solver

from treeml.backends.solvers.encodings.clauses import pseudo_boolean as pb

TERMS = st.lists(st.tuples(st.integers(-6, 9), st.sampled_from([1, 2, 3, 4, 5, -1, -2, -3, -4, -5])), max_size=6)


def allowed(terms: list[tuple[int, int]], limit: int, condition: tuple[int, ...] = ()) -> set[tuple[bool, ...]]:
    clauses = pb.Clauses(6)
    pb.at_most(clauses, terms, limit, condition)
    found = set()
    with Solver(name="g4", bootstrap_with=[c for c in clauses.clauses if c]) as solver:
        for values in product((False, True), repeat=6):
            literals = [variable + 1 if value else -variable - 1 for variable, value in enumerate(values)]
            if [] not in clauses.clauses and solver.solve(assumptions=literals):
                found.add(values)
    return found


def meant(terms: list[tuple[int, int]], limit: int, condition: tuple[int, ...] = ()) -> set[tuple[bool, ...]]:
    def holds(values: tuple[bool, ...], literal: int) -> bool:
        return values[abs(literal) - 1] == (literal > 0)

    return {
        values
        for values in product((False, True), repeat=6)
        if sum(weight for weight, literal in terms if holds(values, literal)) <= limit
        or not all(holds(values, literal) for literal in condition)
    }


@settings(max_examples=60, deadline=None)
@given(TERMS, st.integers(-8, 20))
def test_totalizer(terms: list[tuple[int, int]], limit: int) -> None:
    assert allowed(terms, limit) == meant(terms, limit)


@settings(max_examples=60, deadline=None)
@given(TERMS, st.integers(-8, 20))
def test_under_a_condition(terms: list[tuple[int, int]], limit: int) -> None:
    assert allowed(terms, limit, (6, -1)) == meant(terms, limit, (6, -1))


@pytest.fixture
def adders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pb, "MOST_TOTALIZER", -1)


@pytest.mark.usefixtures("adders")
@pytest.mark.parametrize("limit", range(-3, 25, 2))
@pytest.mark.parametrize(
    "terms",
    [
        [(3, 1), (5, 2), (7, 3), (1, 4)],
        [(1, 1), (1, -2), (1, 3), (1, 4), (1, 5)],
        [(8, 1), (-4, 2), (6, -3), (9, 5), (2, 4)],
        [(2, 1), (2, 1), (4, -1), (6, 3)],
    ],
)
def test_adders(terms: list[tuple[int, int]], limit: int) -> None:
    assert allowed(terms, limit) == meant(terms, limit)


@pytest.mark.parametrize("count", [2, 5, 29, 40])
def test_at_most_one(count: int) -> None:
    clauses = pb.Clauses(count)
    clauses.at_most_one(list(range(1, count + 1)))
    with Solver(name="g4", bootstrap_with=clauses.clauses) as solver:
        assert solver.solve(assumptions=[1] + [-v for v in range(2, count + 1)])
        assert solver.solve(assumptions=[-v for v in range(1, count + 1)])
        assert not solver.solve(assumptions=[1, count])
        assert not solver.solve(assumptions=[count - 1, count])
