"""Progress -> a bar: the share of the gap that is closed, the value of the best tree, its bound, and the time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from treeml.backends.contract import OnProgress, Progress
from treeml.solving.progress_text import closed_share, progress_text

if TYPE_CHECKING:
    from rich.table import Table

SECONDS_BETWEEN_LINES = 0.1
SECONDS_BETWEEN_LOGGED_LINES = 5.0
WIDEST_BAR = 24  # in characters
NARROWEST_BAR = 6  # a line that has less room shows no bar


@contextmanager
def progress_shown() -> Iterator[OnProgress]:
    """A callback that shows progress under the cell of a notebook, on a line of the terminal, or in a log."""
    if in_notebook():
        from treeml.solving.cell_progress import cell_progress as shown  # needs IPython, an extra
    else:
        shown = _terminal_progress if sys.stderr.isatty() else _logged_progress
    with shown() as show:
        yield show


@contextmanager
def progress_line(quiet: bool) -> Iterator[OnProgress | None]:
    """A callback that updates one line of the terminal; None if standard error is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    with _terminal_progress() as show:
        yield show


def in_notebook() -> bool:
    """Does Python run in a notebook, and not in a terminal of IPython?"""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and type(shell).__name__ != "TerminalInteractiveShell"


@contextmanager
def _terminal_progress() -> Iterator[OnProgress]:
    from rich.console import Console
    from rich.live import Live

    last_shown = 0.0
    console = Console(stderr=True)
    with Live(_bar("building ...", None, console.width), console=console, transient=True, auto_refresh=False) as live:

        def show(moment: Progress) -> None:
            nonlocal last_shown
            now = monotonic()
            if now - last_shown >= SECONDS_BETWEEN_LINES:
                last_shown = now
                live.update(_bar(progress_text(moment), closed_share(moment), console.width), refresh=True)

        yield show


def _bar(text: str, share: float | None, columns: int) -> Table:
    """The text, behind a bar if the terminal has room for both."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    line = Table.grid(padding=(0, 2))
    shown = Text(text, no_wrap=True, overflow="ellipsis")
    room = min(WIDEST_BAR, columns - len(text) - 3)
    if room < NARROWEST_BAR:
        line.add_row(shown)
    else:
        line.add_row(ProgressBar(total=None if share is None else 1.0, completed=share or 0.0, width=room), shown)
    return line


@contextmanager
def _logged_progress() -> Iterator[OnProgress]:
    """A line from time to time and one at the end, for files and pipes."""
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
    sys.stderr.write(f"treeml: done, {text}\n")
