"""codes, costs and bounded sums -> best tree over every threshold within the limits, proved optimal or with a bound.

The counterpart of `treeml.native.coupled` for columns of numbers, which need no tests: a thin, reusable object over
`coupled_numeric/coupled_numeric.h`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeml.native.border import INT32, INT32_ARRAY, INT32_ROOM, INT64_ARRAY, INT64_ROOM, whole
from treeml.native.coupled_handle import (
    COUNT,
    HANDLE,
    STATUS,
    STOP,
    CoupledHandle,
    Functions,
    functions,
    known,
    options,
)
from treeml.native.loader import Options, Signatures


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


class CoupledNumeric(CoupledHandle[CoupledNumericFound]):
    """One data set that can be solved many times.

    `codes` is features x rows: whole numbers from 0, of which only the order matters. `values[j][row][k]` is what
    predicting class k at a row adds to sum j: sum 0 is the cost, the others are bounded. `count` says how many rows a
    row stands for. A start tree consists of feature, cut, left, right and label.
    """

    tree_parts: ClassVar[int] = 5

    def __init__(self, codes: NDArray[Any], values: Any, *, count: Any = None) -> None:
        if np.ndim(codes) != 2:
            raise ValueError("codes must be features x rows")
        self.features, rows = codes.shape
        super().__init__(_functions(), options_of_coupled_numeric(), rows)
        given = whole(codes, "codes", (self.features, self.rows), np.int32)
        self._call("columns", given, self.features, self.rows)
        if count is not None:
            self._call("counts", whole(count, "count", (self.rows,)))
        self.set_values(values)

    def set_fees(self, groups: Any, in_value: Any, limited: Any, most: int = 0) -> None:
        """What a row pays for testing a column of a group, as `Coupled.set_fees`; `groups` are those of all columns."""
        group = whole(groups, "groups", (self.features,), np.int32)
        for kind, below in enumerate((in_value, limited)):
            size = 0 if below is None else len(below) - 1
            given = None if below is None else whole(below, "fees", (1 + size, size))
            self._call("fees", kind, given, size, group, most)

    def set_rules(self, purity: Any, cost: Any, most: int = 0) -> None:
        """Rules for every leaf, as `Coupled.set_rules`."""
        shape = (self.rows, self.classes)
        parts = [None if part is None else whole(part, "rules", shape) for part in (purity, cost)]
        self._call("rules", *parts, most)

    def _give_values(self, values: Any, sums: int, classes: int) -> None:
        self._call("values", values, 1 + sums, classes)

    def _give_limits(self, low: Any, high: Any) -> None:
        self._call("bounds", low, high)

    def _found(self) -> CoupledNumericFound:
        answer, totals = np.zeros(5, dtype=np.int64), np.zeros(1 + self.sums, dtype=np.int64)
        self._call("answer", answer)
        status, stop, value, bound, nodes = answer.tolist()
        parts = [np.zeros(nodes, dtype=np.int32) for _ in range(5)]
        if nodes:
            self._call("totals", totals)
            self._call("tree", *parts)
        return CoupledNumericFound(
            status=STATUS[status],
            stop=STOP[stop],
            value=value if nodes else None,
            bound=known(bound),
            sums=tuple(totals[1:].tolist()) if nodes else None,
            feature=parts[0],
            cut=parts[1],
            left=parts[2],
            right=parts[3],
            label=parts[4],
            statistics=self._statistics(),
            kernel=self._functions["kernel"](self._handle).decode(),
        )


_OWN: Signatures = {
    "columns": (ctypes.c_int, (HANDLE, INT32_ARRAY, COUNT, COUNT)),
    "values": (ctypes.c_int, (HANDLE, INT64_ARRAY, COUNT, INT32)),
    "bounds": (ctypes.c_int, (HANDLE, INT64_ARRAY, INT64_ARRAY)),
    "fees": (ctypes.c_int, (HANDLE, INT32, INT64_ARRAY, INT32, INT32_ARRAY, COUNT)),
    "rules": (ctypes.c_int, (HANDLE, INT64_ARRAY, INT64_ARRAY, COUNT)),
    "start": (ctypes.c_int, (HANDLE, *(INT32_ARRAY,) * 5, COUNT)),
    "answer": (ctypes.c_int, (HANDLE, INT64_ROOM)),
    "totals": (ctypes.c_int, (HANDLE, INT64_ROOM)),
    "tree": (ctypes.c_int, (HANDLE, *(INT32_ROOM,) * 5)),
}


@cache
def _functions() -> Functions:
    """The functions of `coupled_numeric/coupled_numeric.h`."""
    return functions("treeml_coupled_numeric", _OWN)


@cache
def options_of_coupled_numeric() -> Options:
    """The options of the search for coupled requirements over columns of numbers."""
    return options(_functions())
