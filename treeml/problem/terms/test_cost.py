"""The cost of the tests that rows go through."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Any, ClassVar, Self

from treeml.problem.grid import Grid, counting
from treeml.problem.magnitudes import added
from treeml.problem.terms.base import Locality, Part, Term
from treeml.problem.terms.recurrence import ByIdentity, Recurrence

if TYPE_CHECKING:
    from treeml.problem.evaluate import Routed
    from treeml.problem.problem import Problem


@dataclass(frozen=True, eq=False, slots=True)
class TestCost(Term):
    """scale * sum over rows of count[row] * the costs of the distinct features tested on the row's path."""

    costs: tuple[int, ...]  # one per feature
    scale: Fraction = Fraction(1)

    phrase: ClassVar[str] = "the cost of tests"
    locality: ClassVar[Locality] = Locality.SUM
    merges_rows: ClassVar[bool] = True
    merges_tests: ClassVar[bool] = True

    def value(self, routed: Routed) -> Fraction:
        total = 0
        for _, path, rows in routed.leaves:
            features = {routed.problem.tests[test].feature for test, _ in path}
            total += added(routed.problem.count[rows]) * sum(self.costs[feature] for feature in features)
        return self.scale * total

    def recurrence(self) -> type[Recurrence]:
        return TestCostRecurrence

    def restricted(self, part: Part) -> TestCost:
        """A feature that was tested above costs nothing again."""
        return replace(self, costs=tuple(0 if f in part.above else cost for f, cost in enumerate(self.costs)))

    def distinguished_features(self) -> frozenset[int]:
        return frozenset(number for number, cost in enumerate(self.costs) if cost)

    @property
    def step(self) -> Fraction:
        return self.scale

    def grid(self, problem: Problem) -> Grid:
        rows = added(problem.count)
        spent, saved = (sum(cost for cost in self.costs if cost * sign > 0) * rows for sign in (1, -1))
        return counting(saved, spent).times(self.scale)

    def is_never_negative(self) -> bool:
        return self.scale >= 0 and all(cost >= 0 for cost in self.costs)

    def divided(self) -> TestCost:
        divisor = gcd(*self.costs)
        if divisor <= 1:
            return self
        return TestCost(tuple(cost // divisor for cost in self.costs), self.scale * divisor)

    def capped(self, factor: int, limit: int) -> Self:
        """Costs that are finer by a factor, and none above the limit."""
        costs = tuple(min(cost * factor, limit) for cost in self.costs)
        return replace(self, costs=costs, scale=self.scale / factor)

    def to_json(self) -> dict[str, Any]:
        return {"costs": list(self.costs), "scale": str(self.scale)}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> TestCost:
        return cls(tuple(fields["costs"]), Fraction(fields["scale"]))


@dataclass(frozen=True, eq=False, slots=True)
class DiscountedTestCost(TestCost):
    """The same, where a feature may cost less once another one was tested above it on the path."""

    discounts: tuple[tuple[int, int, int], ...] = ()  # feature, tested above, cost of the feature then

    phrase: ClassVar[str] = "the cost of tests with discounts"

    def price(self, feature: int, tested: Iterable[int]) -> int:
        """What the first test of a feature costs below tests of others."""
        above = set(tested)
        reduced = (cost for one, other, cost in self.discounts if one == feature and other in above)
        return min(reduced, default=self.costs[feature])

    def value(self, routed: Routed) -> Fraction:
        total = 0
        for _, path, rows in routed.leaves:
            features = list(dict.fromkeys(routed.problem.tests[test].feature for test, _ in path))
            prices = (self.price(feature, features[:place]) for place, feature in enumerate(features))
            total += added(routed.problem.count[rows]) * sum(prices)
        return self.scale * total

    def recurrence(self) -> type[Recurrence]:
        return DiscountedTestCostRecurrence

    def restricted(self, part: Part) -> DiscountedTestCost:
        costs = tuple(0 if f in part.above else self.price(f, part.above) for f in range(len(self.costs)))
        return replace(self, costs=costs, discounts=tuple(d for d in self.discounts if d[2] < costs[d[0]]))

    def distinguished_features(self) -> frozenset[int]:
        priced = {number for number, cost in enumerate(self.costs) if cost}
        return frozenset(priced | {other for one, other, _ in self.discounts if one in priced})

    def divided(self) -> DiscountedTestCost:
        divisor = gcd(*self.costs, *(cost for _, _, cost in self.discounts))
        if divisor <= 1:
            return self
        return DiscountedTestCost(
            tuple(cost // divisor for cost in self.costs),
            self.scale * divisor,
            tuple((one, other, cost // divisor) for one, other, cost in self.discounts),
        )

    def capped(self, factor: int, limit: int) -> DiscountedTestCost:
        discounts = tuple((one, other, min(cost * factor, limit)) for one, other, cost in self.discounts)
        return replace(TestCost.capped(self, factor, limit), discounts=discounts)

    def to_json(self) -> dict[str, Any]:
        return {**TestCost.to_json(self), "discounts": [list(each) for each in self.discounts]}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> DiscountedTestCost:
        discounts = tuple((int(one), int(other), int(cost)) for one, other, cost in fields["discounts"])
        return cls(tuple(fields["costs"]), Fraction(fields["scale"]), discounts)


class TestCostRecurrence(ByIdentity):
    @staticmethod
    def scale(term: Any) -> Fraction:
        return Fraction(term.scale)

    def priced(self) -> frozenset[int]:
        return frozenset(number for number, cost in enumerate(self.term.costs) if cost)

    def at_leaf(self, mask: int, label: int) -> int:
        return 0

    def joined(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        feature = self.problem.tests[test].feature
        if feature in tested:
            return yes + no
        rows = sum(int(self.problem.count[row]) for row in self.rows(mask))
        return yes + no + rows * self.term.costs[feature]


class DiscountedTestCostRecurrence(TestCostRecurrence):
    def priced(self) -> frozenset[int]:
        giving = {other for _, other, _ in self.term.discounts}
        return frozenset(number for number, cost in enumerate(self.term.costs) if cost or number in giving)

    def joined(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        feature = self.problem.tests[test].feature
        if feature in tested:
            return yes + no
        cheapest = self.term.costs[feature]
        for one, other, cost in self.term.discounts:
            if one == feature and other in tested:
                cheapest = min(cheapest, cost)
        return yes + no + cheapest * sum(int(self.problem.count[row]) for row in self.rows(mask))
