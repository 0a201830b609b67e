"""A mistake in a file -> an error that points at the statement naming the file, if there is one."""

from __future__ import annotations

from treeml.lang.diagnostic import DataError, Diagnostic, Label
from treeml.lang.source import Span


def file_mistake(
    code: str,
    title: str,
    label: str,
    place: str,
    span: Span | None,
    notes: tuple[str, ...] = (),
    helps: tuple[str, ...] = (),
) -> DataError:
    """The error about a file, with a span if a statement names the file."""
    if span is None:
        notes = (label, *notes) if label else notes
        return DataError(Diagnostic(code, title, (), notes, helps, place=place))
    return DataError(Diagnostic(code, title, (Label(span, label),), notes, helps, place=place))
