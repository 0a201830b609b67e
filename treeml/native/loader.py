"""nothing -> the C library, opened once, with the types of the functions that a wrapper declares.

The library is in the folder of this file: an editable install builds it there, a wheel carries it. Every wrapper module
keeps a table of the C functions that it calls and passes it to `declare`; nothing else opens the library.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

Signatures = Mapping[str, tuple[Any, tuple[Any, ...]]]  # name -> type of the result, types of the parameters
Options = dict[str, tuple[int, int, int, str]]  # name -> lowest, highest and initial value, help

_NAMES = ("libtreeml_native.so", "libtreeml_native.dylib", "libtreeml_native.dll")

# Every solver has these functions, so their types are written once; see `common/options.h` and `common/statistics.h`.
OPTION = (c_int, (c_int32, POINTER(c_char_p), *(POINTER(c_int64),) * 3, POINTER(c_char_p)))
STATISTIC = (c_int, (c_void_p, c_int32, POINTER(c_char_p), POINTER(c_double), POINTER(c_char_p)))


def path() -> Path | None:
    """Where the library is, or None. `TREEML_LIBRARY` names another build, such as one with sanitizers."""
    given = os.environ.get("TREEML_LIBRARY")
    if given:
        return Path(given)
    folder = Path(__file__).resolve().parent
    return next((folder / name for name in _NAMES if (folder / name).exists()), None)


def missing() -> str | None:
    """None if the library is there, or what to do."""
    # An open library need not be looked for again: looking takes longer than some solves.
    if not open_library.cache_info().currsize and path() is None:
        return "the C library is not built; install the package with `pip install .` where a C compiler is present"
    return None


@cache
def open_library() -> ctypes.CDLL:
    """The library; raises ImportError with instructions if it is not there."""
    found = path()
    if found is None:
        raise ImportError(missing())
    return ctypes.CDLL(str(found))


def declare(signatures: Signatures) -> ctypes.CDLL:
    """The library, after the types of these functions have been set."""
    library = open_library()
    for name, (result, parameters) in signatures.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = list(parameters)
    return library


def read_options(count: Any, describe: Any) -> Options:
    """The options of a solver, from the two C functions that count and describe them."""
    table: Options = {}
    for index in range(count()):
        name, low, high, initial, text = c_char_p(), c_int64(), c_int64(), c_int64(), c_char_p()
        describe(index, name, low, high, initial, text)
        assert name.value is not None
        assert text.value is not None
        table[name.value.decode()] = (low.value, high.value, initial.value, text.value.decode())
    return table


def read_statistic_names(count: Any, read: Any, handle: Any) -> tuple[str, ...]:
    """The names of the statistics of a solver, from the two C functions that count and read them."""
    names = []
    for index in range(count()):
        name, value, text = c_char_p(), c_double(), c_char_p()
        read(handle, index, name, value, text)
        assert name.value is not None
        names.append(name.value.decode())
    return tuple(names)
