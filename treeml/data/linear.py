"""Columns of numbers -> the rows of linear models, and the models of leaves.

A model has the least sum of weighted squares plus ridge * weight of the leaf * the sum of its squared slopes, where
slopes are those of columns with mean 0 and variance 1 over all rows; the intercept is free. So models do not depend on
the units of the columns, and a ridge means the same for small and large leaves. A simple model has a slope for one
column only, the one with which its loss is least. Everything is in floating point, so that numbers far from 0 are
centered before anything rounds them: a date in seconds has most of its digits in common with the other dates. For the
same reason the model of such a leaf is not told by its intercept, which would be as far from 0 as the columns are, but
by its value at numbers in the middle of its rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FAR = 2.0**20  # times what a leaf predicts: an intercept made of larger numbers has fewer than ten digits that count
MOST_KEPT, MOST_ROWS = 64, 10_000  # models of leaves that are kept, and the rows of a leaf whose model is kept


@dataclass(frozen=True, eq=False, slots=True)
class LinearColumns:
    """The columns of linear models, as they are and with mean 0 and variance 1."""

    names: tuple[str, ...]
    values: Floats  # rows x columns, minus `base`
    spread: Floats  # of every column: its standard deviation over all rows, 1 if it is constant
    target: Floats  # minus `offset`
    weight: Floats
    ridge: float
    is_simple: bool = False
    offset: float = 0.0
    base: tuple[int, ...] = ()  # of every column; () if all are 0
    known: dict[bytes, LeafLine] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        names: tuple[str, ...],
        values: Floats,
        target: Floats,
        weight: Floats,
        ridge: float,
        is_simple: bool = False,
        offset: float = 0.0,
        base: tuple[int, ...] = (),
    ) -> LinearColumns:
        spread = np.ones(values.shape[1])
        if weight.any():
            spread = np.sqrt(np.average(_centered(values, weight)[0] ** 2, axis=0, weights=weight))
        return cls(names, values, np.where(spread > 0, spread, 1.0), target, weight, ridge, is_simple, offset, base)

    def from_base(self, centers: tuple[int | float, ...]) -> Floats:
        """Numbers of the columns, minus `base` as the values are."""
        base = self.base or (0,) * len(centers)
        return np.array([float(center - start) for center, start in zip(centers, base, strict=True)])

    def at(self, rows: NDArray[Any]) -> LinearColumns:
        parts = {name: getattr(self, name)[rows] for name in ("values", "target", "weight")}
        return replace(self, **parts)


@dataclass(frozen=True, slots=True)
class LeafLine:
    """A linear model: its value at the centers, slopes in the units of the columns, and its loss with the ridge."""

    value: float
    slopes: tuple[float, ...]
    loss: float
    centers: tuple[int | float, ...]  # of every column: 0, so that the value is the intercept, unless its rows are far


def fitted(columns: LinearColumns, rows: NDArray[Any]) -> LeafLine:
    """The best model of some rows. Each stage of a solve asks for the leaves of the same tree, so a few are kept."""
    rows = np.sort(np.asarray(rows, dtype=np.intp))
    if len(rows) > MOST_ROWS:
        return _fitted(columns, rows)
    key = rows.tobytes()
    line = columns.known.get(key)
    if line is None:
        line = _fitted(columns, rows)
        if len(columns.known) >= MOST_KEPT:
            columns.known.clear()
        columns.known[key] = line
    return line


def _fitted(columns: LinearColumns, rows: NDArray[Any]) -> LeafLine:
    weight, target = columns.weight[rows], columns.target[rows]
    is_weightless = not weight.any()
    if is_weightless:  # the loss is 0, and predictions are those of rows that weigh 1
        weight = np.ones(len(rows))
    values, middle = _centered(columns.values[rows], weight)
    around, mean = _centered(target[:, None], weight)
    root = np.sqrt(weight)
    left, right = root[:, None] * (values / columns.spread), root * around[:, 0]
    price = columns.ridge * float(weight.sum())
    if columns.is_simple:
        slopes = _simple_slopes(left, right, price)
    elif price:
        slopes = np.linalg.solve(left.T @ left + price * np.eye(left.shape[1]), left.T @ right)
    else:
        slopes = np.linalg.lstsq(left, right, rcond=None)[0]
    rest = right - left @ slopes
    loss = 0.0 if is_weightless else float(rest @ rest) + price * float(slopes @ slopes)
    slopes /= columns.spread
    base = columns.base or (0,) * len(slopes)
    centers: tuple[int | float, ...] = (0,) * len(slopes)
    distance = middle + np.array(base, dtype=np.float64)  # of the middle of the rows from the centers
    size = max(abs(columns.offset + float(mean[0])), float(np.abs(around).max()))
    if float(np.abs(slopes) @ np.abs(distance)) > FAR * size:
        centers = tuple(start + round(at) if start else at for start, at in zip(base, middle.tolist(), strict=True))
        distance = weight @ (columns.values[rows] - columns.from_base(centers)) / float(weight.sum())
    value = columns.offset + float(mean[0]) - float(distance @ slopes)
    return LeafLine(value, tuple(slopes.tolist()), loss, centers)


def without_base(values: NDArray[Any]) -> tuple[Floats, int]:
    """A column of numbers as floats that are near each other, and what was subtracted to make them exact.

    Whole numbers beyond 2**53 are no floats, but their differences are if they are near each other.
    """
    if values.dtype.kind != "i" or not len(values):
        return values.astype(np.float64), 0
    base = int(values.min())
    return (values.astype(np.uint64) - np.uint64(base % 2**64)).astype(np.float64), base  # modulo 2**64


def _centered(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Columns of numbers minus their weighted means, and the means; where nothing varies, all are 0 exactly.

    A mean is rounded like the largest numbers, so what is left of it is subtracted, too. Before that, nothing is lost:
    numbers that are close to each other have an exact difference.
    """
    total = float(weight.sum())
    middle = weight @ values / total
    rest = values - middle
    left = weight @ rest / total
    known = values[weight > 0]
    varies = (known != known[:1]).any(axis=0)
    return np.where(varies, rest - left, 0.0), np.where(varies, middle + left, known[0])


def _simple_slopes(left: Floats, right: Floats, price: float) -> Floats:
    """The slope of the column that explains most, and 0 for the others."""
    squares, both = (left**2).sum(axis=0), left.T @ right
    varies = squares > 0
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
    return float(columns.weight @ _centered(columns.target[:, None], columns.weight)[0][:, 0] ** 2)
