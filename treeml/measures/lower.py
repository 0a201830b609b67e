"""A goal or a requirement over a Dataset -> sums of terms to minimize and to bound.

Like terms are added up, all cost matrices into a single `Predicted`. Bounds on nonlinear measures become linear: a gap
is at most e if the difference of every ordered pair of groups is, and a quotient is at least q if its numerator is at
least q times its denominator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import NoReturn

import numpy as np

from treeml.data.conditions import refuse
from treeml.data.rounding import looser
from treeml.data.table import Dataset, Whole
from treeml.lang.source import Span
from treeml.lang.spec import CheckedGoal as SpecGoal
from treeml.lang.spec import Linear, Requirement, Use
from treeml.measures.lowerings import Features, lower_measure, refuse_size
from treeml.problem.choices import choices, chosen, largest_terms, number_of_choices
from treeml.problem.like_terms import CostsTooLarge, joined_terms
from treeml.problem.magnitudes import added, largest, row_ends
from treeml.problem.neighbors import SHORT, beside
from treeml.problem.problem import Bound, Goal
from treeml.problem.terms import Largest, Predicted, Ratio, Sum, Term

MOST_BOUNDS = 4096  # for one requirement with several gaps


def lower_goal(goal: SpecGoal, dataset: Dataset, features: Features) -> Goal:
    """A goal as a sum to minimize."""
    negated = goal.sense == "maximize"
    lowered = lower_linear(goal.expression, dataset, features, Fraction(-1 if negated else 1))
    return Goal(lowered, negated, goal.text)


def lower_requirement(requirement: Requirement, dataset: Dataset, features: Features) -> list[Bound]:
    """Bounds that are equivalent to a requirement; none if it always holds."""
    lowered = lower_linear(requirement.expression, dataset, features)
    dearest = largest(dataset.mistake_cost) * dataset.mistake_scale
    limit = looser(requirement, row_limit(requirement, dataset.given_rows), dataset.rounding, dearest)
    if lowered.constant:
        limit -= lowered.constant
        lowered = Sum(lowered.parts)
    name = requirement.name or requirement.text
    senses = ("<=", ">=") if requirement.sense == "=" and _has(lowered, Largest) else (requirement.sense,)
    return [
        Bound(part, sense, bound_limit, name)
        for each in senses
        for part, sense, bound_limit in _linear_bounds(lowered, each, limit, requirement)
    ]


def lower_linear(expression: Linear, dataset: Dataset, features: Features, factor: Fraction = Fraction(1)) -> Sum:
    """A factor times an expression, with like terms added up."""
    parts: list[tuple[Fraction, Term]] = []
    constant = factor * expression.constant if expression.constant else expression.constant
    span = None
    for weight, use in expression.parts:
        lowered = lower_measure(use, dataset, features)
        share = weight if factor == 1 else factor * weight
        parts.extend((share if inner == 1 else share * inner, term) for inner, term in lowered.parts)
        if lowered.constant:
            constant += share * lowered.constant
        span = span or use.span
    return Sum(_added_up(parts, span), constant)


def ratio(use: Use, dataset: Dataset, features: Features) -> Sum:
    """One sum over the predictions divided by another, which is 0 only together with the first."""
    above, below = (_over_rows(lower_linear(side, dataset, features), dataset, use.span) for side in use.arguments)
    if row_ends(below.cost)[0] < 0:
        _no_denominator(use, "can be negative")
    below = replace(below, cost=_never_negative(below.cost))
    if row_ends(below.cost)[0] == 0 and above.cost[below.cost == 0].any():
        _no_denominator(use, "can be 0 while the numerator is not")
    return Sum(((Fraction(1), Ratio(Sum(((Fraction(1), above),)), Sum(((Fraction(1), below),)))),))


def _over_rows(total: Sum, dataset: Dataset, span: Span | None) -> Predicted:
    """A sum over the predictions as one matrix: a constant is divided among the rows."""
    every_row = np.ones((dataset.rows, len(dataset.classes)), dtype=np.int64)
    parts = [*total.parts, (total.constant / dataset.rows, Predicted(every_row))]
    joined = _added_up(parts, span)
    if not joined:
        return Predicted(np.zeros_like(every_row))
    (_, matrix), *_ = joined
    assert isinstance(matrix, Predicted)
    return matrix


def _never_negative(cost: Whole) -> Whole:
    """Equal sums without negative entries, if no sum is negative: the least entry of each row is spread over all."""
    if (cost >= 0).all():
        return cost
    least = cost.min(axis=1)
    share, rest = divmod(added(least), len(cost))
    to_each_row = np.full(len(cost), share, dtype=cost.dtype)
    to_each_row[:rest] += 1
    moved: Whole = cost + (to_each_row - least)[:, None]
    return moved


def _no_denominator(use: Use, fact: str) -> NoReturn:
    refuse(
        "D466",
        "this quotient has no value for some predictions",
        use.argument_spans[1] if use.argument_spans and isinstance(use.argument_spans[1], Span) else use.span,
        fact,
        helps=("to bound it, multiply it out: `require a >= 0.8 * b` instead of `require ratio(a, b) >= 0.8`",),
    )


def row_limit(requirement: Requirement, rows: int) -> Fraction:
    """The limit of a requirement; `1%` of the rows is rounded up to whole rows."""
    return Fraction(ceil(requirement.limit * rows)) if requirement.share_of_rows else requirement.limit


def _linear_bounds(
    lowered: Sum, sense: str, limit: Fraction, requirement: Requirement
) -> Iterator[tuple[Sum, str, Fraction]]:
    """The bound itself, or equivalent linear bounds."""
    if not lowered.parts and _holds(sense, limit):
        return
    if len(lowered.parts) == 1:
        factor, term = lowered.parts[0]
        quotient = limit if factor == 1 else limit / factor
        facing = sense if factor.numerator > 0 else {"<=": ">=", ">=": "<=", "=": "="}[sense]
        if isinstance(term, Ratio):
            quotient = _short_quotient(term, facing, quotient)
            parts = list(term.numerator.parts)
            parts += [(-quotient * inner, each) for inner, each in term.denominator.parts]
            yield Sum(_added_up(parts, requirement.span)), facing, Fraction(0)
            return
        if isinstance(term, Largest):
            # It contains both orders of every pair, so it is never negative.
            if facing == ">=" and quotient <= 0:
                return
            if facing == "<=":
                for part in term.parts:
                    yield part, "<=", quotient
                return
    upper = {"<=": 1, ">=": -1}.get(sense, 0)
    gaps = largest_terms(lowered)
    if gaps and upper and all(factor * upper > 0 for factor, _ in gaps):
        yield from _every_choice(lowered, sense, limit, requirement)
        return
    if sense == "=" and len(lowered.parts) == 1:
        sense = _one_sided(*lowered.parts[0], limit)
    yield _from_above(lowered, sense, limit) or (lowered, sense, limit)


def _short_quotient(term: Ratio, sense: str, limit: Fraction) -> Fraction:
    """An equivalent limit with small terms for the quotients possible with these rows: 2/3 for 0.6666666666666666."""
    above, below = (_single(side) for side in (term.numerator, term.denominator))
    if above is None or below is None or limit < 0 or max(limit.numerator, limit.denominator) <= SHORT:
        return limit
    (unit, top), (other, bottom) = above, below
    return beside(limit * other / unit, sense, top, bottom) * unit / other


def _single(total: Sum) -> tuple[Fraction, int] | None:
    """The unit and the largest value of a sum that is one matrix of nonnegative costs; None for any other sum."""
    if len(total.parts) != 1 or total.constant:
        return None
    factor, term = total.parts[0]
    if not isinstance(term, Predicted) or factor * term.scale <= 0:
        return None
    least, greatest = row_ends(term.cost)
    return None if least < 0 or int(term.cost.min(initial=0)) < 0 else (factor * term.scale, greatest)


def _from_above(lowered: Sum, sense: str, limit: Fraction) -> tuple[Sum, str, Fraction] | None:
    """`accuracy >= 100%` becomes `errors <= 0`, which more back-ends support; None for any other bound."""
    if sense != ">=" or len(lowered.parts) != 1 or lowered.constant:
        return None
    factor, term = lowered.parts[0]
    if not isinstance(term, Predicted) or factor * term.scale <= 0:
        return None
    most = term.cost.max(axis=1, keepdims=True)
    if limit != factor * term.scale * int(most.sum()):
        return None
    return Sum(((factor, Predicted(most - term.cost, term.scale)),)), "<=", Fraction(0)


def _one_sided(factor: Fraction, term: Term, limit: Fraction) -> str:
    """`errors = 0` becomes `errors <= 0`, which more back-ends support: at an end of the range one side is enough."""
    if not isinstance(term, Predicted):
        return "="
    ends = sorted(factor * term.scale * int(end.sum()) for end in (term.cost.min(axis=1), term.cost.max(axis=1)))
    return "<=" if limit <= ends[0] else ">=" if limit >= ends[1] else "="


def _every_choice(
    lowered: Sum, sense: str, limit: Fraction, requirement: Requirement
) -> Iterator[tuple[Sum, str, Fraction]]:
    """A sum with gaps is at most its limit if it is for every choice of one pair from each gap."""
    bounds = number_of_choices(lowered)
    if bounds > MOST_BOUNDS:
        refuse(
            "D464",
            "these gaps have too many groups to be added up",
            requirement.span,
            f"makes {bounds} bounds, one for every choice of groups",
            helps=("require each gap by itself",),
        )
    for choice in choices(lowered):
        try:
            total = chosen(lowered, choice)
        except CostsTooLarge:
            refuse_size("this sum", requirement.span)
        yield Sum(total.parts), sense, limit - total.constant


def _holds(sense: str, limit: Fraction) -> bool:
    """Does zero satisfy the limit?"""
    return limit == 0 or sense == ("<=" if limit > 0 else ">=")


def _has(lowered: Sum, kind: type) -> bool:
    return any(isinstance(term, kind) for _, term in lowered.parts)


def _added_up(parts: list[tuple[Fraction, Term]], span: Span | None) -> tuple[tuple[Fraction, Term], ...]:
    try:
        return joined_terms(parts)
    except CostsTooLarge:
        refuse_size("this sum", span)
