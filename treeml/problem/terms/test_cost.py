"""The cost of the tests that rows go through."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Any, ClassVar

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

    def to_json(self) -> dict[str, Any]:
        return {"costs": list(self.costs), "scale": str(self.scale)}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> TestCost:
        return cls(tuple(fields["costs"]), Fraction(fields["scale"]))


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
