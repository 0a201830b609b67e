"""Progress -> a bar under the cell of a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from treeml.backends.contract import OnProgress, Progress
from treeml.solving.progress_text import closed_share, progress_text
from treeml.trees.html import escaped

SECONDS_BETWEEN_UPDATES = 0.2


@contextmanager
def cell_progress() -> Iterator[OnProgress]:
    """A callback that updates a bar under the cell: the share of the gap that is closed, and the values."""
    from IPython.display import display  # an extra

    shown = display(CellBar("building ..."), display_id=True)
    last = 0.0

    def show(moment: Progress) -> None:
        nonlocal last
        if monotonic() - last >= SECONDS_BETWEEN_UPDATES and shown is not None:
            last = monotonic()
            shown.update(CellBar(progress_text(moment), closed_share(moment)))

    ended = CellBar("stopped", 0.0)
    try:
        yield show
        ended = CellBar("done", 1.0)
    finally:
        if shown is not None:
            shown.update(ended)


class CellBar:
    """One line of progress, as HTML in notebooks and as text in terminals."""

    def __init__(self, text: str, share: float | None = None) -> None:
        self.text = text
        self.share = share

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        value = "" if self.share is None else f' value="{self.share:.3f}"'
        return f"<progress{value}></progress> <code>{escaped(self.text)}</code>"
