"""Limits of time and memory -> a process that ends itself when it exceeds them.

Back-ends keep their own limits; this covers everything else (reading, checking, building), and attacks. A thread
watches the clock and the memory, and the system limits processor time, in case a long call of C keeps the thread from
running.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from treeml.lang.diagnostic import Diagnostic
from treeml.system.processor import limit_processor, unlimit_processor

SPENT = 4  # the exit code: a limit was reached with no tree
GRACE = 30.0  # extra seconds in which the best tree so far is verified and printed
SPARE = 500_000_000  # bytes for Python and its libraries
_EVERY = 0.05  # seconds


@contextmanager
def watched(seconds: float, memory: int, show: Callable[[Diagnostic], None]) -> Iterator[None]:
    """End this process if the block exceeds the limits; `show` prints the message."""
    done = threading.Event()
    thread = threading.Thread(target=_look, args=(done, seconds, memory, show), daemon=True)
    thread.start()
    before = limit_processor(seconds + GRACE)
    try:
        yield
    finally:
        done.set()
        unlimit_processor(before)


def _look(done: threading.Event, seconds: float, memory: int, show: Callable[[Diagnostic], None]) -> None:
    from treeml.system.memory import resident

    deadline = monotonic() + seconds + GRACE
    while not done.wait(_EVERY):
        if monotonic() > deadline:
            _end(f"it took more than {seconds:g} seconds, and {GRACE:g} more to end", show)
        if resident() > memory + SPARE:
            _end(f"it took more than {memory / 1e6:,.0f} MB, and {SPARE / 1e6:,.0f} MB more for Python itself", show)


def _end(reason: str, show: Callable[[Diagnostic], None]) -> None:
    show(
        Diagnostic(
            "A807",
            "a specification that is not trusted took all that it may have",
            notes=(reason,),
            helps=("give it more with --within and --memory",),
        )
    )
    sys.stderr.flush()
    os._exit(SPENT)
