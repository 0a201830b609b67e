"""Pauses of the companion, by clocks that the tests set."""

from __future__ import annotations

from threading import Event

import pytest

from treeml.backends.portfolio import courtesy
from treeml.backends.portfolio.courtesy import LEAST_SHARE, MOST_PAUSE, MOST_SHARE, PERIOD, STRETCH, Courtesy


class Clocks(Event):
    """The clocks of a process with two threads; an event whose waits are noted, while the search runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.wall = self.own = self.search = 0.0
        self.waits: list[float] = []
        monkeypatch.setattr(courtesy, "monotonic", lambda: self.wall)
        monkeypatch.setattr(courtesy, "thread_time", lambda: self.own)
        monkeypatch.setattr(courtesy, "process_time", lambda: self.own + self.search)

    def run(self, seconds: float, own: float, search: float) -> None:
        """Time passes in which each thread has a processor for a share of it."""
        self.wall += seconds
        self.own += own * seconds
        self.search += search * seconds

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout or 0.0)
        self.run(timeout or 0.0, own=0, search=1)
        return False


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


def test_nobody_waits_if_there_are_two_processors(clocks: Clocks) -> None:
    polite = Courtesy()
    for _ in range(100):
        clocks.run(1.5 * STRETCH, own=1, search=1)
        polite.give_way(clocks)
    assert clocks.waits == []


def test_on_one_processor_the_companion_pauses_for_longer_than_the_search_waited(clocks: Clocks) -> None:
    polite = Courtesy()
    clocks.run(1.5 * STRETCH, own=0.5, search=0.5)
    polite.give_way(clocks)
    assert clocks.waits == pytest.approx([1.5 * STRETCH / 2 / LEAST_SHARE])


def test_the_clocks_are_not_looked_at_all_the_time(clocks: Clocks) -> None:
    polite = Courtesy()
    clocks.run(STRETCH / 2, own=0.5, search=0.5)
    polite.give_way(clocks)
    assert clocks.waits == []


def test_a_pause_does_not_count_as_work(clocks: Clocks) -> None:
    polite = Courtesy()
    for _ in range(3):
        clocks.run(1.5 * STRETCH, own=0.5, search=0.5)
        polite.give_way(clocks)
    assert clocks.waits == pytest.approx([1.5 * STRETCH / 2 / LEAST_SHARE] * 3)


def test_success_makes_pauses_short_and_failure_long_again(clocks: Clocks) -> None:
    polite = Courtesy()
    polite.succeeded()
    shares: list[float] = []
    for _ in range(8):
        clocks.run(2.5 * PERIOD, own=0.5, search=0.5)
        polite.give_way(clocks)
        shares.append(polite.share)
    assert shares[0] == MOST_SHARE
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == LEAST_SHARE


def test_a_search_in_another_process_is_not_waited_for(clocks: Clocks) -> None:
    polite = Courtesy()
    clocks.run(10 * STRETCH, own=1, search=0)
    polite.give_way(clocks)
    assert clocks.waits == []


def test_a_pause_ends(clocks: Clocks) -> None:
    polite = Courtesy()
    clocks.run(1000.0, own=0.5, search=0.5)
    polite.give_way(clocks)
    assert clocks.waits == [MOST_PAUSE]
