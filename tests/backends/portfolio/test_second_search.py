"""The second search of numeric columns: its trees are answers, it hears of others, and it ends when the run is over."""

from __future__ import annotations

import numpy as np
import pytest

from treeml.backends import registry
from treeml.backends.contract import NO_LIMITS
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.portfolio import second_search
from treeml.backends.portfolio.companion import Companion
from treeml.backends.portfolio.improving import improve_while
from treeml.backends.run import run
from treeml.problem.evaluate import evaluate_goals, is_answer
from treeml.problem.problem import Problem
from treeml.solving.choice import lower
from treeml.solving.pipeline import prepare


def problem_of(rows: int, levels: int, asked: int | str, seed: int = 0) -> Problem:
    """Labels that depend on two columns of four, with noise; `asked` is a depth or a spec."""
    random = np.random.default_rng(seed)
    values = random.integers(0, levels, (rows, 4)).astype(float)
    labels = (values[:, 0] * 3 // levels + values[:, 1] * 4 // levels + (random.random(rows) < 0.2)).astype(int) % 3
    text = asked if isinstance(asked, str) else f"predict y minimize errors require depth <= {asked}"
    dataset, request = prepare(text, values, labels)
    return lower(dataset, request).form(numeric=True).problem


def company_of(problem: Problem) -> Companion:
    return Companion(problem, NO_LIMITS, None, None, improve_while)


def test_it_is_for_deep_trees_over_columns_with_several_cuts() -> None:
    assert second_search.takes(problem_of(60, 50, 4))
    assert second_search.takes(problem_of(60, 5, 4))  # the exact search takes these as tests
    assert not second_search.takes(problem_of(60, 50, 3))
    assert not second_search.takes(problem_of(60, 2, 4))
    assert not second_search.takes(problem_of(60, 50, "predict y minimize errors + leaves"))


@pytest.mark.parametrize("few_cells", [0, 10_000])
def test_it_ends_with_the_optimum(few_cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_search, "FEW_CELLS", few_cells)
    for seed in range(5):
        problem = problem_of(60, 12, 4, seed)
        company, planned = company_of(problem), plan(problem, registry.get("native"))
        assert isinstance(planned, Plan)
        assert second_search.search_again(company)
        assert company.tree is not None
        assert is_answer(problem, company.tree)
        assert company.value == run(planned).objective


@pytest.mark.parametrize(
    "text",
    [
        "minimize errors + 2 * leaves require depth <= 5",
        "minimize errors require depth <= 4 require leaves <= 6",
        "minimize errors require depth <= 4 require support >= 7",
        "minimize mse require depth <= 4",
        "minimize mean_absolute_error require depth <= 4",
        "minimize errors then minimize leaves require depth <= 4",
    ],
)
def test_its_trees_meet_every_requirement_and_are_never_below_the_optimum(text: str) -> None:
    for seed in range(4):
        problem = problem_of(40, 9, f"predict y {text}", seed)
        assert second_search.takes(problem)
        company, planned = company_of(problem), plan(problem, registry.get("native"))
        assert isinstance(planned, Plan)
        second_search.search_again(company)
        best = run(planned).objective
        assert company.tree is not None
        assert is_answer(problem, company.tree)
        assert company.value is not None
        assert best is not None
        assert best <= company.value


def test_it_goes_on_from_the_tree_of_the_exact_search_and_ends_when_the_run_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(second_search, "FEW_CELLS", 0)  # on few cells it begins without that tree
    problem = problem_of(400, 100, 5)
    before = company_of(problem)
    calls = 0

    def enough() -> bool:
        nonlocal calls
        calls += 1
        return calls > 5

    before.is_enough = enough
    assert not second_search.search_again(before)
    assert before.tree is not None
    company = company_of(problem)
    company.heard = before.tree
    company.is_enough = lambda: True
    assert not second_search.search_again(company)
    assert company.tree is not None
    assert evaluate_goals(problem, company.tree) <= evaluate_goals(problem, before.tree)
