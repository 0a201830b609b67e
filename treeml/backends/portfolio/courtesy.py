"""Processor times of two threads -> pauses of the second one, so that it takes little from the first.

If there are processors for both, nobody waits. If there are not (one processor, or other work on the machine), every
moment that the exact search had to wait while the companion ran is paid for by a pause of the companion. A companion
that finds better trees pauses for as long as the search waited; one that finds none pauses up to sixteen times as long.
"""

from __future__ import annotations

from threading import Event
from time import monotonic, process_time, thread_time

STRETCH = 0.02  # seconds of work between two looks at the clocks
BUSY = 0.75  # of the time: a search that had a processor for this much of it hardly waited
IDLE = 0.05  # of the time: a search that used less than this wanted no processor, or it runs in another process
MOST_SHARE = 1.0  # what the search waits, divided by what the companion pauses: after a success
LEAST_SHARE = 1 / 16
MOST_PAUSE = 2.0  # seconds
PERIOD = 0.1  # processor seconds without a success after which the share is halved


class Courtesy:
    """Made and used in the companion's thread."""

    def __init__(self) -> None:
        self.share = LEAST_SHARE  # until it has found something
        self._look()
        self._tried = self._own  # the thread's processor time when its share last changed
        self._has_succeeded = False

    def _look(self) -> None:
        self._at, self._own, self._all = monotonic(), thread_time(), process_time()

    def succeeded(self) -> None:
        """The companion found a tree that is better than the best of both before."""
        self._has_succeeded = True

    def give_way(self, over: Event) -> None:
        """Called often: pauses for as long as is due, or until the run is over."""
        elapsed = monotonic() - self._at
        if elapsed < STRETCH:
            return
        own = thread_time()
        used = (process_time() - self._all) - (own - self._own)  # by the search
        self._adapt(own)
        if IDLE * elapsed < used < BUSY * elapsed:
            over.wait(min(MOST_PAUSE, (elapsed - used) / self.share))
        self._look()

    def _adapt(self, own: float) -> None:
        if self._has_succeeded:
            self._has_succeeded, self.share, self._tried = False, MOST_SHARE, own
        elif own - self._tried > PERIOD:
            self.share, self._tried = max(LEAST_SHARE, self.share / 2), own
