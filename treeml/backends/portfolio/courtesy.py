"""Processor times of two threads -> pauses of the second one, so that it takes little from the first.

If there are processors for both, nobody waits. If there are not (one processor, or other work on the machine), every
moment that the exact search had to wait while the companion ran is paid for by a pause of the companion. Whoever found
the last better tree has the larger share of the processor: the pause is as long as the search waited, or up to sixteen
times as long while the search finds better trees itself.
"""

from __future__ import annotations

from threading import Event
from time import monotonic, process_time, thread_time

STRETCH = 0.02  # seconds of work between two looks at the clocks
BUSY = 0.75  # of the time: a search that had a processor for this much of it hardly waited
IDLE = 0.05  # of the time: a search that used less than this wanted no processor, or it runs in another process
# What the search waits, divided by what the companion pauses:
MOST_SHARE = 1.0  # after a better tree of the companion
MIDDLE_SHARE = 0.5  # if nobody has found one for a while
LEAST_SHARE = 1 / 16  # after a better tree of the search
PERIOD = 0.05  # seconds in which the share moves towards the middle, by a factor of 2
MOST_PAUSE = 2.0  # seconds


class Courtesy:
    """Made and used in the companion's thread, apart from `search_succeeded`."""

    def __init__(self) -> None:
        self.share = MIDDLE_SHARE
        self._look()
        self._changed = self._at  # when the share last changed
        self._has_succeeded = self._has_search_succeeded = False

    def _look(self) -> None:
        self._at, self._own, self._all = monotonic(), thread_time(), process_time()

    def succeeded(self) -> None:
        """The companion found a tree that is better than the best of both before."""
        self._has_succeeded = True

    def search_succeeded(self) -> None:
        """The search found one."""
        self._has_search_succeeded = True

    def give_way(self, over: Event) -> None:
        """Called often: pauses for as long as is due, or until the run is over."""
        elapsed = monotonic() - self._at
        if elapsed < STRETCH:
            return
        used = (process_time() - self._all) - (thread_time() - self._own)  # by the search
        self._adapt()
        if IDLE * elapsed < used < BUSY * elapsed:
            self._pause(elapsed - used, over)
        self._look()

    def _pause(self, owed: float, over: Event) -> None:
        """Waits until the time that the search waited is paid for; the share may change meanwhile."""
        left = MOST_PAUSE
        while owed > 0 and left > 0 and not over.is_set():
            seconds = min(STRETCH, left, owed / self.share)
            over.wait(seconds)
            owed, left = owed - seconds * self.share, left - seconds
            self._adapt()

    def _adapt(self) -> None:
        now, before = monotonic(), self.share
        if self._has_succeeded:
            self._has_succeeded, self.share, self._changed = False, MOST_SHARE, now
        elif self._has_search_succeeded:
            self._has_search_succeeded, self.share, self._changed = False, LEAST_SHARE, now
        elif now - self._changed > PERIOD:
            self.share = min(2 * before, MIDDLE_SHARE) if before < MIDDLE_SHARE else max(before / 2, MIDDLE_SHARE)
            self._changed = now
