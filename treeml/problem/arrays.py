"""The types of the arrays that problems and terms hold. Modules that load without numpy import them for types only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
Bits = NDArray[np.bool_]
Rows = NDArray[np.intp]  # row numbers

_LARGE = 1 << 22  # rows of which the numbers are kept in 32 bits; for fewer, numpy is faster with its own type


def all_rows(rows: int) -> Rows:
    """The numbers of all rows."""
    return np.arange(rows, dtype=np.intp if rows < _LARGE else np.int32)
