"""Goals and bounds of a Problem -> one goal in whole numbers, as the C solver takes it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import (
    Bound,
    Custom,
    LeafErrors,
    Leaves,
    Loss,
    Predicted,
    Problem,
    Purity,
    Sum,
    TestCost,
)
from treeml.backends.magnitudes import added

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 2**58  # sums of whole numbers that the solver takes without overflow


@dataclass
class Objective:
    """The goals as one: minimized in whole numbers, `scale` times the user's sum."""

    scale: Fraction = Fraction(1)
    cost: NDArray[np.int64] | None = None
    loss: Loss | None = None
    custom: Custom | None = None
    factor: int = 1  # of the loss or the user's function
    price: int = 0
    column_cost: NDArray[np.int64] | None = None
    constant: Fraction = Fraction(0)
    first_weighs: int = 1  # the first goal's multiple where later goals break ties
    later_most: int = 0  # what later goals add at most
    later_least: int = 0


def _whole_goal(problem: Problem, total: Sum) -> Objective:
    """One goal in whole numbers."""
    one = Objective(constant=total.constant)
    factors = [factor * getattr(term, "scale", 1) for factor, term in total.parts]
    denominator = lcm(*(factor.denominator for factor in factors))
    one.scale = Fraction(denominator)
    for factor, (_, term) in zip(factors, total.parts, strict=True):
        multiple = factor.numerator * (denominator // factor.denominator)
        if isinstance(term, Predicted):
            check_cost(term.cost, multiple)
            one.cost = np.asarray(term.cost) if multiple == 1 else np.asarray(term.cost) * multiple
        elif isinstance(term, Leaves):
            one.price += multiple
        elif isinstance(term, TestCost):
            _check_size(multiple * max(term.costs, default=0), int(problem.count.sum()) * max(1, len(term.costs)))
            one.column_cost = np.asarray(term.costs, dtype=np.int64) * multiple
        elif isinstance(term, Loss):
            one.loss, one.factor = term, multiple
            _check_size(multiple * _largest(term.weight), problem.rows)
            if term.kind != "squared":
                size = 2 * _largest(term.targets) + 1
                _check_size(
                    multiple * _largest(term.weight) * size * term.level.denominator,
                    problem.rows * term.targets.shape[1],
                )
        elif isinstance(term, Custom):
            one.custom, one.factor = term, multiple
    _check_size(one.price, problem.rows)
    return one


def check_cost(cost: NDArray[np.int64], multiple: int = 1) -> None:
    """The solver adds up the sizes of all costs of a matrix."""
    if _largest(cost) * abs(multiple) * cost.size > MOST and added(np.abs(cost).ravel()) * abs(multiple) > MOST:
        raise OverflowError("its whole numbers do not fit in 64 bits")


def _largest(array: NDArray[np.int64]) -> int:
    return max(int(array.max()), -int(array.min())) if array.size else 0


def _check_size(each: int, times: int) -> None:
    if each * max(1, times) > MOST:
        raise OverflowError("its whole numbers do not fit in 64 bits")


def _spread(problem: Problem, goal: Objective) -> tuple[int, int]:
    """The least and the most that a goal of whole numbers can come to."""
    low, high = goal.price, goal.price * problem.rows
    if goal.cost is not None:
        low += int(goal.cost.min(axis=1).astype(object).sum())
        high += int(goal.cost.max(axis=1).astype(object).sum())
    if goal.column_cost is not None:
        high += int(goal.column_cost.astype(object).sum()) * int(problem.count.sum())
    return low, high


def objective_of(problem: Problem) -> Objective:
    """All goals as one: each weighs more than the later ones can differ."""
    goals = [_whole_goal(problem, goal.sum) for goal in problem.goals]
    if not goals:
        return Objective()
    total = goals[-1]
    for goal in reversed(goals[:-1]):
        low, high = _spread(problem, total)
        weight = high - low + 1
        _check_size(weight * goal.price, problem.rows)
        joined = Objective(
            scale=goal.scale, constant=goal.constant, first_weighs=weight, later_most=high, later_least=low
        )
        joined.price = weight * goal.price + total.price
        for part in ("cost", "column_cost"):
            mine, theirs = getattr(goal, part), getattr(total, part)
            if mine is not None:
                times = mine.size if part == "cost" else int(problem.count.sum()) * max(1, len(mine))
                _check_size(weight * _largest(mine) + (_largest(theirs) if theirs is not None else 0), times)
                setattr(joined, part, mine * weight if theirs is None else mine * weight + theirs)
            else:
                setattr(joined, part, theirs)
        total = joined
    return total


def kind(bound: Bound) -> type:
    return type(bound.sum.parts[0][1]) if len(bound.sum.parts) == 1 else object


def leaf_matrix(bound: Bound) -> NDArray[np.int64]:
    """The weights or costs that a bound on every leaf adds up."""
    term = bound.sum.parts[0][1]
    assert isinstance(term, Purity | LeafErrors)
    return term.weight if isinstance(term, Purity) else term.cost


def limit_of(bound: Bound) -> Fraction:
    factor = bound.sum.parts[0][0]
    return (bound.limit - bound.sum.constant) / factor


def scaled_cost(total: Sum) -> tuple[Fraction, NDArray[np.int64]] | None:
    for factor, term in total.parts:
        if isinstance(term, Predicted):
            return factor * term.scale, term.cost
    return None


def at_most(bound: Bound) -> tuple[Fraction, NDArray[np.int64], Fraction]:
    """A bound on a Predicted as factor, cost and limit: factor * the sum of the costs <= limit."""
    scaled = scaled_cost(bound.sum)
    assert scaled is not None
    sign = 1 if bound.sense == "<=" else -1
    return sign * scaled[0], scaled[1], sign * (bound.limit - bound.sum.constant)


def in_64_bits(limit: int) -> int:
    """A limit beyond all sums that the solver takes says the same wherever beyond them it is."""
    return max(-4 * MOST, min(limit, 4 * MOST))


def floor(value: Fraction | int) -> int:
    return Fraction(value).numerator // Fraction(value).denominator
