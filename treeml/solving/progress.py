"""Progress -> a bar for people: how much of the gap is closed, elapsed time, incumbent, bound and gap."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from treeml.backends.contract import OnProgress, Progress

if TYPE_CHECKING:
    from rich.table import Table

SECONDS_BETWEEN_LINES = 0.1
SECONDS_BETWEEN_LOGGED_LINES = 5.0
WIDTH = 24  # of the bar, in characters


@contextmanager
def progress_shown() -> Iterator[OnProgress]:
    """A callback that shows progress where the user looks: under a cell, on a line of the terminal, or in a log."""
    if in_notebook():
        from treeml.notebook import notebook_progress as shown
    else:
        shown = _terminal_progress if sys.stderr.isatty() else _logged_progress
    with shown() as show:
        yield show


@contextmanager
def progress_line(quiet: bool) -> Iterator[OnProgress | None]:
    """A callback that keeps one line of the terminal up to date; None where nobody would see it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    with _terminal_progress() as show:
        yield show


def in_notebook() -> bool:
    """Does Python run in IPython, and not in its terminal?"""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and type(shell).__name__ != "TerminalInteractiveShell"


def closed(moment: Progress) -> float | None:
    """The share of the gap that is closed; None while nothing is known."""
    if not moment.objective or moment.bound is None:
        return None
    value, bound = float(moment.objective[-1]), float(moment.bound)
    return 1.0 if value == bound else max(0.0, min(1.0, 1 - abs(value - bound) / max(abs(value), abs(bound))))


def progress_text(moment: Progress) -> str:
    """`12.3 s   incumbent 41   bound 38   gap 7.3 %`; values are those of the goal as it is minimized."""
    line = getattr(moment, "line", None)  # a forest says more of itself
    if line is not None:
        return str(line)
    parts = [f"{moment.seconds:.1f} s"]
    value = None if not moment.objective else float(moment.objective[-1])
    parts.append("no tree yet" if value is None else f"incumbent {value:.6g}")
    if moment.bound is not None:
        parts.append(f"bound {float(moment.bound):.6g}")
        if value:
            parts.append(f"gap {100 * abs(value - float(moment.bound)) / abs(value):.1f} %")
    return "   ".join(parts)


@contextmanager
def _terminal_progress() -> Iterator[OnProgress]:
    from rich.console import Console
    from rich.live import Live

    last_shown = 0.0
    with Live(_bar("building ...", None), console=Console(stderr=True), transient=True, auto_refresh=False) as live:

        def show(moment: Progress) -> None:
            nonlocal last_shown
            now = monotonic()
            if now - last_shown >= SECONDS_BETWEEN_LINES:
                last_shown = now
                live.update(_bar(progress_text(moment), closed(moment)), refresh=True)

        yield show


def _bar(text: str, share: float | None) -> Table:
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    line = Table.grid(padding=(0, 2))
    line.add_row(ProgressBar(total=None if share is None else 1.0, completed=share or 0.0, width=WIDTH), Text(text))
    return line


@contextmanager
def _logged_progress() -> Iterator[OnProgress]:
    """Now and then a line of its own, and one at the end: what a file or a pipe can hold."""
    last: Progress | None = None
    last_shown = monotonic()

    def show(moment: Progress) -> None:
        nonlocal last, last_shown
        last = moment
        if monotonic() - last_shown >= SECONDS_BETWEEN_LOGGED_LINES:
            last_shown = monotonic()
            sys.stderr.write(f"treeml: {progress_text(moment)}\n")

    begun = monotonic()
    yield show
    text = f"{monotonic() - begun:.1f} s" if last is None else progress_text(last)
    sys.stderr.write(f"treeml: done   {text}\n")
