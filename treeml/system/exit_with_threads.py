"""Solver thread that is still running -> an exit of the process that neither waits for it nor aborts.

A thread cannot be killed. If the process ends while a C++ solver still runs in one, the destructors of that library
find its threads running and call `terminate`, so a finished job would end with "Aborted" and exit code 134.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache


@cache
def exit_without_destructors() -> None:
    """Makes the process end right after Python: same exit code, Python's buffers flushed, no destructors.

    glibc's `on_exit` calls a function with the exit code. Here that function is `_exit` itself, so no Python code has
    to run after the interpreter is gone. Other C libraries have no such call, and there nothing changes.
    """
    if os.name == "nt":  # there the program is no library that can be opened
        return
    libc = ctypes.CDLL(None)
    if hasattr(libc, "on_exit"):
        libc.on_exit(ctypes.cast(libc._exit, ctypes.c_void_p), None)
