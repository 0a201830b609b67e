"""The rows of a leaf -> its loss under survival_loss, as a cost that is data.

Logarithms are rounded floats, unlike every other cost here, so a proof of such a goal states a tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeml.data.hazards import UNITS, death_costs, deaths_and_hazard, leaf_loss
from treeml.problem.magnitudes import added
from treeml.problem.terms import StoredCost

if TYPE_CHECKING:
    from treeml.problem.arrays import Rows, Whole


@dataclass(frozen=True, eq=False, slots=True)
class HazardCost(StoredCost):
    """The loss of a leaf as a cost that is data."""

    is_never_negative: ClassVar[bool] = True

    values: Whole  # rows, each as one whole number
    costs: Whole  # what the death of each row costs in any leaf

    @classmethod
    def of(cls, values: Whole) -> HazardCost:
        return cls(values, death_costs(values))

    def __call__(self, rows: Rows) -> float:
        deaths, hazard = deaths_and_hazard(self.values[rows])
        return leaf_loss(int(self.costs[rows].sum()), deaths, hazard)

    @property
    def rounding(self) -> float:
        """What the death of each row costs is one rounded logarithm; those of the leaves are rounded much less."""
        return int((self.values & 1).sum()) / UNITS

    def fits(self, most: int) -> bool:
        """Whether no sum of hazards or of costs exceeds this number."""
        return max(added(self.values >> 1), added(np.abs(self.costs))) <= most

    def residuals(self) -> NDArray[np.float64]:
        """Those of martingales (Therneau, Grambsch and Fleming 1990): the death minus what the hazard made expected."""
        return (self.values & 1) - (self.values >> 1) / UNITS

    def restricted(self, rows: Rows) -> HazardCost:
        return HazardCost(self.values[rows], self.costs[rows])

    def to_json(self) -> dict[str, Any]:
        return {"values": self.values.tolist()}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> HazardCost:
        return cls.of(np.array(fields["values"], dtype=np.int64))
