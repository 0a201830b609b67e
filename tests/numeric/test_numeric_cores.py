"""Bounds by some of the rows, by cores, hard rows and counted classes, are never above the optimum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from treeml.native.numeric import NumericSolver

Random = np.random.Generator


def table(random: Random, rows: int, columns: int, levels: int) -> Any:
    """Groups of correlated columns with ties, some of them upside down, equal or constant."""
    hidden = random.normal(size=(max(2, columns // 3), rows))
    values = hidden[random.integers(0, len(hidden), columns)] * random.choice((-1, 1), (columns, 1))
    values = values + random.normal(size=values.shape) * random.choice((0, 0.1, 0.5), (columns, 1))
    if random.random() < 0.3:
        values[random.integers(columns)] = 1
    return np.clip(np.round(values * levels / 4), -levels, levels)


def goal(random: Random, solver: NumericSolver, values: Any, classes: int) -> None:
    rows = values.shape[1]
    clean = (values[0] > 0) + 2 * (values[-1] * values[1] > 0) + (values[2] > 1)
    labels = np.where(random.random(rows) < 0.25, random.integers(0, classes, rows), clean % classes)
    largest = int(random.choice((1, 5, 1000, 10**9)))
    weight = random.integers(0 if largest > 1 else 1, largest + 1, rows)
    if random.random() < 0.2:
        solver.costs(random.integers(0, 9, (rows, classes)))
    else:
        solver.labels(labels.astype(np.int32), classes, None if largest == 1 else weight)


def wide(seed: int) -> tuple[NumericSolver, dict[str, int]]:
    random = np.random.default_rng(seed)
    rows = int(random.integers(20, 50))
    values = table(random, rows, int(random.integers(9, 14)), int(random.choice((2, 3, 4))))
    solver = NumericSolver(values)
    goal(random, solver, values, int(random.choice((2, 2, 3, 5, 7))))
    more = {"support": int(random.choice((1, 1, 1, 4))), "leaf_price": int(random.choice((0, 0, 0, 2)))}
    return solver, {"depth": int(random.choice((4, 4, 5))), **more}


@pytest.mark.parametrize("seeds", [range(start, start + 6) for start in range(0, 24, 6)], ids=str)
def test_cores_and_counted_classes_leave_the_optimum(seeds: range) -> None:
    cores = 0.0
    for seed in seeds:
        solver, options = wide(seed)
        solver.set(**options, climb=0, improve=0)
        wanted = solver.solve()
        bounds: list[int] = []
        solver.set(climb=1 << 20, deepen=0, poll_milliseconds=1)
        found = solver.solve(lambda _seconds, _value, bound, to=bounds: to.append(bound))  # type: ignore[misc]
        assert (found.status, found.value, found.bound) == (wanted.status, wanted.value, wanted.bound), seed
        assert wanted.value is not None
        assert all(bound <= wanted.value for bound in bounds), seed
        cores += solver.statistics()["cores"]
    assert cores > 0


def crowded(seed: int, classes: int) -> NumericSolver:
    """So many rows that those without strangers around them are left out, and a target takes several turns."""
    random = np.random.default_rng(seed)
    values = np.round(random.normal(size=(3, 900)), 1)
    clean = (values[0] > 0) + (values[1] > 0.8)
    near = np.abs(values[0]) < 0.4
    labels = np.where(near & (random.random(900) < 0.5), random.integers(0, classes, 900), clean % classes)
    solver = NumericSolver(values)
    solver.labels(labels.astype(np.int32), classes, random.integers(1, 4, 900) if seed % 2 else None)
    solver.set(depth=4, climb=1, poll_milliseconds=1, deepen=0)
    return solver


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_hard_rows_bound_all_rows(seed: int, classes: int) -> None:
    alone = crowded(seed, classes)
    alone.set(climb=0, improve=0)
    wanted = alone.solve().value
    assert wanted is not None
    solver, bounds = crowded(seed, classes), [0]
    found = solver.solve(lambda _seconds, _value, bound: bounds.append(bound))
    assert (found.status, found.value) == ("optimal", wanted)
    assert 0 < solver.statistics()["hard_rows"] <= 675
    assert bounds == sorted(bounds)
    assert max(bounds) <= wanted
    for stop in sorted(set(bounds))[1::3]:
        part = crowded(seed, classes).solve(lambda _seconds, _value, bound, at=stop: bound < at)  # type: ignore[misc]
        assert part.bound <= wanted
        assert part.value is not None
        assert part.value >= wanted


def test_hard_rows_without_memory() -> None:
    for failing in range(40, 12000, 3000):
        solver = crowded(0, 2)
        solver.set(fail_allocation=failing)
        try:
            found = solver.solve()
        except MemoryError:
            continue
        assert found.value is None or found.bound <= found.value
