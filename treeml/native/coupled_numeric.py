"""codes, values -> best tree over every threshold whose sums stay within bounds, proved optimal or with a bound.

Every leaf chooses a class. A tree adds up, for each of several sums, the values of its rows for the classes chosen; sum 0
is made as small as possible, and the others are kept between their bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from ctypes import CDLL, CFUNCTYPE, POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_void_p
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.native.border import INT32, INT32_ARRAY, INT32_ROOM, INT64_ARRAY, INT64_ROOM, in_range, whole
from treeml.native.loader import OPTION, STATISTIC, Options, Signatures, declare, read_options
from treeml.system.interrupt import listening

Bounds = Sequence[int | None]  # None where there is no bound
Watch = Callable[[float, int | None, int], bool | None]  # seconds, value, bound; False stops

_PROGRESS = CFUNCTYPE(c_int, c_void_p, c_double, c_int64, c_int64, c_int)
_STATUS = {0: "unknown", 1: "optimal", 2: "feasible", 3: "infeasible"}
_STOP = {0: "proved", 1: "time", 2: "interrupted", 3: "memory", 4: "enough"}
_NO_VALUE = 2**63 - 1
_NO_PROGRESS = _PROGRESS()
_ERRORS: Mapping[int, type[Exception]] = {1: ValueError, 2: MemoryError, 3: OverflowError, 5: ValueError}


@dataclass(frozen=True, slots=True)
class ThresholdTree:
    """A tree over the columns given: node 0 is the root, `feature` is -1 at a leaf, codes <= cut go to `left`."""

    feature: list[int]
    cut: list[int]
    left: list[int]
    right: list[int]
    label: list[int]


@dataclass(frozen=True, slots=True)
class CoupledNumericFound:
    """What a search found. `bound` is None if it is proved that there is no tree."""

    status: str  # optimal, feasible, infeasible or unknown
    stop: str  # proved, time, interrupted or memory
    value: int | None
    bound: int | None
    sums: list[int] | None  # of the tree, without the price of its leaves
    tree: ThresholdTree | None
    statistics: dict[str, float]


class CoupledNumeric:
    """One data set that can be solved many times, by one thread at a time."""

    def __init__(self, codes: NDArray[Any], values: NDArray[Any], *, count: NDArray[Any] | None = None) -> None:
        """`codes`: columns x rows, whole numbers from 0 of which only the order matters; `values`: sums x rows x
        classes; `count`: how many rows each row stands for."""
        self._library = _functions()
        self._handle = c_void_p(self._library.create())
        if not self._handle:
            raise MemoryError("not enough memory for a solver")
        if np.ndim(codes) != 2 or np.ndim(values) != 3:
            raise ValueError("codes must be columns x rows, and values sums x rows x classes")
        self.columns, self.rows = np.shape(codes)
        self.sums, _, self.classes = np.shape(values)
        given = whole(codes, "codes", (self.columns, self.rows), np.int32)
        numbers = whole(values, "values", (self.sums, self.rows, self.classes))
        counts = None if count is None else whole(count, "count", (self.rows,))
        self._check(self._library.columns(self._handle, given, self.columns, self.rows))
        self._check(self._library.counts(self._handle, counts))
        self._check(self._library.values(self._handle, numbers, self.sums, self.classes))

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle:
            self._library.destroy(handle)
            self._handle = c_void_p()

    def solve(
        self,
        low: Bounds,
        high: Bounds,
        *,
        depth: int | None = None,
        support: int = 1,
        leaves: int | None = None,
        leaf_price: int = 0,
        seconds: float = math.inf,
        memory: int | None = None,
        upper: int | None = None,
        lower: int | None = None,
        start: ThresholdTree | None = None,
        on_progress: Watch | None = None,
        options: Mapping[str, int] | None = None,
    ) -> CoupledNumericFound:
        """The best tree with low <= sum <= high for the sums 1, 2 ... and a value below `upper`.

        `lower` is a bound that is known already, `start` a tree to begin with. `on_progress` is called now and then; an
        exception in it ends the search and comes out, but for KeyboardInterrupt, which ends it with the best tree.
        """
        least = _bounds(low, self.sums - 1, -(2**63))
        most = _bounds(high, self.sums - 1, 2**63 - 1)
        self._check(self._library.bounds(self._handle, least, most))
        given = {"depth": depth, "leaves": leaves, "memory": memory, "upper": upper, "lower": lower}
        settings = {name: initial for name, (_, _, initial, _) in options_table().items()}
        settings |= {name: value for name, value in given.items() if value is not None}
        settings |= {"support": max(1, support), "leaf_price": leaf_price, **(options or {})}
        if seconds < math.inf:
            settings["microseconds"] = max(0, int(seconds * 1e6))
        for name, value in settings.items():
            self._check(self._library.set(self._handle, name.encode(), in_range(int(value), name)))
        self._start(start)
        self._run(on_progress)
        return self._found()

    def interrupt(self) -> None:
        """Stops the search with its best tree; may be called from any thread."""
        self._library.interrupt(self._handle)

    def _start(self, tree: ThresholdTree | None) -> None:
        if tree is None:
            self._check(self._library.start(self._handle, *(None,) * 5, 0))
            return
        nodes = len(tree.feature)
        parts = (tree.feature, tree.cut, tree.left, tree.right, tree.label)
        arrays = [whole(part, "each part of a start tree", (nodes,), np.int32) for part in parts]
        self._check(self._library.start(self._handle, *arrays, nodes))

    def _run(self, watch: Watch | None) -> None:
        raised: list[BaseException] = []

        def relay(_state: Any, seconds: float, value: int, bound: int, _better: int) -> int:
            try:
                if interrupted():
                    return 1
                return int(watch is not None and watch(seconds, None if value == _NO_VALUE else value, bound) is False)
            except BaseException as problem:  # it must not unwind through C
                raised.append(problem)
                return 1

        relayed = _PROGRESS(relay)
        self._library.watch(self._handle, relayed, None)
        try:
            with listening() as interrupted:
                code = self._library.solve(self._handle)
        finally:  # C must drop the function before Python frees it
            self._library.watch(self._handle, _NO_PROGRESS, None)
        if raised and not isinstance(raised[0], KeyboardInterrupt):
            raise raised[0]
        self._check(code)

    def _found(self) -> CoupledNumericFound:
        answer = (c_int64 * 5)()
        self._library.answer(self._handle, answer)
        status, stop, value, bound, nodes = answer
        sums = np.zeros(self.sums, dtype=np.int64)
        tree = None
        if nodes:
            self._check(self._library.totals(self._handle, sums))
            arrays = [np.zeros(nodes, dtype=np.int32) for _ in range(5)]
            self._check(self._library.tree(self._handle, *arrays))
            tree = ThresholdTree(*(array.tolist() for array in arrays))
        return CoupledNumericFound(
            _STATUS[status],
            _STOP[stop],
            value if nodes else None,
            None if bound == _NO_VALUE else bound,
            sums.tolist() if nodes else None,
            tree,
            self._statistics(),
        )

    def _statistics(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for index in range(self._library.statistics()):
            name, value, text = c_char_p(), c_double(), c_char_p()
            self._library.statistic(self._handle, index, name, value, text)
            assert name.value is not None
            found[name.value.decode()] = value.value
        return found

    def _check(self, code: int) -> None:
        if code:
            message = self._library.message(self._handle).decode()
            raise _ERRORS.get(code, RuntimeError)(message)


def _bounds(bounds: Bounds, size: int, without: int) -> NDArray[np.int64]:
    if len(bounds) != size:
        raise ValueError(f"there must be {size} bounds, one for every sum but the first")
    return np.array([without if bound is None else in_range(bound, "a bound") for bound in bounds], dtype=np.int64)


_SIGNATURES: Signatures = {
    "create": (c_void_p, ()),
    "destroy": (None, (c_void_p,)),
    "message": (c_char_p, (c_void_p,)),
    "columns": (c_int, (c_void_p, INT32_ARRAY, c_int64, c_int64)),
    "counts": (c_int, (c_void_p, INT64_ARRAY)),
    "values": (c_int, (c_void_p, INT64_ARRAY, c_int64, INT32)),
    "bounds": (c_int, (c_void_p, INT64_ARRAY, INT64_ARRAY)),
    "start": (c_int, (c_void_p, *(INT32_ARRAY,) * 5, c_int64)),
    "set": (c_int, (c_void_p, c_char_p, c_int64)),
    "options": (c_int32, ()),
    "option": OPTION,
    "watch": (c_int, (c_void_p, _PROGRESS, c_void_p)),
    "solve": (c_int, (c_void_p,)),
    "interrupt": (None, (c_void_p,)),
    "answer": (c_int, (c_void_p, POINTER(c_int64))),
    "totals": (c_int, (c_void_p, INT64_ROOM)),
    "nodes": (c_int64, (c_void_p,)),
    "tree": (c_int, (c_void_p, *(INT32_ROOM,) * 5)),
    "statistics": (c_int32, ()),
    "statistic": STATISTIC,
}


@cache
def options_table() -> Options:
    """The options of the search."""
    return read_options(_functions().options, _functions().option)


@cache
def _functions() -> SimpleNamespace:
    return SimpleNamespace(**{name: getattr(_library(), f"treeml_coupled_numeric_{name}") for name in _SIGNATURES})


@cache
def _library() -> CDLL:
    return declare({f"treeml_coupled_numeric_{name}": signature for name, signature in _SIGNATURES.items()})
