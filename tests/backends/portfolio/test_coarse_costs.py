"""A bound on costs of tests that are all 0 does not survive where every test becomes a feature of its own."""

from __future__ import annotations

import numpy as np

import treeml as tml
from treeml.backends.anytime.coarse import coarsened
from treeml.measures.lower_dataset import lower
from treeml.problem.problem import Problem
from treeml.solving.pipeline import prepare


def test_a_bound_on_free_tests_is_dropped() -> None:
    chance = np.random.default_rng(0)
    X, y = chance.normal(size=(60, 2)), chance.integers(0, 2, 60)
    dataset, _ = prepare(tml.parse("maximize f1(1) require test_cost <= 500 require depth <= 3"), X, y)
    problem: Problem = lower(dataset).problem
    assert {"TestCost"} in [bound.sum.kinds() for bound in problem.bounds]
    coarse = coarsened(problem, 8)
    assert coarse is not None
    assert {"TestCost"} not in [bound.sum.kinds() for bound in coarse[0].bounds]
