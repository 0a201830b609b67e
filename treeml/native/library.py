"""The compiled library of the package, or another build of it."""

from __future__ import annotations

import ctypes
import os
from functools import cache

from treeml.native import load


@cache
def open_library() -> ctypes.CDLL:
    """`TREEML_LIBRARY` names another build, such as one with sanitizers."""
    given = os.environ.get("TREEML_LIBRARY")
    if given:
        return ctypes.CDLL(given)
    found = load.path()
    if found is None:
        raise ImportError(load.missing())
    return ctypes.CDLL(str(found))
