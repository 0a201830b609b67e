"""Relaxed splits: the lower bound of a deep tree is never above the optimum, reaches it, and comes with the tree."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from numeric_brute import Case, assert_best, best, deep_case, random_case

from treeml.native.numeric import NumericSolver

RELAXED: dict[str, Any] = {"leaves": 10**6, "fees": (), "groups": ()}


def relaxed_case(random: Random) -> Case:
    """Ties, duplicates, constant columns, weights, counts, several classes and every loss, at depth four or five."""
    return deep_case(random, price=0, **RELAXED)


def priced_case(random: Random) -> Case:
    """The same with a price per leaf, from next to nothing to more than a split can save, and often without a depth."""
    case = random_case(random, rows=10, columns=3)
    price = random.choice((1, 1, 2, 3)) * random.choice((1, 1, 5, 20, 1000))
    return replace(case, depth=random.choice((4, 5, 9, 10**6)), price=price, **RELAXED)


@pytest.mark.parametrize("seed", range(8))
def test_the_bound_reaches_the_optimum(seed: int) -> None:
    random, boxes = Random(seed), 0.0
    for _ in range(25):
        case = relaxed_case(random)
        solver, greedy = case.solver(), random.choice((0, 1))
        solver.set(climb=random.choice((1, 1 << 20)), greedy=greedy, deepen=0)
        outcome = solver.solve()
        assert_best(case, solver, outcome)
        boxes += solver.statistics()["boxes"]
    assert boxes > 0


@pytest.mark.parametrize("seed", range(6))
def test_trees_of_depth_three(seed: int) -> None:
    random, boxes = Random(500 + seed), 0.0
    for _ in range(40):
        limits = random.choice(({}, {"leaves": random.randint(4, 7)}, {"price": random.choice((1, 3, 20))}))
        case = replace(random_case(random, rows=14, columns=3), depth=3, **(RELAXED | limits))
        solver = case.solver()
        try:
            solver.set(climb=random.choice((1, 1 << 20)), brief=0, greedy=random.choice((0, 1)))
            outcome = solver.solve()
        except OverflowError:
            continue
        assert_best(case, solver, outcome)
        boxes += solver.statistics()["boxes"]
    assert boxes > 0


@pytest.mark.parametrize("seed", range(8))
def test_prices_of_leaves_are_part_of_the_bound(seed: int) -> None:
    random, boxes, trees = Random(200 + seed), 0.0, 0
    for _ in range(60):
        case = priced_case(random)
        solver, deepen = case.solver(), random.choice((0, 0, 200))
        solver.set(climb=random.choice((1, 1 << 20)), greedy=random.choice((0, 1)), deepen=deepen)
        try:
            outcome = solver.solve()
        except OverflowError:  # prices of all rows together beyond 2^59
            continue
        assert_best(case, solver, outcome)
        boxes += solver.statistics()["boxes"]
        trees += 1
    assert boxes > 0
    assert trees > 40


def limited_case(random: Random) -> Case:
    """Up to eight leaves on any number of levels, with and without a limit on these and on the rows of a leaf."""
    case = random_case(random, rows=11, columns=3)
    return replace(case, depth=random.choice((3, 4, 5, 10**6)), price=0, **(RELAXED | {"leaves": random.randint(4, 8)}))


@pytest.mark.parametrize("seed", range(8))
def test_few_leaves_are_divided_between_the_sides(seed: int) -> None:
    random, boxes = Random(300 + seed), 0.0
    for _ in range(60):
        case = limited_case(random)
        solver = case.solver()
        solver.set(climb=1 << 20, greedy=0, improve=0, deepen=200)  # the first trees are poor, so a bound can be wrong
        assert_best(case, solver, solver.solve())
        boxes += solver.statistics()["boxes"]
    assert boxes > 0


@pytest.mark.parametrize("seed", range(8))
def test_few_leaves_with_a_price(seed: int) -> None:
    random, boxes = Random(400 + seed), 0.0
    for _ in range(40):
        case = replace(limited_case(random), price=random.choice((1, 1, 2, 3, 5, 20)))
        solver = case.solver()
        solver.set(climb=1 << 20, greedy=0, improve=0, deepen=random.choice((0, 200)))
        assert_best(case, solver, solver.solve())
        boxes += solver.statistics()["boxes"]
    assert boxes > 0


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("leaves", [5, 6])
def test_targets_raise_the_bound_of_few_leaves(classes: int, leaves: int) -> None:
    alone, solver = noisy(60, 4, classes), noisy(60, 4, classes)
    alone.set(climb=0, depth=10**6, leaves=leaves)
    solver.set(climb=1 << 20, depth=10**6, leaves=leaves)
    bounds: list[int] = []
    outcome = solver.solve(lambda _seconds, _value, bound: bounds.append(bound))
    assert outcome.status == "optimal"
    assert outcome.value == alone.solve().value
    assert solver.statistics()["climbs"] > 1
    assert solver.statistics()["boxes"] > 0
    assert bounds == sorted(bounds)
    assert max(bounds) <= outcome.value
    assert max(bounds) > 0


@pytest.mark.parametrize("seed", range(6))
def test_no_bound_of_a_search_without_memory_is_too_high(seed: int) -> None:
    random = Random(100 + seed)
    for number in range(30):
        case = (limited_case, relaxed_case, priced_case)[number % 3](random)
        wanted, solver = best(case), case.solver()
        solver.set(climb=1 << 20, greedy=0, deepen=0, fail_allocation=random.randint(1, 400))
        try:
            outcome = solver.solve()
        except (MemoryError, OverflowError):
            continue
        if wanted is None:
            assert outcome.status in ("infeasible", "unknown")
        else:
            assert outcome.bound <= wanted * solver.unit + solver.slack
            assert outcome.status != "optimal" or outcome.bound >= wanted * solver.unit - solver.slack


def noisy(rows: int, columns: int = 5, classes: int = 2) -> NumericSolver:
    random = np.random.default_rng(rows)
    values = np.round(random.normal(size=(columns, rows)), 2)
    clean = (values[0] > 0) + (values[1] * values[2] > 0) * 1 + (values[3] > 0.5)
    noise = random.integers(0, classes, rows)
    solver = NumericSolver(values)
    solver.labels(np.where(random.random(rows) < 0.3, noise, clean % classes).astype(np.int32), classes)
    solver.set(depth=4, poll_milliseconds=1, deepen=0)
    return solver


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_targets_raise_the_bound_step_by_step(classes: int) -> None:
    solver = noisy(250, classes=classes)
    bounds: list[int] = []
    solver.set(climb=1 << 20)
    outcome = solver.solve(lambda _seconds, _value, bound: bounds.append(bound))
    assert outcome.status == "optimal"
    assert bounds == sorted(bounds)
    assert outcome.value is not None
    assert max(bounds) <= outcome.value == outcome.bound
    assert solver.statistics()["climbs"] > 3
    alone = noisy(250, classes=classes)
    alone.set(climb=0)
    assert alone.solve().value == outcome.value
    assert alone.statistics()["boxes"] == 0


def test_a_stopped_search_keeps_what_was_proved() -> None:
    solver = noisy(600)
    solver.set(climb=1 << 20)
    outcome = solver.solve(lambda _seconds, _value, bound: bound < 8)
    assert outcome.status == "feasible"
    assert outcome.value is not None
    assert 8 <= outcome.bound <= outcome.value
    full = noisy(600)
    full.set(climb=1 << 20)
    best_value = full.solve().value
    assert best_value is not None
    assert outcome.bound <= best_value


def test_small_memory_gives_the_same_answer() -> None:
    """The table of boxes stops growing, older entries give way, and the answer stays."""
    wanted = noisy(200)
    wanted.set(climb=1 << 20)
    found = noisy(200)
    found.set(climb=1 << 20, memory=1 << 21)
    first, second = wanted.solve(), found.solve()
    assert (first.status, first.value) == (second.status, second.value) == ("optimal", first.value)
