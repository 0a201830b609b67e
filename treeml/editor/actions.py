"""A mistake -> edits that an editor offers: its fix, what its labels and helps say to write, or its explanation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from treeml.lang.diagnostic import Diagnostic, Fix
from treeml.lang.source import Span
from treeml.lang.words import VERBS

_CODE = re.compile(r"`([^`]+)`")
_REPLACES = re.compile(r"(?:did you mean|write)\b[^`]*`([^`]+)`")
_STATEMENT = re.compile(rf"(?:{'|'.join(VERBS)})\b")


@dataclass(frozen=True, slots=True)
class Action:
    """One entry of the menu: edits, or (without edits) the page of the code."""

    title: str
    edits: tuple[Fix, ...] = ()
    is_preferred: bool = False
    code: str = ""  # to explain


def actions(diagnostic: Diagnostic) -> Iterator[Action]:
    """Every repair that the message itself names; a help without code leads to its explanation."""
    if diagnostic.fix:
        yield Action(_title(diagnostic.fix), tuple(diagnostic.fix), is_preferred=True)
    span = diagnostic.labels[0].span if diagnostic.labels else None
    offered = {fix.replacement for fix in diagnostic.fix}
    for label in diagnostic.labels:
        for written in _REPLACES.findall(label.text):
            if "..." not in written and written not in offered:
                offered.add(written)
                yield Action(f"Write `{written}`", (Fix(label.span, written),))
    for help in diagnostic.helps:
        yield _of_help(help, span, diagnostic.code)


def _of_help(help: str, span: Span | None, code: str) -> Action:
    explained = Action(help, code=code)
    if span is None:
        return explained
    statements = [written for written in _CODE.findall(help) if _STATEMENT.match(written) and "..." not in written]
    if statements and not re.match(r"(did you mean|it reads like)", help):
        if re.match(r"write (the goal|.*each)", help) or len(statements) > 1:
            return Action(help, (Fix(_line(span), "\n".join(statements)),))
        return Action(help, (_below(span, statements[0]),))
    replaced = _REPLACES.match(help)
    if replaced is not None and "..." not in replaced[1]:
        return Action(help, (Fix(span, replaced[1]),))
    return explained


def _line(span: Span) -> Span:
    """The line of a span, without its indentation and its comment."""
    text = span.source.text
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.start)
    line = text[start : len(text) if end < 0 else end]
    kept = line.partition("#")[0].rstrip()
    return Span(span.source, start + len(line) - len(line.lstrip()), start + len(kept))


def _below(span: Span, statement: str) -> Fix:
    """A new line below that of the span; a param stands above its use."""
    text = span.source.text
    if statement.startswith("param "):
        start = text.rfind("\n", 0, span.start) + 1
        return Fix(Span(span.source, start, start), f"{statement}\n")
    end = text.find("\n", span.start)
    end = len(text) if end < 0 else end
    return Fix(Span(span.source, end, end), f"\n{statement}")


def _title(fix: tuple[Fix, ...]) -> str:
    written = fix[0].replacement.replace("\n", "; ")
    return f"Write `{written}`" if written else f"Remove `{fix[0].span.text}`"
