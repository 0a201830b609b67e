"""Importances, the path of sizes, text and pictures under scikit-learn's names, SHAP, and missing values in X."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import permutation_importance
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree import export_text as sklearn_text

import treeml as tml
from treeml.sklearn import OptimalTreeClassifier, OptimalTreeRegressor, TreeClusterer, export_text, plot_tree
from treeml.trees import to_shap
from treeml.trees.nodes import Branch


def world(seed: int, rows: int = 60, columns: int = 4) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    X = random.integers(0, 3, (rows, columns))
    return X, np.where(random.random(rows) < 0.8, X[:, 0] > 1, random.random(rows) < 0.5).astype(int)


def brute_importances(tree: Any, X: Any, loss: Any) -> Any:
    """By routing the rows through the tree, node by node."""
    found = np.zeros(X.shape[1])

    def visit(node: Any, rows: Any) -> None:
        if not isinstance(node, Branch):
            return
        column = int(node.test.column[1:])
        yes = rows & (X[:, column] <= node.test.values[0] if node.test.kind == "at most" else X[:, column] == 1)
        found[column] += loss(rows) - loss(yes) - loss(rows & ~yes)
        visit(node.yes, yes)
        visit(node.no, rows & ~yes)

    visit(tree.root, np.ones(len(X), dtype=bool))
    return found / found.sum() if found.sum() else found


@pytest.mark.parametrize("seed", range(4))
def test_importances_are_the_exact_reduction_of_errors(seed: int) -> None:
    X, y = world(seed)
    weight = np.random.default_rng(seed).integers(1, 4, len(y))
    fitted = OptimalTreeClassifier(max_depth=3).fit(X, y, sample_weight=weight)
    brute = brute_importances(
        fitted.tree_, X, lambda rows: min(weight[rows & (y == 0)].sum(), weight[rows & (y == 1)].sum())
    )
    assert fitted.feature_importances_ == pytest.approx(brute)
    assert fitted.feature_importances_.sum() == pytest.approx(1)
    again = OptimalTreeClassifier.from_json(fitted.to_json())
    assert again.feature_importances_ == pytest.approx(brute)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_importances_of_numbers(loss: str) -> None:
    random = np.random.default_rng(3)
    X = random.integers(0, 4, (40, 3))
    y = X[:, 0] + 2.0 * (X[:, 1] > 1) + random.integers(0, 2, 40)
    fitted = OptimalTreeRegressor(max_depth=2, loss=loss).fit(X, y)

    def of(rows: Any) -> float:
        values = y[rows]
        if not len(values):
            return 0.0
        return float(
            ((values - values.mean()) ** 2).sum() if loss == "squared" else abs(values - np.median(values)).sum()
        )

    assert fitted.feature_importances_ == pytest.approx(brute_importances(fitted.tree_, X, of))
    assert OptimalTreeRegressor.from_json(fitted.to_json()).feature_importances_ == pytest.approx(
        fitted.feature_importances_
    )


def test_importances_by_costs_and_of_a_single_leaf() -> None:
    X, y = world(1)
    dear = OptimalTreeClassifier(max_depth=2, cost_matrix={(0, 1): 9, (1, 0): 1}).fit(X, y)
    brute = brute_importances(dear.tree_, X, lambda rows: min(9 * (rows & (y == 1)).sum(), 1 * (rows & (y == 0)).sum()))
    assert dear.feature_importances_ == pytest.approx(brute)
    assert OptimalTreeClassifier(max_depth=0).fit(X, y).feature_importances_.tolist() == [0, 0, 0, 0]
    assert not hasattr(TreeClusterer(max_depth=1).fit(X), "feature_importances_")


def test_permutation_importances_come_from_scikit_learn() -> None:
    X, y = world(2, rows=120)
    fitted = OptimalTreeClassifier(max_depth=2).fit(X, y)
    found = permutation_importance(fitted, X, y, n_repeats=5, random_state=0)
    assert found.importances_mean.argmax() == fitted.feature_importances_.argmax() == 0


def all_losses(X: Any, y: Any, depth: int) -> dict[int, int]:
    """Brute force: the fewest errors for every number of leaves, over all trees of a depth on columns of 0 and 1."""

    def best(rows: Any, depth: int) -> dict[int, int]:
        found = {1: int(min((y[rows] == 0).sum(), (y[rows] == 1).sum()))}
        if depth:
            for column in range(X.shape[1]):
                yes = X[:, column] == 1
                if (rows & yes).any() and (rows & ~yes).any():
                    sides = best(rows & yes, depth - 1), best(rows & ~yes, depth - 1)
                    for (left, a), (right, b) in product(sides[0].items(), sides[1].items()):
                        found[left + right] = min(found.get(left + right, len(y)), a + b)
        return found

    return best(np.ones(len(y), dtype=bool), depth)


@pytest.mark.parametrize("seed", range(3))
def test_the_path_is_the_exact_frontier_of_size_against_error(seed: int) -> None:
    random = np.random.default_rng(seed)
    X, y = random.integers(0, 2, (40, 4)), random.integers(0, 2, 40)
    estimator = OptimalTreeClassifier(max_depth=3)
    path = estimator.cost_complexity_pruning_path(X, y)
    brute = all_losses(X, y, 3)
    best = {leaves: min(loss for size, loss in brute.items() if size <= leaves) for leaves in brute}
    expected = [(leaves, loss / 40) for leaves, loss in sorted(best.items()) if loss < best.get(leaves - 1, 41)]
    assert np.array(path.frontier) == pytest.approx(np.array(expected))
    assert list(path.ccp_alphas) == sorted(path.ccp_alphas)
    assert list(path.n_leaves) == sorted(path.n_leaves, reverse=True)
    assert path.n_leaves[-1] == 1
    for alpha, upper, leaves, loss in zip(
        path.ccp_alphas, [*path.ccp_alphas[1:], 1.0], path.n_leaves, path.impurities, strict=True
    ):
        price = (alpha + upper) / 2
        assert min(other / 40 + price * size for size, other in brute.items()) == pytest.approx(loss + price * leaves)
    with pytest.raises(ValueError, match="not by a spec"):
        OptimalTreeClassifier(spec="minimize errors require depth <= 1").cost_complexity_pruning_path(X, y)


def test_text_in_the_layout_of_scikit_learn() -> None:
    X = np.array([[0.0, 5.0], [1.0, 4.0], [2.0, 3.0], [3.0, 2.0]])
    y = ["a", "a", "b", "b"]
    ours = export_text(OptimalTreeClassifier(max_depth=1).fit(X, y), feature_names=["first", "second"])
    theirs = sklearn_text(
        DecisionTreeClassifier(max_depth=1, random_state=1).fit(X, y), feature_names=["first", "second"]
    )
    assert [line.split()[0] for line in ours.splitlines()] == [line.split()[0] for line in theirs.splitlines()]
    assert [line for line in ours.splitlines() if "class" in line] in (
        [line for line in theirs.splitlines() if "class" in line],
        [line for line in theirs.splitlines() if "class" in line][::-1],
    )
    shown = export_text(
        OptimalTreeClassifier(max_depth=1).fit(X, y), class_names=["low", "high"], show_weights=True, decimals=1
    )
    assert "weights: [2.0, 0.0] class: low" in shown
    deep = OptimalTreeClassifier(max_depth=2).fit(*world(0))
    assert "truncated branch of depth 1" in export_text(deep, max_depth=0)
    assert "value: [" in export_text(OptimalTreeRegressor(max_depth=1).fit(X, [1.0, 2.0, 3.0, 4.0]))
    for wrong in ({"feature_names": ["one"]}, {"class_names": ["one"]}, {"spacing": 0}):
        with pytest.raises(ValueError, match=r"names|spacing"):
            export_text(OptimalTreeClassifier(max_depth=1).fit(X, y), **wrong)


def test_a_picture_on_axes() -> None:
    from matplotlib.figure import Figure

    X, y = world(0)
    axes = Figure(figsize=(4, 3)).add_subplot()
    texts = plot_tree(OptimalTreeClassifier(max_depth=2).fit(X, y), feature_names=list("abcd"), ax=axes)
    written = [text.get_text() for text in texts]
    assert {"a", "b", "c", "d"} & set(written)
    assert len(axes.patches) > 5


def test_missing_values_are_told_in_the_words_of_the_estimator() -> None:
    X = np.array([[1.0, 2.0], [np.nan, 1.0], [0.0, 3.0], [1.0, 1.0]])
    frame = pd.DataFrame(X, columns=["age", "x"])
    for given in (X, frame):
        with pytest.raises(ValueError, match=r"OptimalTreeClassifier\(missing='separate'\)") as raised:
            OptimalTreeClassifier(max_depth=1).fit(given, [0, 1, 0, 1])
        assert "1 value is missing" in str(raised.value)
        assert "column age" not in str(raised.value)
        OptimalTreeClassifier(max_depth=1, missing="separate").fit(given, [0, 1, 0, 1])
    fitted = OptimalTreeClassifier(max_depth=1).fit(np.nan_to_num(X), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="missing='median'"):
        fitted.predict(X)


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_shap_explains_our_trees(task: str) -> None:
    shap = pytest.importorskip("shap")
    random = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "age": random.integers(20, 80, 80),
            "sex": random.choice(["F", "M"], 80),
            "city": random.choice(list("abc"), 80),
        }
    )
    score = (frame.age > 50) * 2.0 + (frame.sex == "F") + (frame.city == "b") * random.integers(0, 2, 80)
    frame["y"] = score if task == "numbers" else np.where(score > 1, "high", "low")
    goal = "minimize mse" if task == "numbers" else "maximize accuracy"
    tree = tml.parse(f"predict y {goal} require depth <= 3").solve(frame).tree
    assert tree is not None
    model = to_shap(tree)
    explainer = shap.TreeExplainer(model)
    values = np.asarray(explainer.shap_values(model.matrix(frame)))
    wanted = tree.predict(frame) if task == "numbers" else tree.predict_proba(frame)
    summed = values.sum(axis=1) + np.asarray(explainer.expected_value)
    assert summed.reshape(np.shape(wanted)) == pytest.approx(wanted)
    unused = [place for place, name in enumerate(model.feature_names) if name.startswith("noise")]
    assert not unused


def test_the_form_for_shap_routes_as_the_tree_does() -> None:
    frame = pd.DataFrame({"age": [1, None, 3, 4, 9, None], "sex": list("FMFMFM"), "y": [0, 1, 0, 1, 1, 1]})
    spec = "predict y column age : integer, missing separate maximize accuracy require depth <= 3 require leaves >= 3"
    tree = tml.parse(spec).solve(frame).tree
    assert tree is not None
    model = to_shap(tree)
    flat = model["trees"][0]
    matrix = model.matrix(frame)
    assert matrix.shape == (6, len(model.feature_names))
    for row, shares in zip(matrix, tree.predict_proba(frame), strict=True):
        node = 0
        while flat["children_left"][node] >= 0:
            value = row[flat["features"][node]]
            side = "default" if np.isnan(value) else "left" if value <= flat["thresholds"][node] else "right"
            node = flat[f"children_{side}"][node]
        assert flat["values"][node] == pytest.approx(shares)
