"""Seconds -> a limit of processor time for this process, where the system has one."""

from __future__ import annotations

import os


def limit_processor(seconds: float) -> tuple[int, int] | None:
    """Limit the processor time, with room for several threads; returns the limit before."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return None
    spent = resource.getrusage(resource.RUSAGE_SELF)
    most = int(min(spent.ru_utime + spent.ru_stime + seconds * (os.cpu_count() or 1), 1e9)) + 1
    before = resource.getrlimit(resource.RLIMIT_CPU)
    least = min([most, *(limit for limit in before if limit != resource.RLIM_INFINITY)])
    resource.setrlimit(resource.RLIMIT_CPU, (least, before[1]))
    return before


def unlimit_processor(before: tuple[int, int] | None) -> None:
    """Restores the limit that `limit_processor` returned."""
    if before is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, before)
