"""values, limits, settings -> one run of a coupled search in C: what its two kernels have in common.

`Coupled` works on tests and `CoupledNumeric` on columns of numbers. Both are thin, reusable objects over a handle of C:
one data set, solved as often as the limits change.
"""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from math import inf, isfinite
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from treeml.native.border import INT64_ARRAY, in_range, whole
from treeml.native.loader import OPTION, STATISTIC, Options, Signatures, declare, read_options, read_statistic_names
from treeml.native.solver import PROGRESS, NativeError
from treeml.system.interrupt import listening

_NO_PROGRESS = PROGRESS()
NONE_BELOW, NONE_ABOVE = -(2**63), 2**63 - 1  # no lower and no upper limit
HANDLE, COUNT = ctypes.c_void_p, ctypes.c_int64

STATUS = {0: "unknown", 1: "optimal", 2: "feasible", 3: "infeasible"}
STOP = {0: "proved", 1: "time", 2: "interrupted", 3: "memory", 4: "enough"}
_CODE_ERROR: Mapping[int, type[Exception]] = {1: ValueError, 2: MemoryError, 3: OverflowError, 5: ValueError}
_MOST = 2**62  # limits of the search beyond this size are the same as none
_KNOWN = 2**60  # values and bounds from this size on stand for unknown ones

COMMON: Signatures = {
    "create": (HANDLE, ()),
    "destroy": (None, (HANDLE,)),
    "message": (ctypes.c_char_p, (HANDLE,)),
    "counts": (ctypes.c_int, (HANDLE, INT64_ARRAY)),
    "set": (ctypes.c_int, (HANDLE, ctypes.c_char_p, COUNT)),
    "options": (ctypes.c_int32, ()),
    "option": OPTION,
    "watch": (ctypes.c_int, (HANDLE, PROGRESS, HANDLE)),
    "solve": (ctypes.c_int, (HANDLE,)),
    "interrupt": (None, (HANDLE,)),
    "nodes": (COUNT, (HANDLE,)),
    "statistics": (ctypes.c_int32, ()),
    "statistic": STATISTIC,
    "numbers": (ctypes.c_int, (HANDLE, HANDLE)),
    "kernel": (ctypes.c_char_p, (HANDLE,)),
}

Functions = Mapping[str, Any]
Progress = Callable[[float, int | None, int | None], bool | None]
Found = TypeVar("Found")


def functions(prefix: str, own: Signatures) -> Functions:
    """The functions of one kernel by their names without the prefix: those of both kernels, and its own."""
    signatures = {**COMMON, **own}
    library = declare({f"{prefix}_{name}": signature for name, signature in signatures.items()})
    return {name: getattr(library, f"{prefix}_{name}") for name in signatures}


def options(found: Functions) -> Options:
    """The options of a kernel."""
    return read_options(found["options"], found["option"])


def known(number: int) -> int | None:
    """A value or bound of the C library; None if it is not known."""
    return number if abs(number) < _KNOWN else None


