"""The largest of several sums: a gap over groups is the largest difference between two of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.problem.grid import Grid, common_unit
from treeml.problem.terms.base import Composite
from treeml.problem.terms.predicted import Predicted
from treeml.problem.terms.sum import Sum

if TYPE_CHECKING:
    from treeml.problem.problem import Problem


@dataclass(frozen=True, eq=False, slots=True)
class Largest(Composite):
    """The largest of several sums of terms; sums without a value are left out."""

    parts: tuple[Sum, ...]

    phrase: ClassVar[str] = "the largest of several sums"
    rises_with_sums: ClassVar[bool] = True

    @property
    def sums(self) -> tuple[Sum, ...]:
        return self.parts

    def combined(
        self, value: Callable[[Sum, Fraction | None], Fraction | None], undefined: Fraction | None
    ) -> Fraction | None:
        values = [value(part, undefined) for part in self.parts]
        return max((value for value in values if value is not None), default=undefined)

    def with_sums(self, change: Callable[[Sum], Sum]) -> Largest:
        return Largest(tuple(map(change, self.parts)))

    def grid(self, problem: Problem) -> Grid | None:
        grids = []
        for part in self.parts:
            grid = part.grid(problem)
            if grid is None:
                return None
            grids.append(grid.moved(part.constant))
        if not grids:
            return None
        unit = common_unit([grid.unit for grid in grids])
        least = max(int(grid.unit / unit) * grid.least for grid in grids)
        return Grid(unit, least, max(int(grid.unit / unit) * grid.greatest for grid in grids))

    def lower_bound(self, problem: Problem, factor: Fraction, row_by_row: bool) -> Fraction | None:
        """No part is above the largest; of a difference and its opposite, as in a gap, one is not below 0."""
        if factor < 0:
            return None
        known = [part.lower_bound(problem, row_by_row) for part in self.parts]
        values = [value for value in known if value is not None]
        if any(_are_opposite(self.parts[0], part) for part in self.parts[1:]):
            values.append(Fraction(0))
        return factor * max(values) if values else None

    def to_json(self) -> dict[str, Any]:
        return {"parts": [part.to_json() for part in self.parts]}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Largest:
        return cls(tuple(Sum.from_json(part) for part in fields["parts"]))


def _are_opposite(one: Sum, other: Sum) -> bool:
    import numpy as np  # imported here: start-up time

    if one.constant != -other.constant or len(one.parts) != 1 or len(other.parts) != 1:
        return False
    (factor, term), (other_factor, other_term) = one.parts[0], other.parts[0]
    if not isinstance(term, Predicted) or not isinstance(other_term, Predicted):
        return False
    share, other_share = factor * term.scale, other_factor * other_term.scale
    if share == other_share:
        return bool(np.array_equal(term.cost, -other_term.cost))
    return share == -other_share and bool(np.array_equal(term.cost, other_term.cost))
