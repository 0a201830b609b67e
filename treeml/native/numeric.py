"""codes, costs -> best tree over every threshold, proved best or with a bound.

A thin, reusable object over the numeric half of the C library: only the order of the codes matters, and every cut
between two of them is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_void_p
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.native.library import open_library

Codes = NDArray[np.int32]
Whole = NDArray[np.int64]
Watch = Callable[[float, int | None, int], bool | None]  # seconds, value, bound; False stops

_PROGRESS = CFUNCTYPE(c_int, c_void_p, c_double, c_int64, c_int64, c_int)
_STATUS = {0: "unknown", 1: "optimal", 2: "feasible", 3: "infeasible"}
_STOP = {0: "proved", 1: "time", 2: "interrupted", 3: "memory", 4: "enough"}
_NO_VALUE = 2**63 - 1
_ERRORS: Mapping[int, type[Exception]] = {1: ValueError, 2: MemoryError, 3: OverflowError, 5: ValueError}


@dataclass(frozen=True, slots=True)
class Flat:
    """A tree over the columns given: node 0 is the root, `column` is -1 at a leaf, codes <= cut go to `yes`."""

    column: list[int]
    cut: list[int]
    yes: list[int]
    no: list[int]
    label: list[int]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Values are whole numbers of 1 / unit: 1 for costs, a power of two for squared error."""

    status: str  # optimal, feasible, infeasible or unknown
    stop: str  # proved, time, interrupted, memory or enough
    value: int | None
    bound: int
    unit: Fraction
    tree: Flat | None
    kernel: str = ""