class CoupledHandle(ABC, Generic[Found]):
    """One data set that can be solved many times. A subclass gives the rows to C and reads the tree from it."""

    tree_parts: ClassVar[int]  # arrays that a flat tree consists of
    statistic_names: ClassVar[tuple[str, ...]] = ()  # of the kernel, once they were read

    def __init__(self, functions: Functions, table: Options, rows: int) -> None:
        self._functions, self._table, self.rows = functions, table, rows
        self._handle = functions["create"]()
        if not self._handle:
            raise MemoryError("not enough memory for a handle")
        self._raised: BaseException | None = None
        self._changed: set[str] = set()  # options that may not have their initial value

    def set_values(self, values: Any) -> None:
        """Other costs and sums for the same rows, which are not prepared again."""
        shape = np.shape(values)
        if len(shape) != 3 or shape[0] < 1:
            raise ValueError("values must be (1 + bounded sums) x rows x classes")
        numbers = whole(values, "values", (shape[0], self.rows, shape[2]))
        self._give_values(numbers, shape[0] - 1, shape[2])
        self.sums, self.classes = shape[0] - 1, shape[2]

    @abstractmethod
    def _give_values(self, values: Any, sums: int, classes: int) -> None: ...

    @abstractmethod
    def _give_limits(self, low: Any, high: Any) -> None: ...

    @abstractmethod
    def _found(self) -> Found:
        """The outcome of the last run."""

    def _call(self, name: str, *arguments: Any) -> None:
        """Calls C. The arguments keep their arrays alive until C returns, and it has read them by then."""
        if self._handle is None:
            raise ValueError("the handle is closed")
        code = self._functions[name](self._handle, *arguments)
        if code:
            message = self._functions["message"](self._handle).decode()
            raise _CODE_ERROR.get(code, NativeError)(message)

    def close(self) -> None:
        handle = getattr(self, "_handle", None)  # there is none if the input was refused before
        if handle is not None:
            self._functions["destroy"](handle)
            self._handle = None

    def __del__(self) -> None:
        self.close()

    def interrupt(self) -> None:
        """Stops a solve that runs in another thread, which then returns the best tree so far."""
        if self._handle is not None:
            self._functions["interrupt"](self._handle)

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
        start: tuple[Any, ...] | None = None,
        on_progress: Progress | None = None,
        options: Mapping[str, int] | None = None,
        is_brief: bool = False,
    ) -> Found:
        """The tree of least cost + leaf_price * leaves with low[j] <= sum j + 1 <= high[j] for all j; None: no limit.

        Only trees with a value up to `upper` are wanted; `lower` is a bound that the caller has proved. `start` is a
        flat tree to begin with. `is_brief`: nobody can press Ctrl-C in time, so nobody has to listen for it.
        """
        settings = {"support": support, "leaf_price": leaf_price, "threads": threads}
        for name, value in (("depth", depth), ("leaves", leaves), ("memory", memory)):
            if value is not None:
                settings[name] = value
        if isfinite(seconds):
            settings["microseconds"] = max(0, min(round(1e6 * seconds), _MOST))
        if upper is not None:
            settings["upper"] = max(-_MOST, min(upper + 1, _MOST))
        if lower is not None:
            settings["lower"] = max(-_MOST, min(lower, _MOST))
        settings.update(options or {})
        self._limit(low, high)
        self._settle(settings)
        self._start(start)
        if is_brief:
            self._call("solve")
        else:
            self._run(on_progress)
        return self._found()

    def _settle(self, settings: Mapping[str, int]) -> None:
        """Set these options, and every other one to its initial value; those that have their value are left alone."""
        table, before = self._table, self._changed
        for name in before - settings.keys():
            self._call("set", name.encode(), table[name][2])
        self._changed = {name for name in settings.keys() & table.keys() if settings[name] != table[name][2]}
        self._changed |= before  # until all of them are set
        for name, value in settings.items():
            if name in self._changed or name not in table:
                self._call("set", name.encode(), in_range(value, name))
        self._changed &= settings.keys()

    def _limit(self, low: Sequence[int | None], high: Sequence[int | None]) -> None:
        if len(low) != self.sums or len(high) != self.sums:
            raise ValueError(f"low and high need {self.sums} limits each")
        below = [NONE_BELOW if limit is None else max(-_MOST, min(int(limit), _MOST)) for limit in low]
        above = [NONE_ABOVE if limit is None else max(-_MOST, min(int(limit), _MOST)) for limit in high]
        self._give_limits(np.array(below, dtype=np.int64), np.array(above, dtype=np.int64))

    def _start(self, start: tuple[Any, ...] | None) -> None:
        if start is None:
            self._call("start", *(None,) * self.tree_parts, 0)
            return
        nodes = len(start[0])
        parts = [whole(part, "each part of a start tree", (nodes,), np.int32) for part in start]
        self._call("start", *parts, nodes)

    def _run(self, on_progress: Progress | None) -> None:
        self._raised = None

        def watch(_state: Any, seconds: float, value: int, bound: int, _better: int) -> int:
            try:
                if interrupted():
                    return 1
                if on_progress is not None:
                    return int(on_progress(seconds, known(value), known(bound)) is False)
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
            self._call("watch", _NO_PROGRESS, None)
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised

    def _statistics(self) -> dict[str, float]:
        own, native = type(self), self._functions
        if not own.statistic_names:
            own.statistic_names = read_statistic_names(native["statistics"], native["statistic"], self._handle)
        values = (ctypes.c_double * len(own.statistic_names))()
        native["numbers"](self._handle, values)
        return dict(zip(own.statistic_names, values, strict=True))
