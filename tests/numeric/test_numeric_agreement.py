"""The numeric kernel compared with all trees, on random tables with ties, weights, classes and bounds."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from numeric_brute import Case, best, random_case, value_of

VARIANTS = [
    {"kernel": 1},
    {"cell": 32},
    {"cell": 64},
    {"kernel": 1, "cell": 32},
    {"threads": 3},
    {"cross": 0, "lazy": 0, "greedy": 0, "slack": 0, "near": 0},
    {"slack": 1000},
    {"climb": 0},
    {"climb": 1},
]


def check(case: Case, **options: int) -> None:
    wanted = best(case)
    solver = case.solver()
    solver.set(**options)
    outcome = solver.solve()
    if wanted is None:
        assert outcome.status == "infeasible"
        return
    assert outcome.status == "optimal"
    assert outcome.stop == "proved"
    assert outcome.tree is not None
    assert outcome.value is not None
    found = value_of(case, outcome.tree)
    if case.goal == "squared":
        slack = max(Fraction(1), sum(case.fees) * sum(case.count) + case.leaf(tuple(range(case.rows)))) / 2**30
        assert abs(found - wanted) <= slack
        assert abs(outcome.value / outcome.unit - wanted) <= slack
    else:
        assert found == wanted == outcome.value == outcome.bound


@pytest.mark.parametrize("part", range(10))
def test_equal_to_every_tree(part: int) -> None:
    for seed in range(part * 100, part * 100 + 100):
        check(random_case(Random(seed)))


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_variants_are_equal(options: dict[str, int]) -> None:
    for seed in range(5000, 5120):
        check(random_case(Random(seed)), **options)


def test_deep_trees() -> None:
    for seed in range(9000, 9100):
        check(random_case(Random(seed), rows=14, columns=2, depth=5))


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, *VARIANTS], ids=str)
def test_many_more(options: dict[str, int]) -> None:
    for seed in range(20000, 21500):
        check(random_case(Random(seed), rows=13, columns=3, depth=4), **options)
