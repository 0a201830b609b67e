"""The errors of the worst leaf."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.problem.grid import Grid, counting
from treeml.problem.magnitudes import added, common_divisor
from treeml.problem.terms.base import Locality, Part, Term
from treeml.problem.terms.predicted import PredictedRecurrence
from treeml.problem.terms.recurrence import Recurrence

if TYPE_CHECKING:
    from treeml.problem.arrays import Whole
    from treeml.problem.evaluate import Routed
    from treeml.problem.problem import Problem


@dataclass(frozen=True, eq=False, slots=True)
class LeafErrors(Term):
    """The largest, over leaves, of scale * sum over its rows of cost[row, label of the leaf]."""

    cost: Whole
    scale: Fraction = Fraction(1)

    phrase: ClassVar[str] = "the errors of the worst leaf"
    locality: ClassVar[Locality] = Locality.EXTREME
    merges_rows: ClassVar[bool] = True
    merges_tests: ClassVar[bool] = True

    def value(self, routed: Routed) -> Fraction:
        return max(self.scale * added(self.cost[rows, leaf.label]) for leaf, _, rows in routed.leaves)

    def recurrence(self) -> type[Recurrence]:
        return LeafErrorsRecurrence

    def merged(self, add_rows: Callable[[Whole], Whole]) -> LeafErrors:
        return replace(self, cost=add_rows(self.cost))

    def restricted(self, part: Part) -> LeafErrors:
        return replace(self, cost=self.cost[part.rows])

    @property
    def step(self) -> Fraction:
        return self.scale

    def grid(self, problem: Problem) -> Grid:
        """A leaf may hold any of the rows: at worst all that raise the sum, at best all that lower it."""
        low, high = self.cost.min(axis=1, initial=0), self.cost.max(axis=1, initial=0)
        return counting(added(low), added(high)).times(self.scale)

    def is_never_negative(self) -> bool:
        return self.scale >= 0 and bool((self.cost >= 0).all())

    def divided(self) -> LeafErrors:
        divisor = common_divisor(self.cost)
        return self if divisor == 1 else replace(self, cost=self.cost // divisor, scale=self.scale * divisor)

    def to_json(self) -> dict[str, Any]:
        return {"cost": self.cost.tolist(), "scale": str(self.scale)}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> LeafErrors:
        import numpy as np

        return cls(np.array(fields["cost"], dtype=np.int64), Fraction(fields["scale"]))


class LeafErrorsRecurrence(PredictedRecurrence):
    @staticmethod
    def scale(term: Any) -> Fraction:
        return Fraction(1)  # the worst leaf depends on the sign of the term's scale, so values hold it already

    @staticmethod
    def watched(term: Any) -> bytes | None:
        return None

    def at_leaf(self, mask: int, label: int) -> Any:
        return self.term.scale * super().at_leaf(mask, label)

    def joined(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        return max(yes, no)
