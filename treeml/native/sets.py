"""Tests, leaf costs -> all trees up to a cost: counted, and made from their numbers, by the native library."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from treeml.native.border import INT32_ARRAY, INT32_ROOM, INT64_ROOM, ArrayOf, flags, in_range, whole
from treeml.native.cover import pack_bits
from treeml.native.loader import Signatures, declare
from treeml.system.interrupt import listening

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Codes = NDArray[np.int32]

OK, MEMORY, TIME, INPUT, STOPPED, OVERFLOW, FAILED = range(7)
MODELS = ("classes", "squared", "quantile", "custom")
NO_TREE = (2**63 - 1) // 4  # a cost that no tree has
DEEPEST = 1000
_WORDS_ROOM: Any = ArrayOf(np.uint64, written=True)

Stopped = ctypes.CFUNCTYPE(ctypes.c_int32)
LeafCost = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.POINTER(ctypes.c_int32), ctypes.c_int32, ctypes.POINTER(ctypes.c_int64)
)


class SetsStopped(Exception):
    """Memory or time ran out, or there are more trees than can be counted; `code` says which."""

    def __init__(self, code: int) -> None:
        super().__init__({MEMORY: "memory", TIME: "time", OVERFLOW: "more than 2^126 trees"}.get(code, f"code {code}"))
        self.code = code


@dataclass(frozen=True, eq=False, slots=True)
class LeafModel:
    """What a leaf costs. classes: rows x classes of costs, none negative; otherwise rows x outputs of targets."""

    kind: str = "classes"  # one of MODELS
    cost: Any = None
    weight: Any = None  # one per row, for squared and quantile
    above: int = 1  # quantile: factors of targets above and below the constant
    below: int = 1
    grain: int = 0  # squared: costs are in units of 2^-grain, rounded down
    last: bool = False  # of several best classes, predict the last instead of the first
    limit: tuple[Any, int] | None = None  # rows x classes, and the most of it in a leaf for the class predicted
    purity: tuple[Any, int, int] | None = None  # rows x classes of weights; the least share of the largest class, a / b
    custom: Callable[[NDArray[np.int32]], int] | None = None


@dataclass(frozen=True, eq=False, slots=True)
class LimitedSums:
    """Sums over the predictions of all rows, with their limits. If labels are free, a leaf may predict any class.

    `factor` has a row for every guide: a factor of the cost, not negative, and one of every sum, positive only if the
    sum has an upper limit and negative only if it has a lower one. Guides make the search faster and change nothing.
    """

    cost: Any  # sums x rows x classes
    low: tuple[int | None, ...]
    high: tuple[int | None, ...]
    factor: tuple[tuple[int, ...], ...] = ()
    free: bool = True

    def limits(self) -> tuple[Whole, Whole]:
        low = [-NO_TREE if limit is None else max(-NO_TREE, limit) for limit in self.low]
        high = [NO_TREE if limit is None else min(NO_TREE, limit) for limit in self.high]
        return np.array(low, np.int64), np.array(high, np.int64)


@dataclass(frozen=True, slots=True)
class TreeLimits:
    """Which trees are counted, and with how much memory."""

    depth: int = DEEPEST
    leaves: int = 0  # 0: any number, and leaves are not told apart
    support: int = 1
    price: int = 0  # of a leaf
    memory: int = 0  # bytes; 0: no limit
    fail_allocation: int = 0  # the number of the allocation that fails, for tests


@dataclass(frozen=True, eq=False, slots=True)
class SharedNodes:
    """Nodes of many trees; a child has a smaller number than its parent. A leaf has test -1 and its class in `yes`."""

    test: Codes
    yes: Codes
    no: Codes
    state: Codes


@dataclass(frozen=True, eq=False, slots=True)
class Domain:
    """What tests ask of the values of their columns, numbered from 0: equal answers are runs of values."""

    values: Whole  # of every column: how many there are
    begins: NDArray[np.uint8]  # of every test: whether value 0 answers yes
    first: Whole  # of every test: where its changes begin; at the end, how many there are
    change: Whole  # values that answer otherwise than the one before


class _Domain(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_void_p) for name in ("values", "begins", "first", "change"))


class _Input(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int32) for name in ("rows", "tests", "columns", "model", "width", "depth", "last", "grain")),
        *((name, ctypes.c_int64) for name in ("leaves", "support", "price", "above", "below", "limit")),
        *((name, ctypes.c_int64) for name in ("pure", "pure_of", "max_bytes", "fail_allocation")),
        *((name, ctypes.c_void_p) for name in ("bits", "column", "group", "count", "cost", "weight")),
        *((name, ctypes.c_void_p) for name in ("column_cost", "limit_cost", "purity_weight")),
        *((name, ctypes.c_int32) for name in ("limited", "guides", "free")),
        *((name, ctypes.c_void_p) for name in ("limited_cost", "low", "high", "factor")),
        ("leaf", LeafCost),
        ("stopped", Stopped),
    )


class TreeSets:
    """All trees on some rows that cost at most a budget, in the order of their costs.

    >>> with TreeSets(bits, LeafModel(cost=cost), TreeLimits(depth=3)) as sets:
    ...     sets.build(sets.optimum() + 5)
    ...     sets.counts, sets.tree(0)
    """

    def __init__(
        self,
        bits: Any,
        model: LeafModel,
        limits: TreeLimits | None = None,
        *,
        count: Any = None,
        column: Any = None,
        group: Any = None,
        column_cost: Any = None,
        limited: LimitedSums | None = None,
    ) -> None:
        limits = limits or TreeLimits()
        self._handle = ctypes.c_void_p()
        self._pressed: Callable[[], bool] = lambda: False
        self._failure: BaseException | None = None
        bits = flags(bits, "bits", np.shape(bits))
        self.tests, self.rows = bits.shape
        self.classes = np.shape(model.cost)[1] if model.kind == "classes" else 0
        given = _Input(stopped=Stopped(lambda: int(self._pressed())))
        kept = self._fill(given, model, bits, (count, column, group, column_cost))
        more = self._limit(given, limited)
        self.columns = given.columns
        given.depth = min(in_range(limits.depth, "depth"), DEEPEST)
        for name, value in (("leaves", limits.leaves), ("support", limits.support), ("price", limits.price)):
            setattr(given, name, in_range(value, name))
        given.max_bytes, given.fail_allocation = in_range(limits.memory, "memory"), limits.fail_allocation
        self._kept = (given, *(part for part in kept if not isinstance(part, np.ndarray)))  # the callbacks stay alive
        self._check(_library().treeml_sets_create(ctypes.byref(given), ctypes.byref(self._handle)))
        del kept, more  # C has copied the arrays
        self.costs: list[int] = []
        self.leaves: list[int] = []
        self.counts: list[int] = []
        self.total = 0  # the number of trees; kept, because it is asked for with every tree

    def _fill(self, given: _Input, model: LeafModel, bits: Any, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        """Sets the fields of the input; returns the arrays, which have to live until C has copied them."""
        count, column, group, column_cost = arrays
        rows, tests = self.rows, self.tests
        packed = pack_bits(bits.astype(bool))
        column = np.arange(tests, dtype=np.int32) if column is None else whole(column, "column", (tests,), np.int32)
        group = np.full(tests, -1, np.int32) if group is None else whole(group, "group", (tests,), np.int32)
        count = np.ones(rows, np.int64) if count is None else whole(count, "count", (rows,))
        columns = len(column_cost) if column_cost is not None else int(column.max(initial=-1)) + 1
        column_cost = None if column_cost is None else whole(column_cost, "column_cost", (columns,))
        custom = model.kind == "custom"
        width = 1 if custom else np.shape(model.cost)[1]
        cost = None if custom else whole(model.cost, "cost", (rows, width))
        weight = np.ones(rows, np.int64) if model.weight is None else whole(model.weight, "weight", (rows,))
        if rows and (int(count.min()) < 1 or int(weight.min()) < 0):
            raise ValueError("counts must be positive, and weights must not be negative")
        if model.kind == "classes" and cost is not None and rows and int(cost.min()) < 0:
            raise ValueError("costs of classes must not be negative")
        if model.kind == "classes" and cost is not None and sum(cost.max(axis=1).tolist()) > 2**60:
            raise OverflowError("the costs of the rows add up to more than 2^60")
        limit = None if model.limit is None else whole(model.limit[0], "limit", (rows, width))
        purity = None if model.purity is None else whole(model.purity[0], "purity", (rows, width))
        given.rows, given.tests, given.columns = rows, tests, columns
        given.model, given.width, given.last, given.grain = MODELS.index(model.kind), width, model.last, model.grain
        given.above, given.below = in_range(model.above, "above"), in_range(model.below, "below")
        given.limit = 0 if model.limit is None else in_range(model.limit[1], "limit")
        pure = (0, 1) if model.purity is None else model.purity[1:]
        given.pure, given.pure_of = (in_range(part, "purity") for part in pure)
        names = ("bits", "column", "group", "count", "cost", "weight", "column_cost", "limit_cost", "purity_weight")
        values = (packed, column, group, count, cost, weight, column_cost, limit, purity)
        for name, array in zip(names, values, strict=True):
            setattr(given, name, None if array is None else array.ctypes.data)
        if custom:
            given.leaf = LeafCost(self._custom(model.custom))
        return values

    def _limit(self, given: _Input, limited: LimitedSums | None) -> tuple[Any, ...]:
        if limited is None or not limited.low:
            return ()
        number = len(limited.low)
        low, high = limited.limits()
        shape = (number, self.rows, self.classes)
        factor = np.array(limited.factor, np.int64).reshape(len(limited.factor), 1 + number)
        arrays = whole(limited.cost, "limited_cost", shape), low, high, factor
        given.limited, given.guides, given.free = number, len(factor), limited.free
        for name, array in zip(("limited_cost", "low", "high", "factor"), arrays, strict=True):
            setattr(given, name, array.ctypes.data)
        return arrays

    def _custom(self, function: Callable[[NDArray[np.int32]], int] | None) -> Callable[[Any, int, Any], int]:
        assert function is not None

        def leaf(rows: Any, number: int, cost: Any) -> int:
            try:
                cost[0] = in_range(function(np.ctypeslib.as_array(rows, (number,)).copy()), "the cost of a leaf", 62)
            except BaseException as error:
                self._failure = error
                return 1
            return 0

        return leaf

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Give the memory back."""
        handle, self._handle = getattr(self, "_handle", None), ctypes.c_void_p()
        if handle:
            _library().treeml_sets_free(handle)

    def optimum(self, upper: int = NO_TREE - 1, seconds: float = -1.0) -> int:
        """The least cost of a tree, if it is at most `upper`; otherwise a bound above `upper`.

        Leaves are not limited here.
        """
        value = ctypes.c_int64()
        self._run(_library().treeml_sets_optimum, in_range(upper, "upper"), seconds, ctypes.byref(value))
        return value.value

    def build(self, budget: int, seconds: float = -1.0) -> None:
        """Count all trees that cost at most `budget`."""
        self.costs, self.leaves, self.counts, self.total = [], [], [], 0
        self._run(_library().treeml_sets_build, min(in_range(budget, "budget"), NO_TREE - 1), seconds)
        size = _library().treeml_sets_values(self._handle)
        cost, leaves, trees = np.empty(size, np.int64), np.empty(size, np.int32), np.empty((size, 2), np.uint64)
        _library().treeml_sets_histogram(self._handle, cost, leaves, trees)
        self.costs, self.leaves = cost.tolist(), leaves.tolist()
        self.counts = [low + (high << 64) for low, high in trees.tolist()]
        self.total = sum(self.counts)

    def without(self, column: int, seconds: float = -1.0) -> int:
        """The number of trees that never test this column."""
        trees = np.zeros(2, np.uint64)
        self._run(_library().treeml_sets_without, in_range(column, "column", 32), seconds, trees)
        low, high = trees.tolist()
        return int(low) + (int(high) << 64)

    def votes(self, seconds: float = -1.0) -> NDArray[Any]:
        """rows x classes, whole numbers of any size: how many trees predict the class for the row."""
        words = np.zeros((self.rows, max(1, self.classes), 2), np.uint64)
        self._run(_library().treeml_sets_votes, seconds, words)
        if not words[:, :, 1].any() and self.total < 2**63:
            return words[:, :, 0].astype(np.int64)
        return np.asarray(words[:, :, 0].astype(object) + (words[:, :, 1].astype(object) << 64))

    def tree(self, rank: int) -> tuple[Codes, Codes, Codes]:
        """One tree as (test, yes, no), the root first; test -1 marks a leaf, whose class is its `yes`."""
        if not 0 <= rank < self.total:
            raise IndexError(f"there are {self.total} trees, and number {rank} is none of them")
        room, nodes = 64, ctypes.c_int64()
        while True:
            arrays = tuple(np.empty(room, np.int32) for _ in range(3))
            code = _library().treeml_sets_tree(
                self._handle, rank & (2**64 - 1), rank >> 64, room, *arrays, ctypes.byref(nodes)
            )
            if code != MEMORY:
                self._check(code)
                test, yes, no = (array[: nodes.value] for array in arrays)
                return test, yes, no
            room *= 2

    def trees(self, first: int, count: int, seconds: float = -1.0) -> tuple[Codes, Codes, Codes]:
        """The roots of these trees as (test, yes, no); their sides are numbers of `nodes`, shared by all trees."""
        if first < 0 or count < 0 or first + count > self.total:
            raise IndexError(f"there are {self.total} trees, not {first + count}")
        arrays = tuple(np.empty(count, np.int32) for _ in range(3))
        self._run(_library().treeml_sets_trees, in_range(first, "first"), count, seconds, *arrays)
        test, yes, no = arrays
        return test, yes, no

    def nodes(self, first: int = 0) -> SharedNodes:
        """The nodes that `trees` has made, from this number on."""
        count = _library().treeml_sets_nodes(self._handle) - first
        arrays = tuple(np.empty(count, np.int32) for _ in range(4))
        self._check(_library().treeml_sets_read_nodes(self._handle, first, count, *arrays))
        return SharedNodes(*arrays)

    def functions(
        self, domain: Domain, roots: tuple[Codes, Codes, Codes], seconds: float = -1.0
    ) -> tuple[Codes, Codes]:
        """A number for every tree that `trees` has made, the same for trees that predict the same for all values; and
        its leaves."""
        test, yes, no = roots
        found, leaves = np.empty(len(test), np.int32), np.empty(len(test), np.int32)
        arrays = (
            whole(domain.values, "values", (self.columns,)),
            np.ascontiguousarray(domain.begins, np.uint8),
            whole(domain.first, "first", (self.tests + 1,)),
            whole(domain.change, "change", np.shape(domain.change)),
        )
        given = _Domain(*(array.ctypes.data for array in arrays))
        self._run(
            _library().treeml_sets_functions, ctypes.byref(given), len(test), test, yes, no, seconds, found, leaves
        )
        return found, leaves

    def rows_of(self, states: Any) -> NDArray[np.bool_]:
        """states x rows: which rows reach a node of this state."""
        states = whole(states, "states", np.shape(states), np.int32)
        words = np.empty((len(states), max(1, -(-self.rows // 64))), np.uint64)
        self._check(_library().treeml_sets_rows(self._handle, states, len(states), words))
        unpacked = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        return unpacked[:, : self.rows].astype(bool)

    def statistics(self) -> dict[str, int]:
        """States that were looked at, and the largest number of bytes that were in use."""
        library = _library()
        return {
            "states": library.treeml_sets_states(self._handle),
            "peak_memory": library.treeml_sets_bytes(self._handle, 1),
        }

    def _run(self, function: Any, *arguments: Any) -> None:
        """Calls C while Ctrl-C only sets a flag; raises what went wrong."""
        with listening() as pressed:
            self._pressed = pressed
            try:
                code = function(self._handle, *arguments)
            finally:
                self._pressed = lambda: False
        self._check(code)

    def _check(self, code: int) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        if code == STOPPED:
            raise KeyboardInterrupt
        if code == INPUT:
            raise ValueError("a number or a size is out of range, or no trees have been counted")
        if code != OK:
            raise SetsStopped(code)


_POINTER, _INT, _COUNT, _REAL, _WORD = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_double, ctypes.c_uint64
_SIGNATURES: Signatures = {
    "treeml_sets_create": (_INT, (_POINTER, _POINTER)),
    "treeml_sets_free": (None, (_POINTER,)),
    "treeml_sets_optimum": (_INT, (_POINTER, _COUNT, _REAL, _POINTER)),
    "treeml_sets_build": (_INT, (_POINTER, _COUNT, _REAL)),
    "treeml_sets_values": (_COUNT, (_POINTER,)),
    "treeml_sets_histogram": (_INT, (_POINTER, INT64_ROOM, INT32_ROOM, _WORDS_ROOM)),
    "treeml_sets_without": (_INT, (_POINTER, ctypes.c_int32, _REAL, _WORDS_ROOM)),
    "treeml_sets_votes": (_INT, (_POINTER, _REAL, _WORDS_ROOM)),
    "treeml_sets_tree": (_INT, (_POINTER, _WORD, _WORD, _COUNT, INT32_ROOM, INT32_ROOM, INT32_ROOM, _POINTER)),
    "treeml_sets_trees": (_INT, (_POINTER, _COUNT, _COUNT, _REAL, INT32_ROOM, INT32_ROOM, INT32_ROOM)),
    "treeml_sets_nodes": (_COUNT, (_POINTER,)),
    "treeml_sets_read_nodes": (
        _INT,
        (_POINTER, _COUNT, _COUNT, INT32_ROOM, INT32_ROOM, INT32_ROOM, INT32_ROOM),
    ),
    "treeml_sets_functions": (
        _INT,
        (_POINTER, _POINTER, _COUNT, INT32_ARRAY, INT32_ARRAY, INT32_ARRAY, _REAL, INT32_ROOM, INT32_ROOM),
    ),
    "treeml_sets_states": (_COUNT, (_POINTER,)),
    "treeml_sets_rows": (_INT, (_POINTER, INT32_ARRAY, _COUNT, _WORDS_ROOM)),
    "treeml_sets_bytes": (_COUNT, (_POINTER, _INT)),
}


@cache
def _library() -> ctypes.CDLL:
    return declare(_SIGNATURES)
