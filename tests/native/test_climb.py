"""The lower bound of a deep search over tests rises by targets, and is never above the optimum."""

from __future__ import annotations

import numpy as np
import pytest

from treeml.native.solver import Solver
from treeml.native.solver_input import Labels, LeafCosts, Targets


def noisy(seed: int, goal: str) -> tuple[np.ndarray, LeafCosts]:
    random = np.random.default_rng(seed)
    bits = (random.random((22, 700)) < 0.5).astype(np.uint8)
    labels = ((bits[3] & bits[7]) | bits[11]) ^ (random.random(700) < 0.3)
    if goal == "squared":
        return bits, Targets((labels * 10 + random.integers(0, 5, 700))[:, None], "squared")
    if goal == "three classes":
        return bits, Labels((labels + bits[5] * (random.random(700) < 0.5)).astype(np.int32), 3)
    return bits, Labels(labels, 2, random.integers(1, 50, 700) if goal == "weights" else None)


@pytest.mark.parametrize("more", [{}, {"threads": 2}, {"leaf_price": 3}, {"leaves": 10}], ids=str)
@pytest.mark.parametrize("goal", ["errors", "weights", "three classes", "squared"])
def test_bounds_rise_and_stay_below_the_optimum(goal: str, more: dict[str, int]) -> None:
    if goal in ("three classes", "squared") and "leaves" in more:
        pytest.skip("a limit on leaves is left to the general search here")
    bits, costs = noisy(1, goal)
    solver = Solver(bits, costs)
    best = solver.solve(depth=4, options={"climb": 0}, **more)
    bounds: list[float] = []

    def watch(_seconds: float, _value: object, bound: float | None) -> None:
        bounds.append(float(bound or 0))

    found = solver.solve(depth=4, options={"climb": 1, "poll_milliseconds": 1}, on_progress=watch, **more)
    assert found.status == best.status == "optimal"
    assert float(found.value) == pytest.approx(float(best.value))
    assert found.statistics["climbs"] > 0 or "threads" in more  # a second thread may end it before the first pause
    assert bounds == sorted(bounds)
    assert max(bounds) <= float(best.value) + 1e-9


def test_a_stopped_search_states_the_bound_of_its_targets() -> None:
    bits, costs = noisy(2, "errors")
    solver = Solver(bits, costs)
    best = solver.solve(depth=4)
    reached: list[float] = []

    def watch(_seconds: float, _value: object, bound: float | None) -> bool:
        reached.append(float(bound or 0))
        return not 0 < reached[-1] < float(best.value)  # ends the search as soon as a target is refuted

    found = solver.solve(depth=4, options={"climb": 1, "poll_milliseconds": 1}, on_progress=watch)
    assert (found.status, found.stop) == ("feasible", "interrupted")
    assert 0 < found.bound < best.value <= found.value


def test_enough_ends_a_search_that_pauses() -> None:
    bits, costs = noisy(3, "errors")
    solver = Solver(bits, costs)
    best = solver.solve(depth=4)
    found = solver.solve(depth=4, enough=best.value + 1, options={"climb": 1})
    assert found.value == best.value
