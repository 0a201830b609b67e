"""The purity of the least pure leaf."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.problem.magnitudes import added, common_divisor
from treeml.problem.terms.base import Locality, Part, Term
from treeml.problem.terms.recurrence import Recurrence

if TYPE_CHECKING:
    from treeml.problem.arrays import Whole
    from treeml.problem.evaluate import Routed


@dataclass(frozen=True, eq=False, slots=True)
class Purity(Term):
    """The smallest share, over leaves with weight, of the leaf's heaviest class."""

    weight: Whole  # rows x classes: the weight of each class at the row

    phrase: ClassVar[str] = "the purity of the worst leaf"
    locality: ClassVar[Locality] = Locality.EXTREME
    merges_rows: ClassVar[bool] = True
    merges_tests: ClassVar[bool] = True

    def value(self, routed: Routed) -> Fraction:
        shares = []
        for _, _, rows in routed.leaves:
            weights = [added(of_class) for of_class in self.weight[rows].T]
            if any(weights):
                shares.append(Fraction(max(weights), sum(weights)))
        return min(shares, default=Fraction(1))

    def recurrence(self) -> type[Recurrence]:
        return PurityRecurrence

    def merged(self, add_rows: Callable[[Whole], Whole]) -> Purity:
        return replace(self, weight=add_rows(self.weight))

    def restricted(self, part: Part) -> Purity:
        return replace(self, weight=self.weight[part.rows])

    def is_never_negative(self) -> bool:
        return True

    def divided(self) -> Purity:
        divisor = common_divisor(self.weight)
        return self if divisor == 1 else Purity(self.weight // divisor)

    def to_json(self) -> dict[str, Any]:
        return {"weight": self.weight.tolist()}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Purity:
        import numpy as np

        return cls(np.array(fields["weight"], dtype=np.int64))


class PurityRecurrence(Recurrence):
    def at_leaf(self, mask: int, label: int) -> Fraction:
        rows = self.rows(mask)
        weights = [sum(int(row[place]) for row in self.term.weight[rows]) for place in range(self.problem.classes)]
        return Fraction(max(weights), sum(weights)) if sum(weights) else Fraction(1)

    def joined(self, test: int, mask: int, tested: frozenset[int], yes: Any, no: Any) -> Any:
        return min(yes, no)
