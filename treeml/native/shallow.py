"""Rows with classes, a number of levels -> a tree that separates the classes, from the C library."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.native.border import INT32, INT32_ROOM, flags, in_range, whole
from treeml.native.loader import declare
from treeml.system.interrupt import listening

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FOUND, NONE, MISSED, WORK, MEMORY, STOPPED = range(6)

_POLL = ctypes.CFUNCTYPE(ctypes.c_int)


class _Input(ctypes.Structure):
    _fields_ = (
        ("rows", ctypes.c_int32),
        ("tests", ctypes.c_int32),
        ("classes", ctypes.c_int32),
        ("guide_nodes", ctypes.c_int32),
        ("memory", ctypes.c_int64),
        ("bits", ctypes.c_void_p),
        ("label", ctypes.c_void_p),
        ("weight", ctypes.c_void_p),
        ("guide_test", ctypes.c_void_p),
        ("guide_yes", ctypes.c_void_p),
        ("guide_no", ctypes.c_void_p),
    )


@dataclass(frozen=True, eq=False, slots=True)
class FlatShallowTree:
    """A tree as arrays: node 0 is the root, test -1 marks a leaf, children come after their parent."""

    test: NDArray[np.int32]
    yes: NDArray[np.int32]
    no: NDArray[np.int32]
    label: NDArray[np.int32]


class Shallow:
    """One set of rows, searched for trees of few levels; the proofs of one search speed up the next."""

    def __init__(
        self,
        bits: NDArray[np.bool_],  # tests x rows
        labels: NDArray[np.int32],
        weights: Sequence[int],  # of every class: the levels below its leaves
        guide: FlatShallowTree | None = None,
        memory: int | None = None,
    ) -> None:
        self._handle = None
        if np.ndim(bits) != 2:
            raise ValueError("bits must be a two-dimensional array, tests x rows")
        held = flags(bits, "bits", np.shape(bits))
        tests, rows = held.shape
        label = whole(labels, "labels", (rows,), np.int32)
        weight = whole(weights, "weights", (len(weights),), np.int32)
        given = FlatShallowTree(*(np.zeros(0, dtype=np.int32),) * 4) if guide is None else guide
        nodes = len(given.test)
        arrays = [whole(part, "each part of a guide", (nodes,), np.int32) for part in (given.test, given.yes, given.no)]
        # The structure holds addresses only: these names keep the arrays until C has copied them.
        asked = _Input(
            in_range(rows, "rows", 32), in_range(tests, "tests", 32), len(weight), nodes,
            in_range(memory or 0, "memory"),
            held.ctypes.data, label.ctypes.data, weight.ctypes.data, *(array.ctypes.data for array in arrays),
        )  # fmt: skip
        self._library = _library()
        self._handle = self._library.treeml_shallow_create(ctypes.byref(asked))
        if not self._handle:
            raise MemoryError("the search for a shallow tree does not fit in memory")

    def search(self, depth: int, slack: int | None = None, work: int = 10**9, seconds: float = inf) -> int:
        """FOUND, NONE (a proof), or why the answer is unknown. Ctrl-C stops the search and raises KeyboardInterrupt."""
        limit = max(0.0, seconds) if isfinite(seconds) else -1.0
        with listening() as asked:  # a signal handler, because an exception raised in the callback could be lost
            answer = int(
                self._library.treeml_shallow_search(
                    self._handle, depth, -1 if slack is None else slack, work, limit, _POLL(lambda: int(asked()))
                )
            )
            if asked():
                raise KeyboardInterrupt
        return answer

    @property
    def work(self) -> int:
        """The work of the last search, in machine words read."""
        return int(self._library.treeml_shallow_work(self._handle))

    def tree(self) -> FlatShallowTree:
        """The tree of the last search that found one."""
        size = self._library.treeml_shallow_tree(self._handle, None, None, None, None)
        if size < 0:
            raise MemoryError("the tree does not fit in memory")
        block = np.empty((4, size), dtype=np.int32)
        self._library.treeml_shallow_tree(self._handle, *block)
        return FlatShallowTree(*block)

    def close(self) -> None:
        if self._handle:
            self._library.treeml_shallow_free(self._handle)
            self._handle = None

    def __enter__(self) -> Shallow:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()


_SIGNATURES = {
    "treeml_shallow_create": (ctypes.c_void_p, (ctypes.POINTER(_Input),)),
    "treeml_shallow_free": (None, (ctypes.c_void_p,)),
    "treeml_shallow_search": (ctypes.c_int32, (ctypes.c_void_p, INT32, INT32, ctypes.c_int64, ctypes.c_double, _POLL)),
    "treeml_shallow_work": (ctypes.c_int64, (ctypes.c_void_p,)),
    "treeml_shallow_tree": (ctypes.c_int64, (ctypes.c_void_p, *(INT32_ROOM,) * 4)),
}


@cache
def _library() -> ctypes.CDLL:
    return declare(_SIGNATURES)
