"""The express way for squared loss over tests of 0 and 1 answers what the general way answers."""

from __future__ import annotations

import pickle
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import treeml as tml
from treeml.lang.diagnostic import BackendError
from treeml.native.bit_matrix import BitMatrixAnswer, least_squares
from treeml.solving import express_squares
from treeml.solving.express_result import ExpressResult
from treeml.solving.options import RunOptions
from treeml.solving.pipeline import prepare
from treeml.solving.result import Result
from treeml.solving.verify import verify

TIMES = {"seconds", "build_seconds", "statistics", "trace"}
TYPES = (np.uint8, np.bool_, np.float64, np.int64, np.int8, np.float32)


def model(depth: int = 2) -> tml.Model:
    return tml.Model().predict("y").minimize(tml.squared_loss).require(tml.depth <= depth)


def general(asked: tml.Model, X: Any, y: Any, **options: Any) -> Result:
    """The result by the general way: a caller who listens takes it."""
    result = asked.solve(X, y, on_progress=lambda _: None, **options)
    assert type(result) is Result
    return result


def random_table(seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    random = np.random.default_rng(seed)
    rows, columns = int(random.integers(2, 150)), int(random.integers(1, 12))
    X = random.integers(0, 2, (rows, columns))
    if columns > 2:
        X[:, 1], X[:, 2] = X[:, 0], 1
    kinds = [
        lambda: random.integers(0, 10, rows),
        lambda: random.integers(-5, 10, rows).astype(float),
        lambda: np.round(random.normal(size=rows), 2),
        lambda: np.full(rows, 3.5),
        lambda: 2.5 * X[:, 0],
        lambda: random.integers(-3, 3, rows) * 1000.0,
    ]
    return X.astype(TYPES[seed % len(TYPES)]), kinds[int(random.integers(len(kinds)))]()


@pytest.mark.parametrize("seed", range(60))
def test_both_ways_agree(seed: int) -> None:
    X, y = random_table(seed)
    asked = model(1 + seed % 4)
    ours, theirs = asked.solve(X, y), general(asked, X, y)
    if not isinstance(ours, ExpressResult):
        assert 1 + seed % 4 > min(X.shape[1], len(X) - 1) or ours.objective == theirs.objective
        return
    for each in fields(Result):
        if each.name not in TIMES | {"tree", "exact"}:
            assert getattr(ours, each.name) == getattr(theirs, each.name), each.name
    assert set(ours.statistics) == set(theirs.statistics)
    assert theirs.exact is not None
    assert ours.trace[-1].objective == theirs.exact.objective
    assert ours.to_json().keys() == theirs.to_json().keys()
    dataset, _ = prepare(asked, X, y, RunOptions())
    assert ours.tree is not None
    assert verify(ours.tree, dataset, [theirs.exact.goals[0].value]) == ours.exact
    assert tml.Tree.from_json(ours.tree.to_json()) == ours.tree
    assert pickle.loads(pickle.dumps(ours)).tree == ours.tree


def test_named_native_and_one_thread_take_it_too() -> None:
    X, y = random_table(0)
    asked = model().solve_with("native", within=60)
    ours, theirs = asked.solve(X, y, threads=1), general(asked, X, y, threads=1)
    assert isinstance(ours, ExpressResult)
    assert ours.plan == theirs.plan
    assert type(asked.solve(X, y, threads=2)) is Result
    assert type(model().solve_with("oracle").solve(X[:12, :3], y[:12])) is Result
    assert type(model().solve(X, y, options={"similarity": 0})) is Result


def test_what_takes_the_general_way() -> None:
    random = np.random.default_rng(3)
    X, y = random.integers(0, 2, (60, 5)).astype(np.uint8), random.integers(0, 9, 60).astype(float)
    assert isinstance(model().solve(X, y), ExpressResult)
    assert isinstance(model().solve(np.asfortranarray(X), y), ExpressResult)
    assert isinstance(model().solve(X[::2, 1:], y[::2]), ExpressResult)
    other = X.copy()
    other[7, 3] = 2
    for data, target in (
        (other, y),
        (other.astype(float), y),
        (X.astype(float) - X, y),  # zeros are fine, and constant
        (X - X.astype(np.int64) * 2, y),
        (X, y * 1e9),
        (X, y * np.pi),
        (X, y.astype(np.float32)),
        (X.tolist(), y),
    ):
        ours, theirs = model().solve(data, target), general(model(), data, target)
        assert (ours.status, ours.objective) == (theirs.status, theirs.objective)
    for unusable in (np.full(60, np.nan), np.full(60, np.inf)):
        with pytest.raises(tml.DataError):
            model().solve(X, unusable)
    with pytest.raises(tml.DataError):
        model().solve(X, y[:-1])


def test_an_array_that_changes_is_read_again() -> None:
    X, y = np.array([[0], [0], [1], [1]], dtype=np.uint8), np.array([1.0, 1.0, 5.0, 5.0])
    asked = model(1)
    first = asked.solve(X, y)
    y[3] = 9.0
    second = asked.solve(X, y)
    X[2] = 0
    third = asked.solve(X, y)
    assert (first.objective, second.objective) == (0, 8)
    assert third.objective == pytest.approx(float(Fraction(32, 3)))
    assert first.measures["squared_loss"] == 0  # though it is made now
    assert [leaf.prediction for leaf in first.tree.leaves] == [5.0, 1.0]


@pytest.mark.parametrize("change", ["value", "bound"])
def test_a_kernel_that_lies_is_caught(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = random_table(12)

    def lie(*asked: Any) -> BitMatrixAnswer:
        found = least_squares(*asked)
        return found._replace(**{change: getattr(found, change) + 3 * found.slack})

    monkeypatch.setattr(express_squares, "least_squares", lie)
    with pytest.raises(BackendError, match="B516"):
        model().solve(X, y)


def test_a_tree_that_is_too_deep_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=np.uint8)
    y = np.where(X[:, 0] == 1, 10.0 * X[:, 1], 7.0 * X[:, 2] + 20)

    def deeper(cells: Any, numbers: Any, depth: int, seconds: float) -> BitMatrixAnswer:
        return least_squares(cells, numbers, depth + 1, seconds)

    monkeypatch.setattr(express_squares, "least_squares", deeper)
    with pytest.raises(BackendError, match="depth <= 1"):
        model(1).solve(X, y)


def test_a_search_that_takes_too_long_goes_the_general_way(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = random_table(0)
    monkeypatch.setattr("treeml.solving.express_result.MOST_SECONDS", 0.0)
    assert type(model().solve(X, y)) is Result


def test_the_same_question_on_both_sides_is_fine_if_their_means_differ() -> None:
    X = np.array([[a, b] for a in (0, 1) for b in (0, 1)] * 5, dtype=np.uint8)
    y = 10.0 * (X[:, 0] ^ X[:, 1]) + np.arange(20) // 4
    ours, theirs = model(2).solve(X, y), general(model(2), X, y)
    assert isinstance(ours, ExpressResult)
    assert ours.tree == theirs.tree
    assert ours.objective == theirs.objective


@pytest.mark.parametrize("layout", range(8))
def test_numbers_and_matrices_of_any_layout(layout: int) -> None:
    random = np.random.default_rng(layout)
    X, y = random.integers(0, 2, (90, 6)), random.integers(-9, 9, 90)
    X[:, 3] = 1
    wide = np.zeros((180, 12), dtype=np.uint8)
    wide[::2, ::2] = X
    double = np.repeat(y.astype(np.float64), 2)
    data, target = [
        (np.asfortranarray(X.astype(np.uint8)), y),
        (wide[::2, ::2], double[::2]),
        (X.astype(np.float32), y.astype(np.int8)),
        (X.astype(bool)[::-1], double[::-2]),
        (np.ascontiguousarray(X.T).T, y / 8),
        (X.astype(np.int16), y.astype(np.float64).astype(">f8")),
        (X, y * 2.0**20),
        (X, y * 10**15),
    ][layout]
    for depth in (1, 2, 3):
        ours, theirs = model(depth).solve(data, target), general(model(depth), data, target)
        assert (ours.status, ours.objective, ours.bound) == (theirs.status, theirs.objective, theirs.bound)
        assert ours.tree is not None
        assert theirs.tree is not None
        assert [leaf.rows for leaf in ours.tree.leaves] == [leaf.rows for leaf in theirs.tree.leaves]
