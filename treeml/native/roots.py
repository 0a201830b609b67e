"""Answers of rows to tests, gains of rows -> the best tree of depth at most three under every root (roots/roots.h)."""

from __future__ import annotations

from ctypes import c_int, c_int64
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.native.border import (
    BYTE_ARRAY,
    FLOAT_ARRAY,
    FLOAT_ROOM,
    INT32,
    INT32_ARRAY,
    INT32_ROOM,
    flags,
    real,
    whole,
)
from treeml.native.loader import declare

DEEPEST = 3


@dataclass(frozen=True, eq=False, slots=True)
class RootedTrees:
    """Complete trees: tests stored as a heap, then the classes of the leaves from left to right; yes is left."""

    depth: int
    worth: NDArray[np.float64]  # of every tree: its gain over predicting class 0 for every row
    tests: NDArray[np.int32]  # trees x (2^depth - 1)
    labels: NDArray[np.int32]  # trees x 2^depth

    def take(self, places: NDArray[np.intp]) -> RootedTrees:
        return RootedTrees(self.depth, self.worth[places], self.tests[places], self.labels[places])

    def votes(self, bits: NDArray[np.bool_]) -> NDArray[np.int32]:
        """trees x rows: the class that each tree predicts for each row."""
        passed = bits[self.tests]
        votes = self.labels[:, :, None]  # of the nodes of one level, then of the level above
        for level in reversed(range(self.depth)):
            votes = np.where(passed[:, 2**level - 1 : 2 ** (level + 1) - 1], votes[:, ::2], votes[:, 1::2])
        return np.asarray(votes[:, 0])


def best_under_roots(
    bits: NDArray[np.uint8], gain: NDArray[np.float64], depth: int, roots: NDArray[np.int32]
) -> RootedTrees:
    """`bits` is tests x rows; `gain` is planes x rows: for classes 1, 2, ... the gain of a row over class 0."""
    if np.ndim(bits) != 2 or np.ndim(gain) != 2 or not 1 <= depth <= DEEPEST:
        raise ValueError(f"bits are tests x rows, gains planes x rows, and the depth is 1 to {DEEPEST}")
    tests, rows = np.shape(bits)
    bits = flags(bits, "bits", (tests, rows))
    gain = real(gain, "gain", (len(gain), rows))
    roots = whole(roots, "roots", (len(roots),), np.int32)
    inner = 2**depth - 1
    worth = np.empty(len(roots))
    nodes = np.empty((len(roots), 2 * inner + 1), dtype=np.int32)
    code = _function()(bits, tests, rows, gain, len(gain), depth, roots, len(roots), worth, nodes)
    if code == 2:
        raise MemoryError("not enough memory for the sums over pairs of tests")
    if code:
        raise ValueError(f"the sums over pairs of tests were refused with code {code}")
    return RootedTrees(depth, worth, nodes[:, :inner], nodes[:, inner:])


_SIGNATURES = {
    "treeml_best_under_roots": (
        c_int,
        (BYTE_ARRAY, c_int64, c_int64, FLOAT_ARRAY, INT32, INT32, INT32_ARRAY, c_int64, FLOAT_ROOM, INT32_ROOM),
    ),
}


@cache
def _function() -> Any:
    return declare(_SIGNATURES).treeml_best_under_roots
