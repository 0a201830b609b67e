"""Goals and bounds of a problem -> one objective in integers, as the C solver takes it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.problem.constants import exact_sum
from treeml.problem.magnitudes import added
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import Custom, DiscountedTestCost, LeafErrors, Leaves, Loss, Predicted, Purity, Sum, TestCost

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 2**58  # the largest sum of integers that cannot overflow in the solver
LEADING = 2**18  # where the last bits of targets are rounded away, this range of numbers at least is kept
_BESIDE_RANGE = 4  # units by which sums of rounded targets may exceed their range
LIKELY = 2**20  # the rounding that is stated is about this many times what values are really off
MOST_BESIDE = 2**900  # the largest price beside a real-valued loss; it is rounded, but must be a finite float


@dataclass
class NativeObjective:
    """All goals as one objective in integers: `scale` times the user's sum."""

    scale: Fraction = Fraction(1)
    cost: NDArray[np.int64] | None = None
    largest_cost: int = 0  # no entry of `cost` in the objective of a problem has a larger absolute value
    loss: Loss | None = None
    custom: Custom | None = None
    factor: int = 1  # multiplies the loss or the user's function
    price: int | Fraction = 0
    column_cost: NDArray[np.int64] | tuple[Fraction, ...] | None = None
    discounts: tuple[tuple[int, int, Any], ...] = ()  # column, one tested above it, its cost then
    beside: float | None = None  # the largest price beside a real loss, which sets its rounding; None: all integers
    most: float = inf  # leaf costs above this are all treated alike
    constant: Fraction = Fraction(0)
    first_weighs: int = 1  # the weight of the first goal if later goals break ties
    later_most: int = 0  # the largest and the least value of the later goals
    later_least: int = 0

    def first_goal(self, value: Fraction) -> Fraction:
        """The value of the first goal, given the joint value of all goals.

        In it, one unit of the first goal weighs more than the later goals can differ.
        """
        if self.first_weighs > 1:
            value = Fraction((value - self.later_least) // self.first_weighs)
        return self._in_units(value)

    def bound_of_first_goal(self, bound: Fraction) -> Fraction:
        """A bound on the first goal, given one on the joint value: the later goals may be as large as they can be."""
        if self.first_weighs > 1:
            bound = Fraction(-((self.later_most - bound) // self.first_weighs))
        return self._in_units(bound)

    def _in_units(self, value: Fraction) -> Fraction:
        if self.scale == 1 and not self.constant:
            return value
        return value / self.scale + self.constant


def _one_goal(problem: Problem, total: Sum) -> NativeObjective:
    """One goal in integers, or as a real-valued loss beside which prices are rounded."""
    for factor, term in total.parts:
        if isinstance(term, Custom) or (isinstance(term, Loss) and term.kind == "squared"):
            return _real_goal(problem, total, factor, term)
    try:
        return _whole_goal(problem, total)
    except OverflowError:
        for factor, term in total.parts:
            if isinstance(term, Loss):
                return _real_goal(problem, total, factor, term)
        raise


def _real_goal(problem: Problem, total: Sum, factor: Fraction, main: Loss | Custom) -> NativeObjective:
    """A goal in units of its loss; prices become multiples of the unit and may be fractions."""
    step = abs(factor) * (abs(main.scale) if isinstance(main, Loss) else 1) or Fraction(1)
    one = NativeObjective(scale=1 / step, constant=total.constant)
    for each, term in total.parts:
        if isinstance(term, Leaves):
            one.price += each / step
        elif isinstance(term, TestCost):
            share = each * term.scale / step
            one.column_cost = tuple(share * cost for cost in term.costs)
            one.discounts = _discounts(term, share)
    if isinstance(main, Loss):
        one.loss = main
        _check_loss(main)
    else:
        one.custom = main
    # Where all rows together cost nothing, what their leaves cost by rounding alone has to fit as well.
    beside = max(abs(Fraction(one.price)), main.rounding / LIKELY if isinstance(main, Custom) else Fraction(0))
    if one.column_cost is not None:
        beside = max(beside, int(problem.count.sum()) * abs(sum(one.column_cost, Fraction(0))))
    if beside > MOST_BESIDE:
        raise OverflowError("a price beside the loss is too large for it")
    one.beside = float(beside)
    return one


def _check_loss(loss: Loss) -> None:
    """Raises OverflowError unless sums of weights are exact in 64 bits and sums of weighted targets in 128."""
    if exact_sum(loss.weight) > MOST or _widest(loss.targets) > 2 * MOST or loss.level.denominator > MOST:
        raise OverflowError("its weights, targets or levels have more digits than 64 bits hold")


def _widest(targets: NDArray[np.int64]) -> int:
    """The widest range of values of any output."""
    if not targets.size:
        return 0
    low, high = targets.min(axis=0).tolist(), targets.max(axis=0).tolist()
    return max(int(most) - int(least) for least, most in zip(low, high, strict=True))


def surplus_bits(targets: NDArray[np.int64], weight: int, beside: int) -> int:
    """How many of their last bits targets have to lose for the sums of an absolute or quantile loss to fit.

    `weight` is that of all rows in steps of the loss, `beside` the most that prices add to it in the same steps.
    """
    wide, each, bits = _widest(targets), weight * targets.shape[1], 0
    while each * ((wide >> bits) + _BESIDE_RANGE) + (beside >> bits) > MOST and (wide | beside) >> bits:
        bits += 1
    return bits


def steps_of(loss: Loss) -> int:
    """The steps in which the solver counts one unit of an absolute or quantile loss."""
    return loss.level.denominator if loss.kind == "quantile" else 1


def fits_rounded(problem: Problem, total: Sum) -> bool:
    """Do the sums of a goal fit in 64 bits, if the last bits of the targets of its loss are rounded away?"""
    try:
        goal = _one_goal(problem, total)
    except OverflowError:
        return False
    if goal.beside is None or goal.loss is None:
        return goal.beside is None
    steps = steps_of(goal.loss)
    beside = ceil(goal.beside * problem.rows) * steps
    weight = exact_sum(goal.loss.weight) * goal.factor * steps
    bits = surplus_bits(goal.loss.targets, weight, beside)
    is_fine = not bits or _widest(goal.loss.targets) >> bits >= LEADING
    return is_fine and weight * goal.loss.targets.shape[1] <= MOST // (2 * _BESIDE_RANGE)


def centred(targets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Targets shifted by the middle of their range, per output, which keeps the integers small."""
    middle = [(int(a) + int(b)) // 2 for a, b in zip(targets.min(axis=0), targets.max(axis=0), strict=True)]
    return targets - np.array(middle, dtype=np.int64)


def _whole_goal(problem: Problem, total: Sum) -> NativeObjective:
    """One goal in integers."""
    one = NativeObjective(constant=total.constant)
    factors = [factor * scale if (scale := getattr(term, "scale", 1)) != 1 else factor for factor, term in total.parts]
    denominator = lcm(*(factor.denominator for factor in factors))
    one.scale = Fraction(denominator)
    unit = 1  # steps of the C solver per unit: a quantile loss counts in steps of its level
    for factor, (_, term) in zip(factors, total.parts, strict=True):
        multiple = factor.numerator * (denominator // factor.denominator)
        if isinstance(term, Predicted):
            one.largest_cost = term.largest * abs(multiple)
            if one.largest_cost * term.cost.size > MOST:
                check_cost(term.cost, multiple)
            one.cost = np.asarray(term.cost) if multiple == 1 else np.asarray(term.cost) * multiple
        elif isinstance(term, Leaves):
            one.price += multiple
        elif isinstance(term, TestCost):
            _check_size(multiple * max(term.costs, default=0), int(problem.count.sum()) * max(1, len(term.costs)))
            one.column_cost = np.asarray(term.costs, dtype=np.int64) * multiple
            one.discounts = _discounts(term, multiple)
        elif isinstance(term, Loss):
            one.loss, one.factor, unit = term, multiple, steps_of(term)
            size = multiple * exact_sum(term.weight) * (_widest(term.targets) + 3) * unit
            _check_size(size, term.targets.shape[1])
    _check_size(int(one.price) * unit, problem.rows)
    if one.column_cost is not None:
        _check_size(unit * sum(int(cost) for cost in one.column_cost), int(problem.count.sum()))
    return one


def _discounts(term: TestCost, factor: Any) -> tuple[tuple[int, int, Any], ...]:
    if not isinstance(term, DiscountedTestCost):
        return ()
    return tuple((column, above, cost * factor) for column, above, cost in term.discounts)


def check_cost(cost: NDArray[np.int64], multiple: int = 1) -> None:
    """Raises OverflowError if the sum of all absolute costs exceeds the range of the solver."""
    if _largest(cost) * abs(multiple) * cost.size > MOST and added(np.abs(cost).ravel()) * abs(multiple) > MOST:
        raise OverflowError("its integers do not fit in 64 bits")


def _largest(array: NDArray[np.int64]) -> int:
    return max(int(array.max()), -int(array.min())) if array.size else 0


def _check_size(each: int, times: int) -> None:
    if each * max(1, times) > MOST:
        raise OverflowError("its integers do not fit in 64 bits")


def _spread(problem: Problem, goal: NativeObjective) -> tuple[int, int]:
    """The least and the largest value that an integer goal can have."""
    low, high = int(goal.price), int(goal.price) * problem.rows
    if goal.cost is not None:
        low += int(goal.cost.min(axis=1).astype(object).sum())
        high += int(goal.cost.max(axis=1).astype(object).sum())
    if goal.column_cost is not None:
        high += sum(int(cost) for cost in goal.column_cost) * int(problem.count.sum())
    return low, high


def joinable(problem: Problem) -> Problem:
    """The problem with the goals that `objective_of` joins: a loss of numbers stands alone, and ends them."""
    real = [bool({"Loss", "Custom"} & goal.sum.kinds()) for goal in problem.goals]
    if len(real) < 2 or not any(real):
        return problem
    return problem.asking(problem.goals[: max(1, real.index(True))], problem.bounds)


def objective_of(problem: Problem) -> NativeObjective:
    """All goals as one: each weighs more than the sum of the later ones can vary.

    Raises ValueError for a loss of numbers or a function of leaves beside other goals: how far it can vary is not known
    in whole numbers.
    """
    goals = [_one_goal(problem, goal.sum) for goal in problem.goals]
    if not goals:
        return NativeObjective()
    if len(goals) > 1 and any(goal.loss is not None or goal.custom is not None for goal in goals):
        raise ValueError("a loss of numbers or a function of leaves cannot be joined with other goals")
    total = goals[-1]
    for goal in reversed(goals[:-1]):
        low, high = _spread(problem, total)
        weight = high - low + 1
        _check_size(weight * int(goal.price), problem.rows)
        joined = NativeObjective(
            scale=goal.scale, constant=goal.constant, first_weighs=weight, later_most=high, later_least=low
        )
        joined.price = weight * int(goal.price) + int(total.price)
        joined.largest_cost = weight * goal.largest_cost + total.largest_cost
        for part in ("cost", "column_cost"):
            mine, theirs = getattr(goal, part), getattr(total, part)
            if mine is not None:
                times = mine.size if part == "cost" else int(problem.count.sum()) * max(1, len(mine))
                _check_size(weight * _largest(mine) + (_largest(theirs) if theirs is not None else 0), times)
                setattr(joined, part, mine * weight if theirs is None else mine * weight + theirs)
            else:
                setattr(joined, part, theirs)
        joined.discounts = _joined_discounts(goal.discounts, total.discounts, weight)
        total = joined
    return total


def _joined_discounts(
    mine: tuple[tuple[int, int, Any], ...], theirs: tuple[tuple[int, int, Any], ...], weight: int
) -> tuple[tuple[int, int, Any], ...]:
    """All discounts come from one specification, so both goals have the same pairs of columns or one has none."""
    later = {(column, above): cost for column, above, cost in theirs}
    if not mine:
        return theirs
    return tuple((column, above, cost * weight + later.get((column, above), 0)) for column, above, cost in mine)


def kind(bound: Bound) -> type:
    return type(bound.sum.parts[0][1]) if len(bound.sum.parts) == 1 else object


def leaf_matrix(bound: Bound) -> NDArray[np.int64]:
    """The matrix of weights or costs that a bound on every leaf sums up."""
    term = bound.sum.parts[0][1]
    assert isinstance(term, Purity | LeafErrors)
    return term.weight if isinstance(term, Purity) else term.cost


def limit_of(bound: Bound) -> Fraction:
    factor = bound.sum.parts[0][0]
    return (bound.limit - bound.sum.constant) / factor


def predicted_part(total: Sum) -> tuple[Fraction, Predicted] | None:
    """The sum over the predictions, with what multiplies its costs."""
    for factor, term in total.parts:
        if isinstance(term, Predicted):
            return term.scale if factor == 1 else factor * term.scale, term
    return None


def scaled_cost(total: Sum) -> tuple[Fraction, NDArray[np.int64]] | None:
    part = predicted_part(total)
    return None if part is None else (part[0], part[1].cost)


def at_most(bound: Bound) -> tuple[Fraction, NDArray[np.int64], Fraction]:
    """A bound on a Predicted term as (factor, cost, limit): factor * sum of costs <= limit."""
    scaled = scaled_cost(bound.sum)
    assert scaled is not None
    limit = bound.limit - bound.sum.constant if bound.sum.constant else bound.limit
    return (scaled[0], scaled[1], limit) if bound.sense == "<=" else (-scaled[0], scaled[1], -limit)


def in_64_bits(limit: int) -> int:
    """The limit clipped to 64 bits: beyond the range of all sums its exact value does not matter."""
    return max(-4 * MOST, min(limit, 4 * MOST))


def floor(value: Fraction | int) -> int:
    return Fraction(value).numerator // Fraction(value).denominator
