"""Replacing parts of the best tree: every tree keeps the limits, and the optimum stays what it is."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from numeric_brute import assert_best, best, deep_case, value_of

from treeml.native.numeric import NumericSolver


@pytest.mark.parametrize("seed", range(8))
def test_the_optimum_stays(seed: int) -> None:
    random = Random(seed)
    for _ in range(20):
        case = deep_case(random)
        solver = case.solver()
        solver.set(climb=random.choice((0, 1, 256)), greedy=random.choice((0, 1)), deepen=random.choice((0, 200)))
        solver.set(first=random.choice((0, 1, 100)), seed=random.choice((0, 1, 2**63 - 1)))
        assert_best(case, solver, solver.solve())


@pytest.mark.parametrize("seed", range(4))
def test_trees_without_memory_keep_the_limits(seed: int) -> None:
    random = Random(100 + seed)
    for _ in range(40):
        case = deep_case(random)
        wanted, solver = best(case), case.solver()
        solver.set(climb=0, fail_allocation=random.randint(1, 2000))
        try:
            outcome = solver.solve()
        except MemoryError:
            continue
        if outcome.tree is None or wanted is None:
            assert outcome.status in ("infeasible", "unknown")
            continue
        assert value_of(case, outcome.tree) >= wanted
        assert outcome.bound <= wanted * solver.unit + solver.slack


def checkers(rows: int, goal: str) -> NumericSolver:
    """A board of four by four fields that greedy trees do not see, with noise."""
    random = np.random.default_rng(rows)
    values = random.random((4, rows))
    dark = (np.floor(4 * values[0]) + np.floor(4 * values[1])).astype(np.int64) % 2 ^ (random.random(rows) < 0.1)
    solver = NumericSolver(values)
    if goal == "labels":
        solver.labels(dark.astype(np.int32), 2)
    elif goal == "squared":
        solver.targets(10 * dark + random.integers(0, 4, rows))
    else:
        solver.quantile(10 * dark + random.integers(0, 4, rows), None, 1, 2)
    return solver


@pytest.mark.parametrize("goal", ["labels", "squared", "quantile"])
@pytest.mark.parametrize("limits", [{}, {"leaves": 11}, {"support": 20}, {"leaf_price": 3}])
def test_parts_are_replaced_by_better_ones(goal: str, limits: dict[str, int]) -> None:
    solver, calls = checkers(300, goal), 0

    def watch(_seconds: float, _value: int | None, _bound: int) -> bool:
        nonlocal calls
        calls += 1
        return calls < 60  # every call comes after a certain amount of work at least

    solver.set(depth=5, poll_milliseconds=1, climb=0, **limits)
    outcome = solver.solve(watch)
    assert outcome.tree is not None
    assert outcome.tree.column.count(-1) <= limits.get("leaves", 32)
    assert outcome.stop == "interrupted"
    assert solver.statistics()["replacements"] > 0
    # What a row of a loss costs in a leaf depends on the other rows there.
    assert (solver.statistics()["routes"] > 0) == (goal == "labels")


def test_the_same_data_give_the_same_tree() -> None:
    """Its efforts are amounts of work and not times."""
    found = []
    for _ in range(2):
        solver = checkers(150, "labels")
        solver.set(depth=4)
        found.append(solver.solve())
    assert found[0].tree == found[1].tree


def test_another_seed_replaces_other_parts() -> None:
    """Both end with the same value; how many replacements were better differs."""
    seen = set()
    for seed in range(6):
        solver = checkers(150, "labels")
        solver.set(depth=4, seed=seed)
        seen.add((solver.solve().value, solver.statistics()["replacements"]))
    assert len({value for value, _ in seen}) == 1
    assert len(seen) > 1


def test_the_first_split_comes_before_replaced_parts() -> None:
    solver = checkers(150, "labels")
    solver.set(depth=4, climb=0, first=2**30)
    found = solver.solve()
    assert found.status == "optimal"
    assert solver.statistics()["replacements"] == 0
