"""The names of columns -> a refusal if two of them are the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from treeml.lang.diagnostic import DataError, Diagnostic, Label
from treeml.lang.source import Span

_MOST_REPEATS = 8  # repeated names that are reported one by one


def refuse_repeats(names: Sequence[str], source: str, span: Span | None) -> None:
    """Two columns of the same name cannot be distinguished, so the table is refused."""
    seen: dict[str, int] = {}
    mistakes: list[Diagnostic] = []
    more = 0
    for position, name in enumerate(names, start=1):
        if name in seen and len(mistakes) == _MOST_REPEATS:
            more += 1
        elif name in seen:
            title = f"{source} has two columns called `{name}`"
            where = f"columns {seen[name]} and {position}"
            helps = ("rename one of them in the header",)
            labels = () if span is None else (Label(span, where),)
            notes = (where,) if span is None else ()
            mistakes.append(Diagnostic("D408", title, labels, notes, helps, place=source))
        seen.setdefault(name, position)
    if more:
        mistakes[-1] = replace(mistakes[-1], notes=(*mistakes[-1].notes, f"and {more} more columns have a name twice"))
    if mistakes:
        raise DataError(mistakes)
