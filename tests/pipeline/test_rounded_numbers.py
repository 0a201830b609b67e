"""Bounds for numbers that were rounded: lower by the tolerance, but never below what no tree can be below."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import treeml as tml
from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, Status, Stop
from treeml.problem.tree import Leaf
from treeml.solving.choice import lower
from treeml.solving.pipeline import prepare
from treeml.solving.rounded_numbers import for_the_users_numbers


@pytest.mark.parametrize("goal", ["mse", "mean_absolute_error", "mse + 0.1 * leaves"])
def test_a_loss_has_no_negative_bound(goal: str) -> None:
    random = np.random.default_rng(0)
    dataset, request = prepare(
        f"predict y minimize {goal} require depth <= 1", random.random((50, 2)), random.random(50) * 1e6
    )
    assert dataset.rounding.targets
    problem = lower(dataset, request).form(numeric=True).problem

    def stated(bound: Fraction) -> Fraction:
        proof = (Evidence("row by row"),)
        answer = Answer(Status.FEASIBLE, Stop.TIME, Leaf(-1), bound=bound, evidence=proof)
        found = for_the_users_numbers(answer, dataset, Fraction(10), problem).bound
        assert found is not None
        return found

    assert stated(Fraction(1)) < 1
    assert stated(Fraction(0)) == 0


@pytest.mark.parametrize("goal", ["mse", "mean_absolute_error"])
def test_the_tolerance_of_a_mean_covers_the_rounding_whatever_the_rows_weigh(goal: str) -> None:
    random = np.random.default_rng(34)
    for _ in range(12):
        sides = np.array([0] * 7 + [1])  # the last row is far away, so that the others have many digits
        y = np.where(sides, 1e9, random.normal(size=8)).tolist()
        weights = (random.integers(1, 4, 8) * 1e-6).round(9).tolist()
        data = {"x": sides.tolist(), "y": y, "w": weights}
        model = tml.parse(f"predict y weight by w features x minimize {goal} require depth <= 1")
        result = model.solve(data)
        rows = [(Fraction(repr(number)), Fraction(repr(weight))) for number, weight in zip(y, weights, strict=True)]
        best = sum(_loss([rows[row] for row in np.flatnonzero(sides == side)], goal) for side in (0, 1))
        best /= sum(weight for _, weight in rows)
        assert "rounded" in result.notes[0]
        assert Fraction(result.bound) <= best
        assert abs(Fraction(result.objective) - best) <= Fraction(result.tolerance) * max(Fraction(1), best)


def _loss(rows: list[tuple[Fraction, Fraction]], goal: str) -> Fraction:
    """Of one leaf, with the numbers as they are given."""
    if not rows:
        return Fraction(0)
    if goal == "mse":
        total = sum((weight for _, weight in rows), Fraction(0))
        mean = sum((number * weight for number, weight in rows), Fraction(0)) / total
        return sum((weight * (number - mean) ** 2 for number, weight in rows), Fraction(0))
    return min(sum((w * abs(number - guess) for number, w in rows), Fraction(0)) for guess, _ in rows)


def test_the_report_says_that_the_value_is_that_of_rounded_numbers() -> None:
    random = np.random.default_rng(0)
    rows, numbers = random.random((50, 2)), random.random(50) * 1e6
    model = tml.parse("predict y minimize mse require depth <= 1")
    rounded = model.solve(rows, numbers)
    assert "rounded" in rounded.notes[0]
    (said,) = [line for line in str(rounded).splitlines() if line.startswith("verified")]
    assert "exactly" not in said
    assert f"rounded numbers, within {rounded.tolerance:.2g} (relative)" in said
    exact = model.solve(rows, numbers.round(3))
    assert "recomputed exactly from the rows" in str(exact)
