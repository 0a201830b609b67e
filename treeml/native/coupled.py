"""bits, costs and bounded sums -> best tree within the limits, proved optimal or with a bound.

A thin, reusable object over `coupled/coupled.h`: one data set, solved as often as the limits change.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeml.native.border import BYTE_ARRAY, INT32, INT32_ARRAY, INT64_ARRAY, flags, whole
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
from treeml.native.solver import Found


@dataclass(frozen=True, slots=True)
class CoupledFound(Found):
    """The outcome of a search, with the bounded sums of its tree."""

    value: int | None
    bound: int | None
    sums: tuple[int, ...] | None = None  # None without a tree


class Coupled(CoupledHandle[CoupledFound]):
    """One data set that can be solved many times.

    `bits` is tests x rows. `values[j][row][k]` is what predicting class k at a row adds to sum j: sum 0 is the cost,
    the others are bounded. `count` says how many rows a row stands for. `columns` names the column of each test, which
    matters if the option `once` is set, and `forbidden` marks tests that may not be used. A start tree consists of
    test, left, right and label.
    """

    tree_parts: ClassVar[int] = 4

    def __init__(
        self, bits: NDArray[Any], values: Any, *, count: Any = None, columns: Any = None, forbidden: Any = None
    ) -> None:
        if np.ndim(bits) != 2:
            raise ValueError("bits must be tests x rows")
        self.tests, rows = bits.shape
        super().__init__(_functions(), options_of_coupled(), rows)
        given = None if columns is None else whole(columns, "columns", (self.tests,), np.int32)
        self._call("tests", flags(bits, "bits", (self.tests, self.rows)), self.tests, self.rows, given)
        if count is not None:
            self._call("counts", whole(count, "count", (self.rows,)))
        if forbidden is not None:
            self._call("forbid", flags(forbidden, "forbidden", (self.tests,)))
        self.set_values(values)

    def set_fees(self, in_value: Any, limited: Any, most: int = 0) -> None:
        """What a row pays for testing each column: (1 + columns) x columns, without a test above and below each one.

        Fees of the first table are part of the value, those of the second add up to at most `most`; None: no fees.
        """
        for kind, below in enumerate((in_value, limited)):
            columns = 0 if below is None else len(below) - 1
            given = None if below is None else whole(below, "fees", (1 + columns, columns))
            self._call("fees", kind, given, columns, most)

    def set_rules(self, purity: Any, cost: Any, most: int = 0) -> None:
        """Rules for every leaf, rows x classes each, or None: some class has a sum of `purity` of at least 0, and the
        sum of `cost` for its own class is at most `most`."""
        shape = (self.rows, self.classes)
        parts = [None if part is None else whole(part, "rules", shape) for part in (purity, cost)]
        self._call("rules", *parts, most)

    def _give_values(self, values: Any, sums: int, classes: int) -> None:
        self._call("values", values, sums, classes)

    def _give_limits(self, low: Any, high: Any) -> None:
        self._call("limits", low, high)

    def _found(self) -> CoupledFound:
        handle, native = self._handle, self._functions
        nodes = native["nodes"](handle)
        block = np.empty((4, nodes), dtype=np.int32)
        first, width = block.ctypes.data, 4 * nodes  # the views returned below keep `block` alive
        native["tree"](handle, first, first + width, first + 2 * width, first + 3 * width)
        return CoupledFound(
            status=STATUS[native["status"](handle)],
            stop=STOP[native["stop"](handle)],
            value=native["value"](handle) if nodes else None,
            bound=known(native["bound"](handle)),
            sums=tuple(native["sum"](handle, j) for j in range(1, self.sums + 1)) if nodes else None,
            test=block[0],
            left=block[1],
            right=block[2],
            label=block[3],
            statistics=self._statistics(),
            kernel=native["kernel"](handle).decode(),
        )


_OWN: Signatures = {
    "tests": (ctypes.c_int, (HANDLE, BYTE_ARRAY, COUNT, COUNT, INT32_ARRAY)),
    "forbid": (ctypes.c_int, (HANDLE, BYTE_ARRAY)),
    "values": (ctypes.c_int, (HANDLE, INT64_ARRAY, INT32, INT32)),
    "limits": (ctypes.c_int, (HANDLE, INT64_ARRAY, INT64_ARRAY)),
    "fees": (ctypes.c_int, (HANDLE, INT32, INT64_ARRAY, INT32, COUNT)),
    "rules": (ctypes.c_int, (HANDLE, INT64_ARRAY, INT64_ARRAY, COUNT)),
    "start": (ctypes.c_int, (HANDLE, *(INT32_ARRAY,) * 4, COUNT)),
    "status": (ctypes.c_int32, (HANDLE,)),
    "stop": (ctypes.c_int32, (HANDLE,)),
    "value": (COUNT, (HANDLE,)),
    "bound": (COUNT, (HANDLE,)),
    "sum": (COUNT, (HANDLE, INT32)),
    "tree": (ctypes.c_int, (HANDLE,) * 5),
}


@cache
def _functions() -> Functions:
    """The functions of `coupled/coupled.h`."""
    return functions("treeml_coupled", _OWN)


@cache
def options_of_coupled() -> Options:
    """The options of the search for coupled requirements."""
    return options(_functions())
