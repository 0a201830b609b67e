"""A mistake in a file that the spec names -> the same mistake without the content of the file.

A spec can name any file as its data or its start, and a message about a wrong file would show its first line. If the
spec is not trusted, or if the name of the file does not say that it is a table, the message uses the general text of
the catalogue and quotes nothing from the file. Outside the folder of the spec, where tables commonly lie, only endings
that nothing but tables have say so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from treeml.lang.diagnostic import DataError, Diagnostic, Label
from treeml.lang.spec import Spec
from treeml.system.confinement import lies_in

# The titles of these name the file, its size and what is missing, but nothing from its content.
_WITHOUT_CONTENT = frozenset({"D400", "D401", "D403", "D405", "D411", "D412", "D413", "A801"})
_NOTHING_BUT_TABLES = (".csv", ".tsv", ".parquet", ".pq", ".arff", ".libsvm", ".svmlight", ".xlsx")
_TABLES = (*_NOTHING_BUT_TABLES, ".tab", ".txt", ".dat", ".data", ".names", ".test", ".all", ".svm", ".gz", ".zip")


class UnreadError(DataError):
    """A file could not be read at all, so its message contains nothing from it."""


def redacted_data(spec: Spec, data: Any, name: str | None = None) -> Redacted:
    """Redact mistakes in the data file that the spec names: its `data`, or another file `name`."""
    return Redacted(spec, name or (spec.data if data is None else None), is_table=True)


def redacted_start(spec: Spec, given: Any) -> Redacted:
    """Redact mistakes in the tree of `start from`, unless it was given from Python."""
    return Redacted(spec, spec.start if given is None and isinstance(spec.start, str) else None, is_table=False)


@dataclass(frozen=True, slots=True)
class Redacted:
    """A context in which mistakes about a file that the spec names are redacted."""

    spec: Spec
    named: str | None
    is_table: bool

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        if not isinstance(error, DataError) or isinstance(error, UnreadError):
            return
        path = None if self.named is None else self.spec.folder / self.named
        inside = path is None or _lies_inside(path, self.spec)
        reason = _reason(self.spec, path, inside, self.is_table)
        if not reason and inside:
            return
        shown = (_without_content(each, reason) if reason else _without_neighbours(each) for each in error.diagnostics)
        # Without content, mistakes in several columns read alike.
        raise type(error)(list(dict.fromkeys(shown))) from None


def _lies_inside(path: Path, spec: Spec) -> bool:
    try:
        return lies_in(path, spec.folder)
    except (OSError, ValueError):  # not a valid path, which the message says
        return True


def _reason(spec: Spec, path: Path | None, inside: bool, is_table: bool) -> str:
    """Why the content is not shown; "" if it may be shown."""
    if spec.untrusted:
        return "the specification is not trusted"
    if path is None:
        return ""
    if not inside and not (is_table and path.suffix in _NOTHING_BUT_TABLES):
        return f"{path.name} lies outside the folder of the specification"
    if is_table and path.suffix not in _TABLES and (path.suffix or path.name.startswith(".")):
        return f"{path.name} does not have the ending of a table"
    return ""


def _without_neighbours(diagnostic: Diagnostic) -> Diagnostic:
    """The same, without a list of other files of the folder."""
    return replace(diagnostic, helps=()) if diagnostic.code in _WITHOUT_CONTENT else diagnostic


def _without_content(diagnostic: Diagnostic, reason: str) -> Diagnostic:
    from treeml.lang.codes import CATALOGUE

    if diagnostic.code in _WITHOUT_CONTENT:
        return _without_neighbours(diagnostic)
    labels = tuple(Label(label.span) for label in diagnostic.labels)
    entry = CATALOGUE.get(diagnostic.code)
    title = diagnostic.title if entry is None else entry.title
    return replace(diagnostic, title=title, labels=labels, notes=(f"no more is shown: {reason}",), helps=(), fix=())
