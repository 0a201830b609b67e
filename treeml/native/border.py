"""Arrays and numbers -> values that C can read: of the exact type, contiguous, in range, and alive during the call.

No module passes a bare address to C. Parameters are declared as `ArrayOf` a type, and ctypes asks those for the address
during the call, while the caller still holds the array: a temporary copy cannot be freed before C has read it. ctypes
silently truncates numbers that are too large, hence `INT32` and, for numbers given by users, `in_range`.
"""

from __future__ import annotations

from ctypes import c_int32, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray


class ArrayOf:
    """A parameter of C that is the address of an array, or NULL for None; `written` if C writes to it."""

    __slots__ = ("dtype", "written")

    def __init__(self, dtype: Any, written: bool = False) -> None:
        self.dtype, self.written = np.dtype(dtype), written

    def from_param(self, array: NDArray[Any] | None) -> c_void_p | None:
        if array is None:
            return None
        flags = array.flags
        if array.dtype != self.dtype or not flags.c_contiguous or not flags.aligned:
            raise TypeError(f"C reads arrays of {self.dtype} in one piece, not of {array.dtype}")
        if self.written and not flags.writeable:
            raise TypeError("C writes into this array, and it is read-only")
        return c_void_p(array.__array_interface__["data"][0])


class _Int32:
    """A parameter of C that is a 32-bit integer."""

    def from_param(self, value: int) -> c_int32:
        return c_int32(in_range(value, "a number", 32))


# Any: ctypes accepts everything with `from_param`, but its type hints only know its own types.
INT32: Any = _Int32()
BYTE_ARRAY: Any = ArrayOf(np.uint8)
INT32_ARRAY: Any = ArrayOf(np.int32)
INT64_ARRAY: Any = ArrayOf(np.int64)
WORD_ARRAY: Any = ArrayOf(np.uint64)
FLOAT_ARRAY: Any = ArrayOf(np.float64)
INT32_ROOM: Any = ArrayOf(np.int32, written=True)
INT64_ROOM: Any = ArrayOf(np.int64, written=True)
FLOAT_ROOM: Any = ArrayOf(np.float64, written=True)


def in_range(value: int, name: str, bits: int = 64) -> int:
    """The number itself; raises OverflowError if it does not fit in this many bits."""
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise OverflowError(f"{name} must fit in {bits} bits")
    return int(value)


def whole(values: Any, name: str, shape: tuple[int, ...], dtype: Any = np.int64) -> NDArray[Any]:
    """Whole numbers of any type, order and layout as an array that C can read, copied only if necessary."""
    array = np.asarray(values)
    if array.dtype.kind not in "biu" and array.size:
        raise ValueError(f"{name} must be whole numbers")
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, not {array.shape}")
    if array.dtype == dtype and array.flags.c_contiguous and array.flags.aligned:
        return array
    if array.size and not np.can_cast(array.dtype, dtype):
        in_range(int(array.max()), name, 8 * np.dtype(dtype).itemsize)
        in_range(int(array.min()), name, 8 * np.dtype(dtype).itemsize)
    return np.array(array, dtype=dtype, order="C")


def flags(values: Any, name: str, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Truth values as bytes of 0 and 1."""
    array = np.asarray(values)
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, not {array.shape}")
    if array.dtype == np.bool_:
        array = array.view(np.uint8) if array.flags.c_contiguous else array.astype(np.uint8)
    elif array.dtype.kind not in "iu" or (array.size and (array.min() < 0 or array.max() > 1)):
        raise ValueError(f"{name} must be truth values, or 0 and 1")
    return np.ascontiguousarray(array, dtype=np.uint8)


def real(values: Any, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Numbers as doubles that C can read."""
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers")
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, not {array.shape}")
    if array.dtype == np.float64 and array.flags.c_contiguous and array.flags.aligned:
        return array
    return np.array(array, dtype=np.float64, order="C")
