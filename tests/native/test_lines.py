"""Linear models of leaves in C: against least squares in numpy, for one leaf and over all trees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from treeml.data.linear import LinearColumns, fitted
from treeml.native.solver import Solver
from treeml.native.solver_input import Conditions, Lines

WORLDS = ("plain", "ridge", "weighted", "dependent", "constant", "few rows", "far from zero", "weightless")


def columns_of(kind: str, seed: int, is_simple: bool = False) -> LinearColumns:
    random = np.random.default_rng(seed)
    rows = 3 if kind == "few rows" else 30
    values = random.normal(size=(rows, 4))
    if kind == "dependent":
        values[:, 3] = 2 * values[:, 0] - values[:, 1]
        values[:, 2] = values[:, 0]
    if kind == "constant":
        values[:, 1] = 7.0
    if kind == "far from zero":
        values += np.array([1e6, -1e5, 3e4, 0])
    weight = random.integers(0, 4, rows).astype(float) if kind == "weighted" else np.ones(rows)
    if kind == "weightless":
        weight[:] = 0
    target = values @ np.array([1.0, -2.0, 0.5, 0.0]) + random.normal(size=rows)
    return LinearColumns.of(("a", "b", "c", "d"), values, target, weight, 0.3 if kind == "ridge" else 0.0, is_simple)


def lines_of(columns: LinearColumns) -> Lines:
    simple = columns.is_simple
    return Lines(columns.values, columns.target, columns.weight, columns.ridge, simple, columns.spread)


@pytest.mark.parametrize("is_simple", [False, True])
@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("seed", range(5))
def test_one_leaf(kind: str, seed: int, is_simple: bool) -> None:
    columns = columns_of(kind, seed, is_simple)
    rows = len(columns.target)
    found = Solver(np.zeros((1, rows), dtype=np.uint8), lines_of(columns)).solve(depth=0)
    squares = float(((columns.target - columns.target.mean()) ** 2).sum())
    assert float(found.value) == pytest.approx(fitted(columns, np.arange(rows)).loss, abs=1e-10 * squares)


def least(bits: Any, columns: LinearColumns, rows: Any, depth: int, support: int) -> float:
    best = fitted(columns, rows).loss if len(rows) >= support else np.inf
    for test in bits if depth else ():
        yes, no = rows[test[rows]], rows[~test[rows]]
        if len(yes) >= support and len(no) >= support:
            best = min(best, sum(least(bits, columns, side, depth - 1, support) for side in (yes, no)))
    return best


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("seed", range(5))
def test_a_simple_model_is_the_best_of_those_of_one_column(kind: str, seed: int) -> None:
    simple = columns_of(kind, seed, True)
    rows = np.arange(len(simple.target))
    found = fitted(simple, rows)
    alone = [
        fitted(replace(simple, values=simple.values[:, [place]], spread=simple.spread[[place]], is_simple=False), rows)
        for place in range(4)
    ]
    best = min(range(4), key=lambda place: alone[place].loss)
    assert found.loss == pytest.approx(alone[best].loss, rel=1e-9, abs=1e-9)
    assert sum(slope != 0 for slope in found.slopes) <= 1


@pytest.mark.parametrize("is_simple", [False, True])
@pytest.mark.parametrize("kind", ["plain", "ridge", "weighted", "dependent", "constant"])
@pytest.mark.parametrize("seed", range(3))
def test_the_least_squares_over_all_trees(kind: str, seed: int, is_simple: bool) -> None:
    columns = columns_of(kind, seed + 10, is_simple)
    bits = np.random.default_rng(seed).random((5, 30)) < 0.5
    for depth in (1, 2, 3):
        found = Solver(bits, lines_of(columns), Conditions()).solve(depth=depth, support=4)
        assert found.status == "optimal"
        assert float(found.value) == pytest.approx(least(bits, columns, np.arange(30), depth, 4), abs=1e-7)


@pytest.mark.parametrize(
    ("values", "ridge", "words"),
    [
        (np.ones((2, 1)), -1.0, "ridge that is not negative"),
        (np.ones((2, 1)), float("nan"), "ridge that is not negative"),
        (np.ones((2, 0)), 0.0, "1 to 1024 columns"),
        (np.array([[1.0], [np.inf]]), 0.0, "finite"),
    ],
)
def test_what_is_refused(values: Any, ridge: float, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Solver(np.array([[0, 1]], dtype=np.uint8), Lines(values, [1.0, 2.0], [1.0, 1.0], ridge))
