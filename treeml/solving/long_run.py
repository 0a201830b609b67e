"""A run without a time limit that takes long -> a message that says so, and how to end it.

The search itself asks now and then where it can, which costs short runs nothing; a timer does it for other back-ends.
The message is a warning of the logger `treeml`, which goes to standard error unless the program says otherwise.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock, Timer
from time import monotonic

from treeml.backends.contract import Limits

LONG = 10.0  # seconds
MESSAGE = (
    "not finished after %g s, and no time limit is given; Ctrl-C stops with the best %s so far, "
    "and `within 1 min` in the spec, --within 1min or within=60 sets a limit"
)
READING = (
    "still reading after %g s, and no time limit is given; Ctrl-C stops, and `within 1 min` in the spec, --within 1min "
    "or within=60 sets a limit"
)
LOGGER = logging.getLogger("treeml")


class LongRun:
    """One run, which says once that it takes long: while it reads, or later."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._is_said = False

    def say(self, message: str, *details: object) -> None:
        with self._lock:  # a timer of another thread may say it, too
            is_first, self._is_said = not self._is_said, True
        if is_first:
            LOGGER.warning(message, LONG, *details)

    def look(self, begun: float, what: str) -> bool:
        """Says it when it is time; never ends the search."""
        if not self._is_said and monotonic() - begun >= LONG:
            self.say(MESSAGE, what)
        return False


@contextmanager
def long_run_said(
    run: LongRun, limits: Limits, begun: float, *, is_asked: bool, is_limited: bool = False, what: str = "tree"
) -> Iterator[Limits]:
    """Limits for a run that says when it takes long; `is_asked` says that the search asks `Limits.is_over`.

    `is_limited` says that the run has a limit of time of its own, as `improve by ... within 10 s`; `what` is searched.
    """
    if limits.deadline.at < float("inf") or is_limited:
        yield limits
        return
    if is_asked:
        yield replace(limits, is_over=lambda: run.look(begun, what))
        return
    with _timed(begun, lambda: run.say(MESSAGE, what)):
        yield limits


@contextmanager
def long_reading_said(run: LongRun, begun: float, within: float | None) -> Iterator[None]:
    """Says when a file takes long to read, if nothing limits the time."""
    if within is not None:
        yield
        return
    with _timed(begun, lambda: run.say(READING)):
        yield


@contextmanager
def _timed(begun: float, say: Callable[[], None]) -> Iterator[None]:
    """Says it when it is time: at once, or by a timer."""
    left = begun + LONG - monotonic()
    if left <= 0:
        say()
        yield
        return
    timer = Timer(left, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
