"""Every criterion reaches the optimum over all trees, and its bound holds for any prices."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from boosting_worlds import all_votes, distinct, model, signs_of, soft_margin_optimum, world
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import treeml as tml
from treeml.forests import lpboost
from treeml.forests.criterion import Criterion, Grown, criterion
from treeml.forests.examples import Examples
from treeml.problem.tree import Leaf


def examples_of_rows(y: NDArray[Any], classes: int = 2, count: NDArray[Any] | None = None) -> Examples:
    rows = len(y)
    rivals = [other for label in y for other in range(classes) if other != label]
    return Examples(
        np.arange(rows),
        np.asarray(y, dtype=np.intp),
        np.ones(rows, dtype=np.int64) if count is None else count,
        Fraction(1),
        classes,
        np.repeat(np.arange(rows), classes - 1),
        np.array(rivals, dtype=np.intp),
    )


def deviation_gap(
    result: tml.Result, votes: NDArray[np.int64], x: NDArray[Any], y: NDArray[Any], total: float
) -> float:
    """How much better a forest of these trees can be than the one found: D * best edge - the edge of the forest."""
    assert result.forest is not None
    margins = result.forest.margins(x, y, normalized=False)
    rows = len(y)
    prices = 1 - rows / (rows - 1) * (margins - margins.mean())
    edges = signs_of(votes, y) @ prices
    return float(total * edges.max() - prices @ margins)


@pytest.fixture(params=["all margins at once", "a few margins at a time"])
def joining(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small sets have all margins in the linear program at once; here they are added step by step."""
    if request.param != "all margins at once":
        monkeypatch.setattr(lpboost, "FEW", 0)
        monkeypatch.setattr(lpboost, "CHUNK", 2)


@pytest.mark.usefixtures("joining")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("penalty", [0.125, 0.3, None])
def test_the_soft_and_the_hard_margin_over_all_trees(seed: int, depth: int, penalty: float | None) -> None:
    x, y = world(seed)
    if penalty is None:
        x, y = distinct(x, y)
    expected = soft_margin_optimum(all_votes(x, 2, depth), y, 2, penalty)
    options = {} if penalty is None else {"penalty": penalty}
    result = model("hardmargin" if penalty is None else "lpboost", depth, **options).solve(x, y)
    assert result.is_optimal
    assert result.objective == pytest.approx(expected, abs=2e-6)
    assert isinstance(result.objective, (int, float))
    assert result.bound is not None
    assert -1e-12 <= result.bound - result.objective <= 1e-6


@pytest.mark.usefixtures("joining")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("penalty", [0.125, None])
def test_more_than_two_classes(seed: int, penalty: float | None) -> None:
    x, y = world(seed, rows=12, columns=3, classes=3)
    if penalty is None:
        x, y = distinct(x, y)
    expected = soft_margin_optimum(all_votes(x, 3, 1), y, 3, penalty)
    options = {} if penalty is None else {"penalty": penalty}
    result = model("hardmargin" if penalty is None else "lpboost", 1, **options).solve(x, y)
    assert result.is_optimal
    assert result.objective == pytest.approx(expected, abs=2e-6)
    assert any("strongest" in note for note in result.notes)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("penalty", [0.5, 12])
def test_mean_less_half_variance_over_all_trees(seed: int, depth: int, penalty: float) -> None:
    x, y = world(seed)
    result = model("mdboost", depth, penalty=penalty).solve(x, y)
    assert result.is_optimal
    assert isinstance(result.objective, (int, float))
    gap = deviation_gap(result, all_votes(x, 2, depth), x, y, penalty)
    assert -1e-6 <= gap <= 1e-6 * max(1.0, abs(result.objective))


def test_nu_is_the_share_of_rows_that_may_fall_short() -> None:
    x, y = world(1, rows=20)
    by_share = model("lpboost", 2, nu=0.4).solve(x, y)
    by_penalty = model("lpboost", 2, penalty=Fraction(1, 8)).solve(x, y)
    assert by_share.objective == by_penalty.objective


