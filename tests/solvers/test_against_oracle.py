"""Every encoding agrees with the oracle on random problems with random requirements."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from random_problems import random_problem

import treeml as tml
from treeml.backends.contract import Answer, Deadline, Limits, Status, Stop
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.registry import get
from treeml.backends.solvers.encodings.cover import cover_search
from treeml.backends.task import greedy_start
from treeml.lang.diagnostic import RefusedError
from treeml.problem.evaluate import evaluate_goals, meets_all
from treeml.problem.problem import Problem

WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "cpsat cover": ("cpsat", {"encoding": "cover"}),
    "cpsat rows": ("cpsat", {"encoding": "rows"}),
    "cpsat order": ("cpsat", {"encoding": "order"}),
    "mip cover": ("mip", {"formulation": "cover"}),
    "mip cover scip": ("mip", {"formulation": "cover", "solver": "scip"}),
    "cpsat alone": ("cpsat", {"encoding": "cover", "presolve": False}),
    "mip alone": ("mip", {"formulation": "cover", "presolve": False}),
    "mip flow": ("mip", {"formulation": "flow"}),
    "maxsat order": ("maxsat", {}),
    "maxsat binary": ("maxsat", {"encoding": "binary"}),
    "maxsat leaves": ("maxsat", {"encoding": "leaves"}),
    "maxsat leaves core": ("maxsat", {"encoding": "leaves", "strategy": "core"}),
    "maxsat core": ("maxsat", {"strategy": "core"}),
}


@cache
def truth(seed: int, numbers: bool, numeric: bool) -> Answer:
    return OracleBackend().solve(random_problem(seed, numbers=numbers, numeric=numeric))


def check(way: str, seed: int, numbers: bool = False, numeric: bool = False) -> bool:
    """False if this encoding refuses the problem."""
    name, options = WAYS[way]
    problem = random_problem(seed, numbers=numbers, numeric=numeric)
    backend = get(name)
    if list(backend.refusals(problem, options)):
        return False
    answer = backend.solve(problem, Limits(Deadline.after(60), options={**options, "explain": False}))
    agree(answer, truth(seed, numbers, numeric), problem)
    return True


def agree(answer: Answer, known: Answer, problem: Problem) -> None:
    assert answer.stop is Stop.PROVED
    assert answer.status is known.status
    if answer.tree is None:
        return
    assert known.objective is not None
    assert meets_all(problem, answer.tree)
    found = evaluate_goals(problem, answer.tree)
    assert answer.objective == found
    for value, best in zip(found, known.objective, strict=True):
        assert abs(value - best) <= answer.tolerance
    if answer.bound is not None and found:
        assert answer.bound <= known.objective[0]
        assert found[0] - answer.bound <= answer.tolerance


@pytest.mark.parametrize("way", WAYS)
def test_classes(way: str) -> None:
    assert sum(check(way, seed) for seed in range(25)) >= 15


@pytest.mark.parametrize("way", WAYS)
def test_the_solvers_own_trees(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without greedy trees to begin with, the tree of the answer is read from a solution of the solver."""
    monkeypatch.setattr(greedy_start, "first_trees", lambda *_: ())
    monkeypatch.setattr(cover_search, "first_trees", lambda *_: ())
    for seed in range(30, 42):
        check(way, seed, numeric=seed % 2 == 0)


@pytest.mark.parametrize("way", WAYS)
def test_raw_columns(way: str) -> None:
    assert sum(check(way, seed, numeric=True) for seed in range(100, 110)) >= 7


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", [2039, 2212, 2290])
def test_the_largest_of_two_sums_as_a_goal(way: str, seed: int) -> None:
    """Clauses with literals of leaves once let a leaf without a class predict what suited each sum."""
    assert check(way, seed, numeric=True)


@pytest.mark.parametrize("way", ["cpsat cover", "mip cover", "mip cover scip", "cpsat alone", "mip alone"])
def test_numbers(way: str) -> None:
    assert sum(check(way, seed, numbers=True) for seed in range(25)) >= 20


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_many(way: str) -> None:
    for seed in range(1000, 1500):
        check(way, seed)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_many_raw_columns(way: str) -> None:
    for seed in range(2000, 2300):
        check(way, seed, numeric=True)


@pytest.mark.parametrize("formulation", ["binoct", "aggregated"])
@pytest.mark.parametrize("numeric", [False, True])
def test_binoct_finds_the_fewest_errors(formulation: str, numeric: bool) -> None:
    solved = 0
    for seed in range(40):
        problem = random_problem(seed, most_bounds=0, numeric=numeric)
        try:
            answer = get("mip").solve(problem, Limits(options={"formulation": formulation, "presolve": False}))
        except RefusedError:
            continue
        agree(answer, OracleBackend().solve(problem), problem)
        solved += 1
    assert solved >= 5


def test_every_status_occurs() -> None:
    statuses = {OracleBackend().solve(random_problem(seed)).status for seed in range(25)}
    assert statuses == {Status.OPTIMAL, Status.INFEASIBLE}


def test_a_count_equal_to_one_with_other_columns_is_not_an_exactly_one_constraint() -> None:
    """The row of that requirement has coefficients 1 and right-hand side 1, but a column with larger values."""
    assert check("cpsat alone", 5042)


@pytest.mark.parametrize("backend", ["cpsat", "mip"])
def test_a_limit_on_a_loss_of_many_digits_is_not_clipped(backend: str) -> None:
    third, most = 0.3333333333333333, 0.6666666666666667
    table = {
        "c": [0.25, 0.7, 0.1, 0.25, 1.3, 0.25],
        "d": [-1, 1, -third, -third, -most, -most],
        "y": [third, most, most, third, third, 1],
    }
    text = "predict y\nminimize leaves\nrequire depth <= 2\nrequire mean_absolute_error <= 0.222222222222222"
    model = tml.parse(text)
    assert model.solve(table, backend="oracle").objective == 2
    with pytest.raises(RefusedError, match="numbers of this size"):
        model.solve(table, backend=backend)
