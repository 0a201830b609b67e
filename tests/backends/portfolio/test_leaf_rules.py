"""Trees of searches that ignore the requirements on single leaves, changed so that every leaf keeps them."""

from __future__ import annotations

import numpy as np
import pytest

import treeml as tml
from treeml.backends.anytime.leaf_rules import LeafMending, without_rules
from treeml.backends.contract import Deadline, Limits
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.portfolio import improving
from treeml.backends.portfolio.companion import Companion
from treeml.problem.evaluate import evaluate_goals, is_answer
from treeml.problem.problem import Problem
from treeml.problem.terms import Purity
from treeml.problem.tree import Leaf, Node, Split
from treeml.solving import pipeline
from treeml.solving.choice import lower
from treeml.testing.problems import binary, bound, errors, minimize

ACTUAL = [0] * 8 + [0, 1] + [1] * 8 + [0, 1]
RULES = ["purity >= 70%", "leaf_errors <= 3", "purity >= 60% require support >= 4 rows", "leaf_errors <= 5"]


def problem_of(rule: str, seed: int, rows: int = 40, depth: int = 2) -> Problem:
    random = np.random.default_rng(seed)
    values = random.normal(size=(rows, 2)).round(2)
    wanted = (values[:, 0] > 0.2) & (values[:, 1] < 0.5) ^ (random.random(rows) < 0.15)
    columns = {"x": values[:, 0], "z": values[:, 1], "y": np.where(wanted, "yes", "no")}
    text = f"predict y minimize errors require depth <= {depth} require {rule}"
    return lower(*pipeline.prepare(tml.parse(text), columns)).form(numeric=True).problem


def some_tree(random: np.random.Generator, problem: Problem, levels: int) -> Node:
    if not levels or random.random() < 0.2:
        return Leaf(int(random.integers(problem.classes)))
    sides = [some_tree(random, problem, levels - 1) for _ in range(2)]
    return Split(int(random.integers(len(problem.tests))), *sides)


def purity_of(actual: list[int]) -> Purity:
    return Purity(np.array([[int(truth == label) for label in range(2)] for truth in actual], dtype=np.int64))


@pytest.mark.parametrize("rule", RULES)
def test_a_mended_tree_keeps_every_requirement(rule: str) -> None:
    """Whatever the tree was, also with branches that no row reaches."""
    kept = 0
    for seed in range(30):
        problem = problem_of(rule, seed)
        mended = LeafMending(problem).mended(some_tree(np.random.default_rng(seed), problem, 2))
        if mended is not None:
            assert is_answer(problem, mended)
            kept += 1
    assert kept > 10


def test_an_impure_tail_of_a_branch_is_cut() -> None:
    problem = binary(
        ["00"] * 8 + ["01"] * 2 + ["10"] * 8 + ["11"] * 2,
        2,
        minimize(errors(ACTUAL, 2)),
        (bound(purity_of(ACTUAL), ">=", "3/4"),),
    )
    large = Split(0, Split(1, Leaf(1), Leaf(1)), Split(1, Leaf(0), Leaf(0)))
    assert not is_answer(problem, large)
    assert LeafMending(problem).mended(large) == Split(0, Leaf(1), Leaf(0))


def test_a_leaf_with_too_many_errors_is_split() -> None:
    problem = problem_of("leaf_errors <= 4", 1)
    assert LeafMending(problem).leaf(np.arange(problem.rows)) is None
    mended = LeafMending(problem).mended(Leaf(0))
    assert isinstance(mended, Split)
    assert is_answer(problem, mended)


def test_no_tree_comes_from_rules_that_no_tree_keeps() -> None:
    problem = problem_of("leaf_errors <= 0", 2, depth=1)
    assert OracleBackend().solve(problem).tree is None
    assert LeafMending(problem).mended(Leaf(0)) is None


class OwnSearch(Exception):
    """The search for trees that knows the requirements on leaves begins."""


@pytest.mark.parametrize("rule", ["purity >= 75%", "leaf_errors <= 60"])
def test_stopped_searches_have_the_trees_of_easier_problems(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On columns with many cuts, a search with such requirements may take long to find any tree."""

    def begins(*anything: object) -> None:
        raise OwnSearch

    monkeypatch.setattr(improving, "Anytime", begins)
    problem = problem_of(rule, 5, rows=900, depth=3)
    free = without_rules(problem)
    assert free is not None
    assert len(free.bounds) == len(problem.bounds) - 1
    company = Companion(problem, Limits(deadline=Deadline.after(600)), None, None, lambda company: None)
    with pytest.raises(OwnSearch):
        improving.improve_while(company)
    assert isinstance(company.tree, Split)
    assert is_answer(problem, company.tree)
    assert company.value == evaluate_goals(problem, company.tree)
