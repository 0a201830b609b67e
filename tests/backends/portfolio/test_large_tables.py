"""The search for trees on large tables: what is left out where it would take too long, and how it ends."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from treeml.backends.anytime import proposals, search
from treeml.backends.anytime.search import Anytime
from treeml.backends.contract import Deadline
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
