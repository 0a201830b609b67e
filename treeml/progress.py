"""Progress -> one live line for people: elapsed, incumbent, bound, gap."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from treeml.backends.contract import OnProgress, Progress

SECONDS_BETWEEN_LINES = 0.1


@contextmanager
def progress_line(quiet: bool) -> Iterator[OnProgress | None]:
    """A callback that keeps one line of the terminal up to date; None where nobody would see it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    last_shown = 0.0
    with Live(Text("building ..."), console=Console(stderr=True), transient=True, auto_refresh=False) as live:

        def show(moment: Progress) -> None:
            nonlocal last_shown
            now = monotonic()
            if now - last_shown >= SECONDS_BETWEEN_LINES:
                last_shown = now
                live.update(Text(progress_text(moment)), refresh=True)

        yield show


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
