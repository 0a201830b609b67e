"""A mistake -> edits that an editor offers: its fix, what its labels and helps say to write, or its explanation.

A message says what to write, but not always in the place of which words. So the likely places are tried in turn, and an
edit is offered only if the text that it makes has one mistake less and no new one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from treeml.lang.check import check_source
from treeml.lang.diagnostic import Diagnostic, Fix
from treeml.lang.source import Source, Span
from treeml.lang.trust import distrusted
from treeml.lang.words import VERBS

MOST_CHECKS = 8  # of edited texts, for one mistake: an editor waits for the answer
_CODE = re.compile(r"`([^`]+)`")
_REPLACES = re.compile(r"(?:did you mean|write)\b[^`]*`([^`]+)`")
_STATEMENT = re.compile(rf"(?:{'|'.join(VERBS)})\b")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Action:
    """One entry of the menu: edits, or (without edits) the page of the code."""

    title: str
    edits: tuple[Fix, ...] = ()
    is_preferred: bool = False
    code: str = ""  # to explain


def actions(diagnostic: Diagnostic) -> Iterator[Action]:
    """Every repair that the message itself names; a help that names none leads to its explanation."""
    if diagnostic.fix:
        yield Action(_title(diagnostic.fix), tuple(diagnostic.fix), is_preferred=True)
    offered = {fix.replacement for fix in diagnostic.fix}
    trial = _Trial(diagnostic)
    for label in diagnostic.labels:
        for written in _REPLACES.findall(label.text):
            edit = trial.repair([written], label.span) if written not in offered else None
            if edit is not None:
                offered.add(written)
                yield Action(f"Write `{written}`", (edit,))
    for help in diagnostic.helps:
        span = diagnostic.labels[0].span if diagnostic.labels else None
        edit = trial.repair(_suggested(help), span) if span is not None else None
        yield Action(help, (edit,)) if edit is not None else Action(help, code=diagnostic.code)


def _suggested(help: str) -> list[str]:
    """What a help says to write, the likeliest first: several statements together, then each text alone."""
    codes = [written for written in _CODE.findall(help) if not written.startswith("treeml ")]
    statements = [written for written in codes if _STATEMENT.match(written)]
    if len(statements) > 1:
        codes.insert(0, "\n".join(statements))
    return codes


@dataclass(slots=True)
class _Trial:
    """One mistake, and the texts that were checked to repair it."""

    diagnostic: Diagnostic
    known: dict[str, Counter[tuple[str, str]]] = field(default_factory=dict)

    def repair(self, suggested: Sequence[str], span: Span) -> Fix | None:
        """The first edit that removes the mistake."""
        for written in suggested:
            if "..." in written:
                continue
            for place in _places(written, span):
                edit = Fix(place, _fitted(written, place))
                if self._repairs(edit):
                    return edit
        return None

    def _repairs(self, edit: Fix) -> bool:
        source = edit.span.source
        before = self._mistakes(source, source.text)
        text = source.text[: edit.span.start] + edit.replacement + source.text[edit.span.end :]
        if before is None or text == source.text or (after := self._mistakes(source, text)) is None:
            return False
        own = (self.diagnostic.code, self.diagnostic.title)
        # A mistake that only the data show is not seen here: then the edit must not add one.
        return not after - before and (own not in before or after[own] < before[own])

    def _mistakes(self, source: Source, text: str) -> Counter[tuple[str, str]] | None:
        """The mistakes of a text; None if too many were checked."""
        if text not in self.known:
            if len(self.known) > MOST_CHECKS:
                return None
            edited = Source(source.name, text, source.path, source.by_caller, source.hidden)
            found = check_source(edited, untrusted=distrusted())[1]
            own = self.diagnostic
            self.known[text] = Counter(
                (each.code, each.title) for each in found if each.is_error or each.code == own.code
            )
        return self.known[text]


def _places(written: str, span: Span) -> Iterator[Span]:
    """Where a text may belong, the likeliest first. A place without length is a new line."""
    line, text = _line(span), span.source.text
    if _STATEMENT.match(written):
        if written.startswith("param "):  # which stands above its use
            yield Span(span.source, line.start, line.start)
        yield line
        yield Span(span.source, line.end, line.end)
    yield span
    # The words that a message is about may be the end of what it says to write: `>= 90` of `accuracy >= 90%`.
    first = _WORD.match(written)
    start = text.rfind(first[0], line.start, span.end) if first is not None else -1
    if start >= 0:
        closed = text.find(")", span.end - 1, line.end) + 1
        for end in (span.end, closed, line.end):
            if end > start:
                yield Span(span.source, start, end)


def _fitted(written: str, place: Span) -> str:
    """The text, with the ends of lines that a new line needs."""
    if place.start < place.end:
        return written
    return f"{written}\n" if written.startswith("param ") else f"\n{written}"


def _line(span: Span) -> Span:
    """The line of a span, without its indentation and its comment."""
    text = span.source.text
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.start)
    line = text[start : len(text) if end < 0 else end]
    kept = line.partition("#")[0].rstrip()
    return Span(span.source, start + len(line) - len(line.lstrip()), start + len(kept))


def _title(fix: tuple[Fix, ...]) -> str:
    written = fix[0].replacement.replace("\n", "; ")
    return f"Write `{written}`" if written else f"Remove `{fix[0].span.text}`"
