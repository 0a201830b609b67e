"""A random generator -> goals and limits for planted rows, for tests of single kernels, with the least cost of a tree.

What a leaf costs is written here once more from the definitions, with fractions, and `Exhaustive` examines every tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from treeml.testing.exhaustive import Exhaustive, threshold_tests
from treeml.testing.planted import PlantedRows, planted_rows

LABELS, COSTS, QUANTILE, SQUARED = "labels", "costs", "quantile", "squared"


@dataclass(frozen=True, slots=True)
class PlantedCase:
    """Rows, what a leaf costs, and what every leaf and the whole tree must keep."""

    rows: PlantedRows
    kind: str  # labels, costs, quantile or squared
    weight: tuple[int, ...]
    target: tuple[int, ...]  # of quantile and squared
    cost: tuple[tuple[int, ...], ...]  # rows x classes, of costs
    rates: tuple[int, int]  # of quantile: per unit above and below
    count: tuple[int, ...]
    support: int
    leaves: int | None
    price: int
    fees: tuple[int, ...] = ()  # of each column
    discount: tuple[int, int, int] | None = None  # column, another one, and the fee after it
    purity: Fraction | None = None
    limit: int | None = None  # most errors of a leaf

    @property
    def depth(self) -> int:
        return self.rows.depth

    def best(self) -> Fraction | None:
        """The least cost of a tree; None if there is none."""
        fees = {column: Fraction(fee) for column, fee in enumerate(self.fees)}
        discounts = {} if self.discount is None else {self.discount[:2]: Fraction(self.discount[2])}
        tests = threshold_tests(self.rows.columns)
        every = Exhaustive(self.rows.rows, tests, self.leaf, Fraction(self.price), fees, discounts, self.count)
        return every.best(self.depth, self.leaves)

    def errors_of(self, members: Sequence[int]) -> list[int]:
        """Class by class: the weight of the rows of other classes."""
        label, weight = self.rows.label, self.weight
        return [sum(weight[row] for row in members if label[row] != own) for own in range(self.rows.classes)]

    def leaf(self, members: tuple[int, ...]) -> Fraction | None:
        if sum(self.count[row] for row in members) < self.support:
            return None
        if self.kind == QUANTILE:
            return Fraction(self._quantile_loss(members))
        if self.kind == SQUARED:
            return self._squared_loss(members)
        errors, whole = self.errors_of(members), sum(self.weight[row] for row in members)
        if self.purity is not None and whole and whole - min(errors) < self.purity * whole:
            return None
        costs = (
            errors
            if self.kind == LABELS
            else [sum(self.cost[row][own] for row in members) for own in range(len(errors))]
        )
        allowed = [cost for cost, wrong in zip(costs, errors, strict=True) if self.limit is None or wrong <= self.limit]
        return Fraction(min(allowed)) if allowed else None

    def _quantile_loss(self, members: tuple[int, ...]) -> int:
        above, below = self.rates
        return min(
            sum(
                self.weight[row]
                * max(above * (self.target[row] - self.target[at]), below * (self.target[at] - self.target[row]))
                for row in members
            )
            for at in members
        )

    def _squared_loss(self, members: tuple[int, ...]) -> Fraction:
        whole = sum(self.weight[row] for row in members)
        if not whole:
            return Fraction(0)
        mean = Fraction(sum(self.weight[row] * self.target[row] for row in members), whole)
        return sum((self.weight[row] * (self.target[row] - mean) ** 2 for row in members), Fraction(0))


def planted_case(random: Random, has_conditions: bool = False) -> PlantedCase:
    """A case small enough to examine every tree; some with conditions on leaves, or with discounts."""
    depth = random.choice((2, 3, 3, 3, 4))
    span = random.choice((4, 6)) if depth == 4 else random.choice((4, 6, 8))
    classes = random.choice((2, 2, 2, 3, 4))
    rows = planted_rows(random, depth, random.choice((1, 2, 2, 3, 3, 4)), span, classes, random.choice((12, 18)))
    kind = random.choice((LABELS, LABELS, LABELS, COSTS, QUANTILE, SQUARED))
    many = range(rows.rows)
    shape = random.choice(((1,), (1,), (1, 3), (0, 1, 2), (1, 10**6)))
    weight = tuple(random.choice(shape) for _ in many)
    base = random.choice((-5, 0, 3))
    cost = tuple(
        tuple(
            base + random.choice((0, 1, 2)) + (own != rows.label[row]) * random.choice((1, 3, 7))
            for own in range(classes)
        )
        for row in many
    )
    counts = random.choice(((1,), (1,), (1,), (1, 1, 2, 3), (0, 1, 2)))
    count = tuple(random.choice(counts) for _ in many)
    smallest = max(1, min(sum(count[row] for row in rows.members(leaf)) for leaf in range(rows.leaves)))
    case = PlantedCase(
        rows,
        kind,
        weight,
        tuple(10 * rows.label[row] + random.choice((0, 0, 1, 2)) for row in many),
        cost,
        random.choice(((1, 1), (1, 1), (3, 7))),
        count,
        random.choice((smallest, smallest, smallest, 1)),
        random.choice((None, None, None, rows.leaves, max(1, rows.leaves - 1))),
        random.choice((0, 0, 0, 1, 2, 3)),
        tuple(random.choice((0, 1, 2)) for _ in rows.columns) if random.random() < 0.2 else (),
    )
    return _with_conditions(random, case) if has_conditions else case


def _with_conditions(random: Random, case: PlantedCase) -> PlantedCase:
    """Conditions that the planted tree keeps exactly."""
    rows = case.rows
    if case.fees and len(case.fees) > 1 and random.random() < 0.5:
        column, other = random.sample(range(len(case.fees)), 2)
        case = replace(case, discount=(column, other, random.choice((0, case.fees[column] // 2))))
    if case.kind not in (LABELS, COSTS) or random.random() < 0.5:
        return case
    wrong = [min(case.errors_of(rows.members(leaf))) for leaf in range(rows.leaves)]
    whole = [sum(case.weight[row] for row in rows.members(leaf)) for leaf in range(rows.leaves)]
    if random.random() < 0.5:
        shares = [1 - Fraction(part, every) for part, every in zip(wrong, whole, strict=True) if every]
        return replace(case, purity=min(shares, default=Fraction(1)))
    return replace(case, limit=max(wrong))
