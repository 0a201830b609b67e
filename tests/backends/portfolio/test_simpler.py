"""Requirements on whole columns: trees of the problem without them are made to fit, and checked like any other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import treeml as tml
from treeml.backends.contract import Deadline, Limits
from treeml.backends.portfolio import simpler
from treeml.backends.portfolio.companion import Companion
from treeml.problem.evaluate import Routed, is_answer
from treeml.problem.problem import Problem
from treeml.solving import pipeline
from treeml.solving.choice import lower

GOAL = "minimize errors require depth <= 3 "
TEXTS = [
    GOAL + "require uses(x5)",
    GOAL + "require uses(x4) require uses(x5) require leaves <= 6",
    GOAL + "require features_used <= 2",
    GOAL + "require monotone(x0, decreasing)",
    "minimize error_rate + 0.01 * features_used require depth <= 3",
    GOAL + "require features_used <= 3 require uses(x5) require support >= 10",
    "maximize gmean require depth <= 3 require uses(x5) require features_used <= 2",
]


def problem_of(text: str) -> Problem:
    random = np.random.default_rng(5)
    values = np.round(random.normal(size=(300, 6)), 2)
    target = ((values[:, 0] > 0.1) & (values[:, 1] > -0.3)) ^ (random.random(300) < 0.1)
    frame: dict[str, Any] = {f"x{number}": values[:, number] for number in range(6)}
    model = tml.parse("predict y is 1 " + text)
    dataset, request = pipeline.prepare(model, frame | {"y": target.astype(int)})
    return lower(dataset, request).form(numeric=True).problem


@pytest.mark.parametrize("text", TEXTS)
def test_the_trees_meet_every_requirement_and_split(text: str) -> None:
    problem = problem_of(text)
    assert simpler.takes(problem)
    company = Companion(problem, Limits(deadline=Deadline.after(600)), None, None, lambda company: None)
    company.is_enough = lambda: company.tree is not None and len(Routed(problem, company.tree).leaves) > 2
    simpler.offers_simpler_trees(company)
    assert company.tree is not None
    assert is_answer(problem, company.tree)


def test_problems_about_anything_else_are_left_to_others() -> None:
    assert not simpler.takes(problem_of(GOAL))
    assert not simpler.takes(problem_of(GOAL + "require recall(1) >= 50%"))


def test_a_tree_of_full_depth_has_no_room_for_another_column() -> None:
    problem = problem_of("minimize errors require depth <= 1 require uses(x5)")
    company = Companion(problem, Limits(deadline=Deadline.after(600)), None, None, lambda company: None)
    simpler.offers_simpler_trees(company, rounds=1)
    assert company.tree is not None
    assert Routed(problem, company.tree).features == {5}


def test_shallow_trees_show_which_columns_are_worth_it() -> None:
    """No column is worth a split alone; two of them decide together, which an exact search of two levels sees."""
    bits = np.random.default_rng(2).integers(0, 2, (400, 12))
    model = tml.parse("predict y is 1 minimize errors require features_used <= 2")
    frame: dict[str, Any] = {f"x{number}": bits[:, number] for number in range(12)}
    dataset, request = pipeline.prepare(model, frame | {"y": bits[:, 7] ^ bits[:, 9]})
    problem = lower(dataset, request).form(numeric=True).problem
    company = Companion(problem, Limits(deadline=Deadline.after(600)), None, None, lambda company: None)
    company.is_enough = lambda: company.value == (0,)
    simpler.offers_simpler_trees(company, rounds=1)
    assert company.value == (0,)
    assert company.tree is not None
    assert Routed(problem, company.tree).features == {7, 9}
