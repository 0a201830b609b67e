"""Cuts beside an evaluated one that are closed by moving rows: no optimum of a quantile loss changes."""

from __future__ import annotations

import numpy as np
import pytest

from treeml.native.numeric import NumericSolver

LEVELS = ((1, 1), (9, 1), (1, 9), (3, 7), (0, 1), (1, 0), (99, 1))


def table_of(random: np.random.Generator, rows: int) -> np.ndarray:
    """One to four columns, from two values to more than rows."""
    tops = random.choice([2, 5, 30, rows, 10 * rows], int(random.integers(1, 5)))
    return np.array([random.integers(0, top, rows) for top in tops]).astype(np.int32)


def targets_of(random: np.random.Generator, table: np.ndarray) -> np.ndarray:
    """Noise with light or heavy tails, small numbers with many ties up to numbers of thirteen digits."""
    rows = table.shape[1]
    kind = random.integers(0, 4)
    noise = (random.normal, random.normal, random.standard_cauchy, random.exponential)[kind](size=rows)
    clear = 0.5 * (table[0] > np.median(table[0])) if kind == 1 else 0
    scale = random.choice([1, 5, 50, 1000, 10**9, 10**10])
    return (np.clip(noise + clear, -1000, 1000) * scale).round().astype(np.int64)


def weights_of(random: np.random.Generator, rows: int) -> np.ndarray | None:
    return (None, None, random.integers(0, 4, rows), random.choice([1, 1, 1, 50], rows))[random.integers(0, 4)]


def solver_of(seed: int, rows: int) -> NumericSolver:
    random = np.random.default_rng(seed)
    table = table_of(random, rows)
    solver = NumericSolver(table)
    solver.quantile(targets_of(random, table), weights_of(random, rows), *LEVELS[seed % len(LEVELS)])
    return solver


@pytest.mark.parametrize("seed", range(120))
def test_walks_change_no_optimum(seed: int) -> None:
    rows = (12, 40, 90, 250)[seed % 4]
    solver = solver_of(seed, rows)
    solver.set(depth=3 if rows <= 40 else 2, support=(1, 1, 3)[seed % 3], leaves=(10**6, 10**6, 3, 4)[seed // 4 % 4])
    solver.set(leaf_price=(0, 0, 1, 40)[seed // 2 % 4])
    outcomes = []
    for lazy in (1, 0):
        solver.set(lazy=lazy)
        outcome = solver.solve()
        outcomes.append((outcome.status, outcome.value, outcome.bound))
    assert outcomes[0] == outcomes[1]


def least_of_leaf(targets: np.ndarray, weights: np.ndarray, up: int, down: int) -> int:
    away = targets[:, None] - targets[None, :]
    return int((weights[:, None] * np.where(away > 0, up * away, -down * away)).sum(axis=0).min())


def least_of_tree(
    table: np.ndarray, targets: np.ndarray, weights: np.ndarray, levels: tuple[int, int], depth: int
) -> int:
    best = least_of_leaf(targets, weights, *levels)
    for column in table if depth else ():
        for cut in np.unique(column)[:-1]:
            sides = (column <= cut, column > cut)
            cost = sum(least_of_tree(table[:, s], targets[s], weights[s], levels, depth - 1) for s in sides)
            best = min(best, cost)
    return best


@pytest.mark.parametrize("seed", range(14))
def test_walks_against_all_trees_of_depth_two(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = random.integers(0, (6, 24)[seed % 2], (2, 24)).astype(np.int32)
    targets = targets_of(random, table)
    weights = weights_of(random, 24)
    levels = LEVELS[seed % len(LEVELS)]
    solver = NumericSolver(table)
    solver.quantile(targets, weights, *levels)
    solver.set(depth=2)
    wanted = least_of_tree(table, targets, np.ones(24, dtype=np.int64) if weights is None else weights, levels, 2)
    outcome = solver.solve()
    assert (outcome.status, outcome.value, outcome.bound) == ("optimal", wanted, wanted)


def test_walks_save_sweeps_where_targets_are_noise() -> None:
    random = np.random.default_rng(3)
    solver = NumericSolver(random.normal(size=(4, 600)))
    solver.quantile((random.normal(size=600) * 1000).round().astype(np.int64))
    solver.set(depth=2)
    found = []
    for lazy in (1, 0):
        solver.set(lazy=lazy)
        found.append((solver.solve().value, solver.statistics()["sweeps"]))
    assert found[0][0] == found[1][0]
    assert 4 * found[0][1] < found[1][1]


@pytest.mark.parametrize("seed", range(12))
def test_bounds_of_a_search_that_is_stopped_while_it_walks(seed: int) -> None:
    solver = solver_of(1000 + seed, 250)
    solver.set(depth=2)
    wanted = solver.solve().value
    assert wanted is not None
    for microseconds in (0, 100, 400, 1500, 5000):
        solver.set(microseconds=microseconds)
        outcome = solver.solve()
        assert outcome.bound <= wanted
        assert outcome.value is None or outcome.value >= wanted


@pytest.mark.parametrize("seed", range(4))
def test_memory_for_walks_may_be_missing(seed: int) -> None:
    solver = solver_of(2000 + seed, 90)
    solver.set(depth=2)
    wanted = solver.solve()
    for number in range(1, 200):
        solver.set(fail_allocation=number)
        try:
            outcome = solver.solve()
        except MemoryError:
            continue
        assert outcome.bound <= wanted.value
        assert outcome.value is None or outcome.value >= wanted.value
    solver.set(fail_allocation=0)
    assert solver.solve() == wanted


@pytest.mark.parametrize("seed", range(12))
def test_walks_after_leaves_with_support_were_evaluated(seed: int) -> None:
    """Checking support evaluates leaves of other rows, with targets of their own, between two walks."""
    random = np.random.default_rng(3000 + seed)
    table = random.integers(0, 200, (2, 90)).astype(np.int32)
    targets = np.clip(random.standard_cauchy(90), -200, 200).round().astype(np.int64)
    solver = NumericSolver(table)
    solver.quantile(targets, random.integers(0, 4, 90))
    solver.set(depth=3, support=3)
    values = []
    for lazy in (1, 0):
        solver.set(lazy=lazy)
        values.append(solver.solve().value)
    assert values[0] == values[1]
