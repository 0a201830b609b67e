"""Problem -> what is asked of a tree, in whole numbers.

The one description that every encoding reads. Goals and bounds become linear forms over a few quantities of a tree;
conditions on single leaves stand apart. An encoding has to express the quantities once; a measure added to the language
arrives here as one more form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from treeml.problem.magnitudes import added, checked_product, row_ends
from treeml.problem.problem import Problem
from treeml.problem.shapes import leaves_at
from treeml.problem.terms import (
    Loss,
    Monotone,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

LARGEST_SUM = 2**52  # every whole number that a solver sees stays exact as a float
LARGEST_SHARE = 2**120  # the weight of all rows times a term of a purity's limit; up to here it is compared exactly


TOO_LARGE = "their sum is beyond what solvers handle exactly"


@dataclass(frozen=True, eq=False, slots=True)
class Form:
    """value of a tree = scale * (whole number made of the parts below) + constant.

    predicted     sum over rows of cost[row, predicted class]
    leaves        times the number of leaves
    depth         times the depth
    used          sum of the numbers of the features that the tree tests
    test_costs    per feature: times the count of the rows on whose path it is tested
    losses        factor times a loss of the leaves' rows (the factor is a fraction: losses may be real); one beyond
                  `ceiling` counts as that, since no tree with such a leaf is of interest. Where prices would need
                  steps too small beside a squared loss, they are `rough`: rounded down as it is
    largest       factor times the largest of several forms, each of scale 1 with a whole constant in `offset`
    """

    predicted: Whole | None = None
    leaves: int = 0
    depth: int = 0
    used: Mapping[int, int] = field(default_factory=dict)
    test_costs: Mapping[int, int] = field(default_factory=dict)
    losses: tuple[tuple[Fraction, Loss], ...] = ()
    ceiling: int | None = None
    rough: bool = False  # are prices rounded down to steps too, as squared losses are?
    largest: tuple[tuple[int, tuple[Form, ...]], ...] = ()
    offset: int = 0
    scale: Fraction = Fraction(1)
    constant: Fraction = Fraction(0)

    @property
    def additive(self) -> bool:
        """Is it a sum over leaves, so that subtrees can be priced apart?"""
        return not (self.depth or self.used or self.largest)


@dataclass(frozen=True, eq=False, slots=True)
class IntegerRequirement:
    """A form kept between two whole numbers, each of which may be absent."""

    form: Form
    low: int | None
    high: int | None
    name: str


@dataclass(frozen=True, eq=False, slots=True)
class LeafRule:
    """A condition on every leaf, or (`some`) on at least one.

    kind support: count of its rows against `limit`; errors: sum of cost[row, label] against `limit`; purity: the
    heaviest class's weight against `limit` times the weight of all. `sense` is "<=" or ">=".
    """

    kind: str
    sense: str
    limit: Fraction
    some: bool
    name: str
    cost: Whole | None = None  # of errors and purity


@dataclass(frozen=True, eq=False, slots=True)
class IntegerTask:
    """All that is asked of a tree."""

    depth: int
    goal: Form
    requirements: tuple[IntegerRequirement, ...]
    leaf_rules: tuple[LeafRule, ...]
    monotone: tuple[tuple[Monotone, str], ...]

    @property
    def support(self) -> int:
        """Fewest rows a leaf may have."""
        limits = [rule.limit for rule in self.leaf_rules if rule.kind == "support" and not rule.some]
        return max((ceil(limit) for limit in limits), default=0)

    @property
    def largest_share(self) -> int:
        """The weight of all rows times the larger term of a purity's limit: what a sum over a leaf is compared in."""
        return max(
            (
                added(rule.cost.ravel()) * max(abs(rule.limit.numerator), rule.limit.denominator)
                for rule in self.leaf_rules
                if rule.kind == "purity" and rule.cost is not None
            ),
            default=0,
        )

    @property
    def forms(self) -> Iterator[Form]:
        yield self.goal
        for requirement in self.requirements:
            yield requirement.form

    @property
    def watched(self) -> frozenset[int]:
        """Features whose use is counted."""
        return frozenset(feature for form in self.forms for part in parts_of(form) for feature in part.used)

    @property
    def counts_shape(self) -> bool:
        """Does anything but the predictions matter, so that needless splits are not free?"""
        if self.leaf_rules or self.monotone:
            return True
        return any(
            part.leaves or part.depth or part.used or part.test_costs or part.losses
            for form in self.forms
            for part in parts_of(form)
        )


def form_range(form: Form, problem: Problem, task: IntegerTask) -> tuple[int, int]:
    """Whole numbers between which the form lies for every tree, real losses left out."""
    low = high = form.offset
    if form.predicted is not None:
        least, most = row_ends(form.predicted)
        low, high = low + least, high + most
    leaves = leaves_at(max(0, task.depth), problem)
    for value, least, most in ((form.leaves, 1, leaves), (form.depth, 0, max(0, task.depth))):
        low += min(value * least, value * most)
        high += max(value * least, value * most)
    total = added(problem.count)
    for value in (*form.used.values(), *(total * cost for cost in form.test_costs.values())):
        low += min(0, value)
        high += max(0, value)
    for factor, parts in form.largest:
        ranges = [form_range(part, problem, task) for part in parts]
        ends = (factor * max(least for least, _ in ranges), factor * max(most for _, most in ranges))
        low += min(ends)
        high += max(ends)
    return low, high


def parts_of(form: Form) -> Iterator[Form]:
    """The form and those under its `largest`."""
    yield form
    for _, parts in form.largest:
        for part in parts:
            yield from parts_of(part)


def lead_over_share(sums: Whole, label: int, rule: LeafRule) -> Whole:
    """By how much a class leads over the share that is required: groups x classes -> groups."""
    ahead = checked_product(sums[:, label], rule.limit.denominator)
    return ahead - checked_product(sums.sum(axis=1), rule.limit.numerator)


def goal_value(form: Form, whole: int | Fraction) -> Fraction:
    """The user's value of a goal whose whole number is known."""
    return form.scale * whole + form.constant
