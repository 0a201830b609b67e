"""Ctrl-C -> a flag that a callback can check, instead of an exception in the middle of a solver's code.

Python delivers a signal between two of its own steps: in the first line of a callback as well as inside its `try`. An
exception there is lost on its way through C, and with it the wish to stop. So while a solver runs, the signal only sets
a flag; pressing Ctrl-C again raises as usual, for users who do not want to wait.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType

SOON = 0.01  # seconds
Handler = Callable[[int, FrameType | None], object]

# The function behind `signal.signal`, whose lookup of handlers in an enumeration takes longer than many solves.
_handle = getattr(getattr(signal, "_signal", signal), "signal", signal.signal)


@contextmanager
def listening(raises: bool = True) -> Iterator[Callable[[], bool]]:
    """A function that says whether Ctrl-C was pressed since the block began.

    With `raises`, pressing it a second time raises KeyboardInterrupt. Inside `passing_on` or `noting` no Ctrl-C is
    lost: one whose exception was dropped before the block began counts as pressed, and one that comes during the block
    is raised at its end if nobody asked.
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
    around = before if isinstance(before, _Raising) else None
    try:
        pressed |= around is not None and around.is_pressed
        yield is_pressed
    finally:
        _handle(signal.SIGINT, before)
    if pressed and not heard and around is not None:
        around(signal.SIGINT, None)


class _Raising:
    """A handler that raises as usual, and remembers it.

    Python drops an exception that is raised while it collects garbage or runs a destructor; a `listening` block that
    begins later asks the handler.
    """

    def __init__(self, note: Callable[[], None], raises: Handler) -> None:
        self.note, self.raises, self.is_pressed = note, raises, False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.is_pressed = True
        self.note()
        self.raises(number, frame)


@contextmanager
def noting(note: Callable[[], None], raises: Handler | None = None) -> Iterator[None]:
    """Calls a function on Ctrl-C, then raises as usual or by `raises`, around work that keeps what it has then."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    _handle(signal.SIGINT, _Raising(note, raises or before))
    try:
        yield
    finally:
        _handle(signal.SIGINT, before)


def passing_on() -> AbstractContextManager[None]:
    """Around work that calls many short solves, and keeps what it has on KeyboardInterrupt: no Ctrl-C is lost.

    A short solve may end before it asks whether Ctrl-C was pressed. KeyboardInterrupt is raised in any case, whatever
    listens around.
    """
    return noting(lambda: None, signal.default_int_handler)


def remembering(note: Callable[[], None]) -> AbstractContextManager[None]:
    """Around work that calls many short solves and looks often at what `note` has changed: Ctrl-C calls it, whether a
    solve listened just then or not, and raises nothing."""
    return noting(note, lambda number, frame: None)


def press_again_if_dropped(dropped: sys.UnraisableHookArgs) -> None:
    """For `sys.unraisablehook`: Ctrl-C comes again if Python drops its exception, as in a destructor.

    It comes from another thread and a moment later, when this hook has ended: an exception in it would be dropped, too.
    """
    if isinstance(dropped.exc_value, KeyboardInterrupt):
        again = threading.Timer(SOON, press)
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(dropped)


def press() -> None:
    """Ctrl-C for this process, as a real signal if there is one: libraries install handlers that only those trigger."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)
