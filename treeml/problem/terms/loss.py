"""The loss of the best constant of every leaf, for trees whose leaves hold numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.problem.terms.base import Locality, Part, Term
from treeml.problem.terms.recurrence import ByIdentity, Recurrence

if TYPE_CHECKING:
    from treeml.problem.arrays import Whole
    from treeml.problem.evaluate import Routed


@dataclass(frozen=True, eq=False, slots=True)
class Loss(Term):
    """scale * the loss of every leaf's best constant, summed over leaves.

    squared: sum of weight * |target - mean|^2; absolute: to the median; quantile: the pinball loss at `level`, to the
    quantile. With several outputs (clustering) the losses of the outputs add up, each with its own constant.
    """

    kind: str  # squared, absolute or quantile
    targets: Whole  # rows x outputs
    weight: Whole  # rows
    scale: Fraction = Fraction(1)
    level: Fraction = Fraction(1, 2)

    phrase: ClassVar[str] = "the loss of the leaves"
    locality: ClassVar[Locality] = Locality.SUM
    merges_tests: ClassVar[bool] = True
    is_real: ClassVar[bool] = True

    def value(self, routed: Routed) -> Fraction:
        from treeml.problem.constants import group_losses  # imported here: start-up time

        leaf, leaves = routed.leaf_numbers, len(routed.leaves)
        losses = [group_losses(self.kind, values, self.weight, leaf, leaves, self.level) for values in self.targets.T]
        return self.scale * sum(losses, Fraction(0))

    def recurrence(self) -> type[Recurrence]:
        return LossRecurrence

    def restricted(self, part: Part) -> Loss:
        return replace(self, targets=self.targets[part.rows], weight=self.weight[part.rows])

    def is_never_negative(self) -> bool:
        return self.scale >= 0 and bool((self.weight >= 0).all())

    def to_json(self) -> dict[str, Any]:
        return {
            "shape": self.kind,  # "kind" names the term
            "targets": self.targets.tolist(),
            "weight": self.weight.tolist(),
            "scale": str(self.scale),
            "level": str(self.level),
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Loss:
        import numpy as np

        targets, weight = (np.array(fields[name], dtype=np.int64) for name in ("targets", "weight"))
        return cls(fields["shape"], targets, weight, Fraction(fields["scale"]), Fraction(fields["level"]))


class LossRecurrence(ByIdentity):
    @staticmethod
    def scale(term: Any) -> Fraction:
        return Fraction(term.scale)

    def at_leaf(self, mask: int, label: int) -> Fraction:
        rows = self.rows(mask)
        weight = [int(self.term.weight[row]) for row in rows]
        outputs = self.term.targets.shape[1]
        targets = [[int(self.term.targets[row, output]) for row in rows] for output in range(outputs)]
        return sum((self.of_one_output(values, weight) for values in targets), Fraction(0))

    def of_one_output(self, values: list[int], weight: list[int]) -> Fraction:
        """The mean has the least squared loss; one of the values has the least absolute and the least pinball loss."""
        pairs = list(zip(values, weight, strict=True))
        total = sum(weight)
        if total == 0:
            return Fraction(0)
        if self.term.kind == "squared":
            mean = Fraction(sum(value * share for value, share in pairs), total)
            return sum((share * (value - mean) ** 2 for value, share in pairs), Fraction(0))
        level = self.term.level
        above, below = (Fraction(1), Fraction(1)) if self.term.kind == "absolute" else (level, 1 - level)
        return min(
            sum((share * max(above * (value - guess), below * (guess - value)) for value, share in pairs), Fraction(0))
            for guess in set(values)
        )
