"""Pruning against brute force: every tree that cutting can produce is listed, and the best one is found."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import comb, log2

import numpy as np
import pytest

from tests.backends.test_cart import noisy
from treeml.backends.contract import Limits
from treeml.backends.heuristics.cart import CartBackend
from treeml.backends.heuristics.pruning import cut, goal_costs, leaf_labels, most_likely_errors
from treeml.backends.heuristics.validated_pruning import PruningValidation, critical_prices, validated
from treeml.problem.problem import Problem
from treeml.problem.terms import Loss, Predicted
from treeml.problem.tree import Leaf, Node, Split
from treeml.testing.problems import minimize


def every_cut(tree: Node, problem: Problem, rows: np.ndarray) -> Iterator[Node]:
    yield Leaf(leaf_labels(problem, [rows])[0])
    if isinstance(tree, Split):
        answers = problem.bits[tree.test][rows]
        for yes in every_cut(tree.yes, problem, rows[answers]):
            for no in every_cut(tree.no, problem, rows[~answers]):
                yield Split(tree.test, yes, no)


def leaves_of(tree: Node, problem: Problem, rows: np.ndarray) -> list[tuple[Leaf, np.ndarray]]:
    if isinstance(tree, Leaf):
        return [(tree, rows)]
    answers = problem.bits[tree.test][rows]
    return leaves_of(tree.yes, problem, rows[answers]) + leaves_of(tree.no, problem, rows[~answers])


def grown(problem: Problem, **options: object) -> Node:
    tree = CartBackend().solve(problem, Limits(options=options)).tree
    assert tree is not None
    return tree


def actual_of(problem: Problem) -> np.ndarray:
    term = problem.goals[0].sum.parts[0][1]
    assert isinstance(term, Predicted)
    return np.asarray(term.cost.argmin(axis=1))


@pytest.mark.parametrize("rows", [1, 2, 7, 40, 500])
def test_a_leaf_without_errors_counts_as_quinlan_says(rows: int) -> None:
    assert most_likely_errors(0, rows, 0.25) == pytest.approx(rows * (1 - 0.25 ** (1 / rows)))
    assert 0.75 <= most_likely_errors(0, rows, 0.25) < 1.387


@pytest.mark.parametrize(("errors", "rows"), [(1, 2), (1, 16), (2, 16), (7, 20), (30, 61), (3, 900)])
@pytest.mark.parametrize("confidence", [0.25, 0.01])
def test_so_few_errors_have_the_given_probability_at_the_upper_limit(errors: int, rows: int, confidence: float) -> None:
    rate = most_likely_errors(errors, rows, confidence) / rows
    chance = sum(comb(rows, few) * rate**few * (1 - rate) ** (rows - few) for few in range(errors + 1))
    assert chance == pytest.approx(confidence, rel=1e-9)
    assert most_likely_errors(rows, rows, confidence) == rows
    assert most_likely_errors(errors, rows, confidence) < most_likely_errors(errors + 0.5, rows, confidence)


@pytest.mark.parametrize("seed", range(5))
def test_pessimistic_pruning_finds_the_cut_with_the_fewest_likely_errors(seed: int) -> None:
    problem, everything = noisy(24, 5, seed), np.arange(24)
    actual = actual_of(problem)

    def likely(tree: Node) -> float:
        found = leaves_of(tree, problem, everything)
        return sum(most_likely_errors(int((actual[rows] != leaf.label).sum()), len(rows), 0.25) for leaf, rows in found)

    whole, cut = grown(problem, prune="none"), grown(problem, prune="pessimistic")
    assert likely(cut) == pytest.approx(min(map(likely, every_cut(whole, problem, everything))))


@pytest.mark.parametrize("seed", range(5))
def test_description_pruning_finds_the_shortest_description(seed: int) -> None:
    problem, everything = noisy(24, 5, seed), np.arange(24)
    actual = actual_of(problem)

    def bits(tree: Node) -> float:
        found = leaves_of(tree, problem, everything)
        total = len(found) + (len(found) - 1) * (1 + log2(len(problem.tests)))
        for _, rows in found:
            seen = [0.5, 0.5]
            for label in actual[rows].tolist():
                total -= log2(seen[label] / sum(seen))
                seen[label] += 1
        return total

    whole, cut = grown(problem, prune="none"), grown(problem, prune="description")
    assert bits(cut) == pytest.approx(min(map(bits, every_cut(whole, problem, everything))))


@pytest.mark.parametrize("seed", range(4))
def test_between_critical_prices_one_cut_is_the_cheapest(seed: int) -> None:
    problem, everything = noisy(24, 5, seed), np.arange(24)
    actual, whole = actual_of(problem), grown(problem, prune="none")
    cuts = []
    for tree in every_cut(whole, problem, everything):
        found = leaves_of(tree, problem, everything)
        cuts.append((sum(int((actual[rows] != leaf.label).sum()) for leaf, rows in found), len(found)))
    prices = critical_prices(whole, problem, everything)
    sizes = []
    for low, high in zip(prices, [*prices[1:], 2 * prices[-1] + 1], strict=True):
        middle = Fraction(low + high) / 2 * 24
        sizes.append(min(cuts, key=lambda each: (each[0] + middle * each[1], each[1]))[1])
    assert sizes == sorted(set(sizes), reverse=True)
    assert sizes[-1] == 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["squared", "absolute"])
def test_at_a_critical_price_the_cheapest_cut_of_numbers_becomes_smaller(kind: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    plain, everything = noisy(60, 7, seed), np.arange(60)
    targets = (8 * plain.bits[0] + random.integers(-4, 5, 60)).astype(np.int64)[:, None]
    loss = Loss(kind, targets, random.integers(0, 3, 60))
    problem = Problem(plain.features, plain.tests, plain.count, 0, minimize(loss), (), plain.bits)
    whole = grown(problem, prune="none")

    def size(price: Fraction) -> int:
        costs = goal_costs(problem, 60 * price)
        assert costs is not None
        return len(leaves_of(cut(whole, everything, problem, costs)[0], problem, everything))

    prices = critical_prices(whole, problem, everything)
    sizes = [size(price) for price in prices]
    assert len(sizes) > 5
    assert sizes == sorted(set(sizes), reverse=True)
    assert sizes[-1] == 1
    tiny = min(high - low for low, high in pairwise(prices)) / 2
    assert [size(price - tiny) for price in prices[1:]] == sizes[:-1]


def test_the_rule_of_one_standard_error_takes_a_smaller_tree() -> None:
    def size(tree: Node) -> int:
        return 1 if isinstance(tree, Leaf) else size(tree.yes) + size(tree.no)

    smaller = 0
    for seed in range(6):
        problem = noisy(120, 8, seed)
        whole, best = grown(problem, prune="none"), grown(problem, prune="validated", standard_errors=0)
        one = grown(problem, prune="validated")
        assert size(one) <= size(best) <= size(whole)
        assert one == grown(problem, prune="validated", standard_errors=1, folds=10)
        assert size(one) < size(whole)
        assert isinstance(grown(problem, prune="validated", standard_errors=1000), Leaf)
        smaller += size(one) < size(best)
    assert smaller > 0  # the standard error matters: without it, all trees would be those with the smallest loss


def test_the_standard_error_is_that_of_a_mean_over_all_rows() -> None:
    """One test is right for nine rows of ten, a leaf for half of them: about twenty standard errors lie in between."""
    problem = noisy(200, 6, 0)
    actual = problem.bits[4] ^ (np.arange(200) % 10 == 0)
    cost = np.stack([actual, ~actual], axis=1).astype(np.int64)
    clear = Problem(problem.features, problem.tests, problem.count, 2, minimize(Predicted(cost)), (), problem.bits)
    for errors, is_leaf in ((1, False), (15, False), (25, True)):
        tree = grown(clear, prune="validated", standard_errors=errors)
        assert isinstance(tree, Leaf) == is_leaf
        assert is_leaf or tree.test == 4


def test_validated_pruning_of_numbers_and_of_other_goals() -> None:
    random = np.random.default_rng(4)
    problem = noisy(80, 6, 1)
    targets = (10 * problem.bits[0] + 4 * problem.bits[1] + random.integers(-3, 4, 80)).astype(np.int64)[:, None]
    for kind in ("squared", "absolute"):
        loss = Loss(kind, targets, np.ones(80, dtype=np.int64))
        numbers = Problem(problem.features, problem.tests, problem.count, 0, minimize(loss), (), problem.bits)
        tree = grown(numbers, prune="validated")
        assert isinstance(tree, Split)
        assert tree.test == 0
        assert len(leaves_of(tree, numbers, np.arange(80))) < 10
    loss = Loss("quantile", targets, np.ones(80, dtype=np.int64), level=Fraction(9, 10))
    other = Problem(problem.features, problem.tests, problem.count, 0, minimize(loss), (), problem.bits)
    assert "not pruned" in CartBackend().solve(other, Limits(options={"prune": "validated"})).notes[-1]
    assert validated(Leaf(0), problem.asking((), ()), lambda rows: Leaf(0), PruningValidation()) is None
