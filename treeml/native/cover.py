"""Cover states from C, as arrays: enumerated, counted and priced by the native library."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.native.border import INT32, INT32_ROOM, INT64_ARRAY, INT64_ROOM, WORD_ARRAY, in_range, whole
from treeml.native.loader import Signatures, declare
from treeml.system.interrupt import listening

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Words = NDArray[np.uint64]

OK, MEMORY, TIME, INPUT, STOPPED, OVERFLOW = range(6)
STEPS = 2_000_000_000  # counting steps per call, some tenths of a second: Ctrl-C is noticed between two calls

Pause = Callable[[], None]
Stopped = ctypes.CFUNCTYPE(ctypes.c_int32)


class CoverStopped(Exception):
    """The enumeration ran out of memory or time; `code` says which."""

    def __init__(self, code: int) -> None:
        super().__init__({MEMORY: "memory", TIME: "time"}.get(code, f"code {code}"))
        self.code = code


@dataclass(frozen=True, eq=False, slots=True)
class States:
    """States level by level, and the arcs that split them."""

    rows: int
    level_start: Whole  # levels + 1
    keys: Words  # states x words: sets of rows, then tags
    parent: NDArray[np.int32]
    test: NDArray[np.int32]
    yes: NDArray[np.int32]
    no: NDArray[np.int32]

    @property
    def size(self) -> int:
        return len(self.keys)


class _Input(ctypes.Structure):
    _fields_ = (
        ("rows", ctypes.c_int32),
        ("tests", ctypes.c_int32),
        ("tag_words", ctypes.c_int32),
        ("levels", ctypes.c_int32),
        ("classes", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("support", ctypes.c_int64),
        ("max_bytes", ctypes.c_int64),
        ("seconds", ctypes.c_double),
        ("bits", ctypes.c_void_p),
        ("tag_yes", ctypes.c_void_p),
        ("tag_no", ctypes.c_void_p),
        ("group", ctypes.c_void_p),
        ("count", ctypes.c_void_p),
        ("cost", ctypes.c_void_p),
        ("stopped", Stopped),
    )


def pack_bits(bits: NDArray[np.bool_]) -> Words:
    """items x rows of booleans -> items x words, row i at bit i % 64 of word i // 64."""
    items, rows = bits.shape
    words = max(1, -(-rows // 64))
    padded = np.zeros((items, words * 64), dtype=bool)
    padded[:, :rows] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64).reshape(items, words)


def unpack_set(key: Words, rows: int) -> NDArray[np.bool_]:
    """The rows of one state."""
    return np.unpackbits(key.view(np.uint8), bitorder="little")[:rows].astype(bool)


def enumerate_states(
    bits: Words,
    count: Whole,
    levels: int,
    *,
    support: int = 1,
    group: NDArray[np.int32] | None = None,
    tags: tuple[Words, Words] | None = None,
    cost: Whole | None = None,
    max_bytes: int = 0,
    seconds: float = -1.0,
) -> States:
    """All states of `levels` levels. If `cost` is given, states that no split can improve are not split.

    Raises CoverStopped, and KeyboardInterrupt after Ctrl-C.
    """
    tests, rows = len(bits), len(count)
    bits = _bits(bits, rows)
    group = np.zeros(tests, np.int32) if group is None else whole(group, "group", (tests,), np.int32)
    count = whole(count, "count", (rows,))
    cost = None if cost is None else whole(cost, "cost", (rows, np.shape(cost)[1]))
    tag_words = 0 if tags is None else tags[0].shape[1]
    yes, no = (None, None) if tags is None else (_tags(part, tests, tag_words) for part in tags)
    # The structure holds addresses only: these names keep the arrays until C has read them.
    given = _Input(
        in_range(rows, "rows", 32),
        in_range(tests, "tests", 32),
        in_range(tag_words, "tags", 32),
        in_range(levels, "levels", 32),
        0 if cost is None else in_range(cost.shape[1], "classes", 32),
        0,
        in_range(support, "support"),
        in_range(max_bytes, "max_bytes"),
        seconds,
        bits.ctypes.data,
        None if yes is None else yes.ctypes.data,
        None if no is None else no.ctypes.data,
        group.ctypes.data,
        count.ctypes.data,
        None if cost is None else cost.ctypes.data,
    )
    library = _library()
    handle = ctypes.c_void_p()
    with listening() as pressed:
        given.stopped = Stopped(lambda: int(pressed()))
        code = library.treeml_cover_enumerate(ctypes.byref(given), ctypes.byref(handle))
    if code == STOPPED:
        raise KeyboardInterrupt
    _check(code)
    try:
        states, arcs = library.treeml_cover_states(handle), library.treeml_cover_arcs(handle)
        stride = max(1, -(-rows // 64)) + tag_words
        start = _copy(library.treeml_cover_level_start(handle), (levels + 1,), ctypes.c_int64)
        keys = _copy(library.treeml_cover_keys(handle), (states, stride), ctypes.c_uint64)
        arrays = [_copy(library.treeml_cover_arc_array(handle, which), (arcs,), ctypes.c_int32) for which in range(4)]
    finally:
        library.treeml_cover_free(handle)
    return States(rows, start, keys, *arrays)


def words(sets: Words, name: str, count: int, rows: int) -> Words:
    """Sets of rows in the form that C reads, checked to have enough words each."""
    array = np.ascontiguousarray(sets)
    if array.dtype != np.uint64 or array.ndim != 2 or len(array) != count or array.shape[1] < max(1, -(-rows // 64)):
        raise ValueError(f"{name} must be {count} sets of {rows} rows, in words of 64 bits")
    return array


def _tags(tags: Words, tests: int, tag_words: int) -> Words:
    array = np.ascontiguousarray(tags)
    if array.dtype != np.uint64 or array.shape != (tests, tag_words):
        raise ValueError(f"tags must be {tests} x {tag_words} words of 64 bits")
    return array


def _bits(bits: Words, rows: int) -> Words:
    """Tests as sets of rows, with no extra words: C expects them next to each other."""
    if np.ndim(bits) == 2 and len(bits) and bits.shape[1] != max(1, -(-rows // 64)):
        raise ValueError(f"bits must be sets of {rows} rows, in words of 64 bits")
    return words(bits, "bits", len(bits), rows)


def _table(values: Whole, name: str, rows: int) -> Whole:
    return whole(values, name, (rows, np.shape(values)[1] if np.ndim(values) == 2 else 0))


def sums(keys: Words, rows: int, values: Whole) -> Whole:
    """sets x values: the sums of the values over the rows of every set."""
    values = _table(values, "values", rows)
    keys = words(keys, "keys", len(keys), rows)
    out = np.zeros((len(keys), values.shape[1]), np.int64)
    for part in _parts(len(keys), rows * values.shape[1]):
        some, room = keys[part], out[part]
        code = _library().treeml_cover_sums(rows, len(some), some.shape[1], some, values.shape[1], values, room)
        _check(code)
    return out


def split_sums(
    bits: Words, keys: Words, rows: int, values: Whole, threads: int = 1, pause: Pause | None = None
) -> Whole:
    """sets x tests x values: the same over the rows that answer yes; `pause` is called from time to time."""
    values = _table(values, "values", rows)
    keys = words(keys, "keys", len(keys), rows)
    bits = _bits(bits, rows)
    out = np.zeros((len(keys), len(bits), values.shape[1]), np.int64)
    if not len(bits) or not len(keys):
        return out
    for part in _parts(len(keys), len(bits) * rows * values.shape[1], pause):
        some, room = keys[part], out[part]
        code = _library().treeml_cover_split_sums(
            rows, len(bits), bits, len(some), some.shape[1], some, values.shape[1], values, room, threads,
        )  # fmt: skip
        _check(code)
    return out


def _parts(sets: int, work: int, pause: Pause | None = None) -> Iterator[slice]:
    """Slices of the sets that take a fraction of a second each, if one set takes `work` steps."""
    size = max(1, STEPS // max(1, work))
    for first in range(0, sets, size):
        if pause is not None:
            pause()
        yield slice(first, first + size)


def best_pairs(
    bits: Words,
    keys: Words,
    rows: int,
    cost: Whole,
    count: Whole,
    support: int,
    price: int,
    threads: int = 1,
    pause: Pause | None = None,
) -> tuple[Whole, NDArray[np.int32]]:
    """The least cost of a depth-2 tree on every set, and its three tests (-1 for none)."""
    cost = _table(cost, "cost", rows)
    count = whole(count, "count", (rows,))
    keys = words(keys, "keys", len(keys), rows)
    bits = _bits(bits, rows)
    price, support = in_range(price, "price"), in_range(support, "support")
    best = np.zeros(len(keys), np.int64)
    tests = np.full((len(keys), 3), -1, np.int32)
    for part in _parts(len(keys), len(bits) ** 2 * (1 + rows // 64 + 8 * cost.shape[1]), pause):
        some, room, places = keys[part], best[part], tests[part]
        code = _library().treeml_cover_pairs(
            rows, len(bits), bits, len(some), some.shape[1], some, cost.shape[1],
            cost, count, support, price, -1.0, threads, room, places,
        )  # fmt: skip
        _check(code)
    return best, tests


def quantile_losses(
    bits: Words,
    keys: Words,
    rows: int,
    target: Whole,
    weight: Whole,
    above: int,
    below: int,
    pause: Pause | None = None,
) -> tuple[Whole, Whole]:
    """Losses around the best constant: of every set, and sets x tests x (yes, no); `pause` is called between parts."""
    target = whole(target, "target", (rows,))
    weight = whole(weight, "weight", (rows,))
    keys = words(keys, "keys", len(keys), rows)
    bits = _bits(bits, rows)
    above, below = in_range(above, "above"), in_range(below, "below")
    out = np.zeros((len(keys), len(bits) + 1, 2), np.int64)
    for part in _parts(len(keys), (len(bits) + 1) * rows * 16, pause):
        some, room = keys[part], out[part]
        code = _library().treeml_cover_quantiles(
            rows, len(bits), bits, len(some), some.shape[1], some, target, weight, above, below, room,
        )  # fmt: skip
        _check(code)
    return out[:, -1, 0], out[:, :-1, :]


def _check(code: int) -> None:
    if code == INPUT:
        raise ValueError("the cover was given sizes out of range, negative costs, or sets with rows that do not exist")
    if code == OVERFLOW:
        raise OverflowError("sums over the rows of the cover do not fit in 64 bits")
    if code != OK:
        raise CoverStopped(code)


def _copy(pointer: Any, shape: tuple[int, ...], kind: Any) -> Any:
    size = int(np.prod(shape))
    if size == 0:
        return np.zeros(shape, np.dtype(kind))
    return np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(kind)), shape).copy()


_POINTER, _COUNT = ctypes.c_void_p, ctypes.c_int64
_SIGNATURES: Signatures = {
    "treeml_cover_enumerate": (ctypes.c_int, (_POINTER, _POINTER)),
    "treeml_cover_free": (None, (_POINTER,)),
    "treeml_cover_states": (_COUNT, (_POINTER,)),
    "treeml_cover_arcs": (_COUNT, (_POINTER,)),
    "treeml_cover_level_start": (_POINTER, (_POINTER,)),
    "treeml_cover_keys": (_POINTER, (_POINTER,)),
    "treeml_cover_arc_array": (_POINTER, (_POINTER, ctypes.c_int)),
    "treeml_cover_sums": (ctypes.c_int, (INT32, _COUNT, INT32, WORD_ARRAY, INT32, INT64_ARRAY, INT64_ROOM)),
    "treeml_cover_split_sums": (
        ctypes.c_int,
        (INT32, INT32, WORD_ARRAY, _COUNT, INT32, WORD_ARRAY, INT32, INT64_ARRAY, INT64_ROOM, INT32),
    ),
    "treeml_cover_pairs": (
        ctypes.c_int,
        (INT32, INT32, WORD_ARRAY, _COUNT, INT32, WORD_ARRAY, INT32, INT64_ARRAY, INT64_ARRAY, _COUNT, _COUNT,
         ctypes.c_double, INT32, INT64_ROOM, INT32_ROOM),
    ),
    "treeml_cover_quantiles": (
        ctypes.c_int,
        (INT32, INT32, WORD_ARRAY, _COUNT, INT32, WORD_ARRAY, INT64_ARRAY, INT64_ARRAY, _COUNT, _COUNT, INT64_ROOM),
    ),
}  # fmt: skip


@cache
def _library() -> ctypes.CDLL:
    return declare(_SIGNATURES)
