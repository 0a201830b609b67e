"""The estimators, as scikit-learn's own checks see them and as its users use them."""

from __future__ import annotations

import json
import pickle
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import treeml as tml
from treeml.sklearn import OptimalForestClassifier, OptimalTreeClassifier, OptimalTreeRegressor, TreeClusterer

ESTIMATORS = (OptimalTreeClassifier(), OptimalTreeRegressor(max_depth=2), TreeClusterer(), OptimalForestClassifier())


def _name(value: Any) -> str:
    return getattr(getattr(value, "func", value), "__name__", type(value).__name__)


CHECKS = [(estimator, check) for each in ESTIMATORS for estimator, check in estimator_checks_generator(each)]


@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=_name)
def test_the_checks_of_scikit_learn_pass(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.fixture(scope="module")
def people() -> tuple[pd.DataFrame, pd.Series]:
    chance = np.random.default_rng(5)
    rows = 120
    frame = pd.DataFrame(
        {
            "age": chance.integers(18, 70, rows),
            "sex": chance.choice(["F", "M"], rows),
            "member": chance.random(rows) < 0.5,
            "income": np.round(chance.normal(30, 8, rows), 1),
        }
    )
    high = (frame["income"] + 6 * (frame["sex"] == "M") + chance.normal(0, 3, rows)) > 33
    return frame, pd.Series(np.where(high, "high", "low"), name="class")


def test_the_tree_is_the_one_that_the_model_describes(people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = people
    fitted = OptimalTreeClassifier(max_depth=2, min_support=5).fit(X, y)
    model = tml.Model().predict("class").minimize(tml.error_rate)
    model.require(tml.depth <= 2).require(tml.support >= tml.rows(5))
    assert fitted.model_ == model
    assert fitted.objective_ == model.solve(X.assign(**{"class": y})).objective
    assert fitted.status_ == "optimal"
    assert fitted.is_optimal_
    assert fitted.gap_ == 0
    assert fitted.bound_ == fitted.objective_
    assert 1 - fitted.score(X, y) == pytest.approx(fitted.objective_)
    assert fitted.depth_ == fitted.get_depth() <= 2
    assert fitted.n_leaves_ == fitted.get_n_leaves() == len(fitted.tree_.leaves)
    assert list(fitted.feature_names_in_) == list(X.columns)
    assert list(fitted.classes_) == ["high", "low"]


def test_a_spec_does_what_keywords_do(people: tuple[pd.DataFrame, pd.Series], tmp_path: Any) -> None:
    X, y = people
    text = "param deep = 2\nminimize error_rate\nrequire depth <= deep"
    path = tmp_path / "small.tml"
    path.write_text(text)
    wanted = OptimalTreeClassifier(max_depth=2).fit(X, y).objective_
    for spec in (text, path, str(path), tml.parse(text)):
        assert OptimalTreeClassifier(spec=spec).fit(X, y).objective_ == wanted
    assert OptimalTreeClassifier(spec=text, params={"deep": 0}).fit(X, y).depth_ == 0


def test_a_spec_may_name_its_target_and_be_fitted_with_arrays_of_labels(people: Any) -> None:
    X, y = people
    spec = 'predict rich is "high"\nmaximize accuracy\nrequire depth <= 1\nrequire recall("high") >= 90%'
    fitted = OptimalTreeClassifier(spec=spec).fit(X, y.to_numpy())
    assert fitted.tree_.target == "rich"
    predicted = fitted.predict(X)
    assert np.mean(predicted[y == "high"] == "high") >= 0.9


def test_arguments_given_twice_are_refused(people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = people
    with pytest.raises(ValueError, match="leave out max_depth"):
        OptimalTreeClassifier(spec="minimize errors\nrequire depth <= 1", max_depth=2).fit(X, y)
    with pytest.raises(ValueError, match="give spec"):
        OptimalTreeClassifier(params={"price": 1}).fit(X, y)
    with pytest.raises(ValueError, match="holds the column 'age'"):
        OptimalTreeClassifier(spec="predict age\nminimize errors\nrequire depth <= 1").fit(X, y)
    with pytest.raises(ValueError, match="weighs rows by 'income'"):
        OptimalTreeClassifier(spec="minimize errors\nrequire depth <= 1\nweight by income").fit(X, y, np.ones(len(y)))


def test_fairness_holds_and_costs_accuracy(people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = people
    free = OptimalTreeClassifier(max_depth=2).fit(X, y)
    fair = OptimalTreeClassifier(max_depth=2, fairness={"parity_gap(sex)": 0.05}, positive="high", forbid="sex")
    fair.fit(X, y)
    rates = [np.mean(fair.predict(X[X.sex == sex]) == "high") for sex in "FM"]
    assert abs(rates[0] - rates[1]) <= 0.05 + 1e-9
    assert fair.objective_ >= free.objective_
    assert "sex" not in fair.tree_.columns
    with pytest.raises(ValueError, match="is not a measure"):
        OptimalTreeClassifier(fairness={"parity gap of sex": 0.1}, positive="high").fit(X, y)
    with pytest.raises(ValueError, match="is not one of the classes"):
        OptimalTreeClassifier(fairness={"parity_gap(sex)": 0.1}, positive="rich").fit(X, y)


def test_costs_as_a_dict_and_as_a_matrix_are_the_same(people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = people
    # Rows are actual, columns predicted: predicting low when it is high costs 7.
    by_matrix = OptimalTreeClassifier(max_depth=1, cost_matrix=[[0, 7], [1, 0]]).fit(X, y)
    costs = {("low", "high"): 7, ("high", "low"): 1}
    by_dict = OptimalTreeClassifier(max_depth=1, cost_matrix=costs).fit(X, y)
    assert by_matrix.objective_ == by_dict.objective_
    predicted = by_matrix.predict(X)
    cost = 7 * np.sum((predicted == "low") & (y == "high")) + np.sum((predicted == "high") & (y == "low"))
    assert by_matrix.objective_ == pytest.approx(cost / len(y))
    with pytest.raises(ValueError, match="square of that size"):
        OptimalTreeClassifier(cost_matrix=[[0, 1, 2]]).fit(X, y)
    with pytest.raises(ValueError, match="classes that y does not have"):
        OptimalTreeClassifier(cost_matrix={("rich", "high"): 1}).fit(X, y)


def test_balanced_weights_are_exact(people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = people
    fitted = OptimalTreeClassifier(max_depth=1, class_weight="balanced").fit(X, y)
    predicted = fitted.predict(X)
    recalls = [Fraction(int(np.sum((predicted == c) & (y == c))), int(np.sum(y == c))) for c in fitted.classes_]
    assert fitted.objective_ == float(1 - sum(recalls) / 2)
    given = OptimalTreeClassifier(max_depth=1, class_weight={"high": 3, "low": 1, "other": 5}).fit(X, y)
    assert 'weight class "high" = 3' in str(given.model_)
    with pytest.raises(ValueError, match="names 'hihg', and y has no such class; its classes are high, low"):
        OptimalTreeClassifier(max_depth=1, class_weight={"hihg": 3}).fit(X, y)


def test_no_leaf_weighs_less_than_its_share(people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = people
    weights = {"high": 4, "low": 0.5}
    share = 0.2
    fitted = OptimalTreeClassifier(max_depth=2, class_weight=weights, min_weight_fraction_leaf=share).fit(X, y)
    of_rows = y.map(weights).to_numpy()
    leaves = fitted.apply(X)
    lightest = min(of_rows[leaves == leaf].sum() for leaf in np.unique(leaves))
    assert lightest >= share * of_rows.sum()
    assert fitted.result_.measures["leaf_weight"] == pytest.approx(lightest)
    free = OptimalTreeClassifier(max_depth=2, class_weight=weights).fit(X, y)
    leaves = free.apply(X)
    assert min(of_rows[leaves == leaf].sum() for leaf in np.unique(leaves)) < share * of_rows.sum()
    assert fitted.objective_ > free.objective_
    assert OptimalTreeClassifier(min_weight_fraction_leaf=1).fit(X, y).n_leaves_ == 1


def test_a_weight_is_a_number_of_copies_and_zero_removes_the_row(people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = people
    weight = np.arange(len(y)) % 3
    repeated = np.repeat(np.arange(len(y)), weight)
    weighted = OptimalTreeClassifier(max_depth=2).fit(X, y, sample_weight=weight)
    plain = OptimalTreeClassifier(max_depth=2).fit(X.iloc[repeated], y.iloc[repeated])
    assert weighted.objective_ == plain.objective_
    with pytest.raises(ValueError, match="zero"):
        OptimalTreeClassifier().fit(X, y, sample_weight=np.zeros(len(y)))


def test_pandas_polars_and_arrow_frames_give_one_tree(people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = people
    frames = {"pandas": X, "polars": pl.from_pandas(X), "arrow": pl.from_pandas(X).to_arrow()}
    fitted = {name: OptimalTreeClassifier(max_depth=2).fit(frame, y) for name, frame in frames.items()}
    assert len({str(each.tree_) for each in fitted.values()}) == 1
    for name, frame in frames.items():
        assert (fitted["pandas"].predict(frame) == fitted[name].predict(X)).all()
        assert list(fitted[name].feature_names_in_) == list(X.columns)


def test_rows_to_predict_are_checked(people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = people
    fitted = OptimalTreeClassifier(max_depth=2).fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(X[["sex", "age", "member", "income"]])
    with pytest.warns(UserWarning, match="feature names"):
        assert (fitted.predict(X.to_numpy()) == fitted.predict(X)).all()
    with pytest.raises(NotFittedError):
        OptimalTreeClassifier().predict(X)
    with pytest.raises(NotFittedError):
        _ = OptimalTreeClassifier().objective_


def test_columns_named_by_numbers() -> None:
    X = pd.DataFrame([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0]])
    fitted = OptimalTreeClassifier(max_depth=1).fit(X, [0, 0, 1, 1])
    assert fitted.predict(X).tolist() == [0, 0, 1, 1]


def test_apply_and_decision_path_agree(people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = people
    fitted = OptimalTreeClassifier(max_depth=3).fit(X, y)
    leaves = fitted.apply(X)
    path = fitted.decision_path(X)
    assert path.shape == (len(X), 2 * fitted.n_leaves_ - 1)
    assert (path.toarray()[np.arange(len(X)), leaves] == 1).all()
    assert (path.toarray()[:, 0] == 1).all()
    lengths = path.toarray().sum(axis=1)
    assert lengths.max() == fitted.depth_ + 1
    for row in range(5):
        assert lengths[row] == len(fitted.tree_.decision_path(X.iloc[[row]]))


def test_probabilities_are_the_shares_of_leaves(people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = people
    fitted = OptimalTreeClassifier(max_depth=2).fit(X, y)
    shares, leaves = fitted.predict_proba(X), fitted.apply(X)
    assert np.allclose(shares.sum(axis=1), 1)
    for leaf in np.unique(leaves):
        assert np.allclose(shares[leaves == leaf, 0], np.mean(y[leaves == leaf] == "high"))


def test_missing_values_are_an_error_until_declared(people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = people
    X = X.copy()
    X.loc[3:20, "income"] = np.nan
    with pytest.raises(tml.DataError, match="income"):
        OptimalTreeClassifier(max_depth=2).fit(X, y)
    for missing in ("separate", "median"):
        fitted = OptimalTreeClassifier(max_depth=2, missing=missing).fit(X, y)
        assert len(fitted.predict(X)) == len(X)
        assert "income" in fitted.tree_.columns
    with pytest.raises(ValueError, match="missing is None"):
        OptimalTreeClassifier(missing="guess").fit(X, y)
    numbers = X[["age", "income"]].to_numpy()
    assert OptimalTreeClassifier(max_depth=2, missing="separate").fit(numbers, y).score(numbers, y) > 0.5


def test_grid_search_pipelines_and_cross_validation(people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = people
    search = GridSearchCV(OptimalTreeClassifier(), {"max_depth": [0, 1], "min_support": [1, 0.1]}, cv=3).fit(X, y)
    assert search.best_params_["max_depth"] == 1
    spec = "param price = 0.1 in 0 .. 1\nminimize error_rate + price * leaves\nrequire depth <= 1"
    search = GridSearchCV(OptimalTreeClassifier(spec=spec), {"params": [{"price": 0.9}, {"price": 0.001}]}, cv=3)
    assert search.fit(X, y).best_params_ == {"params": {"price": 0.001}}
    pipeline = make_pipeline(StandardScaler(), OptimalTreeClassifier(max_depth=1))
    assert cross_val_score(pipeline, X[["age", "income"]], y, cv=3).mean() > 0.5


def test_weights_are_routed(people: tuple[pd.DataFrame, pd.Series]) -> None:
    import sklearn

    X, y = people
    weight = np.where(y == "high", 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = OptimalTreeClassifier(max_depth=1).set_fit_request(sample_weight=True)
        asked.set_score_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asked)
        pipeline.fit(X[["age", "income"]], y, sample_weight=weight)
    direct = OptimalTreeClassifier(max_depth=1).fit(X[["age", "income"]], y, sample_weight=weight)
    assert pipeline[-1].objective_ == direct.objective_
    assert direct.objective_ != OptimalTreeClassifier(max_depth=1).fit(X[["age", "income"]], y).objective_
    with sklearn.config_context(enable_metadata_routing=True):
        asked = OptimalTreeClassifier().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(asked, {"max_depth": [0, 1]}, cv=2).fit(X[["age", "income"]], y, sample_weight=weight)
    assert search.best_estimator_.max_depth == 1


@pytest.mark.parametrize("labels", [[0, 1], [0.0, 1.0], [False, True], ["no", "yes"], [10, 30]])
def test_labels_come_back_as_they_went_in(labels: list[Any]) -> None:
    X = np.arange(12).reshape(6, 2)
    y = np.array(labels)[[0, 0, 0, 1, 1, 1]]
    fitted = OptimalTreeClassifier(max_depth=1).fit(X, y)
    predicted = fitted.predict(X)
    assert predicted.dtype == y.dtype
    assert (predicted == y).all()


def test_more_than_twenty_classes_are_classes() -> None:
    X = np.arange(25).reshape(-1, 1)
    fitted = OptimalTreeClassifier(max_depth=1).fit(X, np.arange(25))
    assert fitted.predict_proba(X).shape == (25, 25)


@pytest.mark.parametrize(
    "estimator",
    [
        OptimalTreeClassifier(max_depth=1, class_weight={"low": 2}, cost_matrix={("low", "high"): 2}),
        OptimalTreeClassifier(spec=tml.parse("param deep = 1\nminimize errors\nrequire depth <= deep")),
        OptimalTreeRegressor(max_depth=1, loss="absolute"),
        TreeClusterer(3, columns=["age", "income"]),
        OptimalForestClassifier(nu=0.3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_clone_pickle_and_json_keep_everything(estimator: Any, people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = people
    other: Any = OptimalTreeRegressor
    if isinstance(estimator, OptimalTreeRegressor):
        X, y, other = X.drop(columns="income"), X["income"], OptimalTreeClassifier
    fitted = clone(estimator).fit(X, y)
    text = json.dumps(fitted.to_json())
    for again in (pickle.loads(pickle.dumps(fitted)), type(fitted).from_json(text)):
        assert (again.predict(X) == fitted.predict(X)).all()
        assert again.result_.tree == fitted.result_.tree
        assert again.result_.forest == fitted.result_.forest
        assert again.model_ == fitted.model_
        assert again.objective_ == fitted.objective_
        assert again.status_ == fitted.status_
        assert list(again.feature_names_in_) == list(fitted.feature_names_in_)
        assert again.fit(X, y).objective_ == fitted.objective_
    with pytest.raises(ValueError, match="from_json"):
        other.from_json(text)
    with pytest.raises(ValueError, match="not an estimator"):
        type(fitted).from_json("{}")


def test_requirements_that_cannot_be_met_are_named(people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = people
    with pytest.raises(tml.InfeasibleError, match="errors"):
        OptimalTreeClassifier(spec="minimize depth\nrequire depth <= 1\nrequire errors <= 0").fit(X, y)


def test_mistakes_are_value_errors(people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = people
    for spec, kind in (
        ("maximise accuracy\nrequire depth <= 1", tml.SpecError),
        ("maximize accuracy\nrequire depth <= 1\nforbid split on nothing", tml.DataError),
    ):
        with pytest.raises(ValueError, match="error\\[") as caught:
            OptimalTreeClassifier(spec=spec).fit(X, y)
        assert isinstance(caught.value, kind)
        assert caught.value.diagnostics


def test_a_tree_without_a_proof_is_announced(people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = people
    with pytest.warns(ConvergenceWarning, match="not proved"):
        fitted = OptimalTreeClassifier(backend="cart").fit(X, y)
    assert not fitted.is_optimal_
    assert fitted.status_ == "feasible"


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (OptimalTreeClassifier(max_depth=1.5), "max_depth is a whole number"),
        (OptimalTreeClassifier(min_support=0), "min_support is a whole number"),
        (OptimalTreeClassifier(min_support=1.5), "share between 0 and 1"),
        (OptimalTreeClassifier(leaf_price=-1), "leaf_price is at least 0"),
        (OptimalTreeClassifier(max_leaves=0), "max_leaves is a whole number"),
        (OptimalTreeClassifier(min_weight_fraction_leaf=2), "min_weight_fraction_leaf is a share"),
        (OptimalTreeClassifier(class_weight="even"), "class_weight is None"),
        (OptimalTreeRegressor(loss="huber"), "loss is one of"),
        (OptimalTreeRegressor(loss="quantile", quantile=1), "quantile is between"),
        (TreeClusterer(distance="cosine"), "distance is squared or absolute"),
        (TreeClusterer(None), "give n_clusters or max_depth"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_in_fit(estimator: Any, message: str) -> None:
    X = np.arange(8.0).reshape(4, 2)
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, [0, 1, 0, 1])


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_losses_have_the_names_of_scikit_learn_too(loss: str) -> None:
    X, y = np.arange(8.0).reshape(4, 2), [0.1234567890123456, 1, 4, 9]
    ours, theirs = (OptimalTreeRegressor(loss=name, max_depth=1).fit(X, y) for name in (loss, f"{loss}_error"))
    assert str(ours.model_) == str(theirs.model_)
    assert ours.objective_ == theirs.objective_


def test_losses_have_their_constants() -> None:
    chance = np.random.default_rng(2)
    X = chance.integers(0, 4, (60, 2)).astype(float)
    y = np.round(X[:, 0] * 3 + chance.exponential(2, 60), 2)
    for loss, constant in (
        ("squared", np.mean),
        ("absolute", lambda part: np.quantile(part, 0.5, method="inverted_cdf")),
        ("quantile", lambda part: np.quantile(part, 0.9, method="inverted_cdf")),
    ):
        fitted = OptimalTreeRegressor(max_depth=1, loss=loss, quantile=0.9 if loss == "quantile" else 0.5).fit(X, y)
        leaves, predicted = fitted.apply(X), fitted.predict(X)
        for leaf in np.unique(leaves):
            assert predicted[leaves == leaf][0] == pytest.approx(constant(y[leaves == leaf]))
    squared = OptimalTreeRegressor(max_depth=1).fit(X, y)
    assert squared.objective_ == pytest.approx(np.mean((squared.predict(X) - y) ** 2))


@pytest.mark.parametrize("loss", ["squared", "absolute", "quantile"])
def test_numbers_of_sixteen_digits_are_rounded_and_noted(loss: str) -> None:
    chance = np.random.default_rng(2)
    X, y = chance.random((60, 2)), 1000 * chance.random(60)
    fitted = OptimalTreeRegressor(max_depth=1, loss=loss, leaf_price=0.001).fit(X, y, sample_weight=chance.random(60))
    assert [note for note in fitted.result_.notes if "rounded" in note]
    assert fitted.is_optimal_
    assert OptimalTreeRegressor(max_depth=1, loss=loss, leaf_price=10**6).fit(X, y).n_leaves_ == 1
    whole = OptimalTreeRegressor(max_depth=1, loss=loss).fit(X, np.round(y))
    assert not [note for note in whole.result_.notes if "rounded" in note]


def test_clusters_are_leaves(people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, _ = people
    fitted = TreeClusterer(3).fit(X)
    assert set(fitted.labels_) == {0, 1, 2}
    assert (fitted.predict(X) == fitted.labels_).all()
    assert fitted.cluster_centers_.shape == (3, 2)
    for label in range(3):
        assert np.allclose(fitted.cluster_centers_[label], X[["age", "income"]][fitted.labels_ == label].mean())
    with pytest.raises(ValueError, match="no column of numbers"):
        TreeClusterer().fit(X[["sex"]])


def test_a_forest_votes(people: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = people
    fitted = OptimalForestClassifier(nu=0.3).fit(X, y)
    assert fitted.is_optimal_
    assert fitted.depth_ == 1
    assert len(fitted.estimators_) == len(fitted.estimator_weights_) == fitted.apply(X).shape[1]
    assert fitted.estimator_weights_.sum() == pytest.approx(1)
    assert fitted.n_leaves_ == 2 * len(fitted.estimators_)
    assert fitted.score(X, y) > 0.7
    votes = sum(
        weight * (tree.predict(X) == "high")
        for tree, weight in zip(fitted.estimators_, fitted.estimator_weights_, strict=True)
    )
    assert np.allclose(fitted.predict_proba(X)[:, 0], votes)
    spec = "ensemble by hardmargin\nmaximize margin\nrequire depth <= 1"
    with pytest.raises(ValueError, match="OptimalForestClassifier fits it"):
        OptimalTreeClassifier(spec=spec).fit(X.assign(number=range(len(X))), y)
    with pytest.raises(ValueError, match="OptimalTreeClassifier fits it"):
        OptimalForestClassifier(spec="minimize errors\nrequire depth <= 1").fit(X, y)


def test_the_order_of_the_rows_of_an_array_does_not_matter() -> None:
    chance = np.random.default_rng(4)
    X, y = chance.integers(0, 3, (40, 3)).astype(float), chance.integers(0, 3, 40)
    other = chance.permutation(40)
    for estimator in (OptimalTreeClassifier(max_depth=2), OptimalForestClassifier(nu=0.5)):
        first, second = clone(estimator).fit(X, y), clone(estimator).fit(X[other], y[other])
        assert (first.predict_proba(X) == second.predict_proba(X)).all()
