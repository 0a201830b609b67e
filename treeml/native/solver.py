"""bits, costs -> best tree, proved optimal or with a bound.

A thin, reusable object over the C library: arrays are passed by address, and packing, merging and search are all in C.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import ceil, inf, isfinite, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.native.border import (
    BYTE_ARRAY,
    FLOAT_ARRAY,
    INT32,
    INT32_ARRAY,
    INT64_ARRAY,
    WORD_ARRAY,
    flags,
    in_range,
    real,
    whole,
)
from treeml.native.loader import OPTION, STATISTIC, Options, Signatures, declare, read_options, read_statistic_names
from treeml.native.solver_input import (
    NO_CONDITIONS,
    ClassCosts,
    Conditions,
    CostOfCounts,
    CostOfRows,
    CostRounding,
    Hazards,
    Impurity,
    Labels,
    LeafCosts,
    Lines,
    PackedBits,
    Targets,
)
from treeml.system.interrupt import listening

Whole = NDArray[np.int64]
FlatStart = tuple[Any, Any, Any]  # test, left and right of every node, as in `Found`
OnSearchProgress = Callable[[float, Any, Any], bool | None]  # seconds, value, bound; False stops the search

LEAF_COSTS = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.POINTER(ctypes.c_int64),
    ctypes.POINTER(ctypes.c_int32),
    ctypes.POINTER(ctypes.c_double),
)
PROGRESS = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_double, ctypes.c_int64, ctypes.c_int64, ctypes.c_int
)

_STATUS = {0: "unknown", 1: "optimal", 2: "feasible", 3: "infeasible"}
_STOP = {0: "proved", 1: "time", 2: "interrupted", 3: "memory", 4: "enough"}
_LOSS = {"squared": 0, "absolute": 1, "quantile": 2}
IMPURITIES = ("code length", "entropy", "gini")  # in the order of treeml.h
_CODE_ERROR: Mapping[int, type[Exception]] = {1: ValueError, 2: MemoryError, 3: OverflowError, 5: ValueError}


def _bytes_of(bits: NDArray[Any]) -> NDArray[np.uint8]:
    given = np.asarray(bits)
    if given.ndim != 2 or given.dtype not in (np.bool_, np.uint8):
        raise ValueError("bits must be a two-dimensional array of bool or uint8, tests x rows")
    return np.ascontiguousarray(given).view(np.uint8)


class NativeError(RuntimeError):
    """The C library refused or failed; the message is its own."""


@dataclass(frozen=True, slots=True)
class Found:
    """A flat tree: node 0 is the root, `test` is -1 at a leaf, rows whose bit is 1 go to `left`."""

    status: str  # optimal, feasible, infeasible or unknown
    stop: str  # proved, time, interrupted, memory or enough
    value: int | Fraction | None  # exact for counts and costs
    bound: int | Fraction | None  # None if nothing is known about the costs
    test: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    label: NDArray[np.int32]  # class of a leaf, -1 elsewhere
    tolerance: Fraction = Fraction(0)  # how far the value may be off if costs are real numbers
    statistics: Mapping[str, float] = field(default_factory=dict)
    kernel: str = ""

    @property
    def leaves(self) -> int:
        return int(np.count_nonzero(self.test < 0))

    @property
    def depth(self) -> int:
        height = np.zeros(len(self.test), dtype=np.int64)
        for node in range(len(self.test) - 1, -1, -1):
            if self.test[node] >= 0:
                height[node] = 1 + max(height[self.left[node]], height[self.right[node]])
        return int(height[0]) if len(height) else 0

    def apply(self, bits: NDArray[Any]) -> NDArray[np.int32]:
        """The leaf (its node number) that each row reaches."""
        node = np.zeros(bits.shape[1], dtype=np.int32)
        for at in range(len(self.test)):  # a child comes after its parent
            if self.test[at] >= 0:
                here = node == at
                node[here] = np.where(bits[self.test[at], here], self.left[at], self.right[at])
        return node

    def predict(self, bits: NDArray[Any]) -> NDArray[np.int32]:
        """The class of each row."""
        return self.label[self.apply(bits)]


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """What a search may use and return; None and infinity: no limit."""

    depth: int | None = None
    support: int = 1
    leaves: int | None = None
    leaf_price: int | Fraction = 0
    seconds: float = inf
    memory: int | None = None
    threads: int = 1
    once: bool = False  # a column at most once on a path
    upper: int | Fraction | None = None  # only trees below this value
    enough: int | Fraction | None = None  # stop at the first tree below this value


class Solver:
    """One data set that can be solved many times.

    `bits` is tests x rows; `costs` says what a leaf costs. Squared losses and the user's functions are real numbers,
    which the search rounds to units; other losses are whole numbers unless `rounding` is given.
    """

    def __init__(
        self,
        bits: NDArray[Any] | PackedBits,
        costs: LeafCosts,
        conditions: Conditions = NO_CONDITIONS,
        rounding: CostRounding | None = None,
    ) -> None:
        self._handle: int | None = None
        self._library = library()
        given = bits if isinstance(bits, PackedBits) else _bytes_of(bits)
        self.tests, self.rows = given.shape
        self._handle = self._library.treeml_create()
        if not self._handle:
            raise MemoryError("not enough memory for a solver")
        self._raised: BaseException | None = None
        self._levels = 1
        self._give_tests(given, conditions)
        if rounding is not None:
            self._call("treeml_round", rounding.beside, rounding.most)
        self._give_costs(costs)
        self._rounds = bool(self._library.treeml_rounds(self._handle))
        self._doubt = Fraction(0)  # rounding error of column costs, in units, over all rows of a path
        if conditions.column_cost is not None:
            self._give_column_costs(conditions)
        self._give_leaf_conditions(conditions)

    def _give_tests(self, given: NDArray[np.uint8] | PackedBits, conditions: Conditions) -> None:
        columns, count, forbidden = conditions.columns, conditions.count, conditions.forbidden
        origin = None if columns is None else whole(columns, "columns", (self.tests,), np.int32)
        if isinstance(given, PackedBits):
            self._call("treeml_packed_tests", given.words, self.tests, self.rows, origin)
        else:
            self._call("treeml_tests", given, self.tests, self.rows, origin)
        if count is not None:
            self._call("treeml_counts", whole(count, "count", (self.rows,)))
        if forbidden is not None:
            self._call("treeml_forbid", flags(forbidden, "forbidden", (self.tests,)))

    def _give_costs(self, costs: LeafCosts) -> None:
        if isinstance(costs, CostOfCounts):
            costs = costs.of_rows()
        if isinstance(costs, Labels):
            self._give_labels(costs)
        elif isinstance(costs, ClassCosts):
            self._give_class_costs(costs.cost)
        elif isinstance(costs, Targets):
            self._give_targets(costs)
        elif isinstance(costs, Hazards):
            self._give_hazards(costs)
        elif isinstance(costs, Impurity):
            self._give_impurity(costs)
        elif isinstance(costs, Lines):
            self._give_lines(costs)
        elif isinstance(costs, CostOfRows):
            self._custom = self._leaf_costs(costs.function)
            self._call("treeml_custom", self._custom, None)
        else:
            raise TypeError(f"costs must be one of the kinds of LeafCosts, not {type(costs).__name__}")

    def _give_labels(self, costs: Labels) -> None:
        weights = self._weights(costs.weight)
        numbers = whole(costs.labels, "labels", (self.rows,), np.int32)
        known = int(numbers.max()) + 1 if costs.classes is None else in_range(costs.classes, "classes", 32)
        self._call("treeml_labels", numbers, known, weights)
        self._classes = known

    def _give_class_costs(self, cost: Any) -> None:
        classes = np.shape(cost)[1] if np.ndim(cost) == 2 else 0
        self._call("treeml_costs", whole(cost, "cost", (self.rows, classes)), classes)
        self._classes = classes

    def _give_targets(self, costs: Targets) -> None:
        if costs.loss not in _LOSS:
            raise ValueError(f"unknown loss {costs.loss!r}: it is one of {', '.join(_LOSS)}")
        weights = self._weights(costs.weight)
        outputs = np.shape(costs.targets)[1] if np.ndim(costs.targets) == 2 else 0
        numbers = whole(costs.targets, "targets", (self.rows, outputs))
        shares = [Fraction(level) for level in costs.levels]
        scale = lcm(*(share.denominator for share in shares))
        in_range(scale, "the common denominator of the levels")
        wanted = whole([int(share * scale) for share in shares], "levels", (len(shares),))
        self._levels = len(shares) if costs.loss == "quantile" else 1
        self._call("treeml_targets", _LOSS[costs.loss], numbers, outputs, weights, wanted, len(wanted), scale)

    def _give_hazards(self, costs: Hazards) -> None:
        hazard, cost = (whole(costs.hazard, "hazard", (self.rows,)), whole(costs.cost, "cost", (self.rows,)))
        self._call("treeml_hazards", hazard, cost, flags(costs.died, "died", (self.rows,)))

    def _give_impurity(self, costs: Impurity) -> None:
        numbers = whole(costs.labels, "labels", (self.rows,), np.int32)
        classes = in_range(costs.classes, "classes", 32)
        kind = IMPURITIES.index(costs.kind)
        self._call("treeml_impurity", kind, numbers, classes, self._weights(costs.weight), costs.unit)

    def _give_lines(self, costs: Lines) -> None:
        columns = np.shape(costs.values)[1] if np.ndim(costs.values) == 2 else 0
        values = real(costs.values, "values", (self.rows, columns))
        target, weight = (real(getattr(costs, name), name, (self.rows,)) for name in ("target", "weight"))
        spread = real(np.ones(columns) if costs.spread is None else costs.spread, "spread", (columns,))
        self._call("treeml_lines", values, spread, columns, target, weight, costs.ridge, int(costs.is_simple))

    def _weights(self, weight: Any) -> Whole | None:
        return None if weight is None else whole(weight, "weight", (self.rows,))

    def _give_column_costs(self, conditions: Conditions) -> None:
        unit = Fraction(self._library.treeml_unit(self._handle))
        costs = [Fraction(cost) for cost in conditions.column_cost]
        units = [self._in_units(cost, "column_cost") for cost in costs]
        off = [abs(cost * unit - near) for cost, near in zip(costs, units, strict=True)]
        prices = whole(units, "column_cost", (len(units),))
        self._call("treeml_column_costs", prices, len(prices))
        if len(conditions.discounts):
            reduced = [self._in_units(Fraction(cost), "discounts") for _, _, cost in conditions.discounts]
            for (column, _, cost), near in zip(conditions.discounts, reduced, strict=True):
                off[column] = max(off[column], abs(Fraction(cost) * unit - near))
            shape = (len(reduced),)
            names = (
                whole([each[place] for each in conditions.discounts], "discounts", shape, np.int32) for place in (0, 1)
            )
            self._call("treeml_column_discounts", *names, whole(reduced, "discounts", shape), len(reduced))
        rows = self.rows if conditions.count is None else int(np.sum(conditions.count))
        self._doubt = rows * sum(off, Fraction(0))

    def _give_leaf_conditions(self, conditions: Conditions) -> None:
        if conditions.leaf_limit is not None:
            cost, most = conditions.leaf_limit
            matrix = whole(cost, "leaf_limit", (self.rows, self._classes))
            self._call("treeml_leaf_limit", matrix, in_range(most, "leaf_limit"))
        if conditions.purity is not None:
            weight, least = conditions.purity
            matrix = whole(weight, "purity", (self.rows, self._classes))
            share = [in_range(part, "purity") for part in (least.numerator, least.denominator)]
            self._call("treeml_purity", matrix, *share)

    def _leaf_costs(self, custom: Callable[[list[NDArray[np.int32]]], Sequence[float]]) -> Any:
        def call(_state: Any, sets: int, starts: Any, rows: Any, costs: Any) -> int:
            try:
                edges = np.ctypeslib.as_array(starts, (sets + 1,))
                numbers = np.ctypeslib.as_array(rows, (int(edges[-1]),)) if edges[-1] else np.zeros(0, np.int32)
                answer = custom([numbers[edges[i] : edges[i + 1]].copy() for i in range(sets)])
                np.ctypeslib.as_array(costs, (sets,))[:] = np.asarray(answer, dtype=np.float64)
            except BaseException as error:  # it must not unwind through C
                self._raised = error
                return 1
            return 0

        return LEAF_COSTS(call)

    def _call(self, name: str, *arguments: Any) -> None:
        """Calls C. The arguments keep their arrays alive until C returns, and it has read them by then."""
        code = getattr(self._library, name)(self._handle, *arguments)
        if code:
            if self._raised is not None:
                raised, self._raised = self._raised, None
                raise raised
            message = self._library.treeml_message(self._handle).decode()
            raise _CODE_ERROR.get(code, NativeError)(message)

    def close(self) -> None:
        if self._handle is not None:
            self._library.treeml_destroy(self._handle)
            self._handle = None

    def __del__(self) -> None:
        self.close()

    def interrupt(self) -> None:
        """Stops a solve that runs in another thread, which then returns the best tree so far."""
        if self._handle is not None:
            self._library.treeml_interrupt(self._handle)

    def solve(
        self,
        *,
        depth: int | None = None,
        support: int = 1,
        leaves: int | None = None,
        leaf_price: int | Fraction = 0,
        seconds: float = inf,
        memory: int | None = None,
        threads: int = 1,
        once: bool = False,
        upper: int | Fraction | None = None,
        enough: int | Fraction | None = None,
        start: FlatStart | None = None,
        on_progress: OnSearchProgress | None = None,
        options: Mapping[str, int] | None = None,
    ) -> Found:
        """The best tree within the limits. Several quantile levels: see `solve_levels`."""
        return self.solve_levels(
            SearchLimits(depth, support, leaves, leaf_price, seconds, memory, threads, once, upper, enough),
            start,
            on_progress,
            options,
        )[0]

    def solve_levels(
        self,
        limits: SearchLimits,
        start: FlatStart | None = None,
        on_progress: OnSearchProgress | None = None,
        options: Mapping[str, int] | None = None,
    ) -> tuple[Found, ...]:
        """One best tree for each quantile level, found in one search."""
        if self._handle is None:
            raise ValueError("the solver is closed")
        settings = {**self._settings(limits), **(options or {})}
        table = _initial_values()
        try:
            for name, value in settings.items():
                self._call("treeml_set", name.encode(), in_range(value, name))
            self._start(start)
            return self._run(on_progress, 2 * (self._doubt + self._doubt_of_leaf_price(limits)))
        finally:  # the next solve starts with the initial settings
            for name in settings.keys() & table.keys():
                self._call("treeml_set", name.encode(), table[name])

    def _settings(self, limits: SearchLimits) -> dict[str, int]:
        """The settings of the C library that are not at their initial values."""
        settings: dict[str, int] = {}
        if limits.depth is not None:
            settings["depth"] = limits.depth
        if limits.support != 1:
            settings["support"] = limits.support
        if limits.leaves is not None:
            settings["leaves"] = limits.leaves
        if limits.leaf_price:
            settings["leaf_price"] = self._in_units(limits.leaf_price, "leaf_price")
        if isfinite(limits.seconds):
            settings["milliseconds"] = max(0, min(round(1000 * limits.seconds), 2**62))
        if limits.memory is not None:
            settings["memory"] = limits.memory
        if limits.threads != 1:
            settings["threads"] = limits.threads
        if limits.once:
            settings["once"] = 1
        if limits.upper is not None:
            settings["upper"] = self._in_units(limits.upper, "upper")
        if limits.enough is not None:
            settings["enough"] = self._in_units(limits.enough, "enough")
        return settings

    def _doubt_of_leaf_price(self, limits: SearchLimits) -> Fraction:
        """The rounding error of the price of all leaves of a tree, in units."""
        if not limits.leaf_price:
            return Fraction(0)
        exact = Fraction(limits.leaf_price) * Fraction(self._library.treeml_unit(self._handle))
        most = 1 << max(0, min(62, self.rows if limits.depth is None else limits.depth))
        leaves: int = min(self.rows, limits.leaves or self.rows, most)
        return abs(exact - round(exact)) * leaves

    def _amount(self, units: int) -> int | Fraction | None:
        """A value or bound of the C library; None if it is not known yet."""
        if abs(units) > 2**60:
            return None
        unit = self._library.treeml_unit(self._handle)
        return units if unit == 1 else Fraction(units) / Fraction(unit)

    def _in_units(self, amount: int | Fraction, name: str) -> int:
        scaled = Fraction(amount) * Fraction(self._library.treeml_unit(self._handle))
        if scaled.denominator != 1 and not self._rounds:
            raise ValueError(f"{name} must be a whole number: scale the costs")
        if abs(scaled) >= 2**62:
            raise OverflowError(f"{name} is too large beside the costs of leaves")
        return round(scaled)

    def _start(self, start: FlatStart | None) -> None:
        if start is None:
            self._call("treeml_start", None, None, None, 0)
            return
        nodes = len(start[0])
        test, left, right = (whole(part, "each part of a start tree", (nodes,), np.int32) for part in start)
        self._call("treeml_start", test, left, right, nodes)

    def _run(self, on_progress: OnSearchProgress | None, doubt: Fraction) -> tuple[Found, ...]:
        """`doubt`: rounding error, in units, of the amounts that are added to the costs of leaves."""
        self._raised = None

        def watch(_state: Any, seconds: float, value: int, bound: int, better: int) -> int:
            try:
                if interrupted():
                    return 1
                if on_progress is not None:
                    return int(on_progress(seconds, self._amount(value), self._lowered(bound, doubt)) is False)
            except BaseException as error:  # it must not unwind through C
                self._raised = error
                return 1
            return 0

        callback = PROGRESS(watch)
        self._call("treeml_watch", callback, None)
        try:
            with listening() as interrupted:
                self._call("treeml_solve")
        finally:
            self._call("treeml_watch", PROGRESS(), None)
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised
        statistics = self._statistics()
        kernel = self._library.treeml_kernel(self._handle).decode()
        return tuple(self._answer(level, statistics, kernel, doubt) for level in range(self._levels))

    def _lowered(self, bound: int, doubt: Fraction) -> int | Fraction | None:
        """A bound of the C library that is valid despite all rounding; None if it is not known yet."""
        amount = self._amount(bound)
        if amount is None or not self._rounds:
            return amount
        return self._amount(bound - int(self._library.treeml_slack(self._handle)) - ceil(doubt))

    def _tolerance(self, doubt: Fraction) -> Fraction:
        slack = int(self._library.treeml_slack(self._handle))
        return (slack + doubt) / Fraction(self._library.treeml_unit(self._handle))

    def _answer(self, level: int, statistics: Mapping[str, float], kernel: str, doubt: Fraction) -> Found:
        handle, solver = self._handle, self._library
        solver.treeml_choose(handle, level)
        nodes = solver.treeml_nodes(handle)
        block = np.empty((4, nodes), dtype=np.int32)
        first, width = block.ctypes.data, 4 * nodes  # the views returned below keep `block` alive
        solver.treeml_tree(handle, first, first + width, first + 2 * width, first + 3 * width)
        status = _STATUS[solver.treeml_status(handle)]
        value = self._amount(solver.treeml_value(handle)) if nodes else None
        return Found(
            status=status,
            stop=_STOP[solver.treeml_stop(handle)],
            value=value,
            bound=value if status == "optimal" else self._lowered(solver.treeml_bound(handle), doubt),
            test=block[0],
            left=block[1],
            right=block[2],
            label=block[3],
            tolerance=self._tolerance(doubt) if self._rounds else Fraction(0),
            statistics=statistics,
            kernel=kernel,
        )

    def _statistics(self) -> dict[str, float]:
        values = (ctypes.c_double * len(statistic_names()))()
        self._library.treeml_all_statistics(self._handle, values)
        return dict(zip(statistic_names(), values, strict=True))


@cache
def statistic_names() -> tuple[str, ...]:
    """The names of the statistics of a search."""
    handle = library().treeml_create()
    names = read_statistic_names(library().treeml_statistics, library().treeml_statistic, handle)
    library().treeml_destroy(handle)
    return names


@cache
def _initial_values() -> dict[str, int]:
    return {name: initial for name, (_, _, initial, _) in options().items()}


_SIGNATURES: Signatures = {
    "treeml_create": (ctypes.c_void_p, ()),
    "treeml_destroy": (None, (ctypes.c_void_p,)),
    "treeml_message": (ctypes.c_char_p, (ctypes.c_void_p,)),
    "treeml_version": (ctypes.c_char_p, ()),
    "treeml_tests": (ctypes.c_int, (ctypes.c_void_p, BYTE_ARRAY, ctypes.c_int64, ctypes.c_int64, INT32_ARRAY)),
    "treeml_packed_tests": (ctypes.c_int, (ctypes.c_void_p, WORD_ARRAY, ctypes.c_int64, ctypes.c_int64, INT32_ARRAY)),
    "treeml_counts": (ctypes.c_int, (ctypes.c_void_p, INT64_ARRAY)),
    "treeml_forbid": (ctypes.c_int, (ctypes.c_void_p, BYTE_ARRAY)),
    "treeml_labels": (ctypes.c_int, (ctypes.c_void_p, INT32_ARRAY, INT32, INT64_ARRAY)),
    "treeml_costs": (ctypes.c_int, (ctypes.c_void_p, INT64_ARRAY, INT32)),
    "treeml_targets": (
        ctypes.c_int,
        (ctypes.c_void_p, INT32, INT64_ARRAY, INT32, INT64_ARRAY, INT64_ARRAY, INT32, ctypes.c_int64),
    ),
    "treeml_round": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_double, ctypes.c_double)),
    "treeml_hazards": (ctypes.c_int, (ctypes.c_void_p, INT64_ARRAY, INT64_ARRAY, BYTE_ARRAY)),
    "treeml_impurity": (
        ctypes.c_int,
        (ctypes.c_void_p, INT32, INT32_ARRAY, INT32, INT64_ARRAY, ctypes.c_double),
    ),
    "treeml_lines": (
        ctypes.c_int,
        (ctypes.c_void_p, FLOAT_ARRAY, FLOAT_ARRAY, INT32, FLOAT_ARRAY, FLOAT_ARRAY, ctypes.c_double, INT32),
    ),
    "treeml_custom": (ctypes.c_int, (ctypes.c_void_p, LEAF_COSTS, ctypes.c_void_p)),
    "treeml_column_costs": (ctypes.c_int, (ctypes.c_void_p, INT64_ARRAY, INT32)),
    "treeml_column_discounts": (ctypes.c_int, (ctypes.c_void_p, INT32_ARRAY, INT32_ARRAY, INT64_ARRAY, INT32)),
    "treeml_leaf_limit": (ctypes.c_int, (ctypes.c_void_p, INT64_ARRAY, ctypes.c_int64)),
    "treeml_purity": (ctypes.c_int, (ctypes.c_void_p, INT64_ARRAY, ctypes.c_int64, ctypes.c_int64)),
    "treeml_start": (ctypes.c_int, (ctypes.c_void_p, INT32_ARRAY, INT32_ARRAY, INT32_ARRAY, ctypes.c_int64)),
    "treeml_set": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64)),
    "treeml_get": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int64))),
    "treeml_options": (ctypes.c_int32, ()),
    "treeml_option": OPTION,
    "treeml_watch": (ctypes.c_int, (ctypes.c_void_p, PROGRESS, ctypes.c_void_p)),
    "treeml_solve": (ctypes.c_int, (ctypes.c_void_p,)),
    "treeml_interrupt": (None, (ctypes.c_void_p,)),
    "treeml_choose": (ctypes.c_int, (ctypes.c_void_p, INT32)),
    "treeml_status": (ctypes.c_int32, (ctypes.c_void_p,)),
    "treeml_stop": (ctypes.c_int32, (ctypes.c_void_p,)),
    "treeml_value": (ctypes.c_int64, (ctypes.c_void_p,)),
    "treeml_bound": (ctypes.c_int64, (ctypes.c_void_p,)),
    "treeml_unit": (ctypes.c_double, (ctypes.c_void_p,)),
    "treeml_rounds": (ctypes.c_int, (ctypes.c_void_p,)),
    "treeml_slack": (ctypes.c_int64, (ctypes.c_void_p,)),
    "treeml_nodes": (ctypes.c_int64, (ctypes.c_void_p,)),
    "treeml_tree": (ctypes.c_int, (ctypes.c_void_p,) * 5),
    "treeml_statistics": (ctypes.c_int32, ()),
    "treeml_statistic": STATISTIC,
    "treeml_all_statistics": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_void_p)),
    "treeml_kernel": (ctypes.c_char_p, (ctypes.c_void_p,)),
}


@cache
def library() -> ctypes.CDLL:
    """The C library with the functions of `treeml.h`."""
    return declare(_SIGNATURES)


@cache
def options() -> Options:
    """The options of the search over tests."""
    return read_options(library().treeml_options, library().treeml_option)
