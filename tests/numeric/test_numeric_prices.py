"""Prices of leaves without a depth: it follows from the prices, and the optimum is that of all trees."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from numeric_brute import Case, random_case
from test_numeric_agreement import check

import treeml as tml
from treeml.native.numeric import NumericSolver

VARIANTS = [{}, {"climb": 1}, {"threads": 3}, {"near": 0, "cross": 0, "slack": 0}, {"greedy": 0, "kernel": 1}]


def priced(seed: int, rows: int, columns: int) -> Case:
    """Any depth and, mostly, any number of leaves; the tree that was random is now as deep as the rows allow."""
    random = Random(seed)
    case = random_case(random, rows=rows, columns=columns)
    spread = max(max(row) for row in case.cost) if case.goal == "costs" else max(case.weight)
    return replace(
        case,
        depth=case.rows,
        leaves=case.leaves if random.random() < 0.3 else 10**6,
        price=random.choice((1, 2, 3, max(1, spread // 2), max(1, 2 * spread))),
    )


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_any_depth_is_equal_to_every_tree(options: dict[str, int]) -> None:
    for seed in range(40):
        check(priced(seed, 9, 2), **options)


@pytest.mark.slow
@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_many_more_of_any_depth(options: dict[str, int]) -> None:
    for seed in range(1000, 1300):
        check(priced(seed, 11, 3), **options)


def table(seed: int) -> NumericSolver:
    random = np.random.default_rng(seed)
    values = np.round(random.normal(size=(3, 40)), 1)
    labels = (values[0] + values[1] * values[2] + random.normal(size=40) > 0) + (random.random(40) < 0.1)
    solver = NumericSolver(values)
    solver.labels(labels.astype(np.int32), 3 if labels.max() == 2 else 2)
    return solver


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("price", [3, 5])
def test_deeper_than_needed_changes_nothing(seed: int, price: int) -> None:
    """A tree that is better than another of value v has fewer than v / price leaves, and so much less depth."""
    solver = table(seed)
    solver.set(leaf_price=price)
    found = solver.solve()
    assert found.status == "optimal"
    assert found.value is not None
    assert found.tree is not None
    for depth in (3, 4):
        solver.set(depth=depth)
        limited = solver.solve()
        assert limited.status == "optimal"
        assert limited.value is not None
        assert limited.value >= found.value
        if depth_of(found.tree.yes, found.tree.no, found.tree.column) <= depth:
            assert limited.value == found.value


def depth_of(yes: list[int], no: list[int], column: list[int], node: int = 0) -> int:
    return 0 if column[node] < 0 else 1 + max(depth_of(yes, no, column, side[node]) for side in (yes, no))


@pytest.mark.parametrize("goal", ["errors", "absolute_loss", "squared_loss"])
def test_specifications_agree_with_the_oracle(goal: str) -> None:
    for seed in range(4):
        random = np.random.default_rng(seed)
        values, target = random.integers(0, 7, size=(9, 2)) / 2, random.integers(0, 2 if goal == "errors" else 9, 9)
        text = f"predict y minimize {goal} + {1 + seed % 2} * leaves"
        found = tml.parse(f"{text} solve with native(kernel = numeric)").solve(values, target)
        wanted = tml.parse(f"{text} solve with oracle").solve(values, target)
        assert found.status.value == wanted.status.value == "optimal"
        assert float(found.objective) == pytest.approx(float(wanted.objective))


def test_bounds_of_a_stopped_search_stay_below_the_optimum() -> None:
    for seed in range(6):
        solver = table(seed)
        solver.set(leaf_price=3, climb=1, poll_milliseconds=1)
        bounds: list[int] = []
        found = solver.solve(lambda _seconds, _value, bound: bounds.append(bound))  # noqa: B023
        assert found.value is not None
        assert bounds == sorted(bounds)
        assert all(bound <= found.value for bound in bounds)
