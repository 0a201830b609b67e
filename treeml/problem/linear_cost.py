"""The rows of a leaf -> the loss of its linear model, as a cost that is data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeml.data.linear import LinearColumns, fitted, squares_around_mean
from treeml.problem.terms import StoredCost

if TYPE_CHECKING:
    from treeml.problem.arrays import Rows

PRECISION = 1e-10


@dataclass(frozen=True, eq=False, slots=True)
class LinearCost(StoredCost):
    """The loss of the linear model of a leaf."""

    is_never_negative: ClassVar[bool] = True

    columns: LinearColumns

    def __call__(self, rows: Rows) -> float:
        return fitted(self.columns, rows).loss

    @property
    def rounding(self) -> float:
        """A share of the squares without any model: they bound what is added up, and errors of slopes count squared."""
        return PRECISION * squares_around_mean(self.columns)

    def residuals(self) -> NDArray[np.float64]:
        columns = self.columns
        line = fitted(columns, np.arange(len(columns.target)))
        along = (columns.values - columns.from_base(line.centers)) @ np.array(line.slopes)
        return np.asarray(columns.target + columns.offset - line.value - along)

    def restricted(self, rows: Rows) -> LinearCost:
        return LinearCost(self.columns.at(rows))

    def to_json(self) -> dict[str, Any]:
        columns = self.columns
        arrays = {name: getattr(columns, name).tolist() for name in ("values", "spread", "target", "weight")}
        return {"names": list(columns.names), **arrays, "ridge": columns.ridge, "is_simple": columns.is_simple}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> LinearCost:
        values, spread, target, weight = (
            np.array(fields[name], dtype=np.float64) for name in ("values", "spread", "target", "weight")
        )
        values = values.reshape(len(target), len(fields["names"]))
        names, ridge, is_simple = tuple(fields["names"]), fields["ridge"], fields.get("is_simple", False)
        return cls(LinearColumns(names, values, spread, target, weight, ridge, is_simple))
