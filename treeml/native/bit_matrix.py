"""A matrix of 0 and 1 and a number for every row -> the tree of least squares, in three calls of the C library.

`Solver` does the same and much more, call by call. For a few hundred rows these calls take longer than the search, so
this is the short way: bytes as they lie in memory go in, and plain lists come out.
"""

from __future__ import annotations

from ctypes import c_char_p, c_double, c_int, c_int64, c_void_p
from functools import cache
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeml.native.border import BYTE_ARRAY, INT64_ARRAY
from treeml.native.loader import STATISTIC, Signatures, declare, read_statistic_names
from treeml.native.solver import PROGRESS
from treeml.system.interrupt import listening

MOST_DEPTH = 10
BRIEF_DEPTH, BRIEF_PAIRS = 3, 1_000_000  # up to these, a search takes milliseconds
_HEAD, _NODE = 6, 4  # numbers of an answer before its nodes, and for each of them
_OPTIMAL = 1
_NO_PROGRESS = PROGRESS()


class BitMatrixAnswer(NamedTuple):
    """The best tree. Node 0 is the root, and the column of a leaf is -1; rows with 1 in the column go to `yes`.

    Value and bound are whole numbers of 1 / unit, off by up to `slack`.
    """

    is_optimal: bool
    value: int
    bound: int
    slack: int
    unit: float
    column: list[int]
    yes: list[int]
    no: list[int]
    statistics: list[float]  # in the order of `statistic_names`


class BitMatrixSolver:
    """The tests and numbers of one problem; a leaf costs the squared distances of its rows from their mean."""

    __slots__ = ("_handle", "_library", "pairs")

    def __init__(self, cells: NDArray[np.uint8], targets: NDArray[np.int64]) -> None:
        """ValueError if a cell is neither 0 nor 1, or if a number is too large."""
        self._library = _functions()
        self._handle = self._library.create()
        if not self._handle:
            raise MemoryError("not enough memory for a solver")
        rows, columns = cells.shape
        if targets.shape != (rows,):
            raise ValueError("there must be one number for every row")
        if self._library.matrix(self._handle, cells, rows, columns, targets):
            raise ValueError(self._library.message(self._handle).decode())
        self.pairs = rows * columns**2  # of tests, in every row

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle:
            self._library.destroy(handle)
            self._handle = None

    def solve(self, depth: int, seconds: float) -> BitMatrixAnswer:
        """The best tree of at most this depth. Ctrl-C ends the search with the best tree so far, unless it is so brief
        that nobody can press it in time."""
        if not 0 <= depth <= MOST_DEPTH:
            raise ValueError(f"a depth must be between 0 and {MOST_DEPTH}")
        room = 2 ** (depth + 1) - 1
        answer, numbers = (c_int64 * (_HEAD + _NODE * room))(), (c_double * (1 + _statistics()))()
        call = (self._handle, depth, max(1, int(1e3 * seconds)), room, answer, numbers)
        if depth <= BRIEF_DEPTH and self.pairs <= BRIEF_PAIRS:
            code = self._library.best(*call)
        else:
            with listening() as interrupted:
                relayed = PROGRESS(lambda *_: interrupted())
                self._library.watch(self._handle, relayed, None)
                code = self._library.best(*call)
            self._library.watch(self._handle, _NO_PROGRESS, None)  # C must drop the function before Python frees it
        if code:
            raise MemoryError(self._library.message(self._handle).decode())
        status, _, value, bound, slack, nodes = answer[:_HEAD]
        parts = answer[_HEAD : _HEAD + _NODE * nodes]
        unit, *statistics = numbers
        return BitMatrixAnswer(
            status == _OPTIMAL,
            value,
            bound,
            slack,
            unit,
            parts[::_NODE],
            parts[1::_NODE],
            parts[2::_NODE],
            statistics,
        )


_SIGNATURES: Signatures = {
    "create": (c_void_p, ()),
    "destroy": (None, (c_void_p,)),
    "message": (c_char_p, (c_void_p,)),
    "matrix": (c_int, (c_void_p, BYTE_ARRAY, c_int64, c_int64, INT64_ARRAY)),
    "watch": (c_int, (c_void_p, PROGRESS, c_void_p)),
    "best": (c_int, (c_void_p, c_int64, c_int64, c_int64, c_void_p, c_void_p)),
}


@cache
def statistic_names() -> tuple[str, ...]:
    """The names of the statistics of a search."""
    library = declare({"treeml_statistic": STATISTIC})
    handle = _functions().create()
    names = read_statistic_names(_statistics, library.treeml_statistic, handle)
    _functions().destroy(handle)
    return names


@cache
def _statistics() -> int:
    return int(declare({}).treeml_statistics())


@cache
def _functions() -> SimpleNamespace:
    library = declare({f"treeml_{name}": signature for name, signature in _SIGNATURES.items()})
    return SimpleNamespace(**{name: getattr(library, f"treeml_{name}") for name in _SIGNATURES})
