"""Regression losses at extreme magnitudes, directly on the C solvers: the optimum is known as a fraction."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from native_brute import least

from treeml.native.numeric import NumericSolver
from treeml.native.solver import Solver
from treeml.native.solver_input import Conditions, CostRounding, Targets

SQUARES = {
    "one far value": [1, 2, 1, 2, 5, 6, 5, 1_000_000],
    "near 10^15": [10**15 + k for k in (0, 3, 1, 2, 0, 1, 3, 2)],
    "16 digits": [1234567890123456, 9876543210987654, 5, 4444444444444444, 7, 3333333333333333, 11, 1],
    "up to 2^58": [2**58, -(2**58), 0, 1, 2**57, 3, -5, 2**58 - 1],
    "all alike": [7] * 8,
}
WEIGHTS = {
    "ones": [1] * 8,
    "few and many": [1, 10**9, 1, 1, 10**9, 3, 1, 10**6],
    "many digits": [10**15 + k * 7919 for k in range(8)],
    "none": [0, 1, 0, 2, 3, 0, 1, 1],
}
BITS = np.array(
    [[0, 0, 0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1, 0, 1], [0, 0, 0, 0, 0, 0, 0, 1], [1, 1, 0, 0, 0, 1, 0, 0]],
    dtype=np.bool_,
)


def squared(targets: list[int], weight: list[int]) -> Any:
    def cost(rows: tuple[int, ...]) -> Fraction:
        whole = sum(weight[row] for row in rows)
        first = sum(weight[row] * targets[row] for row in rows)
        second = sum(weight[row] * targets[row] ** 2 for row in rows)
        return second - Fraction(first**2, whole) if whole else Fraction(0)

    return cost


def value_of(found: Any, cost: Any, price: Any = 0) -> Fraction:
    leaf = found.apply(BITS)
    groups = [tuple(int(row) for row in np.flatnonzero(leaf == node)) for node in np.unique(leaf)]
    return sum((cost(rows) + price for rows in groups), Fraction(0))


@pytest.mark.parametrize("options", [{}, {"general": 1}, {"unavoidable": 0}], ids=str)
@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("targets", SQUARES)
def test_squared_losses_are_best_to_their_tolerance(targets: str, weight: str, options: dict[str, int]) -> None:
    numbers, weights = SQUARES[targets], WEIGHTS[weight]
    cost = squared(numbers, weights)
    everything = cost(tuple(range(8)))
    for depth in (1, 2, 3):
        expected = least(BITS, cost, depth)
        assert expected is not None
        solver = Solver(BITS, Targets(np.array(numbers)[:, None], "squared", weight=np.array(weights)))
        found = solver.solve(depth=depth, options=options)
        assert found.status == "optimal"
        assert 0 <= value_of(found, cost) - expected <= found.tolerance
        assert found.tolerance <= everything / 2**30 + Fraction(1, 10)


@pytest.mark.parametrize("targets", SQUARES)
def test_a_limit_on_the_loss_makes_the_search_exact(targets: str) -> None:
    numbers, weights = SQUARES[targets], WEIGHTS["few and many"]
    cost = squared(numbers, weights)
    expected = least(BITS, cost, 2)
    assert expected is not None
    solver = Solver(
        BITS,
        Targets(np.array(numbers)[:, None], "squared", weight=np.array(weights)),
        rounding=CostRounding(0.0, float(2 * expected + 1)),
    )
    found = solver.solve(depth=2)
    assert value_of(found, cost) - expected <= found.tolerance <= (expected + 1) / 2**40


@pytest.mark.parametrize("price", [Fraction(1, 3), Fraction(2**70), Fraction(1, 10**12)], ids=str)
def test_any_price_fits_beside_a_squared_loss(price: Fraction) -> None:
    cost = squared(SQUARES["one far value"], WEIGHTS["ones"])
    expected = least(BITS, cost, 2, price=price)  # type: ignore[arg-type]
    assert expected is not None
    targets = np.array(SQUARES["one far value"])[:, None]
    found = Solver(BITS, Targets(targets, "squared"), rounding=CostRounding(float(price))).solve(
        depth=2, leaf_price=price
    )
    assert 0 <= value_of(found, cost, price) - expected <= found.tolerance
    assert found.tolerance <= (expected + 10**12) / 2**40


def test_columns_cost_what_they_cost_beside_a_loss() -> None:
    targets = np.array([[0], [1], [3], [4]])
    bits = np.array([[0, 0, 1, 1]], dtype=np.bool_)
    for cost, best in ((Fraction(1, 4), 2), (Fraction(2), 9), (Fraction(3), 10), (Fraction(100), 10)):
        solver = Solver(
            bits,
            Targets(targets, "squared"),
            Conditions(columns=[0], column_cost=[cost]),
            rounding=CostRounding(float(4 * cost)),
        )
        found = solver.solve(depth=1)
        assert found.value is not None
        assert abs(found.value - best) <= found.tolerance < Fraction(1, 10**9)


def test_pinball_losses_of_many_digits_are_rounded_where_asked() -> None:
    level = Fraction(3333333333333333, 10**16)
    targets = np.array([[1], [2], [3], [5], [8], [13], [21], [34]]) * 10**15
    solver = Solver(BITS, Targets(targets, "quantile", (level,)), rounding=CostRounding(0.0))
    found = solver.solve(depth=2)
    whole = Solver(BITS, Targets(targets // 10**15, "quantile", (Fraction(1, 3),))).solve(depth=2)
    assert found.value is not None
    assert whole.value is not None
    assert abs(found.value / 10**15 - whole.value) < Fraction(1, 10**9)
    assert 0 < found.tolerance < found.value / 10**9


def test_amounts_that_are_not_numbers_are_refused() -> None:
    for beside in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="finite and not negative"):
            Solver(BITS, Targets(np.arange(8)[:, None], "squared"), rounding=CostRounding(beside))
    with pytest.raises(OverflowError, match="leaf_price is too large"):
        Solver(BITS, Targets(np.arange(8)[:, None], "squared")).solve(leaf_price=2**80)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("targets", SQUARES)
def test_thresholds_at_odd_magnitudes(targets: str, weight: str) -> None:
    numbers, weights = SQUARES[targets], WEIGHTS[weight]
    cost = squared(numbers, weights)
    expected = least(BITS, cost, 2)
    solver = NumericSolver((~BITS).astype(np.int32))
    solver.targets(np.array(numbers), np.array(weights))
    solver.set(depth=2)
    outcome = solver.solve()
    tolerance = Fraction(solver.slack) / outcome.unit
    assert outcome.status == "optimal"
    assert expected is not None
    assert outcome.value is not None
    assert abs(outcome.value / outcome.unit - expected) <= tolerance <= cost(tuple(range(8))) / 2**30 + Fraction(1, 10)
