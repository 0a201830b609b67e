"""Ctrl-C -> a flag that a callback can check, instead of an exception in the middle of a solver's code.

Python delivers a signal between two of its own steps: in the first line of a callback as well as inside its `try`. An
exception there is lost on its way through C, and with it the wish to stop. So while a solver runs, the signal only sets
a flag; pressing Ctrl-C again raises as usual, for users who do not want to wait.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

# The function behind `signal.signal`, whose lookup of handlers in an enumeration takes longer than many solves.
_handle = getattr(getattr(signal, "_signal", signal), "signal", signal.signal)


@contextmanager
def listening(raises: bool = True) -> Iterator[Callable[[], bool]]:
    """A function that says whether Ctrl-C was pressed since the block began.

    With `raises`, pressing it a second time raises KeyboardInterrupt. A block that ends before it asks has not heard of
    Ctrl-C; `passing_on` around it raises then.
    """
    pressed = heard = False
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False  # only the main thread receives signals
        return

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed and raises:
            raise KeyboardInterrupt
        pressed = True

    def is_pressed() -> bool:
        nonlocal heard
        heard |= pressed
        return pressed

    before = _handle(signal.SIGINT, note)
    try:
        yield is_pressed
    finally:
        _handle(signal.SIGINT, before)
    if pressed and not heard and isinstance(before, _PassingOn):
        raise KeyboardInterrupt


class _PassingOn:
    """A handler that raises as usual, and that a `listening` block inside knows."""

    def __call__(self, number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt


@contextmanager
def passing_on() -> Iterator[None]:
    """Around work that calls many short solves, and keeps what it has on KeyboardInterrupt: no Ctrl-C is lost.

    A short solve may end before it asks whether Ctrl-C was pressed.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    _handle(signal.SIGINT, _PassingOn())
    try:
        yield
    finally:
        _handle(signal.SIGINT, before)


@contextmanager
def noting(note: Callable[[], None]) -> Iterator[None]:
    """Calls a function on Ctrl-C, then raises as usual: an exception raised during garbage collection would be lost."""
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


def press() -> None:
    """Ctrl-C for this process, as a real signal if there is one: libraries install handlers that only those trigger."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)
