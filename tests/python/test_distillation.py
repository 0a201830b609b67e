"""Trees that mimic other models: faithful where they can be, and honest about it where they cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import treeml as tml


@pytest.fixture(scope="module")
def people() -> tuple[pd.DataFrame, Any]:
    chance = np.random.default_rng(1)
    X = pd.DataFrame({"age": chance.integers(18, 80, 150), "debt": chance.integers(0, 30, 150)})
    y = np.where(X["age"] - X["debt"] + chance.normal(0, 6, 150) > 35, "safe", "risky")
    return X, RandomForestClassifier(20, random_state=0).fit(X, y)


def test_labels_of_a_forest(people: Any) -> None:
    X, forest = people
    found = tml.distill(forest, X, max_depth=2)
    assert found.mimics == "labels"
    assert found.result.is_optimal
    assert found.fidelity == pytest.approx(1 - found.result.objective)
    assert found.fidelity == np.mean(found.predict(X) == forest.predict(X))
    assert tml.distill(forest, X, max_depth=3).fidelity >= found.fidelity
    assert found.unseen is None
    assert "fidelity" in str(found)


def test_probabilities_of_a_forest(people: Any) -> None:
    X, forest = people
    found = tml.distill(forest, X, mimic="probabilities", max_depth=2, unseen=X.iloc[:50])
    shares = found.predict_proba(X)
    assert shares.shape == (150, 2)
    assert np.allclose(shares.sum(axis=1), 1, atol=1e-5)
    leaf = found.tree.apply(X) == 0
    assert np.allclose(shares[leaf][0], forest.predict_proba(X)[leaf].mean(axis=0), atol=1e-5)
    assert set(found.predict(X)) <= {"safe", "risky"}
    assert found.unseen == np.mean(found.predict(X.iloc[:50]) == forest.predict(X.iloc[:50]))
    assert found.tree.outputs == ("risky", "safe")


def test_numbers_of_a_regressor(people: Any) -> None:
    X, _ = people
    regressor = RandomForestRegressor(10, random_state=0).fit(X, 3.0 * X["age"])
    found = tml.distill(regressor, X, max_depth=2)
    assert found.mimics == "numbers"
    assert 0.7 < found.fidelity <= 1


def test_a_function_is_recovered_from_sampled_inputs() -> None:
    def rule(rows: Any) -> Any:
        return np.where((rows["color"] == "red") & (rows["size"] >= 10), "big red", "other")

    inputs = {"size": (0, 20), "color": ["red", "green", "blue"], "noise": (0.0, 1.0)}
    found = tml.distill(rule, inputs=inputs, samples=300, max_depth=2)
    assert found.fidelity == found.unseen == 1
    assert set(found.tree.columns) == {"size", "color"}


def test_a_model_of_arrays_gets_arrays() -> None:
    class Threshold:
        def predict(self, X: Any) -> Any:
            assert isinstance(X, np.ndarray)
            return (X[:, 0] > 0.5).astype(int)

    found = tml.distill(Threshold(), inputs={"a": (0.0, 1.0), "b": (0, 3)}, samples=100, max_depth=1)
    assert found.fidelity == 1
    assert found.tree.columns == ("a",)
    assert tml.distill(Threshold(), np.random.default_rng(0).random((50, 2)), max_depth=1).fidelity == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs rows X, or inputs"),
        ({"inputs": {"a": (2, 1)}}, "is empty"),
        ({"inputs": {"a": "red"}}, "is sampled from"),
        ({"inputs": {"a": (0, 1)}, "mimic": "votes"}, "mimic is one of"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        tml.distill(lambda rows: rows, **arguments)


def test_a_model_without_probabilities_is_refused(people: Any) -> None:
    class Labels:
        def predict(self, X: Any) -> Any:
            return np.zeros(len(X), dtype=int)

    with pytest.raises(TypeError, match="mimic its labels"):
        tml.distill(Labels(), people[0], mimic="probabilities")
    with pytest.raises(TypeError, match="neither has `predict`"):
        tml.distill(3, people[0])


@pytest.mark.parametrize(
    ("answers", "mimic", "first"),
    [
        ([1.0, np.nan, 3.0, np.inf], None, "nan"),
        ([1.0, np.nan, 3.0, -np.inf], "labels", "nan"),
        ([0.25, np.nan, 0.5, np.nan], "probabilities", "[nan nan]"),
        (np.array(["a", None, "b", float("nan")], dtype=object), "labels", "None"),
    ],
)
def test_a_model_that_gives_no_answer(answers: Any, mimic: str | None, first: str) -> None:
    with pytest.raises(tml.DataError) as refused:
        tml.distill(lambda rows: np.asarray(answers), np.arange(8.0).reshape(4, 2), mimic=mimic)
    (said,) = refused.value.diagnostics
    assert said.code == "D479"
    assert said.title == "the model gives no answer that a tree could mimic for 2 of 4 rows"
    assert said.notes == (f"its answer for row 1 is {first}; such rows, counted from 0: 1, 3",)


def test_a_model_that_gives_no_answer_for_unseen_rows() -> None:
    seen = np.arange(8.0).reshape(4, 2)
    with pytest.raises(tml.DataError, match="for 1 of 2 rows"):
        tml.distill(
            lambda rows: np.where(rows[:, 0] > 8, np.nan, rows[:, 0]), seen, unseen=np.array([[1.0, 0.0], [9.0, 0.0]])
        )


def test_an_answer_outside_the_classes_is_refused() -> None:
    class Stray:
        classes_ = np.array(["a", "b"])

        def predict(self, X: Any) -> Any:
            return np.array(["a", "c"] * (len(X) // 2))

    with pytest.raises(ValueError, match="the model answers 'c', which is not one of its classes"):
        tml.distill(Stray(), np.arange(8.0).reshape(4, 2))
