"""A path -> Table: looks at a file before any reader does, so that a wrong file gets a sentence, not a traceback."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path

from treeml.data.table import Table
from treeml.lang.diagnostic import DataError, Diagnostic, Label
from treeml.lang.source import Span
from treeml.spec import ColumnSpec

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


def read_file(path: Path, types: Mapping[str, ColumnSpec], span: Span | None) -> Table:
    """Read one data file in the format that its ending, or else its content, says."""
    content = _content(path, span)
    _refuse_foreign(path, content, span)
    if content[:4] == b"PAR1" or path.suffix in (".parquet", ".pq"):
        return _read_parquet(path, content, types, span)
    from treeml.data.delimited import read_delimited
    from treeml.data.formats import reader_for

    reader = reader_for(path, content)
    if reader is not None:
        return reader(path, content, types, span)
    return read_delimited(path.name, content, types, span)


def file_mistake(
    code: str,
    title: str,
    label: str,
    place: str,
    span: Span | None,
    notes: tuple[str, ...] = (),
    helps: tuple[str, ...] = (),
) -> DataError:
    """A mistake in a file, shown at the statement that names the file where there is one."""
    if span is None:
        notes = (label, *notes) if label else notes
        return DataError(Diagnostic(code, title, (), notes, helps, place=place))
    return DataError(Diagnostic(code, title, (Label(span, label),), notes, helps, place=place))


def _content(path: Path, span: Span | None) -> bytes:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise _gone(path, span) from None
    except IsADirectoryError:
        inside = sorted(child.name for child in path.iterdir() if child.suffix in (".csv", ".parquet", ".data", ".txt"))
        helps = (f"name a file in it: {', '.join(inside[:5])}",) if inside else ("name a file, not a folder",)
        raise file_mistake(
            "D403", f"{path.name} is a folder, not a file", "a folder", path.name, span, helps=helps
        ) from None
    except PermissionError:
        raise file_mistake(
            "D403",
            f"{path.name} may not be read",
            "permission denied",
            path.name,
            span,
            helps=("ask for the right to read it, or copy it to a place of yours",),
        ) from None
    except (OSError, ValueError) as problem:
        reason = os.strerror(problem.errno) if isinstance(problem, OSError) and problem.errno else "not a path"
        raise file_mistake("D403", f"{path.name} cannot be read", reason.lower(), path.name, span) from None
    if not content[:4096].strip(_BLANK) and not content.strip(_BLANK):
        raise file_mistake(
            "D405",
            f"{path.name} is empty",
            "nothing in it",
            path.name,
            span,
            helps=("a data file has a line of column names and then one line per row",),
        )
    return content


def _gone(path: Path, span: Span | None) -> DataError:
    folder = path.parent
    relative = () if span is None else ("a path in `data` is relative to the .tml file",)
    shown = "this folder" if str(folder) in ("", ".") else f"`{folder.name or folder}`"
    if not folder.is_dir():
        return file_mistake(
            "D401",
            f"there is no file {path.name}",
            f"the folder {shown} does not exist",
            path.name,
            span,
            notes=relative,
        )
    names = sorted(child.name for child in folder.iterdir() if child.is_file() and child.suffix not in _NO_DATA)
    close = difflib.get_close_matches(path.name, names, 1, 0.6)
    tables = [name for name in names if name.endswith((".csv", ".parquet", ".data", ".tsv"))]
    helps: tuple[str, ...] = ()
    if close:
        helps = (f"did you mean `{close[0]}`?",)
    elif tables:
        helps = (f"data files there: {', '.join(tables[:5])}",)
    return file_mistake(
        "D401",
        f"there is no file {path.name}",
        f"not found in {shown}",
        path.name,
        span,
        notes=relative,
        helps=helps,
    )


def _refuse_foreign(path: Path, content: bytes, span: Span | None) -> None:
    if content[:4] == b"PK\x03\x04":
        sheet = b"xl/" in content[:4096] or b"xl/workbook" in content or path.suffix in (".xlsx", ".xlsm")
        what, helps = (
            ("is an Excel workbook", "save the sheet as CSV")
            if sheet
            else ("is a zip archive", "unpack it first: unzip {name}")
        )
        raise file_mistake(
            "D403",
            f"{path.name} {what}, not a table of text",
            "",
            path.name,
            span,
            helps=(helps.format(name=path.name),),
        )
    for magic, what, helps in _FOREIGN:
        if content.startswith(magic):
            raise file_mistake(
                "D403",
                f"{path.name} {what}, not a table of text",
                "",
                path.name,
                span,
                helps=(helps.format(name=path.name),),
            )


def _read_parquet(path: Path, content: bytes, types: Mapping[str, ColumnSpec], span: Span | None) -> Table:
    import io

    import polars as pl

    from treeml.data.delimited import typed_table

    try:
        frame = pl.read_parquet(io.BytesIO(content))
    except (pl.exceptions.PolarsError, OSError):
        raise file_mistake(
            "D403",
            f"{path.name} is not a Parquet file that can be read",
            "",
            path.name,
            span,
            notes=("its ending or its first bytes say Parquet, but its content is damaged or cut off",),
            helps=("write it again, or give it the ending of what it is",),
        ) from None
    return typed_table(frame, path.name, types, span)
