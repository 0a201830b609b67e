"""An untrusted specification -> an error if it is too large; trusted ones only have the limits of the parser."""

from __future__ import annotations

import re
from collections.abc import Sequence

from treeml.lang import trust
from treeml.lang.diagnostic import Diagnostic, Label
from treeml.lang.findings import Findings
from treeml.lang.source import Source, Span
from treeml.lang.syntax import Statement

_WORD = re.compile(r'#[^\n]*|"(?:\\.|[^"\\\n])*"?|`(?:\\.|[^`\\\n])*`?|\w+(?:\.\d+)?')


def too_large(statements: Sequence[Statement], findings: Findings) -> bool:
    """Report the first limit that the specification exceeds with everything it includes."""
    sources = {id(each.span.source): each.span.source for each in statements if each.span is not None}
    texts = [source for source in sources.values() if not source.by_caller]
    flaw = next(filter(None, map(flaw_of, texts)), None)
    length = sum(len(source.text) for source in texts)
    if flaw is None and length > trust.CHARACTERS:
        flaw = _refusal(f"{length:,} characters with all that is included", trust.CHARACTERS, texts[0])
    if flaw is None and len(statements) > trust.STATEMENTS:
        place = statements[trust.STATEMENTS].span
        flaw = _refusal(f"{len(statements):,} statements", trust.STATEMENTS, texts[0] if texts else None, place)
    findings.extend([] if flaw is None else [flaw])
    return flaw is not None


def flaw_of(source: Source) -> Diagnostic | None:
    """The first thing in one text that is too long, if any: the whole, a name, a text in quotes or a number."""
    if len(source.text) > trust.CHARACTERS:
        return _refusal(f"{len(source.text):,} characters", trust.CHARACTERS, source)
    for match in _WORD.finditer(source.text):
        word, size = match[0], match.end() - match.start()
        most = trust.DIGITS if word[0].isdecimal() else trust.NAME
        if size > most and word[0] != "#":
            what = "a number" if word[0].isdecimal() else "a name or a text"
            place = Span(source, match.start(), match.end())
            return _refusal(f"{what} of {size:,} characters", most, source, place)
    return None


def _refusal(what: str, most: int, source: Source | None, place: Span | None = None) -> Diagnostic:
    labels = () if place is None or place.source.hidden else (Label(place, "too much"),)
    return Diagnostic(
        "A805",
        f"a specification that is not trusted has {what}, and at most {most:,} are allowed",
        labels,
        helps=("make it shorter; SECURITY.md lists the limits",),
        place="" if source is None else source.name,
    )
