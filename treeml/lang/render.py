"""A diagnostic -> text for people, a line for tools, or JSON; and its fixes -> corrected text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeml.lang.display import MOST_OF_A_SENTENCE, json_text, shown, visible, width
from treeml.lang.source import Source, Span

if TYPE_CHECKING:
    from treeml.lang.diagnostic import Diagnostic, Fix, Label

WIDEST_LINE = 160  # columns of a source line that are shown; a longer line is cut around the caret
TAB = 4


def render(diagnostic: Diagnostic, format: str = "full") -> str:
    """The diagnostic in one of three forms: `full` with the user's lines, `concise` on one line, `json` on one line."""
    match format:
        case "full":
            return _full(diagnostic)
        case "concise":
            place = str(diagnostic.labels[0].span) if diagnostic.labels else diagnostic.place
            head = f"{diagnostic.severity.value}[{diagnostic.code}]: {_sentence(diagnostic.title)}"
            return f"{_sentence(place)}: {head}" if place else head
        case "json":
            return json_text(_as_object(diagnostic))
    raise ValueError(f"no format is called {format!r}: choose full, concise or json")


def apply_fixes(source: Source, diagnostics: Iterable[Diagnostic]) -> str:
    """The text of the source with its fixes applied; of two that overlap, only the first."""
    fixes = [fix for diagnostic in diagnostics for fix in diagnostic.fix if fix.span.source.text == source.text]
    text, done = [], 0
    for fix in sorted(dict.fromkeys(fixes), key=lambda fix: (fix.span.start, fix.span.end)):
        if fix.span.start < done:
            continue
        text += [source.text[done : fix.span.start], fix.replacement]
        done = fix.span.end
    return "".join(text) + source.text[done:]


def _full(diagnostic: Diagnostic) -> str:
    lines = [f"{diagnostic.severity.value}[{diagnostic.code}]: {_sentence(diagnostic.title)}"]
    places = _places(tuple(label for label in diagnostic.labels if not label.span.source.hidden))
    gutter = " " * max((len(str(place.line)) for place in places), default=1)
    if diagnostic.labels:
        lines.append(f"{gutter}--> {_sentence(str(diagnostic.labels[0].span))}")
    elif diagnostic.place:
        lines.append(f"{gutter}--> {_sentence(diagnostic.place)}")
    lines += _excerpts(places, gutter)
    lines += [f"{gutter} = note: {_sentence(note)}" for note in diagnostic.notes]
    lines += [f"{gutter} = help: {_sentence(help)}" for help in diagnostic.helps]
    if _worth_naming(diagnostic):
        lines.append(f"{gutter} = fix: treeml check --fix {_sentence(diagnostic.fix[0].span.source.name)}")
    return "\n".join(lines)


def _sentence(text: str) -> str:
    """A title, a note or a place, made safe to print: it may quote names from the user's files."""
    return shown(text, MOST_OF_A_SENTENCE)


def _worth_naming(diagnostic: Diagnostic) -> bool:
    """Does the message need a line about --fix? Not if a label already says `write ...`."""
    return bool(diagnostic.fix) and not any(label.text.startswith("write ") for label in diagnostic.labels)


@dataclass(frozen=True, slots=True)
class _Place:
    """A label on the first line of its span."""

    source: Source
    line: int
    start: int  # columns of the line, from zero
    end: int
    text: str


def _places(labels: tuple[Label, ...]) -> list[_Place]:
    """Labels in the order of the text; the file of the first label comes first."""
    places = []
    for label in labels:
        source, span = label.span.source, label.span
        line, column = source.position(span.start)
        length = max(1, min(span.end, source.starts[line - 1] + len(source.line(line))) - span.start)
        places.append(_Place(source, line, column - 1, column - 1 + length, label.text))
    files = list(dict.fromkeys(place.source.name for place in places))
    return sorted(places, key=lambda place: (files.index(place.source.name), place.line))


def _excerpts(places: list[_Place], gutter: str) -> list[str]:
    lines: list[str] = []
    before: _Place | None = None
    for place in places:
        if before is None:
            lines.append(f"{gutter} |")
        elif place.source.name != before.source.name:
            file = f"{_sentence(place.source.name)}:{place.line}:{place.start + 1}"
            lines += [f"{gutter} |", f"{gutter}::: {file}", f"{gutter} |"]
        elif place.line > before.line + 1:
            lines.append(f"{gutter} ~")
        text, carets = _with_carets(place)
        if before is None or (place.source.name, place.line) != (before.source.name, before.line):
            lines.append(f"{str(place.line).rjust(len(gutter))} | {text}")
        lines.append(f"{gutter} | {carets} {_sentence(place.text)}".rstrip())
        before = place
    if places:
        lines.append(f"{gutter} |")
    return lines


def _with_carets(place: _Place) -> tuple[str, str]:
    """The line as a terminal shows it, and carets below the span."""
    line = place.source.line(place.line)
    first, last = 0, len(line)
    if len(line) > WIDEST_LINE:
        first = max(0, min(place.start - WIDEST_LINE // 3, len(line) - WIDEST_LINE))
        last = first + WIDEST_LINE
    opening, closing = "..." if first > 0 else "", "..." if last < len(line) else ""
    before, marked = _visible(line[first : place.start]), _visible(line[place.start : min(place.end, last)])
    after = _visible(line[max(first, min(place.end, last)) : last])
    carets = " " * (len(opening) + width(before)) + "^" * max(1, width(marked))
    return (opening + before + marked + after + closing).rstrip(), carets


def _visible(text: str) -> str:
    return visible(text.replace("\t", " " * TAB))


def _as_object(diagnostic: Diagnostic) -> dict[str, object]:
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "title": diagnostic.title,
        "place": diagnostic.place or (str(diagnostic.labels[0].span) if diagnostic.labels else ""),
        "labels": [{**_span_object(label.span), "text": label.text} for label in diagnostic.labels],
        "notes": list(diagnostic.notes),
        "helps": list(diagnostic.helps),
        "fixes": [_fix_object(fix) for fix in diagnostic.fix],
    }


def _span_object(span: Span) -> dict[str, object]:
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {
        "file": span.source.name,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
    }


def _fix_object(fix: Fix) -> dict[str, object]:
    return {**_span_object(fix.span), "replacement": fix.replacement}
