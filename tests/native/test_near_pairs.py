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
