"""The types of the arrays that problems and terms hold. Modules that load without numpy import them for types only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
Bits = NDArray[np.bool_]
Rows = NDArray[np.intp]  # row numbers
