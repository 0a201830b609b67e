"""Columns of numbers -> the rows of linear models, and the models of leaves.

A model has the least sum of weighted squares plus ridge * weight of the leaf * the sum of its squared slopes, where
slopes are those of columns with mean 0 and variance 1 over all rows; the intercept is free. So models do not depend on
the units of the columns, and a ridge means the same for small and large leaves. A simple model has a slope for one
column only, the one with which its loss is least. Everything is in floating point.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    is_simple: bool = False

    @classmethod
    def of(
        cls,
        names: tuple[str, ...],
        values: Floats,
        target: Floats,
        weight: Floats,
        ridge: float,
        is_simple: bool = False,
    ) -> LinearColumns:
        middle = np.average(values, axis=0, weights=weight) if weight.any() else np.zeros(values.shape[1])
        centered = values - middle
        spread = np.sqrt(np.average(centered**2, axis=0, weights=weight)) if weight.any() else np.ones(values.shape[1])
        return cls(names, values, np.where(spread > 0, spread, 1.0), target, weight, ridge, is_simple)

    def at(self, rows: NDArray[Any]) -> LinearColumns:
        parts = {name: getattr(self, name)[rows] for name in ("values", "target", "weight")}
        return replace(self, **parts)


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
    if columns.is_simple:
        slopes = _simple_slopes(left, right, price, total * middle**2)
    elif price:
        slopes = np.linalg.solve(left.T @ left + price * np.eye(left.shape[1]), left.T @ right)
    else:
        slopes = np.linalg.lstsq(left, right, rcond=None)[0]
    rest = right - left @ slopes
    loss = float(rest @ rest) + price * float(slopes @ slopes)
    return LeafLine(mean - float(middle @ slopes), tuple((slopes / columns.spread).tolist()), loss)


def _simple_slopes(left: Floats, right: Floats, price: float, means: Floats) -> Floats:
    """The slope of the column that explains most, and 0 for the others.

    A column that varies by no more than the rounding of its values is constant; `means` are the squares of its mean.
    """
    squares, both = (left**2).sum(axis=0), left.T @ right
    varies = squares > (np.finfo(np.float64).eps * len(left)) ** 2 * (squares + means)
    slopes = np.zeros(left.shape[1])
    if varies.any():
        explained = np.where(varies, both**2 / np.where(varies, squares + price, 1.0), -1.0)
        chosen = int(np.argmax(explained))
        slopes[chosen] = both[chosen] / (squares[chosen] + price)
    return slopes


def squares_around_mean(columns: LinearColumns) -> float:
    """The loss of one leaf that predicts a constant."""
    if not columns.weight.any():
        return 0.0
    rest = columns.target - np.average(columns.target, weights=columns.weight)
    return float(columns.weight @ rest**2)
