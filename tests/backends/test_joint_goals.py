"""Several goals as one number: the first goal is read back exactly, and a bound on all is one on the first."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from treeml.backends.anytime.local_kernel import LocalKernel, takes
from treeml.backends.native.goals import NativeObjective, joinable, objective_of
from treeml.problem.problem import Goal
from treeml.problem.terms import Leaves, Loss, Sum
from treeml.testing.problems import binary, errors, minimize, single


def joint(factor: Fraction = Fraction(1)) -> NativeObjective:
    """Errors, times a factor, then leaves."""
    rows, actual = ["00", "01", "10", "11"] * 2, [0, 1, 1, 0, 0, 0, 1, 1]
    first = Goal(Sum(((factor, errors(actual, 2)),)))
    return objective_of(binary(rows, 2, (first, *minimize(single(Leaves())))))


@pytest.mark.parametrize("factor", [Fraction(1), Fraction(2, 3), Fraction(7)])
def test_the_first_goal_is_read_back_and_bounds_are_whole(factor: Fraction) -> None:
    objective = joint(factor)
    assert objective.first_weighs > 1
    unit = 1 / objective.scale
    for first in range(9):
        for later in range(objective.later_least, objective.later_most + 1):
            value = first * objective.first_weighs + later
            assert objective.first_goal(Fraction(value)) == first * unit
            bound = objective.bound_of_first_goal(Fraction(value))
            # A tree of this joint value, or of a larger one, has at least this many errors.
            assert bound == min(
                other * unit
                for other in range(-1, 10)
                if other * objective.first_weighs + objective.later_most >= value
            )
            assert bound <= first * unit


def test_a_tree_of_one_leaf_bounds_errors_by_none() -> None:
    assert joint().bound_of_first_goal(Fraction(1)) == 0


def test_a_loss_of_numbers_is_not_joined_with_other_goals() -> None:
    """How far it can vary is not known in whole numbers: without an exception the loss would be lost silently."""
    rows = ["0", "1", "0", "1"]
    loss = single(Loss("absolute", np.array([[1], [2], [3], [4]]), np.ones(4, dtype=np.int64)))
    squares = single(Loss("squared", np.array([[1], [2], [3], [4]]), np.ones(4, dtype=np.int64)))
    leaves = single(Leaves())
    for goals in ((loss, leaves), (leaves, loss), (squares, leaves)):
        problem = binary(rows, 0, tuple(each for goal in goals for each in minimize(goal)))
        with pytest.raises(ValueError, match="cannot be joined"):
            objective_of(problem)
        joined = joinable(problem)
        assert len(joined.goals) == 1
        assert joined.goals[0] is problem.goals[0]
        objective_of(joined)
    assert joinable(binary(rows, 0, minimize(loss))).goals[0].sum is loss


def test_the_search_for_trees_looks_for_the_loss_before_the_leaves() -> None:
    numbers = np.arange(16)
    loss = single(Loss("absolute", np.abs(numbers - 8)[:, None], np.ones(16, dtype=np.int64)))
    leaves = single(Leaves())
    rows = [f"{number:04b}" for number in range(16)]
    plain, then_leaves = (binary(rows, 0, minimize(*goals)) for goals in ((loss,), (loss, leaves)))
    one, other = (LocalKernel(problem).best(numbers, 2) for problem in (plain, then_leaves))
    assert one is not None
    assert other is not None
    assert other.value == one.value
    assert other.leaves == 4
    assert not takes(binary(rows, 0, minimize(leaves, loss)))  # a single leaf is best
