"""Trees with a price per leaf and no limit on depth, whose bounds use pairs of rows that one test tells apart.

The best value is computed over all cubes: every set of rows that a path of tests can reach.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from treeml.native.solver import Solver
from treeml.native.solver_input import Labels

AT_ONCE = {"neighbours": 1}


def best_value(bits: np.ndarray, weights: np.ndarray, price: int) -> int:
    """`weights` is rows x classes. A cube has 0, 1 or 2 (both answers) for every test."""
    tests = len(bits)
    value: dict[tuple[int, ...], int] = {}
    for cube in sorted(product((0, 1, 2), repeat=tests), key=lambda cube: cube.count(2)):
        inside = np.ones(bits.shape[1], dtype=bool)
        for test, answer in enumerate(cube):
            if answer < 2:
                inside &= bits[test] == answer
        sums = weights[inside].sum(axis=0)
        best = int(sums.min()) + price
        for test in range(tests):
            if cube[test] == 2:
                sides = [value[(*cube[:test], answer, *cube[test + 1 :])] for answer in (0, 1)]
                if all(bits[test, inside] == 1) or all(bits[test, inside] == 0):
                    continue  # all rows are on one side
                best = min(best, sum(sides))
        value[cube] = best
    return value[(2,) * tests]


def world(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    random = np.random.default_rng(seed)
    tests, rows = int(random.integers(5, 8)), int(random.integers(60, 500))
    bits = (random.random((tests, rows)) < random.uniform(0.2, 0.8, (tests, 1))).astype(np.uint8)
    score = random.normal(size=tests) @ bits + random.normal(size=rows) * random.uniform(0, 1.5)
    labels = (score > np.median(score)).astype(np.int32)
    weight = random.integers(1, int(random.choice([2, 4, 60])), rows)
    price = int(random.integers(1, max(2, int(weight.sum()) // 60)))
    return bits, labels, weight, price


@pytest.mark.parametrize("seeds", [range(0, 20), range(20, 40)])
def test_the_best_price_per_leaf_is_that_of_all_cubes(seeds: range) -> None:
    used = 0
    for seed in seeds:
        bits, labels, weight, price = world(seed)
        costs = np.stack([weight * (labels == 1), weight * (labels == 0)], axis=1)
        found = Solver(bits, Labels(labels, weight=weight)).solve(leaf_price=price, options=AT_ONCE)
        assert found.status == "optimal"
        assert found.value == best_value(bits, costs, price), seed
        used += found.statistics["near_pairs"] > 0
    assert used > 4


def test_large_weights_are_rounded_down_in_the_bound() -> None:
    """Sums of 16 bits hold the pairs in grains of several weights."""
    used = 0
    for seed in range(100, 112):
        bits, labels, weight, price = world(seed)
        large = 1000 * weight + np.random.default_rng(seed).integers(0, 1000, len(weight))
        costs = np.stack([large * (labels == 1), large * (labels == 0)], axis=1)
        found = Solver(bits, Labels(labels, weight=large)).solve(leaf_price=1000 * price, options=AT_ONCE)
        assert found.value == best_value(bits, costs, 1000 * price), seed
        used += found.statistics["near_pairs"] > 0
    assert used > 0


@pytest.mark.parametrize("threads", [1, 2])
def test_a_limit_on_depth_agrees_with_the_general_search(threads: int) -> None:
    for seed in range(200, 206):
        bits, labels, weight, price = world(seed)
        solver = Solver(bits, Labels(labels, weight=weight))
        found = solver.solve(leaf_price=price, depth=4, threads=threads, options=AT_ONCE)
        other = solver.solve(leaf_price=price, depth=4, options={"general": 1})
        assert (found.status, found.value) == (other.status, other.value) == ("optimal", other.value), seed


def random_word(test: int) -> int:
    """The word of a test in the hash of a row, as near.c computes it."""
    word = (test + 1) * 0x9E3779B97F4A7C15 % 2**64
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    return word ^ word >> 31


def without_effect(tests: int) -> list[int]:
    """Some of the tests whose words cancel out: 64 bits hold no more than 64 independent words."""
    basis: dict[int, tuple[int, int]] = {}  # the highest bit of a sum -> the sum, and the tests in it
    for test in range(tests):
        word, members = random_word(test), 1 << test
        while word and (place := word.bit_length()) in basis:
            word, members = word ^ basis[place][0], members ^ basis[place][1]
        if not word:
            return [each for each in range(tests) if members >> each & 1]
        basis[word.bit_length()] = word, members
    raise AssertionError("more tests are needed")


def test_rows_with_equal_hashes_may_differ_in_many_tests() -> None:
    """The hash says that only the first of the tests tells two rows apart; the rows say that all but that one do."""
    first, *others = without_effect(65)
    assert len(others) > 3
    random = np.random.default_rng(0)
    bits = (random.random((65, 60)) < 0.5).astype(np.uint8)
    bits[first] = random.random(60) < 0.1
    bits[:, 30:] = bits[:, :30]
    bits[others, 30:] ^= 1
    labels = np.repeat([0, 1], 30)[random.permutation(60)]
    labels[30:] = 1 - labels[:30]
    solver = Solver(bits, Labels(labels.astype(np.int32)))
    found, other = (solver.solve(leaf_price=2, depth=3, options={"neighbours": after}) for after in (1, 0))
    assert found.statistics["nodes"] > 1  # pairs are looked for after the first node
    assert found.statistics["near_pairs"] == 0
    assert found.value == other.value