def test_a_weight_of_two_is_a_row_twice() -> None:
    x, y = world(2, rows=16)
    weight = np.array([1, 2, 3, 1] * 4)
    twice = np.repeat(np.arange(16), weight)
    for name, options in (("lpboost", {"penalty": 0.1}), ("mdboost", {"penalty": 5})):
        weighed = model(name, 2, **options).solve(x, y, weight=weight)
        repeated = model(name, 2, **options).solve(x[twice], y[twice])
        assert weighed.objective == pytest.approx(repeated.objective, abs=1e-5)


def test_the_printed_dual_of_mdboost_needs_the_pseudo_inverse() -> None:
    """Seven rows, six trees: the bound at the optimal prices is the optimum, and prices are negative there."""
    chance = np.random.default_rng(0)
    y = np.array([0, 1, 0, 1, 1, 0, 1])
    signs = np.where(chance.integers(0, 2, (6, 7)) == 1, 1, -1).astype(np.int8)
    made = criterion("mdboost")(examples_of_rows(y), {"penalty": 12})
    made.add([Grown(Leaf(), row) for row in signs])
    solved = made.solve(10.0)
    assert solved is not None
    assert solved.prices.min() < 0
    assert solved.prices.sum() == pytest.approx(7)
    whole = np.rint(solved.prices * 2**40).astype(np.int64)
    bound = made.bound(whole, int((signs.astype(np.int64) @ whole).max()))
    assert bound is not None
    assert float(bound) == pytest.approx(solved.value, rel=1e-9)
    assert float(bound) >= solved.value - 1e-9
    assert made.again(signs) == pytest.approx(solved.value, rel=1e-6)


NAMES = ("lpboost", "hardmargin", "mdboost")
OPTIONS: dict[str, dict[str, Any]] = {
    "lpboost": {"penalty": Fraction(3, 10)},
    "hardmargin": {},
    "mdboost": {"penalty": 3},
}


def made_with(name: str, seed: int, trees: int) -> tuple[Criterion, NDArray[np.int8]]:
    chance = np.random.default_rng(seed)
    y = chance.integers(0, 2, 9)
    count = chance.integers(1, 4, 9)
    made = criterion(name)(examples_of_rows(y, count=count), OPTIONS[name])
    signs = np.where(chance.integers(0, 2, (trees, 9)) == 1, 1, -1).astype(np.int8)
    made.add([Grown(Leaf(), row) for row in signs])
    return made, signs


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), trees=st.integers(1, 7), whole=st.booleans())
def test_no_prices_give_a_bound_below_the_optimum(name: str, seed: int, trees: int, whole: bool) -> None:
    made, signs = made_with(name, seed, trees)
    solved = made.solve(10.0)
    assert solved is not None
    chance = np.random.default_rng(seed + 1)
    free = name == "mdboost"
    prices = chance.integers(-3 if free else 0, 9, 9) if whole else np.rint(solved.prices * 1000).astype(np.int64)
    bound = made.bound(prices, int((signs.astype(np.int64) @ prices).max()))
    assert bound is None or float(bound) >= solved.value - 1e-7


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), trees=st.integers(1, 7))
def test_the_exact_value_is_that_of_the_master_and_of_another_solver(name: str, seed: int, trees: int) -> None:
    made, signs = made_with(name, seed, trees)
    solved = made.solve(10.0)
    assert solved is not None
    parts = np.floor(solved.weights / solved.weights.sum() * 2**30).astype(np.int64)
    parts[np.argmax(parts)] += 2**30 - parts.sum()
    exact = made.value(parts @ signs.astype(np.int64), made.total / 2**30)
    assert float(exact) == pytest.approx(solved.value, abs=1e-5)
    assert made.again(signs) == pytest.approx(solved.value, abs=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_forgetting_trees_without_weight_changes_nothing(name: str) -> None:
    made, signs = made_with(name, 5, 7)
    before = made.solve(10.0)
    assert before is not None
    idle = before.weights <= 1e-12
    made.forget(idle)
    after = made.solve(10.0)
    assert after is not None
    assert after.value == pytest.approx(before.value, abs=1e-8)
    assert after.weights == pytest.approx(before.weights[~idle], abs=1e-6)
    made.add([Grown(Leaf(), row) for row in signs[idle]])
    again = made.solve(10.0)
    assert again is not None
    assert again.value == pytest.approx(before.value, abs=1e-8)
