"""codes, costs and bounded sums -> best tree over every threshold within the limits, proved optimal or with a bound.

The counterpart of `treeml.native.coupled` for columns of numbers, which need no tests: a thin, reusable object over
`coupled_numeric/coupled_numeric.h`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.native.border import INT32, INT32_ARRAY, INT32_ROOM, INT64_ARRAY, INT64_ROOM, in_range, whole
from treeml.native.coupled import Progress
from treeml.native.loader import OPTION, STATISTIC, Options, Signatures, declare, read_options
from treeml.native.solver import PROGRESS, NativeError
from treeml.system.interrupt import listening

NONE_BELOW, NONE_ABOVE = -(2**63), 2**63 - 1  # no lower and no upper limit

_STATUS = {0: "unknown", 1: "optimal", 2: "feasible", 3: "infeasible"}
_STOP = {0: "proved", 1: "time", 2: "interrupted", 3: "memory", 4: "enough"}
_CODE_ERROR: Mapping[int, type[Exception]] = {1: ValueError, 2: MemoryError, 3: OverflowError, 5: ValueError}


@dataclass(frozen=True, slots=True)
class CoupledNumericFound:
    """A flat tree: node 0 is the root, `feature` is -1 at a leaf, rows with a code of at most `cut` go to `left`."""

    status: str  # optimal, feasible, infeasible or unknown
    stop: str  # proved, time, interrupted, memory or enough
    value: int | None
    bound: int | None  # None if there is no tree, or nothing is known
    sums: tuple[int, ...] | None  # the bounded sums of the tree
    feature: NDArray[np.int32]
    cut: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    label: NDArray[np.int32]  # class of a leaf, -1 elsewhere
    statistics: Mapping[str, float] = field(default_factory=dict)
    kernel: str = ""


class CoupledNumeric:
    """One data set that can be solved many times.

    `codes` is features x rows: whole numbers from 0, of which only the order matters. `values[j][row][k]` is what
    predicting class k at a row adds to sum j: sum 0 is the cost, the others are bounded. `count` says how many rows a
    row stands for.
    """

    def __init__(self, codes: NDArray[Any], values: Any, *, count: Any = None) -> None:
        self._handle = None
        self._library = library()
        if np.ndim(codes) != 2:
            raise ValueError("codes must be features x rows")
        self.features, self.rows = codes.shape
        self._handle = self._library.treeml_coupled_numeric_create()
        if not self._handle:
            raise MemoryError("not enough memory for a handle")
        self._raised: BaseException | None = None
        given = whole(codes, "codes", (self.features, self.rows), np.int32)
        self._call("columns", given, self.features, self.rows)
        if count is not None:
            self._call("counts", whole(count, "count", (self.rows,)))
        self.set_values(values)

    def set_values(self, values: Any) -> None:
        """Other costs and sums for the same rows, without sorting the columns again."""
        shape = np.shape(values)
        if len(shape) != 3 or shape[0] < 1:
            raise ValueError("values must be (1 + bounded sums) x rows x classes")
        numbers = whole(values, "values", (shape[0], self.rows, shape[2]))
        self._call("values", numbers, shape[0], shape[2])
        self.sums, self.classes = shape[0] - 1, shape[2]

    def _call(self, name: str, *arguments: Any) -> None:
        """Calls C. The arguments keep their arrays alive until C returns, and it has read them by then."""
        if self._handle is None:
            raise ValueError("the handle is closed")
        code = getattr(self._library, f"treeml_coupled_numeric_{name}")(self._handle, *arguments)
        if code:
            message = self._library.treeml_coupled_numeric_message(self._handle).decode()
            raise _CODE_ERROR.get(code, NativeError)(message)

    def close(self) -> None:
        if self._handle is not None:
            self._library.treeml_coupled_numeric_destroy(self._handle)
            self._handle = None

    def __del__(self) -> None:
        self.close()

    def interrupt(self) -> None:
        """Stops a solve that runs in another thread, which then returns the best tree so far."""
        if self._handle is not None:
            self._library.treeml_coupled_numeric_interrupt(self._handle)

    def solve(
        self,
        low: Sequence[int | None],
        high: Sequence[int | None],
        *,
        depth: int | None = None,
        support: int = 1,
        leaves: int | None = None,
        leaf_price: int = 0,
        seconds: float = inf,
        memory: int | None = None,
        threads: int = 1,
        upper: int | None = None,
        lower: int | None = None,
        start: tuple[Any, Any, Any, Any, Any] | None = None,
        on_progress: Progress | None = None,
        options: Mapping[str, int] | None = None,
    ) -> CoupledNumericFound:
        """The tree of least cost + leaf_price * leaves with low[j] <= sum j + 1 <= high[j] for all j; None: no limit.

        Only trees with a value up to `upper` are wanted; `lower` is a bound that the caller has proved. `start` is a
        tree (feature, cut, left, right, label) to begin with.
        """
        settings = {"support": support, "leaf_price": leaf_price, "threads": threads}
        for name, value in (("depth", depth), ("leaves", leaves), ("memory", memory)):
            if value is not None:
                settings[name] = value
        if isfinite(seconds):
            settings["microseconds"] = max(0, min(round(1e6 * seconds), 2**62))
        if upper is not None:
            settings["upper"] = max(-(2**62), min(upper + 1, 2**62))
        if lower is not None:
            settings["lower"] = max(-(2**62), min(lower, 2**62))
        settings.update(options or {})
        self._limits(low, high)
        table = options_of_coupled_numeric()
        try:
            for name, number in settings.items():
                self._call("set", name.encode(), in_range(number, name))
            self._start(start)
            return self._run(on_progress)
        finally:  # the next solve starts with the initial settings
            for name in settings.keys() & table.keys():
                self._call("set", name.encode(), table[name][2])

    def _limits(self, low: Sequence[int | None], high: Sequence[int | None]) -> None:
        if len(low) != self.sums or len(high) != self.sums:
            raise ValueError(f"low and high need {self.sums} limits each")
        below = [NONE_BELOW if limit is None else max(-(2**62), min(int(limit), 2**62)) for limit in low]
        above = [NONE_ABOVE if limit is None else max(-(2**62), min(int(limit), 2**62)) for limit in high]
        self._call("bounds", np.array(below, dtype=np.int64), np.array(above, dtype=np.int64))

    def _start(self, start: tuple[Any, Any, Any, Any, Any] | None) -> None:
        if start is None:
            self._call("start", None, None, None, None, None, 0)
            return
        nodes = len(start[0])
        parts = [whole(part, "each part of a start tree", (nodes,), np.int32) for part in start]
        self._call("start", *parts, nodes)

    def _run(self, on_progress: Progress | None) -> CoupledNumericFound:
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
        self._call("watch", callback, None)
        try:
            with listening() as interrupted:
                self._call("solve")
        finally:
            self._call("watch", PROGRESS(), None)
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised
        return self._found()

    def _found(self) -> CoupledNumericFound:
        answer, totals = np.zeros(5, dtype=np.int64), np.zeros(1 + self.sums, dtype=np.int64)
        self._call("answer", answer)
        status, stop, value, bound, nodes = answer.tolist()
        parts = [np.zeros(nodes, dtype=np.int32) for _ in range(5)]
        if nodes:
            self._call("totals", totals)
            self._call("tree", *parts)
        return CoupledNumericFound(
            status=_STATUS[status],
            stop=_STOP[stop],
            value=value if nodes else None,
            bound=_known(bound),
            sums=tuple(totals[1:].tolist()) if nodes else None,
            feature=parts[0],
            cut=parts[1],
            left=parts[2],
            right=parts[3],
            label=parts[4],
            statistics=self._statistics(),
            kernel=self._library.treeml_coupled_numeric_kernel(self._handle).decode(),
        )

    def _statistics(self) -> dict[str, float]:
        name, value, text = ctypes.c_char_p(), ctypes.c_double(), ctypes.c_char_p()
        result = {}
        for index in range(self._library.treeml_coupled_numeric_statistics()):
            self._library.treeml_coupled_numeric_statistic(self._handle, index, name, value, text)
            assert name.value is not None
            result[name.value.decode()] = value.value
        return result


def _known(number: int) -> int | None:
    """A value or bound of the C library; None if it is not known."""
    return number if abs(number) < 2**60 else None


_HANDLE, _COUNT = ctypes.c_void_p, ctypes.c_int64
_OWN: Signatures = {
    "create": (_HANDLE, ()),
    "destroy": (None, (_HANDLE,)),
    "message": (ctypes.c_char_p, (_HANDLE,)),
    "columns": (ctypes.c_int, (_HANDLE, INT32_ARRAY, _COUNT, _COUNT)),
    "counts": (ctypes.c_int, (_HANDLE, INT64_ARRAY)),
    "values": (ctypes.c_int, (_HANDLE, INT64_ARRAY, _COUNT, INT32)),
    "bounds": (ctypes.c_int, (_HANDLE, INT64_ARRAY, INT64_ARRAY)),
    "start": (ctypes.c_int, (_HANDLE, *(INT32_ARRAY,) * 5, _COUNT)),
    "set": (ctypes.c_int, (_HANDLE, ctypes.c_char_p, _COUNT)),
    "options": (ctypes.c_int32, ()),
    "option": OPTION,
    "watch": (ctypes.c_int, (_HANDLE, PROGRESS, _HANDLE)),
    "solve": (ctypes.c_int, (_HANDLE,)),
    "interrupt": (None, (_HANDLE,)),
    "answer": (ctypes.c_int, (_HANDLE, INT64_ROOM)),
    "totals": (ctypes.c_int, (_HANDLE, INT64_ROOM)),
    "nodes": (_COUNT, (_HANDLE,)),
    "tree": (ctypes.c_int, (_HANDLE, *(INT32_ROOM,) * 5)),
    "statistics": (ctypes.c_int32, ()),
    "statistic": STATISTIC,
    "kernel": (ctypes.c_char_p, (_HANDLE,)),
}


@cache
def library() -> ctypes.CDLL:
    """The C library with the functions of `coupled_numeric/coupled_numeric.h`."""
    return declare({f"treeml_coupled_numeric_{name}": signature for name, signature in _OWN.items()})


@cache
def options_of_coupled_numeric() -> Options:
    """The options of the search for coupled requirements over columns of numbers."""
    return read_options(library().treeml_coupled_numeric_options, library().treeml_coupled_numeric_option)
