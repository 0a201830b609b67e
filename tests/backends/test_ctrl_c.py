"""Ctrl-C is noticed wherever Python happens to be."""

from __future__ import annotations

import contextlib
import signal

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
