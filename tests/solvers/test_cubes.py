"""The first questions settled by assumptions: every tree meets one of them, and answers do not depend on it."""

from __future__ import annotations

from typing import Any

import pytest
from random_problems import random_problem

from treeml.backends.contract import Limits
from treeml.backends.encodings import order_search
from treeml.backends.encodings.asked import read_problem
from treeml.backends.encodings.choices import read_choices
from treeml.backends.encodings.order import build_order
from treeml.backends.registry import get


@pytest.mark.parametrize("seed", range(300, 312))
def test_answers_are_the_same_without_cubes(seed: int, monkeypatch: Any) -> None:
    problem = random_problem(seed, numeric=True)
    assert not list(get("maxsat").refusals(problem))
    options = {"explain": False, "strategy": "descend"}
    found = []
    for most in (64, 8, 0):
        monkeypatch.setattr(order_search, "MOST_CUBES", most)
        answer = get("maxsat").solve(problem, Limits(options=options))
        found.append((answer.status, answer.objective))
    assert found[0] == found[1] == found[2]


def test_cubes_settle_whole_nodes() -> None:
    problem = random_problem(2, most_bounds=0, numeric=True)
    asked = read_problem(problem)
    model = build_order(problem, asked, read_choices(problem))
    made = order_search.cubes(model)
    kinds = len(model.choices.choices) + (model.split is not None)
    assert len(made) in {kinds**nodes for nodes in range(4)}
    assert len({tuple(cube) for cube in made}) == len(made)
