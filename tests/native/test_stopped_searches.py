"""A search that is stopped returns the best tree that it reported, at whatever moment it is stopped."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from threading import Thread
from typing import Any

import numpy as np
import pytest

from treeml.native.coupled import Coupled
from treeml.native.coupled_numeric import CoupledNumeric
from treeml.native.numeric import NumericSolver
from treeml.native.solver import Solver
from treeml.native.solver_input import CostOfRows, Labels, Targets

ROWS, TESTS = 2000, 40


def solver(kind: str, seed: int) -> Solver:
    random = np.random.default_rng(seed)
    bits = (random.random((TESTS, ROWS)) < 0.5).astype(np.uint8)
    target = (bits[0] & bits[1]) + (bits[2] & (1 - bits[3]))
    if kind == "numbers":
        return Solver(bits, Targets((100 * (target + random.normal(size=ROWS))).astype(np.int64)[:, None]))
    classes = 2 if kind == "two classes" else 3
    noise = random.random(ROWS) < 0.3
    return Solver(bits, Labels(np.where(noise, random.integers(0, classes, ROWS), target % classes).astype(np.int32)))


SETTINGS = ({"depth": 3}, {"depth": 4}, {"depth": 4, "threads": 2})
OF_CLASSES = (*SETTINGS, {"depth": 5, "leaves": 7}, {"depth": 4, "leaf_price": 5})
CASES = [(kind, each) for kind in ("two classes", "three classes") for each in OF_CLASSES]


@pytest.mark.parametrize(("kind", "settings"), [*CASES, *(("numbers", each) for each in SETTINGS)], ids=str)
def test_the_best_tree_is_kept(kind: str, settings: dict[str, Any]) -> None:
    stopped = 0
    for seed in range(3):
        searched = solver(kind, seed)
        for reports in (1, 2, 3, 5):
            values: list[Fraction] = []

            def told(_: float, value: Any, __: Any, values: list[Fraction] = values, reports: int = reports) -> bool:
                values.extend([] if value is None else [Fraction(value)])
                return len(values) < reports

            found = searched.solve(on_progress=told, **settings)
            assert found.value is not None
            assert found.value <= min(values) * (1 + Fraction(1, 10**9))
            stopped += found.stop != "proved"
    assert stopped


def test_the_best_of_the_splits_that_were_looked_at_is_kept() -> None:
    random = np.random.default_rng(3)
    bits = (random.random((6, 50)) < 0.5).astype(np.uint8)
    calls = 0

    def cost(sets: list[np.ndarray]) -> list[float]:
        nonlocal calls
        if len(sets) > 2:  # the sides of the first splits
            calls += 1
            searched.interrupt()
        return [min(np.count_nonzero(bits[2, rows]), np.count_nonzero(1 - bits[2, rows])) for rows in sets]

    searched = Solver(bits, CostOfRows(cost))
    found = searched.solve(depth=3)
    assert (found.status, found.stop, calls) == ("feasible", "interrupted", 1)
    assert found.value == 0
    assert list(found.test) == [2, -1, -1]


@pytest.mark.parametrize("kind", ["two classes", "three classes", "numbers"])
def test_a_search_without_time_answers_with_a_split(kind: str) -> None:
    found = solver(kind, 0).solve(depth=3, seconds=0.0)
    assert found.stop == "time"
    assert len(found.test) >= 3


def noise(columns: int, rows: int, levels: int) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    return random.integers(0, levels, (columns, rows)).astype(np.int32), random.integers(0, 2, rows)


def of_tests() -> tuple[Any, Callable[..., Any]]:
    codes, labels = noise(40, 400, 2)
    searched = Solver(codes.astype(np.uint8), Labels(labels))
    return searched, searched.solve


def of_numbers() -> tuple[Any, Callable[..., Any]]:
    codes, labels = noise(6, 600, 500)
    searched = NumericSolver(codes)
    searched.labels(labels, 2)

    def solve(depth: int, on_progress: Any = None, threads: int = 1) -> Any:
        searched.set(depth=depth, threads=threads)
        return searched.solve(on_progress)

    return searched, solve


def coupled(made: type, codes: Any, labels: Any) -> tuple[Any, Callable[..., Any]]:
    """As many errors in one half of the rows as in the other."""
    errors = (labels[:, None] != np.arange(2)).astype(np.int64)
    halves = np.where(np.arange(len(labels)) % 2, 1, -1)[:, None]
    searched = made(codes, np.stack([errors, errors * halves]))

    def solve(depth: int, **more: Any) -> Any:
        return searched.solve([0], [0], depth=depth, **more)

    return searched, solve


EVERY: dict[str, Callable[[], tuple[Any, Callable[..., Any]]]] = {
    "tests": of_tests,
    "numbers": of_numbers,
    "coupled tests": lambda: coupled(Coupled, *noise(40, 400, 2)),
    "coupled numbers": lambda: coupled(CoupledNumeric, *noise(6, 600, 500)),
}


@pytest.mark.parametrize("kind", EVERY)
def test_an_interrupt_that_comes_before_the_search_ends_it(kind: str) -> None:
    """Another thread cannot know whether the search has begun; what it asked for is over with that search."""
    searched, solve = EVERY[kind]()
    searched.interrupt()
    assert solve(depth=6).stop == "interrupted"
    assert solve(depth=1).stop == "proved"


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", EVERY)
def test_another_thread_may_interrupt(kind: str, threads: int) -> None:
    searched, solve = EVERY[kind]()
    others: list[Thread] = []

    def told(*_: Any) -> bool:
        if not others:
            others.append(Thread(target=searched.interrupt))
            others[0].start()
        return True

    found = solve(depth=6, on_progress=told, threads=threads)
    others[0].join()
    assert found.stop == "interrupted"
    assert found.status in ("feasible", "unknown")
