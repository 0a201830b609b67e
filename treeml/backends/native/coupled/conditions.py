"""Problem -> what its tests cost and which leaves it allows, in whole numbers, for the coupled searches.

Fees: every row pays for the columns tested on its path; they are part of the goal, or limited, or both. Rules: what
every leaf has to keep by itself, a least purity and a greatest cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import Refusal
from treeml.backends.native.goals import NativeObjective, floor, in_64_bits, kind, limit_of
from treeml.backends.native.inputs import leaf_limit, purity_limit
from treeml.problem.evaluate import Routed
from treeml.problem.magnitudes import added, common_divisor
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import TestCost

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

MOST = 2**56  # as in task.py


@dataclass(frozen=True, eq=False, slots=True)
class Fees:
    """What a row pays for a test of each column: without a test above it, then below a test of every column.

    `in_goal` is part of the cost, `limited` adds up to at most `most`; None if there are no such fees.
    """

    in_goal: Whole | None = None
    limited: Whole | None = None
    most: int = 0

    def __bool__(self) -> bool:
        return self.in_goal is not None or self.limited is not None


@dataclass(frozen=True, eq=False, slots=True)
class LeafRules:
    """Rows x classes: some class has a sum of purity of at least 0, and the label's sum of costs is at most `most`."""

    purity: Whole | None = None
    cost: Whole | None = None
    most: int = 0

    def __bool__(self) -> bool:
        return self.purity is not None or self.cost is not None


NO_FEES, NO_RULES = Fees(), LeafRules()


def limits_fees(bound: Bound) -> bool:
    """Does the bound limit the costs of tests, and nothing else?"""
    return issubclass(kind(bound), TestCost)


def read_fees(problem: Problem, objective: NativeObjective) -> Fees:
    """The fees of a problem; OverflowError if they are too large for the search."""
    limited = [bound for bound in problem.bounds if limits_fees(bound)]
    if objective.column_cost is None and not limited:
        return NO_FEES
    in_goal = None
    if objective.column_cost is not None:
        in_goal = _below([int(cost) for cost in objective.column_cost], objective.discounts)
        _check(problem, in_goal)
    if not limited:
        return Fees(in_goal)
    terms = [_test_cost(bound) for bound in limited]
    matrix = _below(terms[0].costs, getattr(terms[0], "discounts", ()))
    divisor = common_divisor(matrix)
    _check(problem, matrix // divisor)
    most = min(floor(limit_of(bound) / term.scale / divisor) for bound, term in zip(limited, terms, strict=True))
    return Fees(in_goal, matrix // divisor, in_64_bits(most))


def read_rules(problem: Problem) -> LeafRules:
    """The rules for leaves; OverflowError if their numbers are too large for the search."""
    pure, limited = purity_limit(problem), leaf_limit(problem)
    if pure is None and limited is None:
        return NO_RULES
    purity = None
    if pure is not None:
        weight, share = pure
        if added(np.abs(weight).ravel()) * 2 * max(share.numerator, share.denominator) > MOST:
            raise OverflowError("a share of the purity of leaves has too many digits for the coupled search")
        purity = weight * share.denominator - weight.sum(axis=1, keepdims=True) * share.numerator
        purity = purity // common_divisor(purity)
    if limited is None:
        return LeafRules(purity)
    if added(np.abs(limited[0]).ravel()) > MOST:
        raise OverflowError("the costs of a leaf are too large for the coupled search")
    return LeafRules(purity, limited[0], limited[1])


def paid(routed: Routed, below: Whole) -> int:
    """The fees that all rows of a tree pay together."""
    problem, total = routed.problem, 0
    for _, path, rows in routed.leaves:
        columns = list(dict.fromkeys(problem.tests[test].feature for test, _ in path))
        each = sum(
            min(int(below[0, column]), *(int(below[1 + above, column]) for above in columns[:place]))
            if place
            else int(below[0, column])
            for place, column in enumerate(columns)
        )
        total += added(problem.count[rows]) * each
    return total


def condition_refusals(problem: Problem) -> Iterator[Refusal]:
    """Why the fees and rules of a problem are not those that the coupled searches know."""
    limited = [bound for bound in problem.bounds if limits_fees(bound)]
    for bound in limited:
        term = _test_cost(bound)
        if term.scale < 0 or min(term.costs, default=0) < 0:
            yield Refusal(_named(bound), "native does not support negative costs of tests")
    if not _alike(limited):
        yield Refusal("several limits on costs of tests", "native supports one table of costs, and these have several")


def _alike(bounds: Iterable[Bound]) -> bool:
    tables = {(term.costs, getattr(term, "discounts", ())) for term in map(_test_cost, bounds)}
    return len(tables) < 2


def _named(bound: Bound) -> str:
    return f"the requirement {bound.name}" if bound.name else "a requirement"


def _test_cost(bound: Bound) -> TestCost:
    term = bound.sum.parts[0][1]
    assert isinstance(term, TestCost)
    return term


def _below(costs: Iterable[int], discounts: Iterable[tuple[int, int, int]]) -> Whole:
    """(1 + columns) x columns: the cost of a column without any test above it, then below a test of each column."""
    plain = np.array(tuple(costs), dtype=np.int64)
    below = np.tile(plain, (1 + len(plain), 1))
    for column, above, cost in discounts:
        below[1 + above, column] = min(int(cost), int(plain[column]))
    below[np.arange(len(plain)) + 1, np.arange(len(plain))] = 0
    return below


def _check(problem: Problem, below: Whole) -> None:
    if added(below[0]) * max(1, added(problem.count)) > MOST:
        raise OverflowError("the costs of tests are too large for the coupled search")
