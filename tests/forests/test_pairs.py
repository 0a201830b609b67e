"""Trees found by counting pairs are the best under their roots, for any number of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from boosting_worlds import model
from numpy.typing import NDArray

import treeml as tml
from treeml.forests.examples import made, votes_of
from treeml.forests.pairs import Pairs
from treeml.native.roots import best_under_roots


def best_gain(bits: NDArray[np.bool_], gains: NDArray[Any], rows: NDArray[np.bool_], depth: int) -> int:
    """The largest gain of a tree of this depth on these rows, by enumeration."""
    alone = int(gains[:, rows].sum(axis=1).max())
    if depth == 0:
        return alone
    return max(alone, *(under_root(bits, gains, rows, depth, test) for test in range(len(bits))))


def under_root(bits: NDArray[np.bool_], gains: NDArray[Any], rows: NDArray[np.bool_], depth: int, root: int) -> int:
    return best_gain(bits, gains, rows & bits[root], depth - 1) + best_gain(bits, gains, rows & ~bits[root], depth - 1)


def world(seed: int, tests: int, rows: int, classes: int) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    bits = np.ascontiguousarray(rng.random((tests, rows)) < rng.random((tests, 1)))
    gains = rng.integers(-(2**40), 2**40, (classes, rows)).astype(np.float64)
    gains[:, rng.random(rows) < 0.2] = 0  # rows without a price
    return bits, gains


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_root_has_its_best_tree(depth: int, classes: int, seed: int) -> None:
    bits, gains = world(seed, 5, 23, classes)
    everyone = np.ones(bits.shape[1], dtype=np.bool_)
    found = best_under_roots(bits.view(np.uint8), gains[1:] - gains[0], depth, np.arange(5, dtype=np.int32))
    votes = found.votes(bits)
    for root in range(5):
        expected = under_root(bits, gains, everyone, depth, root)
        assert found.tests[root, 0] == root
        assert found.worth[root] + gains[0].sum() == expected
        assert gains[votes[root], np.arange(bits.shape[1])].sum() == expected


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("depth", [0, 1, 2, 3, 4, 7])
def test_votes_are_those_of_the_trees(depth: int, classes: int) -> None:
    bits, gains = world(depth, 6, 30, classes)
    found = Pairs(bits, depth).find(gains, 4)
    worth = [int(gains[votes, np.arange(30)].sum()) for _, votes in found.trees]
    for tree, votes in found.trees:
        assert (votes_of(made(tree), bits) == votes).all()
    if depth <= 3:
        assert found.best == worth[0] == best_gain(bits, gains, np.ones(30, dtype=np.bool_), depth)
        assert worth == sorted(worth, reverse=True)
    else:
        assert found.best is None
        assert max(worth) <= best_gain(bits, gains, np.ones(30, dtype=np.bool_), min(depth, 5))


def test_a_budget_that_skips_roots_gives_no_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    bits, gains = world(3, 6, 30, 3)
    monkeypatch.setattr("treeml.forests.pairs.BUDGET", 1)
    found = Pairs(bits, 3).find(gains, 2)
    assert found.best is None
    assert len(found.trees) == 2


def test_one_side_of_a_root_may_hold_no_row() -> None:
    bits, gains = world(4, 3, 8, 2)
    bits[0] = True
    found = Pairs(bits, 4).find(gains, 6)
    assert len(found.trees) >= 3


def test_wrong_roots_are_refused() -> None:
    bits, gains = world(5, 3, 8, 2)
    with pytest.raises(ValueError, match="refused"):
        best_under_roots(bits.view(np.uint8), gains[1:], 2, np.array([3], dtype=np.int32))


def test_three_classes_get_several_trees_a_round() -> None:
    rng = np.random.default_rng(6)
    x = rng.integers(0, 2, (60, 6))
    y = (x[:, 0] + x[:, 1] * x[:, 2] + (rng.random(60) < 0.2)) % 3
    many = model("lpboost", 2, nu=0.3).solve(x, y)
    single = model("lpboost", 2, nu=0.3, columns=1).solve(x, y)
    assert many.is_optimal
    assert single.is_optimal
    assert many.objective == pytest.approx(single.objective, abs=2e-6)
    assert many.statistics["rounds"] < single.statistics["rounds"]
    assert many.statistics["pricing_calls"] < single.statistics["pricing_calls"]


def test_deeper_trees_are_left_out_if_the_time_is_over() -> None:
    random = np.random.default_rng(4)
    pairs = Pairs(random.random((8, 60)) < 0.5, 5)
    gains = random.integers(-5, 6, (2, 60))
    looks: list[bool] = []

    def is_over() -> bool:
        looks.append(True)
        return len(looks) > 1  # one of them is made

    assert len(pairs.find(gains, 6).trees) == 9
    assert len(pairs.find(gains, 6, is_over).trees) == 7


def test_pairs_of_every_cut_of_long_columns_are_too_many() -> None:
    """Counting them under one root would take minutes, and no clock interrupts it: trees are grown instead."""
    random = np.random.default_rng(4)
    cuts = np.arange(5000)[:, None]
    assert not Pairs(random.integers(0, 5000, 800) <= cuts, 3).is_affordable(2)
    assert Pairs(random.integers(0, 50, 800) <= cuts[:50], 3).is_affordable(2)


def test_a_forest_over_every_cut_of_long_columns_has_trees_of_full_depth() -> None:
    random = np.random.default_rng(7)
    values = random.normal(size=(700, 4))
    target = (values[:, 0] * values[:, 1] > 0).astype(int)
    text = "binarize all by thresholds require depth <= 3 ensemble by lpboost(nu = 0.5) maximize margin"
    result = tml.Model.parse(text).solve(values, target, within=3)
    assert result.forest is not None
    assert max(len(tree.leaves) for tree in result.forest.trees) > 2
