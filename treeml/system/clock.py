"""The operating system -> the time of the monotonic clock at which this process began.

A limit of time given on the command line counts from there, since loading Python and its libraries takes time that the
user waits for too.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

_LOADED = time.monotonic()
_LONGEST_LOADING = 60.0  # seconds; a greater age means that the clocks disagree


def process_began() -> float:
    """When this process began; where the system does not say, when this module was loaded."""
    try:
        text = Path("/proc/self/stat").read_text()
        ticks = int(text.rpartition(")")[2].split()[19])  # the 22nd field; the second is a name and may hold spaces
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (AttributeError, IndexError, OSError, ValueError):
        return _LOADED
    # The boot clock goes on while a machine sleeps, and the monotonic clock does not.
    return min(_LOADED, max(time.monotonic() - age, _LOADED - _LONGEST_LOADING))
