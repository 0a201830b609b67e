"""IntegerTask: the goal and the requirements of a problem in integers, the one description that every encoding reads.

Goals and bounds are linear forms over a few quantities of a tree; conditions on single leaves are kept apart. An
encoding expresses each quantity once, so a new measure of the language needs no change here. `read_problem` makes a
task from a problem.
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

LARGEST_SUM = 2**52  # every integer that a solver sees is exact as a float
LARGEST_SHARE = 2**120  # total weight times the numerator or denominator of a purity limit


TOO_LARGE = "their sum is beyond what solvers handle exactly"


@dataclass(frozen=True, eq=False, slots=True)
class Form:
    """A linear form: the value of a tree is scale * (the integer sum of the parts below) + constant.

    predicted     sum over rows of cost[row, predicted class]
    leaves        coefficient of the number of leaves
    depth         coefficient of the depth
    used          for each feature the coefficient of "the tree tests it"
    test_costs    for each feature the cost per row on whose path it is tested
    losses        factor times a loss of the leaves' rows (the factor is a fraction: losses may be real). A loss above
                  `ceiling` is cut off there, since no tree with such a leaf matters. If prices beside a squared loss
                  would need too fine a unit, they are rounded down like the loss (`rough`)
    largest       factor times the maximum of several forms, each of scale 1 with an integer constant in `offset`
    """

    predicted: Whole | None = None
    leaves: int = 0
    depth: int = 0
    used: Mapping[int, int] = field(default_factory=dict)
    test_costs: Mapping[int, int] = field(default_factory=dict)
    losses: tuple[tuple[Fraction, Loss], ...] = ()
    ceiling: int | None = None
    rough: bool = False  # are prices rounded down to integer units, like squared losses?
    largest: tuple[tuple[int, tuple[Form, ...]], ...] = ()
    offset: int = 0
    scale: Fraction = Fraction(1)
    constant: Fraction = Fraction(0)

    @property
    def additive(self) -> bool:
        """Is it a sum over leaves, so that subtrees can be priced separately?"""
        return not (self.depth or self.used or self.largest)


@dataclass(frozen=True, eq=False, slots=True)
class IntegerRequirement:
    """low <= form <= high, where either limit may be absent."""

    form: Form
    low: int | None
    high: int | None
    name: str


@dataclass(frozen=True, eq=False, slots=True)
class LeafRule:
    """A condition on every leaf, or (`some`) on at least one.

    The kind says what is compared with the limit. support: the number of rows; errors: the sum of cost[row, label];
    purity: the weight of the heaviest class, with `limit` times the weight of all. `sense` is "<=" or ">=".
    """

    kind: str
    sense: str
    limit: Fraction
    some: bool
    name: str
    cost: Whole | None = None  # for errors and purity


@dataclass(frozen=True, eq=False, slots=True)
class IntegerTask:
    """The goal and all requirements of a problem."""

    depth: int
    goal: Form
    requirements: tuple[IntegerRequirement, ...]
    leaf_rules: tuple[LeafRule, ...]
    monotone: tuple[tuple[Monotone, str], ...]
    weighted_depths: tuple[tuple[tuple[int, ...], int], ...] = ()  # weights of the classes, and the limit

    @property
    def support(self) -> int:
        """The fewest rows that a leaf may have."""
        limits = [rule.limit for rule in self.leaf_rules if rule.kind == "support" and not rule.some]
        return max((ceil(limit) for limit in limits), default=0)

    @property
    def largest_share(self) -> int:
        """Total weight times the numerator or denominator of a purity limit: the largest number in its comparison."""
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
        """The features whose use counts in a form."""
        return frozenset(feature for form in self.forms for part in parts_of(form) for feature in part.used)

    @property
    def counts_shape(self) -> bool:
        """Does anything but the predictions count, so that superfluous splits are not free?"""
        if self.leaf_rules or self.monotone:
            return True
        return any(
            part.leaves or part.depth or part.used or part.test_costs or part.losses
            for form in self.forms
            for part in parts_of(form)
        )


def form_range(form: Form, problem: Problem, task: IntegerTask) -> tuple[int, int]:
    """Integers between which the form lies for every tree, losses not included."""
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
    """The form and, recursively, the forms inside its `largest`."""
    yield form
    for _, parts in form.largest:
        for part in parts:
            yield from parts_of(part)


def lead_over_share(sums: Whole, label: int, rule: LeafRule) -> Whole:
    """By how much the weight of a class exceeds the required share, per group."""
    ahead = checked_product(sums[:, label], rule.limit.denominator)
    return ahead - checked_product(sums.sum(axis=1), rule.limit.numerator)


def goal_value(form: Form, whole: int | Fraction) -> Fraction:
    """The user's value of a goal, from its integer value."""
    return form.scale * whole + form.constant