class NumericSolver:
    """One data set, asked as often as you like. Not for two threads at a time."""

    def __init__(self, columns: NDArray[Any], count: Whole | None = None) -> None:
        """`columns` x rows: codes, whole numbers from 0 of which only the order matters, or finite floats, whose codes
        are their ranks."""
        self._library = _library()
        self._handle = c_void_p(self._library.treeml_numeric_create())
        if not self._handle:
            raise MemoryError("no memory for a solver")
        numbers = columns.dtype.kind == "f"
        given = np.ascontiguousarray(columns, dtype=np.float64 if numbers else np.int32)
        self.columns, self.rows = given.shape
        self._call("values" if numbers else "columns", given.ctypes.data, self.columns, self.rows)
        if count is not None:
            self._call("counts", self._array(count).ctypes.data)

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle:
            self._library.treeml_numeric_destroy(handle)
            self._handle = c_void_p()

    def ranks(self, column: int) -> Codes:
        """The rank of every row in a column."""
        ranks = np.empty(self.rows, dtype=np.int32)
        self._call("rank", column, ranks.ctypes.data)
        return ranks

    def labels(self, labels: NDArray[Any], classes: int, weight: Whole | None = None) -> None:
        """A row of another class than its leaf's costs its weight."""
        given = np.ascontiguousarray(labels, dtype=np.int32)
        weights = None if weight is None else self._array(weight)
        self._check_rows(given)
        self._call("labels", given.ctypes.data, classes, None if weights is None else weights.ctypes.data)

    def costs(self, cost: Whole) -> None:
        """rows x classes: what predicting the class for the row costs."""
        given = np.ascontiguousarray(cost, dtype=np.int64)
        self._check_rows(given)
        self._call("costs", given.ctypes.data, given.shape[1])

    def targets(self, targets: Whole, weight: Whole | None = None) -> None:
        """rows x outputs: a leaf costs the weighted squared distances to its mean."""
        given = np.ascontiguousarray(targets, dtype=np.int64).reshape(self.rows, -1)
        weights = None if weight is None else self._array(weight)
        self._call("targets", given.ctypes.data, given.shape[1], None if weights is None else weights.ctypes.data)

    def start(self, tree: Flat | None) -> None:
        if tree is None:
            self._call("start", None, None, None, None, 0)
            return
        arrays = [np.array(part, dtype=np.int32) for part in (tree.column, tree.cut, tree.yes, tree.no)]
        self._call("start", *(array.ctypes.data for array in arrays), len(tree.column))

    def set(self, **options: int) -> None:
        for name, value in options.items():
            self._call("set", name.encode(), int(value))

    def solve(self, watch: Watch | None = None) -> Outcome:
        """The best tree within the options.

        `watch` is called now and then. An exception in it ends the search and comes out, but for KeyboardInterrupt:
        that ends it with the best tree so far.
        """
        raised: list[BaseException] = []

        def relay(_state: Any, seconds: float, value: int, bound: int, _better: int) -> int:
            try:
                return int(watch is not None and watch(seconds, None if value == _NO_VALUE else value, bound) is False)
            except BaseException as problem:  # it must not unwind through C
                raised.append(problem)
                return 1

        relayed = _PROGRESS(relay)
        self._call("watch", relayed, None)
        code = self._library.treeml_numeric_solve(self._handle)
        self._call("watch", _PROGRESS(), None)
        if raised and not isinstance(raised[0], KeyboardInterrupt):
            raise raised[0]
        if code:
            self._raise(code)
        return self._outcome()

    def interrupt(self) -> None:
        """From any thread: the search ends with its best tree."""
        self._library.treeml_numeric_interrupt(self._handle)

    def statistics(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for index in range(self._library.treeml_numeric_statistics()):
            name, value, text = c_char_p(), c_double(), c_char_p()
            self._library.treeml_numeric_statistic(self._handle, index, name, value, text)
            assert name.value is not None
            found[name.value.decode()] = value.value
        return found

    @property
    def unit(self) -> Fraction:
        return Fraction(self._library.treeml_numeric_unit(self._handle))

    def _outcome(self) -> Outcome:
        library, handle = self._library, self._handle
        value = library.treeml_numeric_value(handle)
        return Outcome(
            _STATUS[library.treeml_numeric_status(handle)],
            _STOP[library.treeml_numeric_stop(handle)],
            None if value == _NO_VALUE else value,
            library.treeml_numeric_bound(handle),
            self.unit,
            self._tree(),
            library.treeml_numeric_kernel(handle).decode(),
        )

    def _tree(self) -> Flat | None:
        nodes = self._library.treeml_numeric_nodes(self._handle)
        if not nodes:
            return None
        arrays = np.empty((5, nodes), dtype=np.int32)
        first, step = arrays.ctypes.data, 4 * nodes
        self._call("tree", *(first + step * place for place in range(5)))
        return Flat(*arrays.tolist())

    def _array(self, values: Any) -> Whole:
        array = np.ascontiguousarray(values, dtype=np.int64)
        self._check_rows(array)
        return array

    def _check_rows(self, array: NDArray[Any]) -> None:
        if len(array) != self.rows:
            raise ValueError(f"{len(array)} values were given for {self.rows} rows")

    def _call(self, name: str, *arguments: Any) -> None:
        code = getattr(self._library, f"treeml_numeric_{name}")(self._handle, *arguments)
        if code:
            self._raise(code)

    def _raise(self, code: int) -> None:
        message = self._library.treeml_numeric_message(self._handle).decode()
        raise _ERRORS.get(code, RuntimeError)(message)


@cache
def options() -> dict[str, tuple[int, int, int, str]]:
    """The C library's table of options: name -> lowest, highest, initial value and help."""
    table = {}
    for index in range(_library().treeml_numeric_options()):
        name, low, high, initial, text = c_char_p(), c_int64(), c_int64(), c_int64(), c_char_p()
        _library().treeml_numeric_option(index, name, low, high, initial, text)
        assert name.value is not None
        assert text.value is not None
        table[name.value.decode()] = (low.value, high.value, initial.value, text.value.decode())
    return table


@cache
def _library() -> Any:
    library = open_library()
    handle, whole = c_void_p, c_int64
    signatures: dict[str, tuple[Any, tuple[Any, ...]]] = {
        "create": (handle, ()),
        "destroy": (None, (handle,)),
        "message": (c_char_p, (handle,)),
        "columns": (c_int, (handle, handle, whole, whole)),
        "values": (c_int, (handle, handle, whole, whole)),
        "rank": (c_int, (handle, c_int32, handle)),
        "counts": (c_int, (handle, handle)),
        "labels": (c_int, (handle, handle, c_int32, handle)),
        "costs": (c_int, (handle, handle, c_int32)),
        "targets": (c_int, (handle, handle, c_int32, handle)),
        "start": (c_int, (handle, handle, handle, handle, handle, whole)),
        "set": (c_int, (handle, c_char_p, whole)),
        "get": (c_int, (handle, c_char_p, POINTER(whole))),
        "options": (c_int32, ()),
        "option": (c_int, (c_int32, POINTER(c_char_p), *(POINTER(whole),) * 3, POINTER(c_char_p))),
        "watch": (c_int, (handle, _PROGRESS, handle)),
        "solve": (c_int, (handle,)),
        "interrupt": (None, (handle,)),
        "status": (c_int32, (handle,)),
        "stop": (c_int32, (handle,)),
        "value": (whole, (handle,)),
        "bound": (whole, (handle,)),
        "unit": (c_double, (handle,)),
        "nodes": (whole, (handle,)),
        "tree": (c_int, (handle,) * 6),
        "statistics": (c_int32, ()),
        "statistic": (c_int, (handle, c_int32, POINTER(c_char_p), POINTER(c_double), POINTER(c_char_p))),
        "kernel": (c_char_p, (handle,)),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, f"treeml_numeric_{name}")
        function.restype, function.argtypes = result, arguments
    return library
