"""The numeric kernel compared with all trees, on random tables with ties, weights, classes and bounds."""

from __future__ import annotations

from dataclasses import replace
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


@pytest.mark.parametrize("seed", range(12))
def test_bounds_of_neighbours_hold_in_deep_trees(seed: int) -> None:
    """Sides of depth three begin with what is known about cuts nearby; too many rows for all trees."""
    random, rows = Random(seed), 60
    codes = [[random.randint(0, rows) for _ in range(rows)] for _ in range(3)]
    actual = [(one > 30) ^ (other > 20) ^ (random.random() < 0.25) for one, other in zip(*codes[:2], strict=True)]
    case = replace(
        random_case(Random(1)),
        **{"codes": codes, "count": [1] * rows, "goal": "labels", "classes": 2, "labels": list(map(int, actual))},
        **{"weight": [random.choice((1, 1, 3)) for _ in range(rows)], "depth": 4, "support": 1, "leaves": 10**6},
        **{"price": 0, "up": 1, "down": 1, "fees": (), "groups": (0, 1, 2)},
    )
    values = []
    for options in ({"near": 0}, {"near": 1, "improve": 0, "climb": 0}, {}):
        solver = case.solver()
        solver.set(**options)
        outcome = solver.solve()
        assert outcome.status == "optimal"
        values.append(outcome.value)
    assert values[0] == values[1] == values[2]


def test_deep_trees() -> None:
    for seed in range(9000, 9100):
        check(random_case(Random(seed), rows=14, columns=2, depth=5))


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, *VARIANTS], ids=str)
def test_many_more(options: dict[str, int]) -> None:
    for seed in range(20000, 21500):
        check(random_case(Random(seed), rows=13, columns=3, depth=4), **options)
