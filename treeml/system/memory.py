"""How much memory the process holds: what a solver cannot limit by itself is limited by watching this."""

from __future__ import annotations

import os


def resident() -> int:
    """Bytes in memory now; where the system does not say, the most there ever were, or 0 if it does not say that."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return _peak()


def _peak() -> int:
    try:
        import resource
        import sys
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
