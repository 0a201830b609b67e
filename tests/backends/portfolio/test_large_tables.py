"""The search for trees on large tables: what is left out where it would take too long, and how it ends."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import treeml as tml
from treeml.backends.anytime import proposals, search
from treeml.backends.anytime.search import Anytime
from treeml.backends.contract import Deadline
from treeml.backends.native.coded_columns import CodedColumns
from treeml.backends.native.goals import objective_of
from treeml.problem.evaluate import evaluate_goals, is_answer
from treeml.problem.problem import Problem
from treeml.problem.tree import Node, Split
from treeml.solving.choice import lower
from treeml.solving.pipeline import prepare


@pytest.fixture
def problem() -> Problem:
    random = np.random.default_rng(7)
    rows = random.normal(size=(400, 3))
    labels = (rows[:, 0] * rows[:, 1] + 0.3 * rows[:, 2] > 0).astype(int)
    dataset, request = prepare("predict y minimize errors require depth <= 4", rows, labels)
    return lower(dataset, request).form(numeric=True).problem


def test_a_sample_proposes_cuts_close_to_those_of_all_rows(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    splits = Anytime(problem, lambda tree: None, lambda: False).splits
    rows = np.arange(problem.rows)
    everything = splits.propose(rows)
    monkeypatch.setattr(proposals, "MOST_ROWS", 200)
    sampled = splits.propose(rows)
    assert sampled == splits.propose(rows)
    assert {problem.tests[each.test].feature for each in sampled} == {0, 1, 2}
    assert problem.tests[sampled[0].test].feature in {problem.tests[each.test].feature for each in everything[:2]}


def test_few_tests_are_made_only_of_tables_for_which_that_is_quick(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(Anytime(problem, lambda tree: None, lambda: False).ahead) == 2
    monkeypatch.setattr(search, "CELLS_TO_COARSEN", 100 * problem.rows)
    assert len(Anytime(problem, lambda tree: None, lambda: False).ahead) == 1
    monkeypatch.setattr(search, "CELLS_TO_COARSEN", 0)
    none = Anytime(problem, lambda tree: None, lambda: False)
    assert [kernel for kernel, _ in none.ahead] == [none.kernel]


@pytest.mark.parametrize("cells", [0, search.CELLS])
def test_a_search_out_of_time_finds_a_tree_only_if_there_is_none(
    problem: Problem, monkeypatch: pytest.MonkeyPatch, cells: int
) -> None:
    monkeypatch.setattr(search, "CELLS", cells)
    found: list[Node] = []
    Anytime(problem, found.append, lambda: True).run(Deadline())
    assert isinstance(found[0], Split)
    assert is_answer(problem, found[0])
    assert found[1:] == []
    late: list[Node] = []
    Anytime(problem, late.append, lambda: True, has_tree=True).run(Deadline())
    assert late == []


@pytest.mark.parametrize("looks", [3, 8, 20, 60, 200])
def test_a_search_that_ends_anywhere_has_offered_only_whole_trees(
    problem: Problem, monkeypatch: pytest.MonkeyPatch, looks: int
) -> None:
    monkeypatch.setattr(search, "CELLS", 0)  # as on tables that are too large for exact levels on the way down
    counted: Iterator[int] = iter(range(looks))
    trees: list[Node] = []
    Anytime(problem, trees.append, lambda: next(counted, None) is None).run(Deadline())
    values = [evaluate_goals(problem, tree) for tree in trees]
    assert values == sorted(set(values), reverse=True)
    assert all(is_answer(problem, tree) for tree in trees)


def test_columns_of_tests_are_written_once_for_all_searches() -> None:
    random = np.random.default_rng(2)
    levels: list[str | None] = [f"level {code}" for code in random.integers(0, 30, 400)]
    levels[7] = None
    frame = {"text": levels, "x": random.normal(size=400), "y": random.integers(0, 2, 400)}
    spec = "predict y column text : missing separate minimize errors require depth <= 2"
    problem = lower(*prepare(tml.parse(spec), frame)).form(numeric=True).problem
    columns = CodedColumns(problem)
    codes = columns.codes()
    assert CodedColumns(problem).codes() is codes
    assert CodedColumns(problem, frozenset([0])).codes() is not codes
    for place, column in enumerate(columns.columns):
        if column.test >= 0:
            assert np.array_equal(codes[place], (~problem.bits[column.test]).astype(np.int32))
    assert columns.at(np.arange(400), codes).codes() is codes  # all rows are not copied
    some = columns.at(np.array([3, 5, 7]), codes).codes()
    assert some.flags.c_contiguous  # as C wants them, without another copy
    assert np.array_equal(some, codes[:, [3, 5, 7]])


def test_tests_of_many_rows_are_judged_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    codes = random.integers(0, 40, 5000)
    frame = {"text": [f"level {code}" for code in codes], "y": (codes == 3).astype(int)}
    problem = (
        lower(*prepare(tml.parse("predict y minimize errors require depth <= 2"), frame)).form(numeric=True).problem
    )
    monkeypatch.setattr(proposals, "MOST_ANSWERS", 40 * 1000)
    monkeypatch.setattr(proposals, "FEWEST_ROWS", 1000)
    best = proposals.Splits(problem, objective_of(problem)).propose(np.arange(5000))[0]
    assert np.array_equal(problem.bits[best.test], codes == 3) or np.array_equal(problem.bits[best.test], codes != 3)
