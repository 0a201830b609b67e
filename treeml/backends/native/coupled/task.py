"""Problem -> CoupledTask: its goals as one cost and its limited sums, all in whole numbers.

A sum over the predictions has many equal forms: parity between two groups is limited twice, once in each direction,
and recall is one minus the rate of misses. Every sum is brought to one form first (class 0 counts nothing, no common
divisor, the first entry positive), so that all limits on it become one pair of a lower and an upper limit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.native.coupled.conditions import NO_FEES, NO_RULES, Fees, LeafRules, paid, read_fees, read_rules
from treeml.backends.native.coupled.requirements import limits_predictions
from treeml.backends.native.goals import NativeObjective, objective_of, predicted_part
from treeml.problem.evaluate import Routed
from treeml.problem.magnitudes import SAFE, added, common_divisor, largest, row_ends, row_reach
from treeml.problem.problem import Bound, Problem, once
from treeml.problem.tree import Node

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

MOST_IN_COLUMNS = 2**40  # the same for the search over columns, which multiplies them in doubles
FEW_ENTRIES = 256  # of a matrix, by which it is looked up
FEW_ROWS = 64  # that mostly show that two matrices differ
MOST = 2**56  # no cost and no limited sum of any tree may be larger: the search multiplies and adds them in 64 bits


@dataclass(eq=False, slots=True)
class LimitedSum:
    """A sum of `cost[row, predicted class]` over all rows, with its limits and the requirements that they are from."""

    cost: Whole
    low: int | None = None
    high: int | None = None
    names: list[str] = field(default_factory=list)
    ends: tuple[int, int] | None = None  # the least and the greatest sum of any labels of the rows, if they are known

    def limit(self, low: int | None, high: int | None, name: str) -> None:
        """Adds limits; the strictest ones stay."""
        if low is not None:
            self.low = low if self.low is None else max(self.low, low)
        if high is not None:
            self.high = high if self.high is None else min(self.high, high)
        if name not in self.names:
            self.names.append(name)


@dataclass(frozen=True, eq=False, slots=True)
class CoupledTask:
    """The goals as one objective, and every limited sum that is a restriction.

    `excluded`: the name of a requirement that no labels of the rows meet, seen without a search; None if there is none.
    """

    objective: NativeObjective
    values: Whole  # (1 + sums) x rows x classes: the cost first
    low: tuple[int | None, ...]
    high: tuple[int | None, ...]
    most: int | None  # the largest cost of interest, where a requirement limits the goal itself
    excluded: str | None
    fees: Fees = NO_FEES
    rules: LeafRules = NO_RULES

    @property
    def sums(self) -> int:
        return len(self.low)


@once
def read_coupled(problem: Problem) -> CoupledTask:
    """The task of a problem with requirements on predictions; OverflowError if its numbers are too large."""
    objective = objective_of(problem)
    cost = np.zeros((problem.rows, problem.classes), np.int64) if objective.cost is None else objective.cost
    prices = abs(int(objective.price)) * max(1, problem.rows)
    if objective.largest_cost * problem.rows + prices > MOST:
        _check_size(row_reach(cost) + prices)
    found, excluded = limited_sums(bound for bound in problem.bounds if limits_predictions(bound))
    most = _limit_of_goal(objective, cost, found)
    kept, crossed = restrictions(found)
    values = np.empty((1 + len(kept), problem.rows, problem.classes), np.int64)
    for place, each in enumerate([cost, *(limited.cost for limited in kept)]):
        values[place] = each
    lows, highs = tuple(each.low for each in kept), tuple(each.high for each in kept)
    fees, rules = read_fees(problem, objective), read_rules(problem)
    return CoupledTask(objective, values, lows, highs, most, crossed or excluded, fees, rules)


def cost_of(problem: Problem, task: CoupledTask, tree: Node) -> int:
    """What a tree costs in the whole numbers of the search."""
    routed = Routed(problem, tree)
    price = int(task.objective.price)
    fees = 0 if task.fees.in_goal is None else paid(routed, task.fees.in_goal)
    return added(routed.at_labels(task.values[0])) + price * len(routed.leaves) + fees


def limited_sums(bounds: Iterable[Bound]) -> tuple[list[LimitedSum], str | None]:
    """The sums over predictions that these bounds limit, and the name of a bound that no tree meets."""
    found = _Sums()
    excluded = None
    for bound in bounds:
        if not _add(bound, found):
            excluded = bound.name
    return found.all, excluded


class _Sums:
    """Limited sums by their costs in normal form, and the normal form of every matrix seen."""

    def __init__(self) -> None:
        self.all: list[LimitedSum] = []
        self._alike: dict[bytes, list[LimitedSum]] = {}  # by a few of their entries: hashing all of them takes long
        self._forms: dict[int, tuple[Whole, tuple[Whole, int, int]]] = {}  # both sides of a gap share one matrix

    def form(self, cost: Whole) -> tuple[Whole, int, int]:
        """The normal form of a matrix, which is kept, so that its identity stays its own."""
        if id(cost) not in self._forms:
            self._forms[id(cost)] = cost, normal_form(cost)
        return self._forms[id(cost)][1]

    def get(self, plain: Whole) -> LimitedSum:
        """The sum with these costs, without limits if it is new."""
        entries = plain.reshape(-1)
        alike = self._alike.setdefault(entries[:: 1 + len(entries) // FEW_ENTRIES].tobytes(), [])
        for limited in alike:
            if limited.cost is plain or np.array_equal(limited.cost, plain):
                return limited
        alike.append(LimitedSum(plain))
        self.all.append(alike[-1])
        return alike[-1]


def restrictions(sums: Iterable[LimitedSum]) -> tuple[list[LimitedSum], str | None]:
    """The limits that some labels of the rows exceed, and the name of a requirement that no labels meet."""
    kept, excluded = [], None
    for limited in sums:
        least, greatest = limited.ends or row_ends(limited.cost)
        low = None if limited.low is None or limited.low <= least else limited.low
        high = None if limited.high is None or limited.high >= greatest else limited.high
        if (low is not None and low > greatest) or (high is not None and high < least) or _crossed(low, high):
            excluded = limited.names[-1]
        if low is not None or high is not None:
            kept.append(LimitedSum(limited.cost, low, high, limited.names, (least, greatest)))
    return kept, excluded


def has_small_sums(problem: Problem) -> bool:
    """Are the cost and all limited sums small enough for the search over columns of numbers?"""
    try:
        task = read_coupled(problem)
    except OverflowError:
        return False
    reach = row_reach(task.values[0]) + abs(int(task.objective.price)) * problem.rows
    for fees in (task.fees.in_goal, task.fees.limited):
        reach = max(reach, 0 if fees is None else added(fees[0]) * added(problem.count))
    return max(reach, *(row_reach(values) for values in task.values)) <= MOST_IN_COLUMNS


def _crossed(low: int | None, high: int | None) -> bool:
    return low is not None and high is not None and low > high


def _add(bound: Bound, found: _Sums) -> bool:
    """Adds the limits of a bound to its sum in normal form; False if its sum is constant and beyond the limit."""
    part = predicted_part(bound.sum)
    assert part is not None
    factor, term = part
    limit = bound.limit - bound.sum.constant if bound.sum.constant else bound.limit
    plain, steps, shift = found.form(term.cost)
    if shift:
        limit -= factor * shift
    if not steps:
        return (bound.sense == ">=" or limit >= 0) and (bound.sense == "<=" or limit <= 0)
    # limit / (factor * steps) in whole numbers
    above, below = limit.numerator * factor.denominator, limit.denominator * factor.numerator * steps
    sense = bound.sense if below > 0 else {"<=": ">=", ">=": "<=", "=": "="}[bound.sense]
    low = None if sense == "<=" else -(-above // below)
    high = None if sense == ">=" else above // below
    limited = found.get(plain)
    limited.limit(low, high, bound.name)
    if plain is term.cost:
        limited.ends = term.ends
    return True


def normal_form(cost: Whole) -> tuple[Whole, int, int]:
    """(plain, steps, shift): the sum of `cost` is steps * the sum of `plain` + shift for every tree.

    `steps` is 0 if the sum is the same for all trees. OverflowError if the numbers are too large for the search.
    """
    first = cost[:, :1]
    if largest(cost) > 2**61:
        raise OverflowError("its integers do not fit in 64 bits")
    counts_first = bool(first.any())
    others = cost[:, 1:] - first if counts_first else cost[:, 1:]
    shift = added(first.ravel()) if counts_first else 0
    found = others.ravel()
    place = int((found != 0).argmax()) if found.size else 0
    if not found.size or not found[place]:
        return np.zeros_like(cost), 0, shift
    steps = common_divisor(found) * (1 if found[place] > 0 else -1)
    if steps == 1 and not counts_first:
        plain = cost
    else:
        plain = np.zeros_like(cost)
        # A division is slow, and mostly there is none to make.
        divide = np.multiply if abs(steps) == 1 else np.floor_divide
        divide(others, steps, out=plain[:, 1:])
    if largest(plain) * len(plain) > MOST:
        _check_size(row_reach(plain))
    return plain, steps, shift


def _limit_of_goal(objective: NativeObjective, cost: Whole, found: Iterable[LimitedSum]) -> int | None:
    """The largest cost that the upper limit on the goal's own sum allows, if there is one; that limit is then dropped.

    A limit on what is minimized needs no sum of its own: the search looks for cheaper trees in any case.
    """
    if objective.price or objective.column_cost is not None or objective.cost is None or objective.first_weighs != 1:
        return None
    first = cost[:FEW_ROWS, 1:] - cost[:FEW_ROWS, :1]
    alike = [each for each in found if _are_multiples(first, each.cost[:FEW_ROWS, 1:])]
    if not alike:  # the usual case
        return None
    plain, steps, shift = normal_form(cost)
    limited = next((each for each in alike if np.array_equal(each.cost, plain)), None)
    end = None if limited is None else limited.high if steps > 0 else limited.low
    if not steps or limited is None or end is None:
        return None
    if steps > 0:
        limited.high = None
    else:
        limited.low = None
    return steps * end + shift


def _are_multiples(one: Whole, other: Whole) -> bool:
    """Can the entries of one matrix be those of the other times a number?"""
    where = one.ravel().nonzero()[0]
    if len(where) != np.count_nonzero(other):  # the usual case
        return False
    if not where.size:
        return True
    place = int(where[0])
    mine, theirs = int(one.ravel()[place]), int(other.ravel()[place])
    if max(largest(one) * abs(theirs), largest(other) * abs(mine)) >= SAFE:
        return True
    return bool(theirs) and np.array_equal(one * theirs, other * mine)


def _check_size(reach: int) -> None:
    if reach > MOST:
        raise OverflowError("a sum over the predictions is too large for the coupled search")
