"""The least sum that predictions may have: never above the sum of any labels that keep the limits."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest

from treeml.problem import least_sums
from treeml.problem.least_sums import least_sum
from treeml.problem.problem import Bound
from treeml.problem.terms import Predicted
from treeml.testing.problems import single


def sums(cost: np.ndarray, classes: int) -> list[int]:
    """The sums of all labels of all rows."""
    rows = range(len(cost))
    return [
        sum(int(cost[row, label]) for row, label in zip(rows, labels, strict=True))
        for labels in product(range(classes), repeat=len(cost))
    ]


def holds(bound: Bound, value: Fraction) -> bool:
    return {"<=": value <= bound.limit, ">=": value >= bound.limit, "=": value == bound.limit}[bound.sense]


@pytest.mark.parametrize("seed", range(300))
def test_no_labels_that_keep_the_limits_are_below(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    if seed % 3 == 0:  # as if there were many rows
        monkeypatch.setattr(least_sums, "MOST_LOOKED_AT", 2)
        monkeypatch.setattr(least_sums, "MOST_ENTRIES", 10)
    rows, classes = random.randint(1, 5), random.randint(2, 3)

    def matrix() -> np.ndarray:
        return np.array([[random.randint(-3, 3) for _ in range(classes)] for _ in range(rows)])

    cost, bounds = matrix(), []
    for _ in range(random.randint(0, 2)):
        total = single(Predicted(matrix(), Fraction(1, random.randint(1, 3))), random.choice((-2, -1, 1, 2)))
        bounds.append(Bound(total, random.choice(("<=", ">=", "=")), Fraction(random.randint(-6, 6), 3)))
    every = sums(cost, classes)
    allowed = [True] * len(every)
    for bound in bounds:
        ((factor, term),) = bound.sum.parts
        values = [factor * term.scale * each for each in sums(term.cost, classes)]
        allowed = [fits and holds(bound, value) for fits, value in zip(allowed, values, strict=True)]
    least = least_sum(cost, bounds)
    assert least >= min(every)
    assert all(least <= value for value, fits in zip(every, allowed, strict=True) if fits)


def test_a_limit_raises_the_least_sum() -> None:
    """At least three of four positive rows are found, so at least three rows are predicted positive."""
    positive = np.array([[0, 1]] * 4 + [[0, 0]] * 3)
    found = Bound(single(Predicted(positive)), ">=", Fraction(3), "recall")
    predicted = np.array([[0, 1]] * 7)
    assert least_sum(predicted, ()) == 0
    assert least_sum(predicted, (found,)) == 3
