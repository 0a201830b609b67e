"""The cost of what is predicted, added up over rows: every classification measure is one matrix of such costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.problem.grid import Grid, counting
from treeml.problem.magnitudes import SAFE, added, common_divisor, largest, row_ends
from treeml.problem.shapes import groups
from treeml.problem.terms.base import Locality, Part, Term
from treeml.problem.terms.recurrence import Recurrence

if TYPE_CHECKING:
    from treeml.problem.arrays import Whole
    from treeml.problem.evaluate import Routed
    from treeml.problem.problem import Problem


@dataclass(frozen=True, eq=False, slots=True)
class Predicted(Term):
    """scale * sum over rows of cost[row, class predicted for the row]."""

    cost: Whole  # rows x classes
    scale: Fraction = Fraction(1)
    _facts: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    phrase: ClassVar[str] = "a sum of costs over all predictions"
    locality: ClassVar[Locality] = Locality.SUM
    merges_rows: ClassVar[bool] = True
    merges_tests: ClassVar[bool] = True

    @property
    def largest(self) -> int:
        """The largest absolute cost, computed once: many steps ask whether numbers are small enough for them."""
        if "largest" not in self._facts:
            self._facts["largest"] = largest(self.cost)
        found: int = self._facts["largest"]
        return found

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the greatest sum of costs of any predictions, computed once."""
        if "ends" not in self._facts:
            self._facts["ends"] = row_ends(self.cost, self.largest)
        found: tuple[int, int] = self._facts["ends"]
        return found

    @property
    def totals(self) -> list[int]:
        """For every class the sum of costs if all rows are predicted as it, computed once."""
        if "totals" not in self._facts:
            is_safe = self.largest * len(self.cost) < SAFE
            self._facts["totals"] = self.cost.sum(axis=0).tolist() if is_safe else [added(each) for each in self.cost.T]
        found: list[int] = self._facts["totals"]
        return found

    def value(self, routed: Routed) -> Fraction:
        total = routed.total_at_labels(self.cost, self.largest)
        return Fraction(total) if self.scale == 1 else self.scale * total

    def recurrence(self) -> type[Recurrence]:
        return PredictedRecurrence

    def merged(self, add_rows: Callable[[Whole], Whole]) -> Predicted:
        return replace(self, cost=add_rows(self.cost))

    def restricted(self, part: Part) -> Predicted:
        return replace(self, cost=self.cost[part.rows])

    @property
    def step(self) -> Fraction:
        return self.scale

    def grid(self, problem: Problem) -> Grid:
        """Every row has one class: the ends are the sums of the best and of the worst entries."""
        return counting(*self.ends).times(self.scale)

    def rough_grid(self, problem: Problem) -> tuple[Fraction, int]:
        return self.scale, self.largest * len(self.cost)

    def lower_bound(self, problem: Problem, factor: Fraction, row_by_row: bool) -> Fraction:
        """The best class for every row, or for all rows together that no test tells apart."""
        share = factor * self.scale
        if row_by_row:
            return share * self.ends[share < 0]
        costs = _cost_of_groups(self.cost, problem)
        if not len(costs):
            return Fraction(0)
        best = costs.min(axis=1) if share >= 0 else costs.max(axis=1)
        return share * int(best.sum())

    def divided(self) -> Predicted:
        divisor = common_divisor(self.cost)
        return self if divisor == 1 else replace(self, cost=self.cost // divisor, scale=self.scale * divisor)

    def to_json(self) -> dict[str, Any]:
        return {"cost": self.cost.tolist(), "scale": str(self.scale)}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Predicted:
        import numpy as np

        return cls(np.array(fields["cost"], dtype=np.int64), Fraction(fields["scale"]))


def _cost_of_groups(cost: Whole, problem: Problem) -> Any:
    """The costs of rows that always share a leaf, added up exactly."""
    import numpy as np

    if problem.rows == 0:
        return np.zeros((0, problem.classes), dtype=object)
    numbers = groups(problem)
    sums = np.zeros((int(numbers.max()) + 1, problem.classes), dtype=object)
    np.add.at(sums, numbers, cost.astype(object))
    return sums


class PredictedRecurrence(Recurrence):
    def prepare(self) -> None:
        cost = self.term.cost.tolist()
        labels = range(self.problem.classes)
        self.cost = [[sum(cost[row][label] for row in rows) for label in labels] for rows in self.groups]

    @staticmethod
    def scale(term: Any) -> Fraction:
        return Fraction(term.scale)

    @staticmethod
    def watched(term: Any) -> bytes | None:
        return bytes(min(term.cost.tobytes(), (-term.cost).tobytes()))

    def at_leaf(self, mask: int, label: int) -> Any:
        return sum(cost[label] for place, cost in enumerate(self.cost) if mask >> place & 1)
