"""Groups of rows at once: the same constants and losses as each group by itself, whatever the size of the numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from treeml.problem.constants import best_constant, constant_loss, group_constants, group_losses, group_sums


@pytest.mark.parametrize("kind", ["squared", "absolute", "quantile"])
@pytest.mark.parametrize("largest", [10, 10**9, 2**40], ids=str)
@pytest.mark.parametrize("lightest", [0, 1])
def test_constants_of_groups_equal_those_of_each_group_alone(kind: str, largest: int, lightest: int) -> None:
    random = np.random.default_rng(largest % 1000 + lightest)
    level = Fraction(1, 3)
    values = random.integers(-largest, largest, 60)
    weight = random.integers(lightest, 3, 60)
    group = random.integers(0, 4, 60)
    weight[group == 3] = lightest  # a whole group may weigh nothing
    rows = [np.flatnonzero(group == number) for number in range(5)]  # the last one is empty
    constants = group_constants(kind, values, weight, group, 5, level)
    assert constants[4] == 0
    assert constants[:4] == [best_constant(kind, values[here], weight[here], level) for here in rows[:4]]
    losses = [constant_loss(kind, values[here], weight[here], level) for here in rows]
    assert group_losses(kind, values, weight, group, 5, level) == sum(losses)


def test_sums_do_not_overflow() -> None:
    values, factors = np.array([2**62, 2**62, -3, 5]), np.array([4, 4, 1, 1])
    group = np.array([0, 0, 1, 1])
    assert group_sums(group, 3, values, factors) == [2**65, 2, 0]
    assert group_sums(group, 3, values) == [2**63, 2, 0]
