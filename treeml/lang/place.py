"""Statements built in Python -> the same statements with spans in the text that they print.

A message about them can then quote that text and point into it, as it does for a file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, TypeVar

from treeml.lang.source import Source, Span
from treeml.lang.syntax import Call, Name, Relation, Statement
from treeml.lang.write import ColumnName, Node, Operator, OwnName, pieces, write

AnyNode = TypeVar("AnyNode", bound=Node)


def place(statements: Iterable[Statement]) -> list[Statement]:
    """All statements, each with spans; those from a file keep the spans they have."""
    given = list(statements)
    lines = ["" if statement.span is not None else f"{write(statement)}\n" for statement in given]
    source = Source("the model", "".join(lines), by_caller=True)
    placed, start = [], 0
    for statement, line in zip(given, lines, strict=True):
        placed.append(_placed(statement, source, start)[0] if line else statement)
        start += len(line)
    return placed


def _placed(node: AnyNode, source: Source, start: int) -> tuple[AnyNode, int]:
    """The node with its spans, and where its text ends."""
    at = start
    inner: dict[int, list[Any]] = {}  # placed nodes by the id of the original, which may occur twice
    changes: dict[str, Any] = {}
    operators: list[Span] = []
    for piece in pieces(node):
        if isinstance(piece, str):
            span = Span(source, at, at + len(piece))
            at = span.end
            if isinstance(piece, OwnName):
                changes["name_span"] = span
            elif isinstance(piece, Operator):
                operators.append(span)
        elif isinstance(piece, ColumnName):
            name, at = _named(piece, source, at)
            inner.setdefault(id(piece.name), []).append(name)
        else:
            child, at = _placed(piece, source, at)
            inner.setdefault(id(piece), []).append(child)
    changes["span"] = Span(source, start, at)
    if isinstance(node, Call):
        changes["own_span"] = changes["span"]
    elif isinstance(node, Relation):
        changes["operator_spans"] = tuple(operators)
    elif isinstance(node, Name):
        changes["quoted"] = at - start != len(node.text)
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, tuple) and any(id(each) in inner for each in value):
            changes[field.name] = tuple(inner[id(each)].pop(0) for each in value)
        elif id(value) in inner:
            changes[field.name] = inner[id(value)].pop(0)
    return replace(node, **changes), at


def _named(column: ColumnName, source: Source, start: int) -> tuple[Name, int]:
    text = str(column)
    span = Span(source, start, start + len(text))
    return replace(column.name, quoted=text != column.name.text, span=span), span.end
