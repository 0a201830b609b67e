"""Problem -> does it need the coupled search, and without the requirements that every tree meets?"""

from __future__ import annotations

import numpy as np

from treeml.backends.native.coupled.conditions import limits_fees
from treeml.backends.native.goals import at_most, kind, scaled_cost
from treeml.backends.native.leaf_sizes import leaf_sizes
from treeml.problem.problem import Bound, Problem, once
from treeml.problem.terms import LeafErrors, Predicted, Purity


def limits_predictions(bound: Bound) -> bool:
    """Does the bound limit a sum over the predictions, and nothing else?"""
    return kind(bound) is Predicted


def couples(bound: Bound) -> bool:
    """Does the bound limit a sum over all rows, to which every leaf or split adds something?"""
    return limits_predictions(bound) or limits_fees(bound)


def uncoupled(problem: Problem, *, on_columns: bool) -> tuple[Bound, ...]:
    """The bounds that a search without coupled requirements keeps.

    On columns it knows no rules for single leaves but their least size: with others it would be the coupled search
    again, and without them its bounds hold as well.
    """
    free = (bound for bound in problem.bounds if not couples(bound))
    return tuple(bound for bound in free if not on_columns or is_known_on_columns(problem, bound))


def is_known_on_columns(problem: Problem, bound: Bound) -> bool:
    """Does the numeric kernel know a requirement that does not couple the leaves?"""
    if kind(bound) is LeafErrors:
        return leaf_sizes(problem) is not None
    return kind(bound) is not Purity


@once
def is_coupled(problem: Problem) -> bool:
    """Does a limited sum over the predictions or over the costs of tests couple the leaves?

    One over the predictions does not if it is limited in one direction and nothing else depends on the predictions:
    then every leaf takes the label that is best for this sum.
    """
    if any(limits_fees(bound) for bound in problem.bounds):
        return True
    predicted = [bound for bound in problem.bounds if limits_predictions(bound)]
    if not predicted:
        return False
    if any(bound.sense == "=" for bound in predicted) or not _alike(predicted):
        return True
    return bool(problem.goals) and not all(_same_cost(problem, bound) for bound in predicted)


@once
def without_idle(problem: Problem) -> Problem:
    """The problem without limits on predictions that every tree meets, seen from the least and the greatest sum."""
    kept = tuple(bound for bound in problem.bounds if not (limits_predictions(bound) and _is_idle(bound)))
    return problem if len(kept) == len(problem.bounds) else problem.asking(problem.goals, kept)


def _is_idle(bound: Bound) -> bool:
    factor, term = bound.sum.parts[0]
    assert isinstance(term, Predicted)
    share, limit = factor * term.scale, bound.limit - bound.sum.constant if bound.sum.constant else bound.limit
    low, high = sorted(end * share.numerator * limit.denominator for end in term.ends)
    most = limit.numerator * share.denominator
    return (bound.sense == ">=" or high <= most) and (bound.sense == "<=" or low >= most)


def _alike(bounds: list[Bound]) -> bool:
    first = at_most(bounds[0])
    others = [at_most(bound) for bound in bounds[1:]]
    return all(first[0] * other[0] > 0 and np.array_equal(first[1], other[1]) for other in others)


def _same_cost(problem: Problem, bound: Bound) -> bool:
    """Is the bounded sum a positive multiple of the only goal, or is the only goal the number of leaves?"""
    if len(problem.goals) != 1:
        return False
    goal = problem.goals[0].sum
    if goal.kinds() == {"Leaves"}:
        return True
    theirs = scaled_cost(goal)
    if theirs is None or goal.kinds() != {"Predicted"} or bound.sense == "=":
        return False
    mine = at_most(bound)
    return mine[0] * theirs[0] > 0 and (mine[1] is theirs[1] or np.array_equal(mine[1], theirs[1]))
