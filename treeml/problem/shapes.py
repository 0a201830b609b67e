"""Problem -> how deep its trees can be, and how many leaves they can have.

Facts that need no search. Plans use them to end a loop over depths, and to give a depth to a back-end that needs one.
Two of them look at the features only, since making the answers to all tests can take long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treeml.problem.fans import widest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from treeml.problem.problem import Problem


def groups(problem: Problem) -> NDArray[np.int64]:
    """For every row the number of its group: rows that answer every test alike are always in one leaf."""
    # imported here: start-up time
    import numpy as np

    from treeml.problem.answers import feature_keys

    numbers = np.zeros(problem.rows, dtype=np.int64)
    count = 1
    for feature in problem.features:
        if count >= problem.rows:
            break  # every row is a group
        if feature.tests:
            _, keys = np.unique(feature_keys(problem, feature), return_inverse=True)
            joined = numbers * (int(keys.max(initial=0)) + 1) + keys.reshape(-1)
            distinct, numbers = np.unique(joined, return_inverse=True)
            count = len(distinct)
    return np.asarray(numbers, dtype=np.int64)


def deepest(problem: Problem) -> int:
    """No tree that meets the bounds is deeper: every leaf holds a row, and no path asks a test twice."""
    numbers = groups(problem)
    limits = [int(numbers.max(initial=0)), len(problem.tests)]
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
    """No tree that meets the bounds has more leaves: every leaf holds a row that differs from those of the others."""
    limits = [int(groups(problem).max(initial=0)) + 1]
    leaves = problem.bound_on("Leaves", "<=")
    if leaves is not None:
        limits.append(leaves.numerator // leaves.denominator)
    if problem.max_depth is not None:
        limits.append(_leaves_of_depth(problem.max_depth, problem))
    return max(0, min(limits))


def depth_without_bounds(problem: Problem, enough: int | None = None) -> int:
    """No tree is deeper, whatever the bounds: a path can ask no more, and every leaf holds a row.

    Counted up to `enough`, from the features alone.
    """
    most = max(0, problem.rows - 1)
    if enough is not None:
        most = max(0, min(most, enough))
    asked = 0
    for feature in problem.features:
        if asked >= most:
            break
        levels = 2 if feature.kind == "binary" else feature.levels
        asked += min(feature.tests, levels - 1 + feature.has_missing)
    return min(asked, most)


def depth_without_answers(problem: Problem) -> int:
    """No tree that meets the bounds is deeper, seen from the features alone."""
    return depth_without_bounds(problem, problem.max_depth)


def leaves_at(depth: int, problem: Problem) -> int:
    """No tree of this depth has more leaves."""
    return min(max(1, problem.rows), _leaves_of_depth(depth, problem))


def _leaves_of_depth(depth: int, problem: Problem) -> int:
    return int(widest(problem) ** max(0, min(depth, 62)))


def leaves_without_answers(problem: Problem) -> int:
    """No tree that meets the bounds has more leaves, seen from the features alone."""
    leaves, limit = leaves_at(depth_without_answers(problem), problem), problem.bound_on("Leaves", "<=")
    return leaves if limit is None else max(1, min(leaves, limit.numerator // limit.denominator))
