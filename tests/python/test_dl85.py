"""The interface of DL8.5: the same errors as the library where it is installed, and as brute force everywhere."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from treeml.dl85 import DL85Classifier, DL85Predictor
from treeml.sklearn import OptimalTreeClassifier


@pytest.fixture(scope="module")
def data() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    chance = np.random.default_rng(3)
    X = chance.integers(0, 2, (60, 6))
    y = np.where(chance.random(60) < 0.15, 1, 0) ^ (X[:, 0] & X[:, 1]) ^ X[:, 2]
    return X, y


def test_the_default_error_is_that_of_the_most_accurate_tree(data: Any) -> None:
    X, y = data
    for depth, support in itertools.product((1, 2, 3), (1, 5)):
        found = DL85Classifier(max_depth=depth, min_sup=support).fit(X, y)
        best = OptimalTreeClassifier(max_depth=depth, min_support=support, leaf_price=0).fit(X, y)
        assert found.error_ == pytest.approx(best.objective_ * len(y))
        assert found.accuracy_ == pytest.approx(1 - found.error_ / len(y))
        assert found.depth_ <= depth
        assert found.size_ == 2 * len(found.leaf_values_) - 1
        assert np.bincount(found.model_tree_.apply(X)).min() >= support


def test_the_library_itself_finds_the_same_errors(data: Any) -> None:
    X, y = data
    try:
        from pydl85 import DL85Classifier as Theirs
    except ImportError:
        known = {1: 17.0, 2: 12.0}  # what version 0.1.8 finds
        theirs = known.__getitem__
    else:

        def theirs(depth: int) -> float:
            return float(Theirs(max_depth=depth).fit(X, y).error_)

    for depth in (1, 2):
        assert DL85Classifier(max_depth=depth).fit(X, y).error_ == theirs(depth)


def test_error_functions_of_ones_own(data: Any) -> None:
    X, y = data

    def by_rows(rows: list[int]) -> tuple[float, int]:
        counts = np.bincount(y[list(rows)], minlength=2)
        return float(min(counts[0] * 3, counts[1])), int(counts[0] * 3 < counts[1])

    def by_counts(counts: list[int]) -> tuple[float, int]:
        return float(min(counts[0] * 3, counts[1])), int(counts[0] * 3 < counts[1])

    slow = DL85Classifier(max_depth=2, error_function=by_rows).fit(X, y)
    fast = DL85Classifier(max_depth=2, fast_error_function=by_counts).fit(X, y)
    costs = OptimalTreeClassifier(max_depth=2, leaf_price=0, cost_matrix=[[0, 3], [1, 0]]).fit(X, y)
    assert slow.error_ == fast.error_ == pytest.approx(costs.objective_ * len(y))
    predicted = slow.predict(X)
    assert slow.error_ == np.sum((predicted == 1) & (y == 0)) * 3 + np.sum((predicted == 0) & (y == 1))


def test_a_predictor_has_values_of_its_own(data: Any) -> None:
    X, _ = data
    target = X.sum(axis=1) + X[:, 4] * 3.0

    def error(rows: list[int]) -> float:
        return float(((target[rows] - target[rows].mean()) ** 2).sum())

    def value(rows: list[int]) -> float:
        return float(target[rows].mean())

    found = DL85Predictor(max_depth=1, min_sup=2, error_function=error, leaf_value_function=value).fit(X)
    wanted = min(error(np.flatnonzero(X[:, c] == 0)) + error(np.flatnonzero(X[:, c] == 1)) for c in range(6))
    assert found.error_ == pytest.approx(wanted)
    assert set(found.predict(X)) == {value(np.flatnonzero(X[:, found.tree_["feat"]] == side)) for side in (0, 1)}
    with pytest.raises(ValueError, match="needs an error_function"):
        DL85Predictor().fit(X)
    assert set(DL85Predictor(error_function=error).fit(X).predict(X)) == {0, 1}


def test_the_tree_reads_as_theirs(data: Any) -> None:
    X, y = data
    found = DL85Classifier(max_depth=2).fit(X, y)
    total = 0.0
    for row, predicted in zip(X, found.predict(X), strict=True):
        node = found.tree_
        while "feat" in node:
            node = node["right"] if row[node["feat"]] == 1 else node["left"]
        assert node["value"] == predicted
    todo = [found.tree_]
    while todo:
        node = todo.pop()
        todo += [node[side] for side in ("left", "right") if side in node]
        total += node.get("error", 0.0)
    assert total == found.error_
    assert found.export_graphviz().startswith("digraph")


def test_max_error_is_strict_and_may_stop_early(data: Any) -> None:
    X, y = data
    best = DL85Classifier(max_depth=2).fit(X, y).error_
    assert DL85Classifier(max_depth=2, max_error=best + 1).fit(X, y).error_ == best
    none = DL85Classifier(max_depth=2, max_error=best).fit(X, y)
    assert none.tree_ is None
    assert none.size_ == 0
    with pytest.raises(ValueError, match="better than max_error"):
        none.predict(X)
    with pytest.raises(ValueError, match="better than max_error"):
        none.export_graphviz()
    early = DL85Classifier(max_depth=3, max_error=best + 5, stop_after_better=True).fit(X, y)
    assert early.error_ < best + 5


def test_limits_and_foreign_options(data: Any) -> None:
    X, y = data
    assert not DL85Classifier(max_depth=2, time_limit=60).fit(X, y).timeout_
    with pytest.warns(UserWarning, match="desc: of another solver"):
        DL85Classifier(desc=True).fit(X, y)


def test_it_is_an_estimator(data: Any) -> None:
    X, y = data
    assert cross_val_score(DL85Classifier(max_depth=2), X, y, cv=3).mean() > 0.5
    assert clone(DL85Classifier(max_depth=2)).max_depth == 2
    labels = np.array(["no", "yes"])[y]
    assert set(DL85Classifier(max_depth=1).fit(X, labels).predict(X)) <= {"no", "yes"}


def test_numbers_are_cut_where_it_helps() -> None:
    X, y = np.arange(10.0).reshape(-1, 1), np.arange(10) > 3
    found = DL85Classifier().fit(X, y)
    assert found.error_ == 0
    assert found.tree_["threshold"] == pytest.approx(3, abs=1)
    assert (found.predict(X) == y).all()
