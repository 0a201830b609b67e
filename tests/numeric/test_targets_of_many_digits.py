"""Absolute and quantile losses of numbers with more digits than 64-bit sums hold, on columns of numbers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

import treeml as tml
from treeml.backends.contract import NO_LIMITS, Progress, Status
from treeml.backends.native.backend import NativeBackend
from treeml.backends.native.goals import MOST, objective_of
from treeml.backends.native.inputs import make_solver
from treeml.backends.native.kernel_choice import can_take
from treeml.backends.oracle.backend import OracleBackend
from treeml.problem.evaluate import evaluate_goals
from treeml.problem.problem import Goal, Problem
from treeml.problem.terms import Depth, Leaves, Loss, Sum
from treeml.testing.problems import bound, from_columns, single

NUMERIC = replace(NO_LIMITS, options={"kernel": "numeric"})


def random_problem(random: Random) -> Problem:
    """Few rows, targets of many bits, some of them equal, and for every other problem a price of each leaf."""
    rows = random.randint(4, 9)
    columns = [("ordered", [random.randrange(4) for _ in range(rows)]) for _ in range(2)]
    size = random.randint(50, 58)
    known = [random.randrange(-(2**size) + 1, 2**size) for _ in range(random.randint(2, rows))]
    targets = np.array([[random.choice(known)] for _ in range(rows)], dtype=np.int64)
    weight = np.array([random.choice((1, 1, 2, 7)) for _ in range(rows)], dtype=np.int64)
    kind, level = random.choice([("absolute", Fraction(1, 2)), ("quantile", Fraction(9, 10))])
    total = single(Loss(kind, targets, weight, Fraction(1, 10**6), level))
    if random.random() < 0.5:
        total = Sum((*total.parts, (Fraction(random.randint(1, 2**size), 10**6), Leaves())))
    return from_columns(columns, 0, (Goal(total),), (bound(Depth(), "<=", random.choice((1, 2, 3)), "depth"),))


@pytest.mark.parametrize("part", range(4))
def test_trees_are_best_up_to_the_stated_tolerance(part: int) -> None:
    random = Random(part)
    rounded = 0
    for _ in range(60):
        problem = random_problem(random)
        assert can_take(problem) is None
        rounded += objective_of(problem).beside is not None
        seen: list[Progress] = []
        found = NativeBackend().solve(problem, NUMERIC, on_progress=seen.append)
        wanted = OracleBackend().solve(problem).objective
        assert wanted is not None
        assert found.tree is not None
        assert found.objective == evaluate_goals(problem, found.tree)
        assert found.status is Status.OPTIMAL
        assert wanted[0] <= found.objective[0] <= wanted[0] + found.tolerance
        assert found.tolerance <= found.objective[0] / 10**9
        for moment in seen:
            assert moment.bound is None or moment.bound <= wanted[0]
            assert moment.objective is None or moment.objective[0] >= wanted[0]
    assert rounded > 20


def test_weights_that_leave_no_room_for_targets_are_refused() -> None:
    problem = random_problem(Random(1))
    targets = np.arange(problem.rows, dtype=np.int64)[:, None] * 2**40
    heavy = Loss("absolute", targets, np.full(problem.rows, MOST // (4 * problem.rows)))
    assert can_take(problem.asking((Goal(single(heavy)),), ())) == "the sums of its absolute loss do not fit in 64 bits"


@pytest.mark.parametrize("kind", ["absolute", "quantile"])
def test_targets_that_fit_as_they_are_are_not_rounded(kind: str) -> None:
    """Few targets and heavy weights: rounded, the targets would all be the same."""
    columns = [("ordered", [0, 1, 2, 3, 4, 5])]
    targets = np.array([[0], [0], [1], [1], [2], [1]], dtype=np.int64)
    weight = MOST // (5 * 6) // (2 if kind == "quantile" else 1) - np.arange(6)
    goal = Goal(single(Loss(kind, targets, weight, Fraction(1), Fraction(1, 2))))
    problem = from_columns(columns, 0, (goal,), (bound(Leaves(), "<=", 3, "leaves"),))
    assert objective_of(problem).beside is None
    found = NativeBackend().solve(problem, NUMERIC)
    assert found.status is Status.OPTIMAL
    assert found.tolerance == 0
    assert found.objective == OracleBackend().solve(problem).objective


def test_equal_targets_beside_a_large_price_are_a_leaf() -> None:
    """As in a part of the rows: the price has digits that fit beside the other rows, and not beside these."""
    columns = [("ordered", [0, 1, 2, 3])]
    targets = np.array([[0], [1], [0], [1]], dtype=np.int64)
    price = Sum(((Fraction(1), Loss("absolute", targets, np.ones(4, dtype=np.int64))), (Fraction(2**57), Leaves())))
    problem = from_columns(columns, 0, (Goal(price),), (bound(Depth(), "<=", 2, "depth"),))
    found = make_solver(problem, objective_of(problem), "numeric").solve(depth=2, leaf_price=2**57)
    assert found.status == "optimal"
    assert found.test.tolist() == [-1]


@pytest.mark.parametrize("goal", ["absolute_loss", "quantile_loss(0.9)", "mean_absolute_error + 0.01 * leaves"])
def test_numbers_as_programs_write_them_are_solved_on_columns(goal: str) -> None:
    random = np.random.default_rng(5)
    values = random.normal(size=(900, 4))
    target = np.where(values[:, 0] > 0, values[:, 1], 2 * values[:, 2]) + random.normal(size=900)
    result = tml.parse(f"minimize {goal} require depth <= 2 solve with native").solve(values, target)
    assert result.is_optimal
    assert result.plan[-1].startswith("the numeric kernel runs")
