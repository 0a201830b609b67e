"""A specification and a place in it -> the param or named requirement there: its definition, its uses, its renaming."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from treeml.editor.analysis import Analysis
from treeml.editor.hover import word_at
from treeml.lang.source import Span
from treeml.lang.syntax import (
    Binarize,
    ColumnCost,
    ColumnRule,
    Features,
    Forbid,
    Name,
    Param,
    Predict,
    Require,
    Set,
    WeightBy,
)
from treeml.lang.words import INNER_WORDS, VERBS, is_bare

_COLUMN_FIELDS = {
    Predict: ("column",),
    Features: ("columns", "excluded"),
    ColumnRule: ("columns", "modifiers"),
    WeightBy: ("column",),
    ColumnCost: ("column",),
    Binarize: ("columns",),
    Forbid: ("columns",),
}


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name with its definition and every place where it stands, the definition included."""

    name: str
    kind: str  # param or requirement
    definition: Span
    places: tuple[Span, ...]


def symbol_at(analysis: Analysis, offset: int) -> Symbol | None:
    """The param or requirement that is named at the offset."""
    word = word_at(analysis, offset)
    if word is None or word.text.startswith("`"):
        return None
    for symbol in symbols(analysis):
        if symbol.name == word.text and any(
            place.start == word.start and place.source == analysis.source for place in symbol.places
        ):
            return symbol
    return None


def symbols(analysis: Analysis) -> Iterator[Symbol]:
    """Every param and every named requirement of the text and of the files that it includes."""
    for name, node in analysis.params.items():
        if node.name_span is not None:
            yield Symbol(name, "param", node.name_span, _sorted({node.name_span, *_uses(analysis, name)}))
    for statement in analysis.everything:
        if isinstance(statement, Require) and statement.name and statement.span is not None:
            source = statement.span.source
            start = source.text.index(statement.name, statement.span.start + len("require"))
            span = Span(source, start, start + len(statement.name))
            yield Symbol(statement.name, "requirement", span, (span,))


def _sorted(places: Iterable[Span]) -> tuple[Span, ...]:
    return tuple(sorted(places, key=lambda span: (span.source.name, span.start)))


def renamed(symbol: Symbol, name: str) -> tuple[Span, ...] | str:
    """The places to change, or why the name cannot be used."""
    if not is_bare(name):
        return f"`{name}` is not a name: use letters, digits and _, and no digit first"
    if name in VERBS or name in INNER_WORDS:
        return f"`{name}` is a word of the language"
    closed = next((place.source.name for place in symbol.places if place.source.hidden), None)
    if closed is not None:
        return f"`{symbol.name}` also stands in {closed}, which is no .tml file in this folder: rename it there first"
    return symbol.places


def _uses(analysis: Analysis, name: str) -> Iterator[Span]:
    for statement in analysis.everything:
        if isinstance(statement, Set) and statement.name == name and statement.name_span is not None:
            yield statement.name_span
        if isinstance(statement, Param) and statement.name == name:
            continue
        skipped = _COLUMN_FIELDS.get(type(statement), ())
        for each in fields(statement):
            if each.name not in skipped:
                yield from _names(getattr(statement, each.name), name)


def _names(node: Any, name: str) -> Iterator[Span]:
    if isinstance(node, Name):
        if node.text == name and not node.quoted and node.span is not None:
            yield Span(node.span.source, node.span.start, node.span.start + len(name))
    elif isinstance(node, tuple):
        for each in node:
            yield from _names(each, name)
    elif is_dataclass(node) and not isinstance(node, (Span, type)):
        for each in fields(node):
            if not each.name.endswith(("span", "spans")):
                yield from _names(getattr(node, each.name), name)
