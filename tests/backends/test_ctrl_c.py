"""Ctrl-C is noticed wherever Python happens to be."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from treeml.system.interrupt import listening, noting, passing_on


def test_a_suppressed_interrupt_is_still_recorded() -> None:
    heard: list[str] = []
    before = signal.getsignal(signal.SIGINT)
    with noting(lambda: heard.append("note")):
        with contextlib.suppress(KeyboardInterrupt):  # as Python does while it collects garbage
            signal.raise_signal(signal.SIGINT)
            pytest.fail("nothing was raised")
        assert heard == ["note"]
    assert signal.getsignal(signal.SIGINT) is before


def test_the_innermost_listener_hears_an_interrupt_first() -> None:
    heard: list[str] = []
    with noting(lambda: heard.append("note")):
        with listening() as pressed:
            signal.raise_signal(signal.SIGINT)
            assert pressed()
        assert heard == []
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert heard == ["note"]


@pytest.mark.parametrize("around", [passing_on, lambda: noting(lambda: None)])
def test_a_dropped_exception_is_heard_by_the_next_solve(around: Callable[[], AbstractContextManager[None]]) -> None:
    """As if Ctrl-C came while an old model was destroyed: Python drops the exception, and the search goes on."""
    with around():
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with listening() as is_pressed:
            assert is_pressed()
        with pytest.raises(KeyboardInterrupt), listening():
            pass  # it ended before it asked
    with listening() as is_pressed:
        assert not is_pressed()  # the work that was to end has ended


def test_an_interrupt_that_was_noted_is_not_lost_in_a_short_solve() -> None:
    heard: list[str] = []
    with pytest.raises(KeyboardInterrupt), noting(lambda: heard.append("note")), listening():
        signal.raise_signal(signal.SIGINT)
    assert heard == ["note"]


def test_a_listener_around_does_not_keep_short_solves_from_being_interrupted() -> None:
    with listening() as is_pressed:
        with pytest.raises(KeyboardInterrupt), passing_on(), listening():
            signal.raise_signal(signal.SIGINT)
        assert not is_pressed()


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with noting(lambda: pytest.fail("noted")):
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_that_a_short_solve_did_not_hear_is_passed_on() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), passing_on(), listening():
        signal.raise_signal(signal.SIGINT)
    with passing_on(), listening() as is_pressed:
        signal.raise_signal(signal.SIGINT)
        assert is_pressed()  # who asks has heard, and answers for it
    with listening():
        signal.raise_signal(signal.SIGINT)  # the answer is there: nobody is left to be interrupted
    with pytest.raises(KeyboardInterrupt), passing_on():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_that_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with passing_on():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
