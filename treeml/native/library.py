"""The compiled library of the package, opened with ctypes."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path

NAMES = ("libtreeml_native.so", "libtreeml_native.dylib", "libtreeml_native.dll", "treeml_native.dll")


@cache
def open_library() -> ctypes.CDLL:
    """`TREEML_LIBRARY` names another build of it, such as one with sanitizers."""
    given = os.environ.get("TREEML_LIBRARY")
    if given:
        return ctypes.CDLL(given)
    folder = Path(__file__).parent
    for name in NAMES:
        if (folder / name).exists():
            return ctypes.CDLL(str(folder / name))
    raise FileNotFoundError(f"{folder} holds no compiled library; install the package, or run `make test` in a checkout")
