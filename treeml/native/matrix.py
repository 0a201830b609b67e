"""A matrix of numbers and labels -> the best tree over every threshold, in four calls of the C library.

`NumericSolver` does the same and much more, call by call. For a few hundred rows these calls take longer than the
search, so this is the short way: numbers as they lie in memory go in, and plain lists come out.
"""

from __future__ import annotations

from ctypes import CFUNCTYPE, c_char_p, c_double, c_int, c_int32, c_int64, c_void_p
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from treeml.native.border import FLOAT_ARRAY, INT64_ARRAY
from treeml.native.loader import STATISTIC, Signatures, declare, read_statistic_names
from treeml.system.interrupt import listening

MOST_DEPTH = 6
BRIEF_DEPTH, BRIEF_CELLS = 2, 10_000  # up to these, a search takes about a millisecond
_NODE = 7  # numbers per node
_OPTIMAL = 1
_INTERRUPTED = 2
_PROGRESS = CFUNCTYPE(c_int, c_void_p, c_double, c_int64, c_int64, c_int)
_NO_PROGRESS = _PROGRESS()


@dataclass(frozen=True, slots=True)
class MatrixSize:
    """What makes a matrix large or small for a search, and its classes."""

    cuts: int  # columns that hold only 0 and 1 count one
    columns: int  # with a cut
    truths: int  # columns that hold only 0 and 1
    labels: list[int]  # of the classes, in ascending order


@dataclass(frozen=True, slots=True)
class MatrixAnswer:
    """The best tree; node 0 is the root.

    A node is a list: its column (-1 for a leaf), the number of distinct values of the column, a row with the largest
    number on the yes side and one with the smallest number on the no side, the nodes for yes and no, and the class.
    """

    is_optimal: bool
    is_interrupted: bool
    value: int
    bound: int
    nodes: list[list[int]]
    statistics: tuple[float, ...]  # in the order of `statistic_names`


class MatrixSolver:
    """The numbers and labels of one problem; rows that are misclassified count one."""

    __slots__ = ("_handle", "_library", "cells", "size")

    def __init__(self, values: NDArray[np.float64], labels: NDArray[np.int64], most_classes: int) -> None:
        """ValueError if a number is not finite, or if there are more classes or columns than a search can take."""
        self._library = _functions()
        self._handle = self._library.create()
        if not self._handle:
            raise MemoryError("not enough memory for a solver")
        rows, columns = values.shape
        if labels.shape != (rows,):
            raise ValueError("there must be one label for every row")
        found = (c_int64 * (4 + most_classes))()
        if self._library.matrix(self._handle, values, rows, columns, labels, most_classes, found):
            raise ValueError(self._library.message(self._handle).decode())
        self.cells = rows * columns
        cuts, wide, truths, classes = found[:4]
        self.size = MatrixSize(cuts, wide, truths, found[4 : 4 + classes])

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle:
            self._library.destroy(handle)
            self._handle = None

    def solve(self, depth: int, seconds: float) -> MatrixAnswer:
        """The best tree of at most this depth. Ctrl-C ends the search with the best tree so far, unless it is so brief
        that nobody can press it in time."""
        if not 0 <= depth <= MOST_DEPTH:
            raise ValueError(f"a depth must be between 0 and {MOST_DEPTH}")
        room = 2 ** (depth + 1) - 1
        answer, numbers = (c_int64 * (5 + _NODE * room))(), (c_double * _statistics())()
        call = (self._handle, depth, int(1e6 * seconds), room, answer, numbers)
        if depth <= BRIEF_DEPTH and self.cells <= BRIEF_CELLS:
            code = self._library.best(*call)
        else:
            with listening() as interrupted:
                relayed = _PROGRESS(lambda *_: interrupted())
                self._library.watch(self._handle, relayed, None)
                code = self._library.best(*call)
            self._library.watch(self._handle, _NO_PROGRESS, None)  # C must drop the function before Python frees it
        if code:
            raise MemoryError(self._library.message(self._handle).decode())
        status, stop, value, bound, nodes = answer[:5]
        cells = answer[5 : 5 + _NODE * nodes]
        tree = [cells[place : place + _NODE] for place in range(0, len(cells), _NODE)]
        return MatrixAnswer(status == _OPTIMAL, stop == _INTERRUPTED, value, bound, tree, tuple(numbers))


_SIGNATURES: Signatures = {
    "create": (c_void_p, ()),
    "destroy": (None, (c_void_p,)),
    "message": (c_char_p, (c_void_p,)),
    "matrix": (c_int, (c_void_p, FLOAT_ARRAY, c_int64, c_int64, INT64_ARRAY, c_int32, c_void_p)),
    "watch": (c_int, (c_void_p, _PROGRESS, c_void_p)),
    "best": (c_int, (c_void_p, c_int64, c_int64, c_int64, c_void_p, c_void_p)),
    "statistics": (c_int32, ()),
    "statistic": STATISTIC,
}


@cache
def statistic_names() -> tuple[str, ...]:
    """The names of the statistics of a search."""
    library = _functions()
    handle = library.create()
    names = read_statistic_names(library.statistics, library.statistic, handle)
    library.destroy(handle)
    return names


@cache
def _statistics() -> int:
    return int(_functions().statistics())


@cache
def _functions() -> SimpleNamespace:
    library = declare({f"treeml_numeric_{name}": signature for name, signature in _SIGNATURES.items()})
    return SimpleNamespace(**{name: getattr(library, f"treeml_numeric_{name}") for name in _SIGNATURES})
