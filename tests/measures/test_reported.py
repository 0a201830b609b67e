"""Measures that are only reported: their values are those of scikit-learn, on training rows and on unseen ones."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan, sqrt
from pathlib import Path
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
    model.report("measures", tml.auc("p"), tml.log_loss, tml.gini, tml.kappa, tml.brier)
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
        "brier": metrics.brier_score_loss(CLASSES["y"], shares, sample_weight=weight, labels=labels),
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
    validation = model.solve(NUMBERS).validation
    (part,) = validation.parts
    assert part.test["rmse"] == pytest.approx(sqrt(part.test["mean_squared_error"]))
    assert part.test["mse"] == pytest.approx(part.test["mean_squared_error"])
    assert part.test["rmse"] != pytest.approx(part.train["rmse"])
    assert "mse" in validation.text()
    assert "mean_squared_error" not in validation.text()


def test_the_squared_error_is_shown_without_being_reported() -> None:
    model = tml.Model().predict("y").features("a", "b").minimize(tml.mse).require(tml.depth <= 2)
    assert "mean_squared_error" in model.validate("holdout", 0.3, seed=1).solve(NUMBERS).validation.text()


TEXT = 'predict {}\nfeatures a\n{}\nrequire depth <= 1\nreport measures, {}\nvalidate on "test.csv"\n'


def unseen(tmp_path: Path, train: pl.DataFrame, test: pl.DataFrame, text: str) -> tuple[tml.Tree, Mapping[str, float]]:
    """The tree for some rows, and its measures on others."""
    (tmp_path / "spec.tml").write_text(text)
    test.write_csv(tmp_path / "test.csv")
    result = tml.load(tmp_path / "spec.tml").solve(train)
    assert result.tree is not None
    assert result.validation is not None
    return result.tree, result.validation.parts[0].test


def test_classes_that_a_leaf_never_saw_cost_as_much_as_in_scikit_learn(tmp_path: Path) -> None:
    train = pl.DataFrame({"a": [0, 0, 1, 1], "y": ["n", "n", "p", "p"]})
    test = pl.DataFrame({"a": [0, 1, 1], "y": ["n", "n", "p"]})
    tree, found = unseen(tmp_path, train, test, TEXT.format("y", "minimize errors", "log_loss, brier"))
    shares = tree.predict_proba(test)
    assert found["log_loss"] == pytest.approx(metrics.log_loss(test["y"], shares))
    assert found["brier"] == pytest.approx(metrics.brier_score_loss(test["y"], shares[:, 1], pos_label="p"))


@pytest.mark.parametrize(("value", "r2"), [(1.5, 1.0), (4.0, 0.0)])
def test_r2_of_rows_without_variance_is_that_of_scikit_learn(tmp_path: Path, value: float, r2: float) -> None:
    train = pl.DataFrame({"a": [0, 0, 1, 1], "x": [1.0, 2.0, 3.0, 5.0]})
    test = pl.DataFrame({"a": [0, 0], "x": [value, value]})
    tree, found = unseen(tmp_path, train, test, TEXT.format("x", "minimize mse", "r2"))
    assert found["r2"] == r2 == metrics.r2_score(test["x"], tree.predict(test))


def test_other_rows_may_lack_classes_that_the_spec_names(tmp_path: Path) -> None:
    train = pl.DataFrame({"a": [0, 0, 1, 1, 2], "g": list("uvuvv"), "y": ["0", "0", "1", "1", "x"]})
    test = pl.DataFrame({"a": [0, 1, 1], "g": list("uuv"), "y": [0, 1, 0]})
    measures = 'recall("x"), specificity("x"), mistake_cost, parity_gap(g)'
    text = TEXT.format('y is "x"', 'minimize errors\nweight class "x" = 2\ncost predict "1" when "0" = 7', measures)
    _, found = unseen(tmp_path, train, test, text)
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert isnan(found['recall("x")'])
    assert found['specificity("x")'] == 1
    assert found["mistake_cost"] == 7
    assert found["parity_gap(g)"] == 0


def test_an_undefined_value_is_left_out() -> None:
    alone = CLASSES.with_columns(y=pl.lit("p"))
    assert 'auc("p")' not in classified().solve(alone).measures


def test_measures_that_a_report_names_are_printed_with_or_without_the_others() -> None:
    text = 'predict y\nfeatures a\nmaximize accuracy\nrequire depth <= {}\nreport tree, kappa, precision("z")'
    printed = str(tml.parse(text.format(0)).solve(CLASSES))
    assert printed.endswith('kappa           0\nprecision("z")  undefined')
    assert "error_rate" not in printed
    full = str(tml.parse(text.format(0) + ", measures").solve(CLASSES))
    assert "error_rate" in full
    assert full.count("kappa") == 1
    assert full.endswith("undefined")


@pytest.mark.parametrize("goal", ['maximize auc("p")', "minimize rmse", "maximize kappa"])
def test_they_are_not_optimized(goal: str) -> None:
    with pytest.raises(SpecError) as caught:
        tml.parse(f"predict y\n{goal}\nrequire depth <= 2").solve(CLASSES)
    assert "T321" in {each.code for each in caught.value.diagnostics}


def test_text_and_python_say_the_same() -> None:
    text = "predict y\nfeatures a, b\nmaximize accuracy\nrequire depth <= 2\n"
    text += 'report measures, auc("p"), log_loss, gini, kappa, brier'
    assert tml.parse(text) == classified()
