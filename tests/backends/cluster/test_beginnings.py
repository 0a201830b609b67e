"""Groups of first tests: together they are all beginnings, and what a group says of its cuts holds for each of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import treeml as tml
from treeml.backends.claims import BOUND
from treeml.backends.cluster import beginnings
from treeml.backends.cluster.beginnings import GroupTask, groups_of, promising, solve_group
from treeml.backends.cluster.root_task import RootAnswer, solve_root
from treeml.problem.evaluate import evaluate_goals, is_answer
from treeml.problem.problem import Problem
from treeml.problem.tree import Split
from treeml.solving import pipeline
from treeml.solving.choice import lower

TEXTS = [
    "minimize errors require depth <= 2",
    "minimize errors + 1.5 * leaves require depth <= 2",
    "weight by w features all except w minimize errors require depth <= 2",
    "minimize errors require depth <= 2 require support >= 4",
    "minimize errors require depth <= 2 require purity >= 70%",
]


def problem_of(text: str, seed: int) -> Problem:
    random = np.random.default_rng(seed)
    values = random.integers(0, 25, size=(60, 3))
    target = ((values[:, 0] > 8) ^ (values[:, 1] > 15) ^ (random.random(60) < 0.2)).astype(int)
    columns = {f"x{number}": values[:, number] for number in range(3)}
    frame = columns | {
        "c": np.array(list("abc"))[random.integers(0, 3, 60)],
        "w": random.integers(1, 6, 60),
        "y": target,
    }
    dataset, request = pipeline.prepare(tml.parse("predict y " + text), frame)
    return lower(dataset, request).form(numeric=True).problem


def every_cut(problem: Problem) -> dict[int, RootAnswer]:
    return {test: solve_root(problem, test, None, 600, None) for test in range(len(problem.tests))}


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beginnings, "TASKS", 3)
    monkeypatch.setattr(beginnings, "FEWEST", 5)


def test_every_test_is_in_one_group() -> None:
    problem = problem_of(TEXTS[0], 0)
    groups = groups_of(problem)
    assert sorted(test for group in groups for test in group) == list(range(len(problem.tests)))
    assert any(len(group) > 1 for group in groups)
    assert any(len(group) == 1 for group in groups)
    assert sorted(promising(problem, groups)) == list(range(len(groups)))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("seed", range(2))
def test_a_group_says_what_its_tests_say_one_by_one(text: str, seed: int) -> None:
    problem = problem_of(text, seed)
    exact = every_cut(problem)
    best = min([each.value for each in exact.values() if each.value is not None], default=Fraction(10))
    for upper in (None, best, best + 4):
        for number, group in enumerate(groups_of(problem)):
            values = [value for test in group if (value := exact[test].value) is not None]
            found = solve_group(problem, GroupTask(number, group, upper, 600, None))
            assert found.root == number
            if not values:
                assert found.value is None
                assert found.is_infeasible or (upper is not None and found.bound >= upper)
                continue
            assert not found.is_infeasible
            assert found.bound <= min(values)
            assert any(proof.supports(BOUND) for proof in found.evidence)
            if upper is None or min(values) < upper:
                assert found.value == min(values) == found.bound
                assert isinstance(found.tree, Split)
                assert found.tree.test in group
                assert is_answer(problem, found.tree)
                assert evaluate_goals(problem, found.tree)[0] == found.value
            else:
                assert found.bound >= upper


def test_neighbors_are_closed_without_being_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(TEXTS[0], 0)
    best = min(each.value for each in every_cut(problem).values() if each.value is not None)
    solved = []

    def watched(*arguments: object) -> RootAnswer:
        solved.append(arguments[1])
        return solve_root(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(beginnings, "solve_root", watched)
    for number, group in enumerate(groups_of(problem)):
        solve_group(problem, GroupTask(number, group, best, 600, None))
    assert len(solved) < 0.8 * len(problem.tests)


def test_a_group_that_is_stopped_has_a_bound_that_holds() -> None:
    problem = problem_of(TEXTS[0], 0)
    exact = every_cut(problem)
    for number, group in enumerate(groups_of(problem)):
        found = solve_group(problem, GroupTask(number, group, None, 0.0, None))
        assert not found.is_infeasible
        assert found.bound <= min(exact[test].value or Fraction(0) for test in group)
