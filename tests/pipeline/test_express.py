"""The express way answers what the general way answers."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import treeml as tml
from treeml.lang.diagnostic import BackendError
from treeml.measures.cuts import between, cut_between
from treeml.native.matrix import MatrixAnswer, MatrixSolver
from treeml.solving.express_result import ExpressResult
from treeml.solving.options import RunOptions
from treeml.solving.pipeline import prepare
from treeml.solving.result import Result
from treeml.solving.verify import Verification, verify

TIMES = {"seconds", "build_seconds", "statistics", "trace"}


def model(depth: int = 2, accuracy: bool = False) -> tml.Model:
    asked = tml.Model().predict("y")
    return (asked.maximize(tml.accuracy) if accuracy else asked.minimize(tml.errors)).require(tml.depth <= depth)


def general(asked: tml.Model, X: Any, y: Any, **options: Any) -> Result:
    """The result by the general way: a caller who listens takes it."""
    result = asked.solve(X, y, on_progress=lambda _: None, **options)
    assert type(result) is Result
    return result


def some_rows(rows: int, columns: int, seed: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    random = np.random.default_rng(seed)
    return random.normal(size=(rows, columns)), random.integers(0, 2, rows)


def random_table(seed: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    random = np.random.default_rng(seed)
    rows, columns = int(random.integers(2, 120)), int(random.integers(1, 6))
    kinds = [
        lambda: random.normal(size=rows),
        lambda: np.round(random.normal(size=rows), 1),
        lambda: random.integers(-20, 20, rows).astype(float),
        lambda: random.integers(0, 2, rows).astype(float),
        lambda: np.full(rows, float(random.integers(0, 3))),
        lambda: random.normal(size=rows) * 10.0 ** random.integers(-300, 300),
        lambda: 1.0 + np.arange(rows) * 2.0**-52,
    ]
    X = np.stack([kinds[int(random.integers(len(kinds)))]() for _ in range(columns)], axis=1)
    if columns > 2:
        X[:, 1] = X[:, 0]  # equal columns are searched once
    labels = [(0, 1), (0, 1, 2), (-3, 5), (7, 8, 100, 101), (1, 2)][int(random.integers(5))]
    signal = (X[:, 0] > np.median(X[:, 0])).astype(int) + random.integers(0, 2, rows)
    return X, np.array(labels)[signal % len(labels)].astype([np.int64, np.int32, np.int8][int(random.integers(3))])


@pytest.mark.parametrize("seed", range(60))
def test_both_ways_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treeml.backends.native.kernel_choice.FEW_TESTS", 0)
    monkeypatch.setattr("treeml.backends.native.kernel_choice.FEW_CUTS", 0)
    X, y = random_table(seed)
    depth, accuracy = 1 + seed % 3, seed % 2 == 1
    asked = model(depth, accuracy)
    ours, theirs = asked.solve(X, y), general(asked, X, y)
    if not isinstance(ours, ExpressResult):
        is_plain = [set(column) <= {0.0, 1.0} or len(set(column)) == 1 for column in X.T]
        assert all(is_plain) or len(np.unique(y)) == 1
        return
    for each in fields(Result):
        if each.name not in TIMES | {"tree", "exact", "measures"}:
            assert getattr(ours, each.name) == getattr(theirs, each.name), each.name
    assert theirs.exact is not None
    assert set(ours.statistics) == set(theirs.statistics)
    assert ours.trace[-1].objective == theirs.exact.objective
    assert list(ours.measures) == list(theirs.measures)
    for name in ("errors", "error_rate", "accuracy"):
        assert ours.measures[name] == theirs.measures[name]
    check_tree(ours, X, y, asked)
    assert ours.to_json().keys() == theirs.to_json().keys()


def check_tree(result: Result, X: Any, y: Any, asked: tml.Model) -> None:
    tree = result.tree
    assert tree is not None
    assert int(np.count_nonzero(tree.predict(X) != y)) == result.measures["errors"]
    assert result.objective == result.bound
    leaf = tree.apply(X)
    for number, each in enumerate(tree.leaves):
        counts = [int(np.count_nonzero(y[leaf == number] == label)) for label in tree.classes]
        assert list(each.counts) == counts
        assert each.rows == sum(counts) > 0
        assert list(each.weights) == [Fraction(count) for count in counts]
    assert tml.Tree.from_json(tree.to_json()) == tree
    assert verified_again(tree, X, y, asked) == result.exact


def verified_again(tree: Any, X: Any, y: Any, asked: tml.Model) -> Verification:
    """What the general verification says about the tree."""
    dataset, _ = prepare(asked, X, y, RunOptions())
    errors = Fraction(int(np.count_nonzero(tree.predict(X) != y)))
    return verify(tree, dataset, [1 - errors / len(y) if "accuracy" in str(asked) else errors])


def test_what_takes_the_general_way() -> None:
    X, y = some_rows(200, 4, 5)
    assert isinstance(model().solve(X, y), ExpressResult)
    assert isinstance(model().solve(np.asfortranarray(X), y.astype(np.uint8)), ExpressResult)
    assert isinstance(model().solve(X, y, within=60), ExpressResult)
    missing, infinite = X.copy(), X.copy()
    missing[3, 1] = np.nan
    infinite[3, 1] = np.inf
    for data, target in (
        (X.astype(np.float32), y),
        (X, y.astype(str)),
        (X, y.astype(bool)),
        (X.tolist(), y),
        (X, y * 10_000),
        (X, y * 0),
        ((X > 0).astype(float), y),
    ):
        assert type(model().solve(data, target)) is Result
    assert type(model().solve(X, y, weight=np.ones(200))) is Result
    assert type(model().solve(X, y, backend="native")) is Result
    assert type(model(4).solve(X, y, within=0.3)) is Result
    assert isinstance(model(accuracy=True).solve(X, y), ExpressResult)
    assert type(tml.Model().predict("y").maximize(tml.recall(1)).require(tml.depth <= 2).solve(X, y)) is Result
    assert type(model().require(tml.leaves <= 3).solve(X, y)) is Result
    assert type(model().forbid("x1").solve(X, y)) is Result
    for unusable in (missing, infinite):
        with pytest.raises(tml.DataError):
            model().solve(unusable, y)
    with pytest.raises(tml.DataError):
        model().solve(X, np.arange(200))
    with pytest.raises(tml.DataError):
        model().solve(X, y[:-1])


def test_a_model_that_changes_is_read_again() -> None:
    X, y = some_rows(150, 3, 5)
    asked = model(1)
    assert isinstance(asked.solve(X, y), ExpressResult)
    changed = asked.require(tml.support >= 70)
    assert changed.solve(X, y).measures["support"] >= 70


def test_rows_may_change_after_the_call() -> None:
    X, y = some_rows(150, 3, 6)
    kept, result = X.copy(), model().solve(X, y)
    X[:] = 0
    check_tree(result, kept, y, model())


def test_a_result_can_be_changed_and_pickled() -> None:
    X, y = some_rows(150, 3, 7)
    result = model().solve(X, y)
    other, again = replace(result, seconds=1.0), pickle.loads(pickle.dumps(result))
    assert other.tree == result.tree == again.tree
    assert other.seconds == 1.0
    assert again.measures == result.measures


def test_a_wrong_tree_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = some_rows(150, 3, 8)
    solve = MatrixSolver.solve

    def lie(self: MatrixSolver, depth: int, seconds: float) -> MatrixAnswer:
        found = solve(self, depth, seconds)
        return replace(found, value=found.value - 1, bound=found.bound - 1)

    monkeypatch.setattr(MatrixSolver, "solve", lie)
    with pytest.raises(BackendError, match="does not verify"):
        model().solve(X, y)


def test_a_search_that_takes_too_long_goes_the_general_way(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = some_rows(200, 4, 9)
    monkeypatch.setattr("treeml.solving.express_result.MOST_SECONDS", 1e-6)
    result = model(3).solve(X, y)
    assert type(result) is Result
    assert result.is_optimal


def test_an_interrupted_search_returns_its_best_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = some_rows(300, 4, 10)
    solve = MatrixSolver.solve

    def stopped(self: MatrixSolver, depth: int, seconds: float) -> MatrixAnswer:
        return replace(solve(self, depth, seconds), is_optimal=False, is_interrupted=True, bound=0)

    monkeypatch.setattr(MatrixSolver, "solve", stopped)
    result = model().solve(X, y)
    assert (result.status.value, result.stop.value, result.bound, result.gap) == ("feasible", "interrupted", 0, 1.0)
    assert result.tree is not None


def test_one_cut_is_that_of_many() -> None:
    random = np.random.default_rng(11)
    wide = random.normal(size=500) * 10.0 ** random.integers(-300, 300, 500)
    edges = np.array([0.0, -1e308, 5e-324, -5e-324, 1.0])
    low = np.concatenate([random.normal(size=500), np.round(random.normal(size=500), 2), wide, edges])
    high = np.nextafter(low, np.inf)
    high[:1000] += random.random(1000) * 10.0 ** random.integers(-6, 6, 1000)
    for whole in (False, True):
        chosen = [cut_between(a, b, whole) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        assert chosen == between(low, high, whole).tolist()
