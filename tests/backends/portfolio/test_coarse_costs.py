"""Problems on few tests: which tests they have, and what of goals and bounds is left where each is its own feature."""

from __future__ import annotations

import numpy as np

import treeml as tml
from treeml.backends.anytime.coarse import coarsened, on_few_tests
from treeml.backends.anytime.grown import grown_trees
from treeml.measures.lower_dataset import lower
from treeml.problem.answers import has_many_answers
from treeml.problem.evaluate import Routed
from treeml.problem.problem import Problem
from treeml.solving import choice
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


def test_wide_tables_of_few_rows_have_a_few_tests_of_every_column() -> None:
    """Every cut of 1,500 columns would be more than all answers that are made; three of each are not."""
    chance = np.random.default_rng(1)
    X = chance.normal(size=(400, 1500))
    y = (X[:, 700] > 0.2).astype(int)
    dataset, request = prepare(tml.parse("minimize error_rate + 0.01 * leaves"), X, y)
    problem = choice.lower(dataset, request).form(numeric=True).problem
    assert has_many_answers(problem)
    coarse = on_few_tests(problem)
    assert coarse is not None
    assert len(coarse[0].tests) == 3 * 1500
    sizes = [len(Routed(problem, tree).leaves) for tree in grown_trees(problem, lambda: False)]
    assert max(sizes) > 2
