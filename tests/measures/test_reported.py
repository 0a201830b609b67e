"""Measures that are only reported: their values are those of scikit-learn, on training rows and on unseen ones."""

from __future__ import annotations

from math import sqrt
from random import Random

import polars as pl
import pytest
from sklearn import metrics

import treeml as tml
from treeml.lang.diagnostic import SpecError

RANDOM = Random(5)
ROWS = 60
CLASSES = pl.DataFrame(
    {
        "a": [RANDOM.randint(0, 4) for _ in range(ROWS)],
        "b": [RANDOM.choice("uvw") for _ in range(ROWS)],
        "w": [RANDOM.choice([0.5, 1.0, 2.25]) for _ in range(ROWS)],
        "y": [RANDOM.choice(["n", "p", "p", "z"]) for _ in range(ROWS)],
    }
)
NUMBERS = CLASSES.with_columns(y=pl.Series([RANDOM.gauss(0, 3) for _ in range(ROWS)]).round(2))


def classified(weighted: bool = False) -> tml.Model:
    model = tml.Model().predict("y").features("a", "b").maximize(tml.accuracy).require(tml.depth <= 2)
    model.report("measures", tml.auc("p"), tml.log_loss, tml.gini, tml.kappa)
    return model.weight_by("w") if weighted else model


@pytest.mark.parametrize("weighted", [False, True])
def test_values_for_classes_are_those_of_scikit_learn(weighted: bool) -> None:
    result = classified(weighted).solve(CLASSES)
    weight = CLASSES["w"].to_numpy() if weighted else None
    shares, labels = result.tree.predict_proba(CLASSES), list(result.tree.classes)
    is_positive = (CLASSES["y"] == "p").to_numpy()
    score = shares[:, labels.index("p")]
    expected = {
        'auc("p")': metrics.roc_auc_score(is_positive, score, sample_weight=weight),
        "log_loss": metrics.log_loss(CLASSES["y"], shares, sample_weight=weight, labels=sorted(labels)),
        "kappa": metrics.cohen_kappa_score(CLASSES["y"], result.tree.predict(CLASSES), sample_weight=weight),
    }
    assert labels == sorted(labels)
    for name, value in expected.items():
        assert result.measures[name] == pytest.approx(value, abs=1e-9), name
    impurity = 1 - (shares**2).sum(axis=1)
    mean = impurity.mean() if weight is None else (impurity * weight).sum() / weight.sum()
    assert result.measures["gini"] == pytest.approx(mean, abs=1e-12)


def test_the_loss_of_predictions_counts_even_if_leaves_minimize_another_one() -> None:
    model = tml.Model().predict("y").features("a", "b").minimize(tml.absolute_loss).require(tml.depth <= 2)
    result = model.report("measures", tml.rmse, tml.mse, tml.r2, tml.mean_absolute_error).solve(NUMBERS)
    actual, predicted = NUMBERS["y"].to_numpy(), result.tree.predict(NUMBERS)
    squared = metrics.mean_squared_error(actual, predicted)
    assert result.measures["rmse"] == pytest.approx(sqrt(squared))
    assert result.measures["mse"] == pytest.approx(squared)
    assert result.measures["r2"] == pytest.approx(metrics.r2_score(actual, predicted))
    assert result.measures["mean_absolute_error"] == pytest.approx(metrics.mean_absolute_error(actual, predicted))


def test_unseen_rows_are_measured_with_what_the_leaves_learned() -> None:
    model = tml.Model().predict("y").features("a", "b").minimize(tml.squared_loss).require(tml.depth <= 2)
    model.report("measures", tml.rmse, tml.mse).validate("holdout", 0.3, seed=1)
    (part,) = model.solve(NUMBERS).validation.parts
    assert part.test["rmse"] == pytest.approx(sqrt(part.test["mean_squared_error"]))
    assert part.test["mse"] == pytest.approx(part.test["mean_squared_error"])
    assert part.test["rmse"] != pytest.approx(part.train["rmse"])


def test_an_undefined_value_is_left_out() -> None:
    alone = CLASSES.with_columns(y=pl.lit("p"))
    assert 'auc("p")' not in classified().solve(alone).measures


@pytest.mark.parametrize("goal", ['maximize auc("p")', "minimize rmse", "maximize kappa"])
def test_they_are_not_optimized(goal: str) -> None:
    with pytest.raises(SpecError) as caught:
        tml.parse(f"predict y\n{goal}\nrequire depth <= 2").solve(CLASSES)
    assert "T321" in {each.code for each in caught.value.diagnostics}


def test_text_and_python_say_the_same() -> None:
    text = "predict y\nfeatures a, b\nmaximize accuracy\nrequire depth <= 2\n"
    text += 'report measures, auc("p"), log_loss, gini, kappa'
    assert tml.parse(text) == classified()
