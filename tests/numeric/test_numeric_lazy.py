"""What a sweep may leave out changes no optimum: pairs of classes that cannot win, and exact quantile losses."""

from __future__ import annotations

import numpy as np
import pytest

from treeml.native.numeric import NumericSolver, Outcome


def columns_of(random: np.random.Generator, rows: int) -> np.ndarray:
    """One to four columns, from two values to nearly as many as rows, some of them constant by chance."""
    tops = random.choice([2, 8, rows, 10 * rows], int(random.integers(1, 5)))
    return np.array([random.integers(0, top, rows) for top in tops]).astype(np.int32)


def solve_classes(codes: np.ndarray, labels: np.ndarray, classes: int, fees: bool, **options: int) -> Outcome:
    solver = NumericSolver(codes)
    if fees:
        solver.fees(np.arange(len(codes), dtype=np.int32), np.arange(len(codes)) % 2)
    solver.labels(labels, classes)
    solver.set(**options)
    return solver.solve()


@pytest.mark.parametrize("seed", range(60))
def test_pairs_of_classes(seed: int) -> None:
    """Classes of very different sizes; more than eight, and more than 31, are swept in other ways."""
    random = np.random.default_rng(seed)
    rows, classes = int(random.choice([5, 30, 90, 200])), int(random.choice([3, 4, 5, 7, 8, 9, 31, 33]))
    codes = columns_of(random, rows)
    share = random.dirichlet(np.full(classes, float(random.choice([0.2, 1, 5]))))
    labels = random.choice(classes, size=rows, p=share).astype(np.int32)
    if seed % 2:
        clear = (codes[0] > np.median(codes[0])) + 2 * (codes[-1] > np.median(codes[-1]))
        labels = np.where(random.random(rows) < 0.7, clear % classes, labels).astype(np.int32)
    options = {"depth": 2 + seed % 2, "support": 1 + 2 * (seed % 3 == 0), "leaf_price": int(seed % 4 == 0)}
    if seed % 7 == 0:
        options["leaves"] = int(random.integers(2, 7))
    plain, *others = (
        solve_classes(codes, labels, classes, seed % 6 == 0, **options, **more)
        for more in ({}, {"lazy": 0}, {"kernel": 1}, {"cell": 32})
    )
    assert plain.status == "optimal"
    assert all((other.value, other.bound) == (plain.value, plain.value) for other in others)


def test_pairs_of_classes_save_sweeps() -> None:
    """Seven classes of equal size: most stumps cannot win, whatever they predict."""
    random = np.random.default_rng(1)
    labels = np.repeat(np.arange(7, dtype=np.int32), 60)
    codes = np.array([60 * labels + random.integers(0, 60 * spread, 420) for spread in (1, 2, 3, 4, 7)], dtype=np.int32)
    sweeps = []
    for lazy in (0, 1):
        solver = NumericSolver(codes)
        solver.labels(labels, 7)
        solver.set(depth=3, lazy=lazy)
        assert solver.solve().status == "optimal"
        sweeps.append(solver.statistics()["sweeps"])
    assert 2 * sweeps[1] < sweeps[0]


@pytest.mark.parametrize("seed", range(60))
def test_quantiles_by_buckets(seed: int) -> None:
    """Targets of every size, with ties, of one or two outputs; weights may be 0."""
    random = np.random.default_rng(seed)
    rows, outputs = int(random.choice([5, 30, 90, 300])), int(random.choice([1, 1, 2]))
    codes = columns_of(random, rows)
    scale = int(random.choice([1, 3, 50, 1000, 10**9]))
    targets = (random.normal(size=(rows, outputs)) * scale).round().astype(np.int64)
    if seed % 3 == 0:
        step = max(1, scale // 2)
        targets = targets // step * step + int(random.integers(-(10**6), 10**6))
    weight = random.integers(0, 4, rows).astype(np.int64) if seed % 5 < 2 else None
    up, down = [(1, 1), (9, 1), (1, 9), (3, 7), (1, 99)][seed % 5]
    values = []
    for lazy in (1, 0):
        solver = NumericSolver(codes)
        solver.quantile(targets, weight, up, down)
        solver.set(depth=2 + (rows < 100), support=1 + 2 * (seed % 4 == 0), lazy=lazy)
        solver.set(leaf_price=scale * (seed % 6 == 0))
        outcome = solver.solve()
        assert outcome.status == "optimal"
        values.append((outcome.value, outcome.bound))
    assert values[0] == values[1]


def test_bounds_by_prices_never_exceed_the_optimum() -> None:
    """While one depth after the other is tried, the leaves of deeper trees are all that is known about them."""
    random = np.random.default_rng(4)
    solver = NumericSolver(random.normal(size=(3, 40)))
    solver.labels(random.integers(0, 2, 40).astype(np.int32), 2)
    solver.set(leaf_price=2, poll_milliseconds=1)
    bounds: list[int] = []
    outcome = solver.solve(lambda _seconds, _value, bound: bounds.append(bound))
    assert outcome.status == "optimal"
    assert outcome.value is not None
    assert bounds == sorted(bounds)
    assert all(bound <= outcome.value for bound in bounds)
