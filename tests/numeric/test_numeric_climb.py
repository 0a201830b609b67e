"""Deep trees over numbers: the lower bound rises while the search runs, and it is never above the optimum."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from treeml.native.numeric import NumericSolver


def noisy(seed: int, rows: int, goal: str) -> NumericSolver:
    """Numbers that a tree of depth five explains, and rows that it does not."""
    random = np.random.default_rng(seed)
    values = np.round(random.normal(size=(4, rows)), 1)
    clean = (values[0] > 0) ^ (values[1] > 0.5) ^ (values[2] * values[3] > 0)
    labels = clean ^ (random.random(rows) < 0.25)
    solver = NumericSolver(values)
    if goal == "labels":
        solver.labels(labels.astype(np.int32), 2)
    elif goal == "classes":
        solver.labels((labels + (values[3] > 1)).astype(np.int32), 3)
    elif goal == "quantile":
        solver.quantile((10 * labels + random.integers(0, 5, rows)).astype(np.int64), None, 1, 2)
    else:
        solver.targets((10 * labels + random.integers(0, 5, rows)).astype(np.int64))
    return solver


def solved(solver: NumericSolver, **options: int) -> tuple[int, list[int], float]:
    """The optimum, the bounds that were reported on the way, and how often a target raised the bound."""
    bounds: list[int] = []
    solver.set(poll_milliseconds=1, **options)
    outcome = solver.solve(lambda _seconds, _value, bound: bounds.append(bound))
    assert outcome.status == "optimal"
    assert outcome.value is not None
    return outcome.value, bounds, solver.statistics()["climbs"]


@pytest.mark.parametrize("goal", ["labels", "classes", "quantile", "squared"])
def test_bounds_rise_to_the_optimum(goal: str) -> None:
    climbed = 0.0
    for seed in range(4):
        rows = {"squared": 12, "quantile": 18}.get(goal) or Random(seed).choice((40, 60))
        options = {"depth": 4, "support": 1 + seed % 2, "leaves": 10**6 if seed < 3 else 9}
        wanted, _, none = solved(noisy(seed, rows, goal), climb=0, **options)
        slack = noisy(seed, rows, goal).slack if goal == "squared" else 0
        for improve in (0, 1):  # with better trees, a search may end before its bound is raised
            found, bounds, climbs = solved(noisy(seed, rows, goal), climb=1, improve=improve, **options)
            assert abs(found - wanted) <= slack
            assert bounds == sorted(bounds)
            assert all(bound <= wanted + slack for bound in bounds)
            climbed += climbs * (not improve)
        assert none == 0
    assert climbed > 0


def test_a_stopped_search_has_a_bound_above_zero() -> None:
    solver = noisy(1, 800, "labels")
    reached: list[int] = []

    def watch(_seconds: float, _value: int | None, bound: int) -> bool:
        reached.append(bound)
        return bound == 0  # stop as soon as there is a bound

    solver.set(depth=5, poll_milliseconds=1)
    outcome = solver.solve(watch)
    assert outcome.stop == "interrupted"
    assert outcome.value is not None
    assert 0 < outcome.bound <= outcome.value
