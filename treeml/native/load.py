"""nothing -> the C library, with the types of its functions.

The library lies beside this file: an editable install builds it there, a wheel carries it.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path

from treeml.native.border import BYTE_ARRAY, INT32, INT32_ARRAY, INT64_ARRAY

LEAF_COSTS = CFUNCTYPE(c_int, c_void_p, c_int64, POINTER(c_int64), POINTER(c_int32), POINTER(c_double))
PROGRESS = CFUNCTYPE(c_int, c_void_p, c_double, c_int64, c_int64, c_int)

_NAMES = ("libtreeml_native.so", "libtreeml_native.dylib", "treeml_native.dll")

_FUNCTIONS: dict[str, tuple[type | None, tuple[object, ...]]] = {
    "treeml_create": (c_void_p, ()),
    "treeml_destroy": (None, (c_void_p,)),
    "treeml_message": (c_char_p, (c_void_p,)),
    "treeml_version": (c_char_p, ()),
    "treeml_tests": (c_int, (c_void_p, BYTE_ARRAY, c_int64, c_int64, INT32_ARRAY)),
    "treeml_counts": (c_int, (c_void_p, INT64_ARRAY)),
    "treeml_forbid": (c_int, (c_void_p, BYTE_ARRAY)),
    "treeml_labels": (c_int, (c_void_p, INT32_ARRAY, INT32, INT64_ARRAY)),
    "treeml_costs": (c_int, (c_void_p, INT64_ARRAY, INT32)),
    "treeml_targets": (c_int, (c_void_p, INT32, INT64_ARRAY, INT32, INT64_ARRAY, INT64_ARRAY, INT32, c_int64)),
    "treeml_round": (c_int, (c_void_p, c_double, c_double)),
    "treeml_custom": (c_int, (c_void_p, LEAF_COSTS, c_void_p)),
    "treeml_column_costs": (c_int, (c_void_p, INT64_ARRAY, INT32)),
    "treeml_leaf_limit": (c_int, (c_void_p, INT64_ARRAY, c_int64)),
    "treeml_purity": (c_int, (c_void_p, INT64_ARRAY, c_int64, c_int64)),
    "treeml_start": (c_int, (c_void_p, INT32_ARRAY, INT32_ARRAY, INT32_ARRAY, c_int64)),
    "treeml_set": (c_int, (c_void_p, c_char_p, c_int64)),
    "treeml_get": (c_int, (c_void_p, c_char_p, POINTER(c_int64))),
    "treeml_options": (c_int32, ()),
    "treeml_option": (
        c_int,
        (c_int32, POINTER(c_char_p), POINTER(c_int64), POINTER(c_int64), POINTER(c_int64), POINTER(c_char_p)),
    ),
    "treeml_watch": (c_int, (c_void_p, PROGRESS, c_void_p)),
    "treeml_solve": (c_int, (c_void_p,)),
    "treeml_interrupt": (None, (c_void_p,)),
    "treeml_choose": (c_int, (c_void_p, INT32)),
    "treeml_status": (c_int32, (c_void_p,)),
    "treeml_stop": (c_int32, (c_void_p,)),
    "treeml_value": (c_int64, (c_void_p,)),
    "treeml_bound": (c_int64, (c_void_p,)),
    "treeml_unit": (c_double, (c_void_p,)),
    "treeml_rounds": (c_int, (c_void_p,)),
    "treeml_slack": (c_int64, (c_void_p,)),
    "treeml_nodes": (c_int64, (c_void_p,)),
    "treeml_tree": (c_int, (c_void_p,) * 5),
    "treeml_statistics": (c_int32, ()),
    "treeml_statistic": (c_int, (c_void_p, c_int32, POINTER(c_char_p), POINTER(c_double), POINTER(c_char_p))),
    "treeml_kernel": (c_char_p, (c_void_p,)),
}


def path() -> Path | None:
    """Where the library is, or None. `TREEML_LIBRARY` names another build, such as one with sanitizers."""
    given = os.environ.get("TREEML_LIBRARY")
    if given:
        return Path(given)
    folder = Path(__file__).resolve().parent
    return next((folder / name for name in _NAMES if (folder / name).exists()), None)


def missing() -> str | None:
    """None if the library is there, or what to do."""
    # Once it is loaded there is no need to look for it: that takes longer than some solves.
    if not library.cache_info().currsize and path() is None:
        return "the C library is not built; install the package with `pip install .` where a C compiler is present"
    return None


@cache
def library() -> ctypes.CDLL:
    """The library; raises ImportError with a sentence if it is not there."""
    found = path()
    if found is None:
        raise ImportError(missing())
    loaded = ctypes.CDLL(str(found))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(loaded, name)
        function.restype = result
        function.argtypes = list(arguments)
    return loaded


@cache
def options() -> dict[str, tuple[int, int, int, str]]:
    """The C library's table of options: name -> lowest, highest, initial value and help."""
    table = {}
    for index in range(library().treeml_options()):
        name, low, high, initial, text = c_char_p(), c_int64(), c_int64(), c_int64(), c_char_p()
        library().treeml_option(index, name, low, high, initial, text)
        assert name.value is not None
        assert text.value is not None
        table[name.value.decode()] = (low.value, high.value, initial.value, text.value.decode())
    return table
