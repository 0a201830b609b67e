"""A search that is stopped returns the best tree that it reported, at whatever moment it is stopped."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from treeml.native.solver import Solver
from treeml.native.solver_input import Labels, Targets

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


@pytest.mark.parametrize("kind", ["two classes", "three classes", "numbers"])
def test_a_search_without_time_answers_with_a_split(kind: str) -> None:
    found = solver(kind, 0).solve(depth=3, seconds=0.0)
    assert found.stop == "time"
    assert len(found.test) >= 3
