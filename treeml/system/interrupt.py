"""Ctrl-C -> a question that a callback can ask, instead of an exception in the middle of a solver's code.

Python delivers a signal between two of its own steps: in the first line of a callback as well as inside its `try`. An
exception there is lost on its way through C, and with it the wish to stop. While a solver works, the signal therefore
only sets a flag; pressing Ctrl-C again raises as usual, for whoever will not wait.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

# What `signal.signal` wraps: the wrapper looks every handler up in an enumeration, which takes longer than many solves.
_handle = getattr(signal.signal, "__wrapped__", signal.signal)


@contextmanager
def listening(raises: bool = True) -> Iterator[Callable[[], bool]]:
    """A function that says whether Ctrl-C was pressed since the block began; without `raises` that is all it does."""
    pressed = False
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False  # only the main thread is told of signals
        return

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed and raises:
            raise KeyboardInterrupt
        pressed = True

    before = _handle(signal.SIGINT, note)
    try:
        yield lambda: pressed
    finally:
        _handle(signal.SIGINT, before)


@contextmanager
def noting(note: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C raises as it did before, and is noted first: Python loses what is raised while it collects garbage."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    raises = before

    def heard(number: int, frame: FrameType | None) -> None:
        note()
        raises(number, frame)

    _handle(signal.SIGINT, heard)
    try:
        yield
    finally:
        _handle(signal.SIGINT, before)
