"""A solver thread that is still running -> an end of the process that does not wait for it and does not abort.

A thread cannot be killed. When the process ends while a C++ solver still runs in one, the destructors of that library
find its threads at work and call `terminate`, so that a finished job would end with "Aborted" and exit code 134.
"""

from __future__ import annotations

import ctypes
from functools import cache


@cache
def exit_without_destructors() -> None:
    """From now on the process ends right after Python has: same exit code, Python's buffers flushed, nothing else run.

    `on_exit` of glibc calls a function with the exit code; `_exit` itself is that function, so no Python code has to
    run after the interpreter is gone. Other C libraries have no such call, and there nothing changes.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "on_exit"):
        libc.on_exit(ctypes.cast(libc._exit, ctypes.c_void_p), None)
