"""A matrix of 0 and 1 and a number for every row -> the tree of least squares, in one call of the C library.

`Solver` does the same and much more, call by call. For a few hundred rows these calls take longer than the search, so
this is the short way: bytes as they lie in memory go in, and plain lists come out.
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import Array, c_char, c_char_p, c_double, c_int, c_int64, c_void_p
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeml.native.border import BYTE_ARRAY, FLOAT_ARRAY, INT64_ARRAY
from treeml.native.loader import declare
from treeml.native.solver import PROGRESS, statistic_names
from treeml.system.interrupt import listening

MOST_DEPTH = 10
BRIEF_DEPTH, BRIEF_PAIRS = 3, 1_000_000  # up to these, a search takes milliseconds
_HEAD, _NODE = 7, 5  # numbers of an answer before its nodes, and for each of them
_OPTIMAL = 1
_OUT_OF_MEMORY, _INTERNAL, _NOT_WHOLE = 2, 6, 100
_NO_PROGRESS = PROGRESS()


class NotWhole(ValueError):
    """A number has a fraction."""


class BitMatrixAnswer(NamedTuple):
    """The best tree. Node 0 is the root, and the column of a leaf is -1; rows with 1 in the column go to `yes`.

    Value and bound are whole numbers of 1 / unit, off by up to `slack`. All that follows the nodes was counted in the
    matrix after the search, without its help.
    """

    is_optimal: bool
    value: int
    bound: int
    slack: int
    unit: float
    statistics: Sequence[float]  # in the order of `statistic_names`
    column: list[int]
    yes: list[int]
    no: list[int]
    rows: list[int]  # that reach each leaf; 0 for other nodes
    sums: list[int]  # of their numbers
    squares: int  # the sum of all squared numbers
    depth: int
    has_needless: bool  # does a question have the same questions, and the same means, on both of its sides?


def least_squares(
    cells: NDArray[np.uint8], numbers: NDArray[np.int64] | NDArray[np.float64], depth: int, seconds: float
) -> BitMatrixAnswer:
    """The tree of at most this depth whose leaves cost the least squared distances of their rows from their mean.

    Ctrl-C ends the search with the best tree so far, unless it is so brief that nobody can press it in time. ValueError
    if a cell is neither 0 nor 1 or a number is too large, NotWhole if one has a fraction.
    """
    rows, columns = cells.shape
    if numbers.shape != (rows,):
        raise ValueError("there must be one number for every row")
    if not 0 <= depth <= MOST_DEPTH:
        raise ValueError(f"a depth must be between 0 and {MOST_DEPTH}")
    real, whole = (numbers, None) if numbers.dtype == np.float64 else (None, numbers)
    sizes = (rows, columns, depth, max(1, int(1e3 * seconds)))
    room = _room(depth)
    if is_brief(rows, columns, depth):
        code = _function()(cells, real, whole, *sizes, _NO_PROGRESS, *room)
    else:
        with listening() as interrupted:
            relayed = PROGRESS(lambda *_: interrupted())
            code = _function()(cells, real, whole, *sizes, relayed, *room)
    if code:
        raise _mistake(code, room[-1].value.decode())
    return _answer(*room[:3])


def is_brief(rows: int, columns: int, depth: int) -> bool:
    """Does a search take milliseconds?"""
    return depth <= BRIEF_DEPTH and rows * columns**2 <= BRIEF_PAIRS  # pairs of tests, in every row


def _room(depth: int) -> tuple[Any, Any, Any, Any]:
    """Memory for the whole numbers of an answer, its real numbers, the statistics and a message."""
    answer, statistics = _types(depth)
    return answer(), (c_double * 2)(), statistics(), (c_char * 256)()


@cache
def _types(depth: int) -> tuple[type[Array[c_int64]], type[Array[c_double]]]:
    return c_int64 * (_HEAD + _NODE * (2 ** (depth + 1) - 1)), c_double * len(statistic_names())


def _answer(answer: Any, reals: Any, statistics: Any) -> BitMatrixAnswer:
    status, value, bound, slack, depth, needless, nodes = answer[:_HEAD]
    parts = answer[_HEAD : _HEAD + _NODE * nodes]
    unit, squares = reals
    return BitMatrixAnswer(
        status == _OPTIMAL,
        value,
        bound,
        slack,
        unit,
        statistics,
        parts[0::_NODE],
        parts[1::_NODE],
        parts[2::_NODE],
        parts[3::_NODE],
        parts[4::_NODE],
        int(squares),
        depth,
        bool(needless),
    )


def _mistake(code: int, message: str) -> Exception:
    if code == _OUT_OF_MEMORY:
        return MemoryError(message or "not enough memory for a solver")
    if code == _INTERNAL:
        return RuntimeError(message)
    return NotWhole(message) if code == _NOT_WHOLE else ValueError(message)


@cache
def _function() -> Any:
    arrays, sizes = (BYTE_ARRAY, FLOAT_ARRAY, INT64_ARRAY), (c_int64,) * 4
    parameters = (*arrays, *sizes, PROGRESS, c_void_p, c_void_p, c_void_p, c_char_p)
    return declare({"treeml_least_squares": (c_int, parameters)}).treeml_least_squares
