"""Amounts up to the largest that the C solvers take: if every amount is multiplied, so is the value of the best tree.

A product of an amount with something else may exceed 64 bits long before the amount itself does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from treeml.native.coupled import Coupled
from treeml.native.coupled_numeric import CoupledNumeric
from treeml.native.numeric import NumericSolver
from treeml.native.sets import LeafModel, TreeLimits, TreeSets
from treeml.native.solver import Solver
from treeml.native.solver_input import ClassCosts, Conditions, Labels, Targets

Random = np.random.Generator
Value = tuple[str, Any]  # what the solver claims, and the value of its tree
Scaled = Callable[[int], Value]


def times(amounts: Any, scale: int) -> Any:
    """All amounts multiplied, if 64 bits hold them."""
    if int(np.abs(amounts).max(initial=0)) * scale >= 2**62:
        raise OverflowError("the amounts themselves do not fit")
    return amounts * scale


def drawn_bits(random: Random, tests: tuple[int, int], rows: tuple[int, int]) -> Any:
    shape = int(random.integers(*tests)), int(random.integers(*rows))
    return random.random(shape) < random.random((shape[0], 1))


def drawn_codes(random: Random, rows: tuple[int, int], levels: int) -> Any:
    """One to three columns of numbers."""
    shape = int(random.integers(1, 4)), int(random.integers(*rows))
    return random.integers(0, levels, shape).astype(np.int32)


def by_numbers(codes: Any, give: Callable[[NumericSolver, int], None], **shape: int) -> Scaled:
    """Solves with what `give` says at a scale."""

    def solve(scale: int) -> Value:
        solver = NumericSolver(codes)
        solver.set(**shape)
        give(solver, scale)
        outcome = solver.solve()
        return outcome.status, outcome.value

    return solve


def of_numbers_labels(random: Random) -> Scaled:
    codes, classes = drawn_codes(random, (20, 60), 15), int(random.integers(2, 4))
    labels, weight = random.integers(0, classes, codes.shape[1]), random.integers(0, 8, codes.shape[1])
    shape = {"depth": int(random.integers(2, 5))}
    if random.random() < 0.3:
        shape["leaves"] = int(random.integers(3, 7))
    price = int(random.integers(0, 4)) if random.random() < 0.4 else 0

    def give(solver: NumericSolver, scale: int) -> None:
        solver.labels(labels, classes, times(weight, scale))
        solver.set(leaf_price=price * scale)

    return by_numbers(codes, give, **shape)


def of_numbers_costs(random: Random) -> Scaled:
    codes = drawn_codes(random, (20, 50), 12)
    columns, rows = codes.shape
    cost, depth = random.integers(-3, 9, (rows, int(random.integers(2, 4)))), int(random.integers(2, 5))
    fee = random.integers(0, 3, columns) if random.random() < 0.4 else None

    def give(solver: NumericSolver, scale: int) -> None:
        solver.costs(times(cost, scale))
        if fee is not None:
            solver.fees(np.arange(columns, dtype=np.int32), times(fee, scale))

    return by_numbers(codes, give, depth=depth)


def of_numbers_quantile(random: Random) -> Scaled:
    codes = drawn_codes(random, (10, 40), 12)
    targets, weight = random.integers(-20, 20, (codes.shape[1], 1)), random.integers(0, 4, codes.shape[1])
    depth, up, down = int(random.integers(1, 4)), int(random.integers(1, 4)), int(random.integers(1, 4))
    of_targets = random.random() < 0.5

    def give(solver: NumericSolver, scale: int) -> None:
        scales = (scale, 1) if of_targets else (1, scale)
        solver.quantile(times(targets, scales[0]), times(weight, scales[1]), up, down)

    return by_numbers(codes, give, depth=depth)


def of_tests_labels(random: Random) -> Scaled:
    bits = drawn_bits(random, (3, 9), (20, 70))
    rows = bits.shape[1]
    classes = int(random.integers(2, 5))
    labels, weight = random.integers(0, classes, rows), random.integers(0, 8, rows)
    shape: dict[str, Any] = {"depth": int(random.integers(1, 5)), "support": int(random.integers(1, 4))}
    if random.random() < 0.3:
        shape["leaves"] = int(random.integers(2, 7))
    price = int(random.integers(0, 4)) if random.random() < 0.4 else 0

    def solve(scale: int) -> Value:
        solver = Solver(bits, Labels(labels, classes, times(weight, scale)))
        found = solver.solve(**shape, leaf_price=price * scale)
        return found.status, found.value

    return solve


def of_tests_costs(random: Random) -> Scaled:
    bits = drawn_bits(random, (3, 8), (20, 50))
    tests, rows = bits.shape
    cost, depth = random.integers(-3, 9, (rows, int(random.integers(2, 4)))), int(random.integers(1, 5))
    fee = random.integers(0, 3, tests) if random.random() < 0.4 else None
    limit = int(random.integers(5, 60)) if random.random() < 0.3 else None

    def solve(scale: int) -> Value:
        conditions = Conditions(
            columns=np.arange(tests, dtype=np.int32),
            column_cost=None if fee is None else times(fee, scale),
            leaf_limit=None if limit is None else (times(np.abs(cost), scale), limit * scale),
        )
        found = Solver(bits, ClassCosts(times(cost, scale)), conditions).solve(depth=depth)
        return found.status, found.value

    return solve


def of_tests_quantile(random: Random) -> Scaled:
    bits = drawn_bits(random, (3, 8), (10, 40))
    rows = bits.shape[1]
    targets, weight, depth = (
        random.integers(-20, 20, (rows, 1)),
        random.integers(0, 4, rows),
        int(random.integers(1, 4)),
    )

    def solve(scale: int) -> Value:
        found = Solver(bits, Targets(times(targets, scale), "absolute", weight=weight)).solve(depth=depth)
        return found.status, found.value

    return solve


def all_trees(random: Random) -> Scaled:
    bits = drawn_bits(random, (3, 6), (10, 40))
    rows = bits.shape[1]
    cost, depth = random.integers(0, 9, (rows, 2)), int(random.integers(1, 4))

    def solve(scale: int) -> Value:
        trees = TreeSets(bits, LeafModel("classes", times(cost, scale)), TreeLimits(depth=depth))
        return "optimal", trees.optimum()

    return solve


def coupled_limits(random: Random, sums: int, values: Any) -> tuple[list[Any], list[Any]]:
    low = [int(values[1 + j].min(axis=1).sum() + random.integers(0, 12)) for j in range(sums)]
    high = [None if random.random() < 0.5 else low[j] + int(random.integers(0, 30)) for j in range(sums)]
    return low, high


def scaled_limits(limits: list[Any], scale: int) -> list[Any]:
    return [None if limit is None else limit * scale for limit in limits]


def coupled(random: Random, made: type[Coupled | CoupledNumeric], data: Any) -> Scaled:
    """One or two sums with limits over these tests or columns."""
    sums = int(random.integers(1, 3))
    values = random.integers(-2, 7, (1 + sums, data.shape[1], int(random.integers(2, 4))))
    low, high = coupled_limits(random, sums, values)
    depth, price = int(random.integers(1, 4)), int(random.integers(0, 3))

    def solve(scale: int) -> Value:
        limits = scaled_limits(low, scale), scaled_limits(high, scale)
        found = made(data, times(values, scale)).solve(*limits, depth=depth, leaf_price=price * scale)
        return found.status, found.value

    return solve


def of_tests_coupled(random: Random) -> Scaled:
    return coupled(random, Coupled, drawn_bits(random, (2, 7), (10, 40)))


def of_numbers_coupled(random: Random) -> Scaled:
    return coupled(random, CoupledNumeric, drawn_codes(random, (10, 30), 8))


KINDS: dict[str, Callable[[Random], Scaled]] = {
    "numbers, labels": of_numbers_labels,
    "numbers, costs": of_numbers_costs,
    "numbers, quantile": of_numbers_quantile,
    "numbers, coupled": of_numbers_coupled,
    "tests, labels": of_tests_labels,
    "tests, costs": of_tests_costs,
    "tests, quantile": of_tests_quantile,
    "tests, coupled": of_tests_coupled,
    "all trees": all_trees,
}


def check(kind: str, seed: int) -> None:
    """The largest power of two that the solver takes, three smaller ones, and numbers beside them."""
    solve = KINDS[kind](np.random.default_rng([seed, len(kind)]))
    status, value = solve(1)
    assert status in ("optimal", "infeasible")
    taken = 0
    for power in range(60, 8, -1):
        for scale in (2**power, 2**power // 3):
            try:
                found = solve(scale)
            except OverflowError:
                continue
            assert found == (status, None if value is None else value * scale), (kind, seed, scale)
            taken += 1
        if taken >= 6:
            return
    raise AssertionError("no scale is taken")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", range(2))
def test_the_value_grows_with_the_amounts(kind: str, share: int) -> None:
    for seed in range(20 * share, 20 * share + 20):
        check(kind, seed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_value_grows_with_the_amounts_in_many_cases(kind: str) -> None:
    for seed in range(1000, 1400):
        check(kind, seed)
