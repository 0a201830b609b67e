"""Requirements that the rows alone rule out."""

from __future__ import annotations

import numpy as np
import pytest

import treeml as tml
from treeml.solving.failure import of_failure

X = np.array([[0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [1, 1]])
Y = np.array(["no", "yes", "yes", "no", "yes", "yes", "no"])


def solve(*requirements: object) -> tml.Result:
    model = tml.Model()
    model.minimize(tml.leaves)
    for requirement in requirements:
        model.require(requirement)
    return model.solve(X, Y, backend="oracle")


def test_two_rows_show_why_no_tree_is_perfect() -> None:
    result = solve(tml.errors == 0)
    assert result.status is tml.Status.INFEASIBLE
    assert result.conflict == ("errors = 0",)
    (diagnostic,) = of_failure(result)
    text = str(tml.InfeasibleError(diagnostic))
    assert diagnostic.code == "F602"
    assert "rows 1 and 2 agree on every feature, not on `y`" in text
    assert "5 rows cannot be told from rows of another class" in text
    assert "`require errors <= 2`" in text


@pytest.mark.parametrize(
    ("requirement", "possible"),
    [
        (tml.errors <= 1, False),
        (tml.errors <= 2, True),
        (tml.accuracy >= 0.72, False),
        (tml.accuracy >= 0.71, True),
        (tml.recall("no") >= 1, True),
    ],
)
def test_only_impossible_requirements_are_ruled_out(requirement: object, possible: bool) -> None:
    result = solve(requirement)
    assert (result.status is tml.Status.OPTIMAL) == possible
    assert (result.because is None) == possible


def test_a_value_that_no_prediction_reaches_is_explained_without_rows() -> None:
    model = tml.Model()
    model.minimize(tml.leaves)
    model.require(tml.count(predicted="yes") >= 100)
    result = model.solve(X[2:5], Y[2:5], backend="oracle")
    assert result.status is tml.Status.INFEASIBLE
    (diagnostic,) = of_failure(result)
    assert "at best it is 3, whatever is predicted" in str(tml.InfeasibleError(diagnostic))
