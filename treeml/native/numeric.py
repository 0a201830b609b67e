"""codes, costs -> best tree over every threshold, proved optimal or with a bound.

A thin, reusable object over the numeric search of the C library: only the order of the codes matters, and every cut
between two of them is considered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ctypes import CDLL, CFUNCTYPE, POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_void_p
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.native.border import (
    FLOAT_ARRAY,
    INT32,
    INT32_ARRAY,
    INT32_ROOM,
    INT64_ARRAY,
    in_range,
    real,
    whole,
)
from treeml.native.loader import OPTION, STATISTIC, Options, Signatures, declare, read_options
from treeml.system.interrupt import listening

Codes = NDArray[np.int32]
Whole = NDArray[np.int64]
Watch = Callable[[float, int | None, int], bool | None]  # seconds, value, bound; False stops

_PROGRESS = CFUNCTYPE(c_int, c_void_p, c_double, c_int64, c_int64, c_int)
_STATUS = {0: "unknown", 1: "optimal", 2: "feasible", 3: "infeasible"}
_STOP = {0: "proved", 1: "time", 2: "interrupted", 3: "memory", 4: "enough"}
_NO_VALUE = 2**63 - 1
_NO_PROGRESS = _PROGRESS()
_ONE = Fraction(1)
_ERRORS: Mapping[int, type[Exception]] = {1: ValueError, 2: MemoryError, 3: OverflowError, 5: ValueError}


@dataclass(frozen=True, slots=True)
class FlatThresholdTree:
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
    tree: FlatThresholdTree | None
    kernel: str = ""


class NumericSolver:
    """One data set that can be solved many times, by one thread at a time."""

    def __init__(self, columns: NDArray[Any], count: Whole | None = None) -> None:
        """`columns` x rows: codes, whole numbers from 0 of which only the order matters, or finite floats, whose codes
        are their ranks."""
        self._library = _functions()
        self._handle = c_void_p(self._library.create())
        if not self._handle:
            raise MemoryError("not enough memory for a solver")
        columns = np.asarray(columns)
        if columns.ndim != 2:
            raise ValueError("columns must be a two-dimensional array, columns x rows")
        self.columns, self.rows = columns.shape
        if columns.dtype.kind == "f":
            values = real(columns, "columns", columns.shape)
            self._check(self._library.values(self._handle, values, self.columns, self.rows))
        else:
            codes = whole(columns, "columns", columns.shape, np.int32)
            self._check(self._library.columns(self._handle, codes, self.columns, self.rows))
        if count is not None:
            counts = whole(count, "count", (self.rows,))
            self._check(self._library.counts(self._handle, counts))

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle:
            self._library.destroy(handle)
            self._handle = c_void_p()

    def ranks(self, column: int) -> Codes:
        """The rank of every row in a column."""
        ranks = np.empty(self.rows, dtype=np.int32)
        self._check(self._library.rank(self._handle, in_range(column, "column", 32), ranks))
        return ranks

    def beside(self, column: int, cut: int) -> tuple[int, int]:
        """A row with the greatest code up to the cut and one with the least beyond it; -1 if there is none."""
        rows = (c_int32 * 2)()
        self._check(self._library.beside(self._handle, in_range(column, "column", 32), in_range(cut, "cut", 32), rows))
        return rows[0], rows[1]

    def fees(self, group: NDArray[Any], fee: NDArray[Any]) -> None:
        """What every row pays for a test of a column, once on a path for all columns of a group."""
        groups = whole(group, "group", (self.columns,), np.int32)
        self._check(self._library.fees(self._handle, groups, whole(fee, "fee", (self.columns,))))

    def labels(self, labels: NDArray[Any], classes: int, weight: Whole | None = None) -> None:
        """A misclassified row costs its weight."""
        given = whole(labels, "labels", (self.rows,), np.int32)
        weights = self._weights(weight)
        self._check(self._library.labels(self._handle, given, in_range(classes, "classes", 32), weights))

    def costs(self, cost: Whole) -> None:
        """rows x classes: the cost of predicting the class for the row."""
        given = whole(cost, "cost", (self.rows, np.shape(cost)[1] if np.ndim(cost) == 2 else 0))
        self._check(self._library.costs(self._handle, given, given.shape[1]))

    def targets(self, targets: Whole, weight: Whole | None = None, beside: float = 0.0) -> None:
        """rows x outputs: a leaf costs the weighted squared distances to its mean. Amounts of up to `beside`, such as
        the price of a leaf, can be added to losses."""
        outputs = np.shape(targets)[1] if np.ndim(targets) == 2 else 1
        given = whole(targets, "targets", (self.rows, outputs) if np.ndim(targets) == 2 else (self.rows,))
        weights = self._weights(weight)
        self._check(self._library.round(self._handle, beside))
        self._check(self._library.targets(self._handle, given, outputs, weights))

    def quantile(self, targets: Whole, weight: Whole | None = None, up: int = 1, down: int = 1) -> None:
        """A leaf costs, per unit of weight and distance to its best constant, `up` for targets above and `down` for
        targets below it: 1 and 1 for the absolute loss."""
        outputs = np.shape(targets)[1] if np.ndim(targets) == 2 else 1
        given = whole(targets, "targets", (self.rows, outputs) if np.ndim(targets) == 2 else (self.rows,))
        found = [np.unique(output, return_inverse=True) for output in given.reshape(self.rows, outputs).T]
        distinct = np.concatenate([values for values, _ in found])
        places = np.array([len(values) for values, _ in found], dtype=np.int32)
        place = np.array([numbers for _, numbers in found], dtype=np.int32).reshape(outputs, self.rows)
        weights, costs = self._weights(weight), (in_range(up, "up"), in_range(down, "down"))
        self._check(self._library.quantile(self._handle, place, distinct, places, outputs, weights, *costs))

    def start(self, tree: FlatThresholdTree | None) -> None:
        if tree is None:
            self._check(self._library.start(self._handle, None, None, None, None, 0))
            return
        self._give(self._library.start, "start tree", tree)

    def _give(self, function: Callable[..., int], name: str, tree: FlatThresholdTree) -> None:
        nodes = len(tree.column)
        parts = (tree.column, tree.cut, tree.yes, tree.no)
        arrays = [whole(part, f"each part of a {name}", (nodes,), np.int32) for part in parts]
        self._check(function(self._handle, *arrays, nodes))

    def set(self, **options: int) -> None:
        for name, value in options.items():
            self._check(self._library.set(self._handle, name.encode(), in_range(int(value), name)))

    def solve(self, watch: Watch | None = None) -> Outcome:
        """The best tree within the options.

        `watch` is called now and then. An exception in it ends the search and comes out, but for KeyboardInterrupt:
        that, as Ctrl-C, ends it with the best tree so far.
        """
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
        return self._outcome()

    def propose(self, tree: FlatThresholdTree) -> None:
        """Within `watch`: a tree to go on from. It is checked, and is the answer if none is better."""
        self._give(self._library.propose, "proposed tree", tree)

    def best_tree(self) -> FlatThresholdTree | None:
        """The best tree; within `watch`, the best so far."""
        nodes = self._library.nodes(self._handle)
        return self._tree(nodes) if nodes else None

    def interrupt(self) -> None:
        """Stops the search with its best tree; may be called from any thread."""
        self._library.interrupt(self._handle)

    def statistics(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for index in range(self._library.statistics()):
            name, value, text = c_char_p(), c_double(), c_char_p()
            self._library.statistic(self._handle, index, name, value, text)
            assert name.value is not None
            found[name.value.decode()] = value.value
        return found

    @property
    def unit(self) -> Fraction:
        unit = self._library.unit(self._handle)
        return _ONE if unit == 1 else Fraction(unit)

    @property
    def slack(self) -> int:
        """Units by which the best tree may miss the optimum, or the bound be too high, with the current options."""
        return int(self._library.slack(self._handle))

    def _outcome(self) -> Outcome:
        answer = (c_int64 * 5)()
        self._library.answer(self._handle, answer)
        status, stop, value, bound, nodes = answer
        return Outcome(
            _STATUS[status],
            _STOP[stop],
            None if value == _NO_VALUE else value,
            bound,
            self.unit,
            self._tree(nodes) if nodes else None,
            self._library.kernel(self._handle).decode(),
        )

    def _tree(self, nodes: int) -> FlatThresholdTree:
        cells = (c_int32 * (5 * nodes))()
        self._library.tree(self._handle, *(byref(cells, 4 * nodes * place) for place in range(5)))
        return FlatThresholdTree(*(cells[place * nodes : (place + 1) * nodes] for place in range(5)))

    def _weights(self, weight: Whole | None) -> Whole | None:
        return None if weight is None else whole(weight, "weight", (self.rows,))

    def _check(self, code: int) -> None:
        if code:
            message = self._library.message(self._handle).decode()
            raise _ERRORS.get(code, RuntimeError)(message)


_SIGNATURES: Signatures = {
    "create": (c_void_p, ()),
    "destroy": (None, (c_void_p,)),
    "message": (c_char_p, (c_void_p,)),
    "columns": (c_int, (c_void_p, INT32_ARRAY, c_int64, c_int64)),
    "values": (c_int, (c_void_p, FLOAT_ARRAY, c_int64, c_int64)),
    "rank": (c_int, (c_void_p, INT32, INT32_ROOM)),
    "counts": (c_int, (c_void_p, INT64_ARRAY)),
    "fees": (c_int, (c_void_p, INT32_ARRAY, INT64_ARRAY)),
    "labels": (c_int, (c_void_p, INT32_ARRAY, INT32, INT64_ARRAY)),
    "costs": (c_int, (c_void_p, INT64_ARRAY, INT32)),
    "targets": (c_int, (c_void_p, INT64_ARRAY, INT32, INT64_ARRAY)),
    "quantile": (c_int, (c_void_p, INT32_ARRAY, INT64_ARRAY, INT32_ARRAY, INT32, INT64_ARRAY, c_int64, c_int64)),
    "round": (c_int, (c_void_p, c_double)),
    "slack": (c_int64, (c_void_p,)),
    "start": (c_int, (c_void_p, *(INT32_ARRAY,) * 4, c_int64)),
    "propose": (c_int, (c_void_p, *(INT32_ARRAY,) * 4, c_int64)),
    "set": (c_int, (c_void_p, c_char_p, c_int64)),
    "get": (c_int, (c_void_p, c_char_p, POINTER(c_int64))),
    "options": (c_int32, ()),
    "option": OPTION,
    "watch": (c_int, (c_void_p, _PROGRESS, c_void_p)),
    "solve": (c_int, (c_void_p,)),
    "interrupt": (None, (c_void_p,)),
    "status": (c_int32, (c_void_p,)),
    "stop": (c_int32, (c_void_p,)),
    "value": (c_int64, (c_void_p,)),
    "bound": (c_int64, (c_void_p,)),
    "unit": (c_double, (c_void_p,)),
    "answer": (c_int, (c_void_p, c_void_p)),
    "beside": (c_int, (c_void_p, INT32, INT32, c_void_p)),
    "nodes": (c_int64, (c_void_p,)),
    "tree": (c_int, (c_void_p,) * 6),
    "statistics": (c_int32, ()),
    "statistic": STATISTIC,
    "kernel": (c_char_p, (c_void_p,)),
}


@cache
def options() -> Options:
    """The options of the numeric search."""
    return read_options(_functions().options, _functions().option)


@cache
def _functions() -> SimpleNamespace:
    """The functions of the library by their own names: looking them up takes longer than calling some of them."""
    return SimpleNamespace(**{name: getattr(_library(), f"treeml_numeric_{name}") for name in _SIGNATURES})


@cache
def _library() -> CDLL:
    return declare({f"treeml_numeric_{name}": signature for name, signature in _SIGNATURES.items()})
