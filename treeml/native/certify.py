"""Places of rows, costs and a bound -> the claims that prove the bound, as text.

A thin wrapper over `certify/` in C. Equal rows are merged here, and what their cheapest class costs is unavoidable: it
is the `base`, and bounds of claims leave it out (docs/certificates.md, rule NORMALIZE).
"""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor
from ctypes import POINTER, byref, c_double, c_int, c_int32, c_int64, c_void_p
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.native.border import INT32_ARRAY, INT64_ARRAY, whole
from treeml.native.loader import Signatures, declare

Whole = NDArray[np.int64]

_SIGNATURES: Signatures = {
    "treeml_certify_create": (
        c_void_p,
        (INT32_ARRAY, INT64_ARRAY, c_int64, c_int64, INT64_ARRAY, c_int64, INT64_ARRAY, c_int32),
    ),
    "treeml_certify_destroy": (None, (c_void_p,)),
    "treeml_certify_limits": (c_int, (c_void_p, c_int32, c_int32, c_int64, c_int64)),
    "treeml_certify_prove": (c_int, (c_void_p, c_int64, c_double, POINTER(c_int64))),
    "treeml_certify_interrupt": (None, (c_void_p,)),
    "treeml_certify_text": (
        c_int,
        (c_void_p, POINTER(c_void_p), POINTER(c_int64), POINTER(c_int64), POINTER(c_int64)),
    ),
}


@dataclass(frozen=True, slots=True)
class TreeShape:
    """What the trees may look like, and the price of a leaf; `leaves` 0 means any number."""

    depth: int
    leaves: int = 0
    support: int = 1
    price: int = 0


@dataclass(frozen=True, slots=True)
class Claims:
    bound: int  # no tree costs less
    text: bytes  # one claim per line, the last about all rows
    count: int
    recomputed: int  # sets for which a checker recomputes the best tree of depth two
    is_stopped: bool  # the time was over


class Prover:
    """Proves bounds on one problem; what was learned for one bound helps with the next.

    `place` is columns x rows and `cuts` the number of cuts of every column: cut j sends rows with place <= j to its yes
    side. `vector` is rows x classes, the cost of predicting each class, or, if `squared`, rows x 3: weight, weight *
    target, weight * target ** 2.
    """

    def __init__(self, place: Any, cuts: Any, vector: Whole, limits: TreeShape, *, squared: bool = False) -> None:
        self._handle: int | None = None
        self._library = declare(_SIGNATURES)
        rows, costs, count, self.base = _merged(np.asarray(place), vector, squared, limits.support)
        self._handle = self._library.treeml_certify_create(
            whole(rows, "place", rows.shape, np.int32),
            whole(cuts, "cuts", (len(rows),)),
            rows.shape[0],
            rows.shape[1],
            whole(costs, "vector", costs.shape),
            costs.shape[1],
            whole(count, "count", count.shape),
            int(squared),
        )
        if not self._handle:
            raise MemoryError("not enough memory for a certificate")
        code = self._library.treeml_certify_limits(
            self._handle, limits.depth, limits.leaves, limits.support, limits.price
        )
        if code:
            raise MemoryError("not enough memory for a certificate") if code == 2 else ValueError("limits out of range")

    def prove(self, bound: int, seconds: float = inf) -> Claims:
        """Claims that no tree costs less than `bound`, or than the least cost if that is below."""
        if self._handle is None:
            raise ValueError("the prover is closed")
        proved = c_int64()
        with ThreadPoolExecutor(1) as pool:  # C runs beside, so that Ctrl-C is heard here
            running = pool.submit(
                self._library.treeml_certify_prove, self._handle, bound - self.base, seconds, byref(proved)
            )
            try:
                code = running.result()
            except KeyboardInterrupt:
                self._library.treeml_certify_interrupt(self._handle)
                raise
        if code == 2:
            raise MemoryError("not enough memory for a certificate")
        return self._claims(proved.value + self.base, code == 1)

    def _claims(self, bound: int, is_stopped: bool) -> Claims:
        text, size, count, recomputed = c_void_p(), c_int64(), c_int64(), c_int64()
        if self._library.treeml_certify_text(self._handle, text, size, count, recomputed):
            raise MemoryError("not enough memory for a certificate")
        return Claims(bound, ctypes.string_at(text.value or 0, size.value), count.value, recomputed.value, is_stopped)

    def close(self) -> None:
        if self._handle is not None:
            self._library.treeml_certify_destroy(self._handle)
            self._handle = None

    def __del__(self) -> None:
        self.close()


def _merged(place: Any, vector: Whole, squared: bool, support: int) -> tuple[Any, Whole, Whole, int]:
    """Rows that no test tells apart as one row, its costs without what its cheapest class costs, and that base."""
    if not squared:
        rows, costs, count, (base,) = merge_equal_rows(place, vector[:, None, :], support)
        return rows, np.ascontiguousarray(costs[:, 0, :]), count, base
    order, starts = _equal_rows(place)
    count = np.diff(np.append(starts, len(order)))
    return np.ascontiguousarray(place[:, order[starts]]), np.add.reduceat(vector[order], starts, axis=0), count, 0


def merge_equal_rows(place: Any, vector: Whole, support: int) -> tuple[Any, Whole, Whole, list[int]]:
    """The same for several sums at once: `vector` is rows x sums x classes, and every sum has its base."""
    order, starts = _equal_rows(place)
    rows = np.ascontiguousarray(place[:, order[starts]])
    sums = np.add.reduceat(vector[order], starts, axis=0)
    count = np.diff(np.append(starts, len(order)))
    least = sums.min(axis=2)
    sums = sums - least[:, :, None]
    if support == 1:  # rows that add nothing anywhere do not change a bound
        kept = sums.any(axis=(1, 2))
        rows, sums, count = np.ascontiguousarray(rows[:, kept]), sums[kept], count[kept]
    return rows, sums, count, least.sum(axis=0).tolist()


def _equal_rows(place: Any) -> tuple[Any, Any]:
    """An order in which equal rows are neighbors, and where each of them begins."""
    order = np.lexsort(place)
    differs = (place[:, order[1:]] != place[:, order[:-1]]).any(axis=0)
    return order, np.concatenate([[0], np.flatnonzero(differs) + 1])
