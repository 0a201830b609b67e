"""Problem -> what the trees that meet its bounds can look like: how deep at most, and how good at best.

Facts that need no search. Plans use them to stop a loop over depths, and to give a depth to a back-end that needs one.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import Largest, LeafErrors, Leaves, Loss, Predicted, Purity, Sum, Support, TestCost, Used

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def groups(problem: Problem) -> NDArray[np.int64]:
    """For every row the number of its group: rows that answer every test alike are always in one leaf."""
    import numpy as np

    if problem.rows == 0 or len(problem.bits) == 0:
        return np.zeros(problem.rows, dtype=np.int64)
    packed = np.ascontiguousarray(np.packbits(problem.bits, axis=0).T)
    _, numbers = np.unique(packed.view([("", packed.dtype)] * packed.shape[1]).ravel(), return_inverse=True)
    return np.asarray(numbers, dtype=np.int64)


def deepest(problem: Problem) -> int:
    """No tree that meets the bounds is deeper: every leaf holds a row, and on a path no test is met twice."""
    numbers = groups(problem)
    limits = [int(numbers.max(initial=0)), len(problem.bits)]
    if problem.max_depth is not None:
        limits.append(problem.max_depth)
    leaves = problem.bound_on("Leaves", "<=")
    if leaves is not None:
        limits.append(leaves.numerator // leaves.denominator - 1)
    support = problem.bound_on("Support", ">=")
    if support is not None and support > 0:
        limits.append(int(problem.count.sum()) * support.denominator // support.numerator - 1)
    return max(0, min(limits))


def most_leaves(problem: Problem) -> int:
    """No tree that meets the bounds has more leaves: every leaf holds a row that is unlike those of the others."""
    limits = [int(groups(problem).max(initial=0)) + 1]
    leaves = problem.bound_on("Leaves", "<=")
    if leaves is not None:
        limits.append(leaves.numerator // leaves.denominator)
    if problem.max_depth is not None:
        limits.append(2 ** max(0, min(problem.max_depth, 62)))
    return max(0, min(limits))


def at_best(total: Sum, problem: Problem, row_by_row: bool = False) -> Fraction | None:
    """A value that the sum is never below, whatever the tree; None where nothing so simple is known.

    Row by row it is cheaper, and lower where rows that no test can tell apart are of several classes.
    """
    result = total.constant
    for factor, term in total.parts:
        low: Fraction | None = None
        if isinstance(term, Predicted):
            share = factor * term.scale
            low = _least_of_rows(term, share) if row_by_row else _least_predicted(term, share, problem)
        elif factor >= 0 and isinstance(term, Leaves | Support):
            low = factor
        elif factor >= 0 and isinstance(term, Largest):
            least = _least_of_largest(term, problem, row_by_row)
            low = None if least is None else factor * least
        elif factor >= 0 and _never_negative(term):
            low = Fraction(0)
        if low is None:
            return None
        result += low
    return result


def _least_of_largest(term: Largest, problem: Problem, row_by_row: bool) -> Fraction | None:
    """The largest is not below any of its parts; of a difference and its opposite, as in a gap, one is not below 0."""
    known = [at_best(part, problem, row_by_row) for part in term.parts]
    values = [value for value in known if value is not None]
    if any(_are_opposite(term.parts[0], part) for part in term.parts[1:]):
        values.append(Fraction(0))
    return max(values, default=None)


def _are_opposite(one: Sum, other: Sum) -> bool:
    import numpy as np

    if one.constant != -other.constant or len(one.parts) != 1 or len(other.parts) != 1:
        return False
    (factor, term), (other_factor, other_term) = one.parts[0], other.parts[0]
    if not isinstance(term, Predicted) or not isinstance(other_term, Predicted):
        return False
    share, other_share = factor * term.scale, other_factor * other_term.scale
    if share == other_share:
        return bool(np.array_equal(term.cost, -other_term.cost))
    return share == -other_share and bool(np.array_equal(term.cost, other_term.cost))


def impossible(problem: Problem) -> Bound | None:
    """A bound that no tree of any depth meets, seen from rows that no test can tell apart."""
    for bound in problem.bounds:
        low = at_best(bound.sum, problem)
        if bound.sense in ("<=", "=") and low is not None and low > bound.limit:
            return bound
        flipped = Sum(tuple((-factor, term) for factor, term in bound.sum.parts), -bound.sum.constant)
        low = at_best(flipped, problem)
        if bound.sense in (">=", "=") and low is not None and low > -bound.limit:
            return bound
    return None


def _least_predicted(term: Predicted, factor: Fraction, problem: Problem) -> Fraction:
    """Rows of one group get one class, so the best class of every group is the best there is."""
    import numpy as np

    if problem.rows == 0:
        return Fraction(0)
    numbers = groups(problem)
    sums = np.zeros((int(numbers.max()) + 1, problem.classes), dtype=object)
    np.add.at(sums, numbers, term.cost.astype(object))
    best = sums.min(axis=1) if factor >= 0 else sums.max(axis=1)
    return factor * int(best.sum())


def _least_of_rows(term: Predicted, factor: Fraction) -> Fraction:
    """Every row gets the class that is best for it."""
    best = term.cost.min(axis=1) if factor >= 0 else term.cost.max(axis=1)
    return factor * int(best.sum())


def _never_negative(term: object) -> bool:
    if isinstance(term, TestCost):
        return term.scale >= 0 and all(cost >= 0 for cost in term.costs)
    if isinstance(term, Loss):
        return term.scale >= 0 and bool((term.weight >= 0).all())
    if isinstance(term, LeafErrors):
        return term.scale >= 0 and bool((term.cost >= 0).all())
    return isinstance(term, Used | Purity)
