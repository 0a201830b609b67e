"""Tests made from one column of numbers: solved thresholds eliminate and bound the others, and the optimum stays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from treeml.native.solver import Found, Solver
from treeml.native.solver_input import Conditions, Labels, LeafCosts, Targets


def thresholds(seed: int, rows: int, columns: int, cuts: int) -> tuple[Any, list[int], Any]:
    """Bits and columns of the tests, and a class of each row that follows two of the columns with noise."""
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(columns, rows))
    label = ((numbers[0] > 0.3) ^ (numbers[-1] > 0) | (random.random(rows) < 0.2)).astype(np.int64)
    places = np.quantile(numbers, np.arange(1, cuts + 1) / (cuts + 1), axis=1).T
    bits = np.array([numbers[column] <= cut for column in range(columns) for cut in places[column]])
    return bits, [column for column in range(columns) for _ in range(cuts)], label


def errors(bits: Any, label: Any, rows: Any, depth: int) -> int:
    found = int(min(label[rows].sum(), len(rows) - label[rows].sum()))
    for test in bits if depth and found else ():
        yes, no = rows[test[rows]], rows[~test[rows]]
        if len(yes) and len(no):
            found = min(found, errors(bits, label, yes, depth - 1) + errors(bits, label, no, depth - 1))
    return found


def solved(bits: Any, columns: list[int], costs: LeafCosts, depth: int, **options: int) -> Found:
    return Solver(bits, costs, Conditions(columns=columns)).solve(depth=depth, options=options)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("general", [0, 1])
def test_the_optimum_over_all_trees(seed: int, general: int) -> None:
    bits, columns, label = thresholds(seed, 30, 1 + seed % 3, 4)
    for depth in (2, 3):
        best = errors(bits, label, np.arange(30), depth)
        for similarity in (0, 1):
            found = solved(bits, columns, Labels(label), depth, similarity=similarity, general=general)
            assert (found.status, found.value) == ("optimal", best)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("depth", [4, 5])
def test_deep_trees_have_the_same_value(seed: int, depth: int) -> None:
    bits, columns, label = thresholds(seed + 50, 90, 1 + seed % 2, 12)
    for costs in (Labels(label), Targets((label * 100 + np.arange(90) % 7)[:, None])):
        values = {solved(bits, columns, costs, depth, similarity=similarity).value for similarity in (0, 1)}
        assert len(values) == 1


@pytest.mark.parametrize("kind", ["classes", "squares"])
def test_thresholds_of_one_column_are_eliminated(kind: str) -> None:
    bits, columns, label = thresholds(3, 300, 1, 80)
    costs = Labels(label) if kind == "classes" else Targets((label * 100 + np.arange(300) % 7)[:, None])
    plain, bounded = (solved(bits, columns, costs, 4, similarity=similarity) for similarity in (0, 1))
    assert plain.value == bounded.value
    assert plain.statistics["skipped"] == 0
    assert bounded.statistics["skipped"] > 0
    assert 2 * bounded.statistics["splits"] < plain.statistics["splits"]
