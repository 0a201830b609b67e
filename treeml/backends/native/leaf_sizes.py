"""Problem -> the size of every row, and the least size of a leaf, for the numeric kernel.

A leaf has a least number of rows (`support`) or a least weight (`leaf_weight`, which is a bound on leaf errors that are
minus the weights). The kernel sums up one size per row, so it takes either of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeml.backends.native.goals import floor, in_64_bits, kind, limit_of
from treeml.problem.magnitudes import added
from treeml.problem.problem import Bound, Problem, once
from treeml.problem.terms import LeafErrors

MOST_WEIGHT = 2**60  # of all rows together: the kernel doubles sums of sizes


class LeafSizes(NamedTuple):
    size: NDArray[np.int64]  # of every row
    least: int  # of a leaf


@once
def leaf_sizes(problem: Problem) -> LeafSizes | None:
    """None if leaves are limited in a way that is no size, or in two ways."""
    support = problem.bound_on("Support", ">=")
    rows = LeafSizes(problem.count, 1 if support is None else in_64_bits(max(1, -floor(-support))))
    weights = [_weight_limit(bound) for bound in problem.bounds if kind(bound) is LeafErrors]
    asked = [limit for limit in weights if limit is None or limit.least > 0]  # every leaf has a weight of 0
    if not asked:
        return rows
    first = asked[0]
    counts_rows = any({"TestCost", "DiscountedTestCost", "Loss"} & goal.sum.kinds() for goal in problem.goals)
    if first is None or rows.least > 1 or counts_rows or added(first.size) >= MOST_WEIGHT:
        return None
    if any(limit is None or not np.array_equal(limit.size, first.size) for limit in asked):
        return None
    return LeafSizes(first.size, in_64_bits(max(limit.least for limit in asked if limit is not None)))


def _weight_limit(bound: Bound) -> LeafSizes | None:
    """The weights and their least sum in a leaf, if the errors are minus the weights, whatever is predicted."""
    term = bound.sum.parts[0][1]
    assert isinstance(term, LeafErrors)
    if term.scale <= 0 or not term.cost.shape[1] or (term.cost != term.cost[:, :1]).any() or (term.cost > 0).any():
        return None
    return LeafSizes(np.ascontiguousarray(-term.cost[:, 0]), -floor(limit_of(bound) / term.scale))
