"""Bounds that are there soon: by targets alone, by samples of the rows, and where leaves are cheap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from treeml.native.numeric import NumericSolver, Outcome

Random = np.random.Generator
LOSSES = ["squared", "absolute", "quantile"]


def with_loss(values: Any, loss: str, targets: Any, weight: Any = None) -> NumericSolver:
    solver = NumericSolver(values)
    if loss == "squared":
        solver.targets(targets, weight)
    else:
        solver.quantile(targets, weight, *((1, 1) if loss == "absolute" else (9, 1)))
    solver.set(poll_milliseconds=1)
    return solver


def until_the_first_bound(solver: NumericSolver) -> Outcome:
    return solver.solve(lambda _seconds, _value, bound: bound <= 0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("limit", ["depth", "price"])
def test_targets_alone_bound_a_tree_that_can_sort_them(loss: str, limit: str) -> None:
    """The column sorts the targets, so that the groups of the bound are nearly the leaves of the best tree."""
    random = np.random.default_rng(1)
    values = np.round(random.normal(size=(1, 30000)), 1)
    targets = np.round(10 * values[0]).astype(np.int64)[:, None]
    solver = with_loss(values, loss, targets)
    solver.set(depth=0)
    single = solver.solve().value
    assert single is not None
    solver.set(depth=3, leaf_price=single // 50 if limit == "price" else 0)
    stopped, whole = until_the_first_bound(solver), solver.solve()
    assert whole.status == "optimal"
    assert whole.value is not None
    assert 0.6 * whole.value < stopped.bound <= whole.value + solver.slack


def random_targets(random: Random, base: Any) -> Any:
    rows = len(base)
    noise = (random.normal(size=rows) * 100, random.standard_cauchy(rows) * 30, random.integers(0, 4, rows) * 1000)
    targets = base * random.choice((0, 50, 5000)) + noise[random.integers(3)] + random.choice((0, 10**7))
    return np.clip(np.round(targets), -(10**9), 10**9).astype(np.int64)[:, None]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(6))
def test_no_bound_by_targets_is_above_the_optimum(loss: str, seed: int) -> None:
    """Ties, weights of 0, tails and offsets; the search with such bounds also ends with the same value."""
    random = np.random.default_rng(seed)
    for _ in range(4):
        rows = int(random.choice((15, 40, 80)))
        values = np.round(random.normal(size=(2, rows)) * random.choice((1, 3)), 1)
        weight = None if random.random() < 0.5 else random.integers(0, 5, rows) + (np.arange(rows) == 0)
        solver = with_loss(values, loss, random_targets(random, values[0] > 0), weight)
        solver.set(depth=0)
        single = solver.solve().value
        assert single is not None
        solver.set(depth=int(random.choice((3, 4))), leaf_price=single // int(random.choice((4, 20, 1 << 60))))
        solver.set(climb=0, improve=0)
        wanted = solver.solve()
        bounds = [0]
        solver.set(climb=1 << 20, brief=0, greedy=0, deepen=0)
        found = solver.solve(lambda _seconds, _value, bound, to=bounds: to.append(bound))  # type: ignore[misc]
        assert wanted.value is not None
        assert found.value is not None
        assert (found.status, wanted.status) == ("optimal", "optimal")
        assert abs(found.value - wanted.value) <= solver.slack
        assert max(bounds) <= wanted.value + solver.slack


def noisy(rows: int) -> NumericSolver:
    random = np.random.default_rng(rows)
    values = random.integers(0, 12, (2, rows))
    labels = ((values[0] > 5) ^ (values[1] > 3)) ^ (random.random(rows) < 0.3)
    solver = NumericSolver(values.astype(np.int32))
    solver.labels(labels.astype(np.int32), 2)
    solver.set(poll_milliseconds=1, climb=1 << 20, greedy=0, deepen=0, improve=0)
    return solver


@pytest.mark.parametrize("depth", [3, 4])
def test_samples_bound_all_rows(depth: int) -> None:
    alone, solver = noisy(6000), noisy(6000)
    alone.set(depth=depth, climb=0, greedy=1)
    wanted = alone.solve().value
    solver.set(depth=depth, brief=0)
    bounds: list[int] = []
    found = solver.solve(lambda _seconds, _value, bound: bounds.append(bound))
    assert solver.statistics()["samples"] > 0
    assert (found.status, found.value) == ("optimal", wanted)
    assert bounds == sorted(bounds)
    for stop in sorted(set(bounds))[::2]:
        part = solver.solve(lambda _seconds, _value, bound, at=stop: bound < at)  # type: ignore[misc]
        assert part.bound <= found.value


def least_of_intervals(labels: Any, price: int) -> int:
    """What leaves cost at least if one column has a value of its own for every row: each leaf is an interval."""
    ones = np.concatenate([[0], np.cumsum(labels)])
    least = [0]
    for end in range(1, len(labels) + 1):
        inside, size = ones[end] - ones[:end], end - np.arange(end)
        least.append(int((np.array(least) + np.minimum(inside, size - inside)).min()) + price)
    return least[-1]


@pytest.mark.parametrize("price", [1, 2])
def test_cheap_leaves_without_a_depth(price: int) -> None:
    """The best value is that of more leaves than splits can be relaxed for, and lower targets raise the bound still."""
    random = np.random.default_rng(price)
    labels = (random.random(600) < np.where(np.arange(600) < 300, 0.3, 0.7)).astype(np.int32)
    solver = NumericSolver(np.arange(600, dtype=np.int32)[None, :])
    solver.labels(labels, 2)
    solver.set(leaf_price=price, poll_milliseconds=1, climb=1 << 20, improve=0, deepen=0)
    wanted = least_of_intervals(labels, price)
    assert wanted > 70 * price
    found = solver.solve(lambda _seconds, _value, bound: bound < 8)
    assert 8 <= found.bound <= wanted
    assert found.value is not None
    assert found.value >= wanted
    assert solver.statistics()["boxes"] > 0
