"""Mistakes, as they are found -> the list that is shown, in the order of the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from treeml.lang.diagnostic import Diagnostic, Fix, Label, Severity
from treeml.lang.source import Span

Place = tuple[Span | None, str]
Lines = str | tuple[str, ...]

MOST_ALIKE = 50  # findings of one code that are all shown
SHOWN_ALIKE = 10  # findings of one code that are shown if there are more than that


class Findings:
    """Collects diagnostics so that one run shows every mistake; a place without a span is left out."""

    def __init__(self, positive: str = "") -> None:
        self._found: list[Diagnostic] = []
        self.positive = positive  # the class that the spec declares positive, as it writes it; for examples in messages

    def error(
        self, code: str, title: str, *places: Place, note: Lines = (), help: Lines = (), fix: tuple[Fix, ...] = ()
    ) -> None:
        self._found.append(_diagnostic(code, title, places, note, help, fix, Severity.ERROR))

    def warning(
        self, code: str, title: str, *places: Place, note: Lines = (), help: Lines = (), fix: tuple[Fix, ...] = ()
    ) -> None:
        self._found.append(_diagnostic(code, title, places, note, help, fix, Severity.WARNING))

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        self._found.extend(diagnostics)

    @property
    def has_errors(self) -> bool:
        return any(diagnostic.is_error for diagnostic in self._found)

    def in_order(self, sources: Iterable[str] = ()) -> list[Diagnostic]:
        """All findings, each once, by file (in the order of `sources`) and position; those without a span come last."""
        rank = {name: number for number, name in enumerate(sources)}

        def key(diagnostic: Diagnostic) -> tuple[int, int]:
            if not diagnostic.labels:
                return len(rank) + 1, 0
            span = diagnostic.labels[0].span
            return rank.get(span.source.name, len(rank)), span.start

        return _grouped(sorted(dict.fromkeys(self._found), key=key))


def _grouped(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """All findings; if a code occurs too often, its first few, the last of which says how many more there are."""
    count = Counter((found.code, found.severity) for found in diagnostics)
    seen: Counter[tuple[str, Severity]] = Counter()
    shown = []
    for found in diagnostics:
        kind = found.code, found.severity
        seen[kind] += 1
        if count[kind] <= MOST_ALIKE or seen[kind] < SHOWN_ALIKE:
            shown.append(found)
        elif seen[kind] == SHOWN_ALIKE:
            note = f"and {count[kind] - SHOWN_ALIKE:,} more like this"
            shown.append(replace(found, notes=(*found.notes, note)))
    return shown


def _diagnostic(
    code: str,
    title: str,
    places: tuple[Place, ...],
    note: Lines,
    help: Lines,
    fix: tuple[Fix, ...],
    severity: Severity,
) -> Diagnostic:
    labels = tuple(Label(span, text) for span, text in places if span is not None)
    return Diagnostic(code, title, labels, _lines(note), _lines(help), fix, severity=severity)


def _lines(text: Lines) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else text
