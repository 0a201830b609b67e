"""Pauses of the companion, by clocks that the tests set."""

from __future__ import annotations

from threading import Event

import pytest

from treeml.backends.portfolio import courtesy
from treeml.backends.portfolio.courtesy import (
    LEAST_SHARE,
    MIDDLE_SHARE,
    MOST_PAUSE,
    MOST_SHARE,
    PERIOD,
    STRETCH,
    Courtesy,
)


class Clocks(Event):
    """The clocks of a process with two threads; an event whose waits are noted, while the search runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.wall = self.own = self.search = self.waited = 0.0
        monkeypatch.setattr(courtesy, "monotonic", lambda: self.wall)
        monkeypatch.setattr(courtesy, "thread_time", lambda: self.own)
        monkeypatch.setattr(courtesy, "process_time", lambda: self.own + self.search)

    def run(self, seconds: float, own: float, search: float) -> None:
        """Time passes in which each thread has a processor for a share of it."""
        self.wall += seconds
        self.own += own * seconds
        self.search += search * seconds

    def wait(self, timeout: float | None = None) -> bool:
        self.waited += timeout or 0.0
        self.run(timeout or 0.0, own=0, search=1)
        return self.is_set()


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


def test_nobody_waits_if_there_are_two_processors(clocks: Clocks) -> None:
    polite = Courtesy()
    for _ in range(100):
        clocks.run(2 * STRETCH, own=1, search=1)
        polite.give_way(clocks)
    assert clocks.waited == 0


def test_on_one_processor_the_companion_pays_for_what_the_search_waited(clocks: Clocks) -> None:
    polite = Courtesy()
    clocks.run(2 * STRETCH, own=0.5, search=0.5)
    polite.give_way(clocks)
    assert clocks.waited == pytest.approx(STRETCH / MIDDLE_SHARE)


def test_the_clocks_are_not_looked_at_all_the_time(clocks: Clocks) -> None:
    polite = Courtesy()
    clocks.run(STRETCH / 2, own=0.5, search=0.5)
    polite.give_way(clocks)
    assert clocks.waited == 0


def test_a_pause_does_not_count_as_work(clocks: Clocks) -> None:
    polite = Courtesy()
    for _ in range(3):
        clocks.run(2 * STRETCH, own=0.5, search=0.5)
        polite.give_way(clocks)
    assert clocks.waited == pytest.approx(3 * STRETCH / MIDDLE_SHARE)


def test_whoever_finds_better_trees_has_the_larger_share(clocks: Clocks) -> None:
    polite = Courtesy()
    for tell, share in ((polite.succeeded, MOST_SHARE), (polite.search_succeeded, LEAST_SHARE)):
        tell()
        clocks.run(2 * STRETCH, own=1, search=1)
        polite.give_way(clocks)
        assert polite.share == share
        for _ in range(8):
            clocks.run(2 * PERIOD, own=1, search=1)
            polite.give_way(clocks)
        assert polite.share == MIDDLE_SHARE


def test_a_pause_is_shorter_if_the_search_finds_nothing_meanwhile(clocks: Clocks) -> None:
    polite = Courtesy()
    polite.search_succeeded()
    clocks.run(4 * STRETCH, own=0.5, search=0.5)
    polite.give_way(clocks)
    assert 2 * STRETCH / MIDDLE_SHARE < clocks.waited < 2 * STRETCH / LEAST_SHARE


def test_a_search_in_another_process_is_not_waited_for(clocks: Clocks) -> None:
    polite = Courtesy()
    clocks.run(10 * STRETCH, own=1, search=0)
    polite.give_way(clocks)
    assert clocks.waited == 0


def test_a_pause_ends(clocks: Clocks) -> None:
    polite = Courtesy()
    clocks.run(1000.0, own=0.5, search=0.5)
    polite.give_way(clocks)
    assert clocks.waited == pytest.approx(MOST_PAUSE)


def test_a_pause_ends_with_the_run(clocks: Clocks) -> None:
    polite = Courtesy()
    clocks.set()
    clocks.run(1000.0, own=0.5, search=0.5)
    polite.give_way(clocks)
    assert clocks.waited == 0
