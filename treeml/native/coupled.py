"""bits, costs and bounded sums -> best tree within the limits, proved optimal or with a bound.

A thin, reusable object over `coupled/coupled.h`: one data set, solved as often as the limits change.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.native.border import BYTE_ARRAY, INT32, INT32_ARRAY, INT64_ARRAY, flags, in_range, whole
from treeml.native.loader import OPTION, STATISTIC, Options, Signatures, declare, read_options
from treeml.native.solver import PROGRESS, NativeError
from treeml.system.interrupt import listening

NONE_BELOW, NONE_ABOVE = -(2**63), 2**63 - 1  # no lower and no upper limit

_STATUS = {0: "unknown", 1: "optimal", 2: "feasible", 3: "infeasible"}
_STOP = {0: "proved", 1: "time", 2: "interrupted", 3: "memory", 4: "enough"}
_CODE_ERROR: Mapping[int, type[Exception]] = {1: ValueError, 2: MemoryError, 3: OverflowError, 5: ValueError}

Progress = Callable[[float, int | None, int | None], bool | None]


@dataclass(frozen=True, slots=True)
class CoupledFound:
    """A flat tree: node 0 is the root, `test` is -1 at a leaf, rows whose bit is 1 go to `left`."""

    status: str  # optimal, feasible, infeasible or unknown
    stop: str  # proved, time, interrupted, memory or enough
    value: int | None
    bound: int | None  # None if there is no tree, or nothing is known
    sums: tuple[int, ...] | None  # the bounded sums of the tree
    test: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    label: NDArray[np.int32]  # class of a leaf, -1 elsewhere
    statistics: Mapping[str, float] = field(default_factory=dict)
    kernel: str = ""


class Coupled:
    """One data set that can be solved many times.

    `bits` is tests x rows. `values[j][row][k]` is what predicting class k at a row adds to sum j: sum 0 is the cost,
    the others are bounded. `count` says how many rows a row stands for. `columns` names the column of each test, which
    matters if the option `once` is set, and `forbidden` marks tests that may not be used.
    """

    def __init__(
        self, bits: NDArray[Any], values: Any, *, count: Any = None, columns: Any = None, forbidden: Any = None
    ) -> None:
        self._handle = None
        self._library = library()
        if np.ndim(bits) != 2:
            raise ValueError("bits must be tests x rows")
        self.tests, self.rows = bits.shape
        self._handle = self._library.treeml_coupled_create()
        if not self._handle:
            raise MemoryError("not enough memory for a handle")
        self._raised: BaseException | None = None
        given = None if columns is None else whole(columns, "columns", (self.tests,), np.int32)
        self._call("treeml_coupled_tests", flags(bits, "bits", (self.tests, self.rows)), self.tests, self.rows, given)
        if count is not None:
            self._call("treeml_coupled_counts", whole(count, "count", (self.rows,)))
        if forbidden is not None:
            self._call("treeml_coupled_forbid", flags(forbidden, "forbidden", (self.tests,)))
        self.set_values(values)

    def set_values(self, values: Any) -> None:
        """Other costs and sums for the same rows, without packing the tests again."""
        shape = np.shape(values)
        if len(shape) != 3 or shape[0] < 1:
            raise ValueError("values must be (1 + bounded sums) x rows x classes")
        numbers = whole(values, "values", (shape[0], self.rows, shape[2]))
        self._call("treeml_coupled_values", numbers, shape[0] - 1, shape[2])
        self.sums, self.classes = shape[0] - 1, shape[2]

    def _call(self, name: str, *arguments: Any) -> None:
        """Calls C. The arguments keep their arrays alive until C returns, and it has read them by then."""
        if self._handle is None:
            raise ValueError("the handle is closed")
        code = getattr(self._library, name)(self._handle, *arguments)
        if code:
            message = self._library.treeml_coupled_message(self._handle).decode()
            raise _CODE_ERROR.get(code, NativeError)(message)

    def close(self) -> None:
        if self._handle is not None:
            self._library.treeml_coupled_destroy(self._handle)
            self._handle = None

    def __del__(self) -> None:
        self.close()

    def interrupt(self) -> None:
        """Stops a solve that runs in another thread, which then returns the best tree so far."""
        if self._handle is not None:
            self._library.treeml_coupled_interrupt(self._handle)

    def solve(
        self,
        low: Sequence[int | None],
        high: Sequence[int | None],
        *,
        depth: int,
        support: int = 1,
        leaves: int | None = None,
        leaf_price: int = 0,
        seconds: float = inf,
        memory: int | None = None,
        threads: int = 1,
        upper: int | None = None,
        lower: int | None = None,
        start: tuple[Any, Any, Any, Any] | None = None,
        on_progress: Progress | None = None,
        options: Mapping[str, int] | None = None,
    ) -> CoupledFound:
        """The tree of least cost + leaf_price * leaves with low[j] <= sum j + 1 <= high[j] for all j; None: no limit.

        Only trees with a value up to `upper` are wanted; `lower` is a bound that the caller has proved. `start` is a
        tree (test, left, right, label) to begin with.
        """
        settings = {"depth": depth, "support": support, "leaf_price": leaf_price, "threads": threads}
        if leaves is not None:
            settings["leaves"] = leaves
        if isfinite(seconds):
            settings["microseconds"] = max(0, min(round(1e6 * seconds), 2**62))
        if memory is not None:
            settings["memory"] = memory
        if upper is not None:
            settings["upper"] = max(-(2**62), min(upper + 1, 2**62))
        if lower is not None:
            settings["lower"] = max(-(2**62), min(lower, 2**62))
        settings.update(options or {})
        self._limits(low, high)
        table = options_of_coupled()
        try:
            for name, value in settings.items():
                self._call("treeml_coupled_set", name.encode(), in_range(value, name))
            self._start(start)
            return self._run(on_progress)
        finally:  # the next solve starts with the initial settings
            for name in settings.keys() & table.keys():
                self._call("treeml_coupled_set", name.encode(), table[name][2])

    def _limits(self, low: Sequence[int | None], high: Sequence[int | None]) -> None:
        if len(low) != self.sums or len(high) != self.sums:
            raise ValueError(f"low and high need {self.sums} limits each")
        below = [NONE_BELOW if limit is None else max(-(2**62), min(int(limit), 2**62)) for limit in low]
        above = [NONE_ABOVE if limit is None else max(-(2**62), min(int(limit), 2**62)) for limit in high]
        arrays = (np.array(below, dtype=np.int64), np.array(above, dtype=np.int64))
        self._call("treeml_coupled_limits", *arrays)

    def _start(self, start: tuple[Any, Any, Any, Any] | None) -> None:
        if start is None:
            self._call("treeml_coupled_start", None, None, None, None, 0)
            return
        nodes = len(start[0])
        parts = [whole(part, "each part of a start tree", (nodes,), np.int32) for part in start]
        self._call("treeml_coupled_start", *parts, nodes)

    def _run(self, on_progress: Progress | None) -> CoupledFound:
        self._raised = None

        def watch(_state: Any, seconds: float, value: int, bound: int, _better: int) -> int:
            try:
                if interrupted():
                    return 1
                if on_progress is not None:
                    return int(on_progress(seconds, _known(value), _known(bound)) is False)
            except BaseException as error:  # it must not unwind through C
                self._raised = error
                return 1
            return 0

        callback = PROGRESS(watch)
        self._call("treeml_coupled_watch", callback, None)
        try:
            with listening() as interrupted:
                self._call("treeml_coupled_solve")
        finally:
            self._call("treeml_coupled_watch", PROGRESS(), None)
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised
        return self._answer()

    def _answer(self) -> CoupledFound:
        handle, native = self._handle, self._library
        nodes = native.treeml_coupled_nodes(handle)
        block = np.empty((4, nodes), dtype=np.int32)
        first, width = block.ctypes.data, 4 * nodes  # the views returned below keep `block` alive
        native.treeml_coupled_tree(handle, first, first + width, first + 2 * width, first + 3 * width)
        return CoupledFound(
            status=_STATUS[native.treeml_coupled_status(handle)],
            stop=_STOP[native.treeml_coupled_stop(handle)],
            value=native.treeml_coupled_value(handle) if nodes else None,
            bound=_known(native.treeml_coupled_bound(handle)),
            sums=tuple(native.treeml_coupled_sum(handle, j) for j in range(1, self.sums + 1)) if nodes else None,
            test=block[0],
            left=block[1],
            right=block[2],
            label=block[3],
            statistics=self._statistics(),
            kernel=native.treeml_coupled_kernel(handle).decode(),
        )

    def _statistics(self) -> dict[str, float]:
        name, value, text = ctypes.c_char_p(), ctypes.c_double(), ctypes.c_char_p()
        result = {}
        for index in range(self._library.treeml_coupled_statistics()):
            self._library.treeml_coupled_statistic(self._handle, index, name, value, text)
            assert name.value is not None
            result[name.value.decode()] = value.value
        return result


def _known(number: int) -> int | None:
    """A value or bound of the C library; None if it is not known."""
    return number if abs(number) < 2**61 else None


_HANDLE, _COUNT = ctypes.c_void_p, ctypes.c_int64
_SIGNATURES: Signatures = {
    "treeml_coupled_create": (_HANDLE, ()),
    "treeml_coupled_destroy": (None, (_HANDLE,)),
    "treeml_coupled_message": (ctypes.c_char_p, (_HANDLE,)),
    "treeml_coupled_tests": (ctypes.c_int, (_HANDLE, BYTE_ARRAY, _COUNT, _COUNT, INT32_ARRAY)),
    "treeml_coupled_counts": (ctypes.c_int, (_HANDLE, INT64_ARRAY)),
    "treeml_coupled_forbid": (ctypes.c_int, (_HANDLE, BYTE_ARRAY)),
    "treeml_coupled_values": (ctypes.c_int, (_HANDLE, INT64_ARRAY, INT32, INT32)),
    "treeml_coupled_limits": (ctypes.c_int, (_HANDLE, INT64_ARRAY, INT64_ARRAY)),
    "treeml_coupled_start": (ctypes.c_int, (_HANDLE, INT32_ARRAY, INT32_ARRAY, INT32_ARRAY, INT32_ARRAY, _COUNT)),
    "treeml_coupled_set": (ctypes.c_int, (_HANDLE, ctypes.c_char_p, _COUNT)),
    "treeml_coupled_options": (ctypes.c_int32, ()),
    "treeml_coupled_option": OPTION,
    "treeml_coupled_watch": (ctypes.c_int, (_HANDLE, PROGRESS, _HANDLE)),
    "treeml_coupled_solve": (ctypes.c_int, (_HANDLE,)),
    "treeml_coupled_interrupt": (None, (_HANDLE,)),
    "treeml_coupled_status": (ctypes.c_int32, (_HANDLE,)),
    "treeml_coupled_stop": (ctypes.c_int32, (_HANDLE,)),
    "treeml_coupled_value": (_COUNT, (_HANDLE,)),
    "treeml_coupled_bound": (_COUNT, (_HANDLE,)),
    "treeml_coupled_sum": (_COUNT, (_HANDLE, INT32)),
    "treeml_coupled_nodes": (_COUNT, (_HANDLE,)),
    "treeml_coupled_tree": (ctypes.c_int, (_HANDLE,) * 5),
    "treeml_coupled_statistics": (ctypes.c_int32, ()),
    "treeml_coupled_statistic": STATISTIC,
    "treeml_coupled_kernel": (ctypes.c_char_p, (_HANDLE,)),
}


@cache
def library() -> ctypes.CDLL:
    """The C library with the functions of `coupled/coupled.h`."""
    return declare(_SIGNATURES)


@cache
def options_of_coupled() -> Options:
    """The options of the search for coupled requirements."""
    return read_options(library().treeml_coupled_options, library().treeml_coupled_option)
