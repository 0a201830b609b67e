"""A coupled search that is stopped at once offers an easy tree that meets every requirement."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import treeml as tml
from treeml.backends import registry
from treeml.backends.contract import Deadline, Limits, Status, Stop
from treeml.backends.native.coupled import run as coupled_run
from treeml.backends.native.coupled.easy_tree import easy_tree
from treeml.backends.native.coupled.requirements import is_coupled, without_idle
from treeml.backends.native.coupled.task import read_coupled
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.problem.evaluate import evaluate_goals, is_answer
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split
from treeml.solving.pipeline import lower, prepare

REQUIREMENTS = (
    ("require parity_gap(group) <= 0.05",),
    ("require opportunity_gap(group) <= 0.1",),
    ("require recall(1) >= 0.8",),
    ("require recall(1) >= 0.6", "require parity_gap(group) <= 0.3"),
    ("require specificity(1) >= 0.7", "require support >= 4 rows"),
    ("require precision(1) >= 0.9", "require recall(1) >= 0.95"),
)


def random_rows(seed: int) -> dict[str, list[int]]:
    random = np.random.default_rng(seed)
    rows = {name: random.integers(0, 2, 24).tolist() for name in ("a", "b", "c", "group")}
    rows["label"] = [int(a ^ (b and c)) for a, b, c in zip(rows["a"], rows["b"], rows["c"], strict=True)]
    rows["label"][:4], rows["group"][:4] = [0, 1, 0, 1], [0, 0, 1, 1]
    return rows


def text_of(requirements: tuple[str, ...], depth: int) -> str:
    return "\n".join(("predict label is 1", "minimize errors", f"require depth <= {depth}", *requirements))


def small_trees(problem: Problem) -> list[Node]:
    """Every leaf and every single split of a problem with two classes."""
    leaves: list[Node] = [Leaf(0), Leaf(1)]
    splits = [Split(test, yes, no) for test in range(len(problem.tests)) for yes in leaves for no in leaves]
    return [*leaves, *splits]


@pytest.mark.parametrize("requirements", REQUIREMENTS)
@pytest.mark.parametrize("seed", range(12))
def test_the_easy_tree_is_the_best_small_one(requirements: tuple[str, ...], seed: int) -> None:
    dataset, request = prepare(tml.parse(text_of(requirements, 3)), random_rows(seed))
    problem = without_idle(lower(dataset, request).form(numeric=True).problem)
    if not is_coupled(problem):
        return
    _ = problem.bits
    allowed = [evaluate_goals(problem, tree) for tree in small_trees(problem) if is_answer(problem, tree)]
    tree = easy_tree(problem, read_coupled(problem))
    if tree is None:
        assert not allowed
        return
    assert is_answer(problem, tree)
    assert evaluate_goals(problem, tree) == min(allowed)


def test_depth_zero_has_only_leaves() -> None:
    dataset, request = prepare(tml.parse(text_of(REQUIREMENTS[0], 0)), random_rows(1))
    problem = without_idle(lower(dataset, request).form(numeric=True).problem)
    assert isinstance(easy_tree(problem, read_coupled(problem)), Leaf)


@pytest.mark.parametrize("requirements", REQUIREMENTS[:3])
def test_a_run_without_time_has_a_tree(requirements: tuple[str, ...]) -> None:
    model = tml.parse(text_of(requirements, 5))
    result = model.solve(random_rows(2), within=0)
    assert result.tree is not None
    assert result.verified
    best = model.solve(random_rows(2))
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert best.objective <= result.objective
    assert result.bound is None or Fraction(result.bound) <= Fraction(best.objective)


def test_any_tree_is_an_answer_without_a_goal() -> None:
    dataset, request = prepare(tml.parse(text_of(REQUIREMENTS[0], 5)), random_rows(3))
    problem = replace(without_idle(lower(dataset, request).form(numeric=True).problem), goals=())
    answer = registry.get("native").solve(problem, Limits(deadline=Deadline.after(0)))
    assert answer.status is Status.OPTIMAL
    assert answer.objective == ()
    assert answer.tree is not None
    assert is_answer(problem, answer.tree)


def test_a_search_whose_tests_would_be_ready_too_late_does_not_make_them(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset, request = prepare(tml.parse(text_of(REQUIREMENTS[0], 3)), random_rows(2))
    monkeypatch.setattr(coupled_run, "MANY_ENTRIES", 0)
    for seconds_per_entry, is_made in ((3600.0, False), (0.0, True)):
        monkeypatch.setattr(coupled_run, "SECONDS_PER_ENTRY", seconds_per_entry)
        problem = lower(dataset, request).form(numeric=True).problem
        options = {"kernel": "binary"}
        planned = plan(problem, registry.get("native"), options)
        assert isinstance(planned, Plan)
        answer = run(planned, Limits(Deadline.after(60), options=options))
        assert ("bits" in vars(problem)) is is_made
        assert answer.tree is not None  # one class for everybody, if nothing else
        assert answer.stop is (Stop.PROVED if is_made else Stop.TIME)
