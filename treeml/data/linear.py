"""Columns of numbers -> the rows of linear models, and the models of leaves.

A model has the least sum of weighted squares plus ridge * weight of the leaf * the sum of its squared slopes, where
slopes are those of columns with mean 0 and variance 1 over all rows; the intercept is free. So models do not depend on
the units of the columns, and a ridge means the same for small and large leaves. Everything is in floating point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class LinearColumns:
    """The columns of linear models, as they are and with mean 0 and variance 1."""

    names: tuple[str, ...]
    values: Floats  # rows x columns
    spread: Floats  # of every column: its standard deviation over all rows, 1 if it is constant
    target: Floats
    weight: Floats
    ridge: float

    @classmethod
    def of(cls, names: tuple[str, ...], values: Floats, target: Floats, weight: Floats, ridge: float) -> LinearColumns:
        middle = np.average(values, axis=0, weights=weight) if weight.any() else np.zeros(values.shape[1])
        centered = values - middle
        spread = np.sqrt(np.average(centered**2, axis=0, weights=weight)) if weight.any() else np.ones(values.shape[1])
        return cls(names, values, np.where(spread > 0, spread, 1.0), target, weight, ridge)

    def at(self, rows: NDArray[Any]) -> LinearColumns:
        return LinearColumns(
            self.names, self.values[rows], self.spread, self.target[rows], self.weight[rows], self.ridge
        )


@dataclass(frozen=True, slots=True)
class LeafLine:
    """A linear model: intercept and slopes in the units of the columns, and its loss with the ridge."""

    intercept: float
    slopes: tuple[float, ...]
    loss: float


def fitted(columns: LinearColumns, rows: NDArray[Any]) -> LeafLine:
    """The best model of some rows."""
    rows = np.sort(np.asarray(rows, dtype=np.intp))
    weight, target = columns.weight[rows], columns.target[rows]
    if not weight.any():
        weight = np.ones(len(rows))
    total = float(weight.sum())
    values = columns.values[rows] / columns.spread
    middle, mean = weight @ values / total, float(weight @ target) / total
    root = np.sqrt(weight)
    left, right = root[:, None] * (values - middle), root * (target - mean)
    price = columns.ridge * total
    if price:
        slopes = np.linalg.solve(left.T @ left + price * np.eye(left.shape[1]), left.T @ right)
    else:
        slopes = np.linalg.lstsq(left, right, rcond=None)[0]
    rest = right - left @ slopes
    loss = float(rest @ rest) + price * float(slopes @ slopes)
    return LeafLine(mean - float(middle @ slopes), tuple((slopes / columns.spread).tolist()), loss)


def squares_around_mean(columns: LinearColumns) -> float:
    """The loss of one leaf that predicts a constant."""
    if not columns.weight.any():
        return 0.0
    rest = columns.target - np.average(columns.target, weights=columns.weight)
    return float(columns.weight @ rest**2)
