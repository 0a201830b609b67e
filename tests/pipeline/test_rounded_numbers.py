"""Bounds for numbers that were rounded: lower by the tolerance, but never below what no tree can be below."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

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
