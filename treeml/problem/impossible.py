"""Problem -> a bound that no tree can meet, seen without a search."""

from __future__ import annotations

from treeml.problem.problem import Bound, Problem


def impossible(problem: Problem) -> Bound | None:
    """A bound that no tree of any depth meets, because of rows that no test tells apart."""
    for bound in problem.bounds:
        low = bound.sum.lower_bound(problem)
        if bound.sense in ("<=", "=") and low is not None and low > bound.limit:
            return bound
        low = bound.sum.negated().lower_bound(problem)
        if bound.sense in (">=", "=") and low is not None and low > -bound.limit:
            return bound
    return None
