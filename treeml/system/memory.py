"""The process -> the memory that it holds, which is watched for solvers that cannot limit themselves."""

from __future__ import annotations

import os

from treeml.system import windows_memory


def resident() -> int:
    """The resident bytes now; if the system does not say, their peak; if it does not say that either, 0."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return windows_memory.counters(os.getpid()).resident if os.name == "nt" else _peak()


def _peak() -> int:
    try:
        import resource
        import sys
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
