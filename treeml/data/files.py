"""A path -> Table; the content is inspected first, so that a wrong file leads to a clear message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from treeml.data.file_bytes import file_bytes
from treeml.data.file_error import file_mistake
from treeml.data.limits import UNLIMITED, ReadingLimits
from treeml.data.table import BitColumns, Table
from treeml.lang.source import Span
from treeml.lang.spec import ColumnSpec

_NO_DATA = (".tml", ".py", ".md", ".expected", ".json", ".svg")
_BLANK = b" \t\r\n\xef\xbb\xbf"

# First bytes of files that are not tables of text, and what to do with them.
_FOREIGN = (
    (b"\x1f\x8b", "is compressed with gzip", "unpack it first: gunzip {name}"),
    (b"BZh", "is compressed with bzip2", "unpack it first: bunzip2 {name}"),
    (b"\xfd7zXZ", "is compressed with xz", "unpack it first: unxz {name}"),
    (b"(\xb5/\xfd", "is compressed with zstd", "unpack it first: unzstd {name}"),
    (b"\xd0\xcf\x11\xe0", "is an old Excel workbook", "save the sheet as CSV"),
    (b"%PDF", "is a PDF document", "export the table in it as CSV"),
    (b"SQLite format 3", "is a database", "export the table as CSV"),
    (b"ARROW1", "is an Arrow file", "read it into a frame and give the frame, or save it as Parquet"),
    (b"\x93NUMPY", "is a numpy array", "load it with numpy and give the arrays X and y"),
    (b"\x80\x04\x95", "is a Python pickle", "save the frame in it as CSV or Parquet"),
)


def read_file(
    path: Path, types: Mapping[str, ColumnSpec], span: Span | None, limits: ReadingLimits = UNLIMITED
) -> Table:
    """Read one data file, within limits, in the format given by its ending or its content."""
    content = file_bytes(path, span, limits)
    _refuse_empty(path, content, span)
    _refuse_foreign(path, content, span)
    table = _read(path, content, types, span, limits)
    limits.texts(path.name, span, tuple(table.columns), "a column name")
    if limits.name_length is not None and not isinstance(table.columns, BitColumns):
        for column in table.columns.values():
            limits.texts(path.name, span, column.levels, f"a value in `{column.name}`")
    return table


def _read(
    path: Path, content: bytes, types: Mapping[str, ColumnSpec], span: Span | None, limits: ReadingLimits
) -> Table:
    from treeml.data.delimited import read_delimited, typed_table

    if content[:4] == b"PAR1" or path.suffix in (".parquet", ".pq"):
        from treeml.data.parquet import read_parquet

        return typed_table(read_parquet(path.name, content, span, limits), path.name, types, span, limits=limits)
    from treeml.data.encoding import decoded
    from treeml.data.formats import reader_for

    notes: list[str] = []
    content = decoded(path.name, content, span, notes)
    reader = reader_for(path, content)
    if reader is not None:
        table = reader(path, content, types, span, limits)
        return replace(table, notes=(*notes, *table.notes)) if notes else table
    return read_delimited(path.name, content, types, span, notes, limits)


def _refuse_empty(path: Path, content: bytes, span: Span | None) -> None:
    if not content[:4096].strip(_BLANK) and not content.strip(_BLANK):
        raise file_mistake(
            "D405",
            f"{path.name} is empty",
            "nothing in it",
            path.name,
            span,
            helps=("a data file has a line of column names and then one line per row",),
        )


def _refuse_foreign(path: Path, content: bytes, span: Span | None) -> None:
    foreign = next(((what, helps) for magic, what, helps in _FOREIGN if content.startswith(magic)), None)
    if content[:4] == b"PK\x03\x04":
        is_sheet = b"xl/" in content[:4096] or b"xl/workbook" in content or path.suffix in (".xlsx", ".xlsm")
        zipped = ("is a zip archive", "unpack it first: unzip {name}")
        foreign = ("is an Excel workbook", "save the sheet as CSV") if is_sheet else zipped
    if foreign is None:
        return
    what, helps = foreign
    title = f"{path.name} {what}, not a table of text"
    raise file_mistake("D403", title, "", path.name, span, helps=(helps.format(name=path.name),))
