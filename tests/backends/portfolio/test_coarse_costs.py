"""Problems on few tests: which tests they have, and what of goals and bounds is left where each is its own feature."""

from __future__ import annotations

import numpy as np
import pytest

import treeml as tml
from treeml.backends.anytime import coarse
from treeml.backends.anytime.coarse import coarsened, on_few_tests
from treeml.backends.anytime.grown import grown_trees
from treeml.measures.lower_dataset import lower
from treeml.problem.answers import has_many_answers
from treeml.problem.arrays import Bits, Rows
from treeml.problem.evaluate import Routed, answers
from treeml.problem.problem import Problem
from treeml.problem.terms import Leaves, Used
from treeml.solving import choice
from treeml.solving.pipeline import prepare
from treeml.testing.problems import bound, minimize


def test_a_bound_on_free_tests_is_dropped() -> None:
    chance = np.random.default_rng(0)
    X, y = chance.normal(size=(60, 2)), chance.integers(0, 2, 60)
    dataset, _ = prepare(tml.parse("maximize f1(1) require test_cost <= 500 require depth <= 3"), X, y)
    problem: Problem = lower(dataset).problem
    assert {"TestCost"} in [bound.sum.kinds() for bound in problem.bounds]
    few = coarsened(problem, 8)
    assert few is not None
    assert {"TestCost"} not in [bound.sum.kinds() for bound in few[0].bounds]


def test_wide_tables_of_few_rows_have_a_few_tests_of_every_column() -> None:
    """Every cut of 1,500 columns would be more than all answers that are made; three of each are not."""
    chance = np.random.default_rng(1)
    X = chance.normal(size=(400, 1500))
    y = (X[:, 700] > 0.2).astype(int)
    dataset, request = prepare(tml.parse("minimize error_rate + 0.01 * leaves"), X, y)
    problem = choice.lower(dataset, request).form(numeric=True).problem
    assert has_many_answers(problem)
    few = on_few_tests(problem)
    assert few is not None
    assert len(few[0].tests) == 3 * 1500
    sizes = [len(Routed(problem, tree).leaves) for tree in grown_trees(problem, lambda: False)]
    assert max(sizes) > 2


def test_of_too_many_levels_those_that_split_most_rows_off_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(5)
    level = np.minimum(chance.exponential(60, 4000).astype(int), 900)
    frame = {"x": chance.normal(size=4000).round(3), "level": [f"k{each}" for each in level]}
    model = tml.parse("predict y minimize errors")
    dataset, request = prepare(model, {**frame, "y": chance.integers(0, 2, 4000)})
    problem = choice.lower(dataset, request).form(numeric=True).problem
    monkeypatch.setattr(coarse, "FEW_TESTS", 20)
    monkeypatch.setattr(coarse, "MOST_ANSWERS", 4000 * 30)
    found = coarse.on_few_tests(problem)
    assert found is not None
    assert len(found[1]) == 40
    assert coarsened(problem, 20) is None
    kept = [int(each.sum()) for each in found[0].bits[3:]]  # after three cuts of the numbers
    sizes = np.sort(np.bincount(level))[::-1]
    assert np.mean(kept) > 0.8 * sizes[:37].mean()


def test_few_tests_are_answered_once_for_all_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(problem: Problem, test: int, rows: Rows) -> Bits:
        asked.append(test)
        return answers(problem, test, rows)

    monkeypatch.setattr(coarse, "answers", counted)
    chance = np.random.default_rng(2)
    dataset, _ = prepare(tml.parse("minimize errors"), chance.normal(size=(60, 3)), chance.integers(0, 2, 60))
    whole = lower(dataset).problem
    first = coarse.on_few_tests(whole)
    assert first is not None
    tests = len(asked)
    second = coarse.on_few_tests(whole.asking((*whole.goals, *minimize(Leaves())), whole.bounds))
    assert second is not None
    assert len(asked) == tests > 0
    assert second[1] == first[1]
    assert len(second[0].goals) == 2
    without_a_column = coarse.on_few_tests(whole.asking(whole.goals, (bound(Used(frozenset({0})), "=", 0),)))
    assert without_a_column is not None
    assert without_a_column[1] != first[1]
