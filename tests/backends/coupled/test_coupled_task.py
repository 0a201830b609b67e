"""Requirements on predictions in whole numbers: one form per sum, exact limits, nothing lost and nothing added."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from treeml.backends.native.coupled.requirements import is_coupled, limits_predictions, without_idle
from treeml.backends.native.coupled.task import MOST, normal_form, read_coupled
from treeml.problem.evaluate import Routed, meets
from treeml.problem.problem import Problem
from treeml.problem.terms import Leaves, Predicted, Purity
from treeml.problem.tree import Leaf, Node, Split
from treeml.testing.coupled import coupled_problem
from treeml.testing.problems import binary, bound, errors, minimize, single

ROWS = ("00", "01", "10", "11")
ACTUAL = (0, 1, 1, 0)


def some_trees(problem: Problem, random: Random) -> list[Node]:
    """Random trees, also with empty leaves: sums do not depend on them."""

    def grow(depth: int) -> Node:
        if not depth or not problem.tests or random.random() < 0.3:
            return Leaf(random.randrange(problem.classes))
        return Split(random.randrange(len(problem.tests)), grow(depth - 1), grow(depth - 1))

    return [grow(3) for _ in range(30)]


@pytest.mark.parametrize("seed", range(100))
def test_the_task_allows_exactly_the_trees_that_meet_the_bounds(seed: int) -> None:
    random = Random(seed)
    problem = coupled_problem(random)
    bounds = [each for each in problem.bounds if limits_predictions(each)]
    if not bounds:
        problem = problem.asking(problem.goals, (bound(errors([0] * problem.rows, problem.classes), "<=", 2),))
        bounds = list(problem.bounds)
    task = read_coupled(problem.asking((), tuple(bounds)))
    for tree in some_trees(problem, random):
        routed = Routed(problem, tree)
        wanted = all(meets(each, problem, tree, routed) for each in bounds)
        sums = [int(routed.at_labels(task.values[1 + number]).sum()) for number in range(task.sums)]
        allowed = task.excluded is None and all(
            (low is None or low <= value) and (high is None or value <= high)
            for low, value, high in zip(task.low, sums, task.high, strict=True)
        )
        assert allowed == wanted


@pytest.mark.parametrize("seed", range(30))
def test_the_normal_form_has_the_same_sums(seed: int) -> None:
    random = Random(seed)
    problem = coupled_problem(random)
    costs = [[6 * random.randint(-3, 3) for _ in range(problem.classes)] for _ in range(problem.rows)]
    cost = np.array(costs, dtype=np.int64)
    plain, steps, shift = normal_form(cost)
    again, _, _ = normal_form(-5 * cost + np.arange(problem.rows)[:, None])
    assert np.array_equal(plain, again)
    for tree in some_trees(problem, random):
        routed = Routed(problem, tree)
        assert int(routed.at_labels(cost).sum()) == steps * int(routed.at_labels(plain).sum()) + shift


def test_both_directions_of_a_difference_are_one_sum_with_two_limits() -> None:
    cost = np.array([[0, 3], [0, 3], [0, -3], [0, -3]])
    bounds = (bound(Predicted(cost), "<=", 4, "gap"), bound(Predicted(-cost), "<=", 4, "gap"))
    task = read_coupled(binary(ROWS, 2, minimize(errors(ACTUAL, 2)), bounds))
    assert (task.low, task.high) == ((-1,), (1,))
    assert task.values[1].tolist() == [[0, 1], [0, 1], [0, -1], [0, -1]]


def test_a_limit_on_the_goal_itself_needs_no_sum() -> None:
    wrong = errors(ACTUAL, 2)
    positive = Predicted(np.array([[0, 1]] * 4))
    bounds = (bound(single(wrong, Fraction(1, 4)), "<=", Fraction(3, 8)), bound(positive, ">=", 2))
    task = read_coupled(binary(ROWS, 2, minimize(wrong), bounds))
    assert task.most == 1
    assert (task.low, task.high) == ((2,), (None,))
    priced = read_coupled(binary(ROWS, 2, minimize(errors(ACTUAL, 2)), bounds[1:]))
    assert priced.most is None


@pytest.mark.parametrize(
    ("sense", "limit", "excluded"),
    [(">=", 5, True), (">=", 4, False), ("<=", -1, True), ("=", Fraction(1, 2), True), ("=", 2, False)],
)
def test_limits_that_no_labels_meet_are_seen(sense: str, limit: Fraction, excluded: bool) -> None:
    positive = Predicted(np.array([[0, 1]] * 4))
    task = read_coupled(binary(ROWS, 2, minimize(errors(ACTUAL, 2)), (bound(positive, sense, limit, "share"),)))
    assert (task.excluded == "share") is excluded


def test_limits_of_two_requirements_that_cross_are_seen() -> None:
    positive = Predicted(np.array([[0, 1]] * 4))
    bounds = (bound(positive, ">=", 3, "many"), bound(positive, "<=", 2, "few"))
    assert read_coupled(binary(ROWS, 2, minimize(errors(ACTUAL, 2)), bounds)).excluded == "few"


def test_what_couples_the_leaves() -> None:
    wrong, positive = errors(ACTUAL, 2), Predicted(np.array([[0, 1]] * 4))

    def coupled(goals: tuple[object, ...], *bounds: object) -> bool:
        return is_coupled(binary(ROWS, 2, minimize(*goals), bounds))  # type: ignore[arg-type]

    assert not coupled((wrong,))
    assert not coupled((wrong,), bound(wrong, "<=", 1))
    assert not coupled((Leaves(),), bound(wrong, "<=", 1))
    assert not coupled((), bound(positive, ">=", 1))
    assert not coupled((wrong,), bound(Purity(wrong.cost), ">=", 1))
    assert coupled((wrong,), bound(wrong, ">=", 1))
    assert coupled((wrong,), bound(positive, ">=", 1))
    assert coupled((), bound(positive, "=", 1))
    assert coupled((), bound(positive, ">=", 1), bound(wrong, "<=", 1))
    assert coupled((wrong, Leaves()), bound(wrong, "<=", 1))


def test_limits_that_every_tree_meets_are_dropped() -> None:
    wrong, positive = errors(ACTUAL, 2), Predicted(np.array([[0, 1]] * 4))
    bounds = (bound(positive, "<=", 4), bound(positive, ">=", 0), bound(positive, ">=", 1))
    assert without_idle(binary(ROWS, 2, minimize(wrong), bounds)).bounds == bounds[2:]


def test_numbers_beyond_the_search_are_refused() -> None:
    huge = Predicted(np.array([[0, MOST], [0, 1], [0, 1], [0, 1]]))
    problem = binary(ROWS, 2, minimize(errors(ACTUAL, 2)), (bound(huge, ">=", 1),))
    with pytest.raises(OverflowError):
        read_coupled(problem)
