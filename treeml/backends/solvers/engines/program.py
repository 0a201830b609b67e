"""Program: minimize cost . x + offset subject to low <= A x <= high, lower <= x <= upper, x integer.

CP-SAT and all MIP solvers take this form. All numbers are integers below 2**52, so they are exact in a solver that
calculates with floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    Whole = NDArray[np.int64]

FREE = 2**60  # low = -FREE or high = FREE: no limit on this side


@dataclass(frozen=True, eq=False, slots=True)
class Program:
    cost: Whole
    lower: Whole
    upper: Whole
    start: Whole  # rows of A: entries start[i] .. start[i + 1] of index and value
    index: NDArray[np.int32]
    value: Whole
    low: Whole
    high: Whole
    offset: int = 0
    integral_relaxation: bool = False  # does the linear relaxation have an integral optimum?
    whole: NDArray[np.bool_] | None = None  # which columns must be integer; None: all

    @property
    def columns(self) -> int:
        return len(self.cost)

    @property
    def rows(self) -> int:
        return len(self.low)


def gather_rows(rows: list[tuple[Whole, Whole, int, int]]) -> tuple[Whole, NDArray[np.int32], Whole, Whole, Whole]:
    """(columns, coefficients, low, high) of every row -> start, index, value, low, high."""
    sizes = np.array([len(columns) for columns, _, _, _ in rows], np.int64)
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    index = np.concatenate([np.asarray(columns) for columns, _, _, _ in rows]) if rows else np.zeros(0)
    value = np.concatenate([np.asarray(values) for _, values, _, _ in rows]) if rows else np.zeros(0)
    low = np.array([low for _, _, low, _ in rows], np.int64)
    high = np.array([high for _, _, _, high in rows], np.int64)
    return start, index.astype(np.int32), value.astype(np.int64), low, high


def sorted_rows(row: Whole, column: Whole, value: Whole, rows: int) -> tuple[Whole, NDArray[np.int32], Whole]:
    """Entries in any order -> start, index, value by rows."""
    order = np.argsort(row, kind="stable")
    start = np.searchsorted(row[order], np.arange(rows + 1)).astype(np.int64)
    return start, column[order].astype(np.int32), value[order].astype(np.int64)
