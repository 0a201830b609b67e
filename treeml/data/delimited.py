"""The bytes of a CSV file -> Table.

polars reads; this module finds out what polars must be told (encoding, separator) and what it would not tell (short
lines, repeated names, NUL bytes). The common file is read once, typed by polars from its first rows; only a file that
surprises it is read again as text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from functools import partial

import polars as pl

from treeml.data.files import file_mistake
from treeml.data.infer import MISSING_WORDS, Findings, infer
from treeml.data.read import NOTHING_DECLARED, refuse_repeats
from treeml.data.table import Table
from treeml.lang.source import Span
from treeml.spec import ColumnSpec

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def read_delimited(name: str, content: bytes, types: Mapping[str, ColumnSpec], span: Span | None) -> Table:
    """Read text of lines and separators, whose first line holds the column names."""
    notes: list[str] = []
    content = _decoded(name, content, span, notes)
    header, separator = _header(name, content, span, notes)
    refuse_repeats(header, name, span)
    content = _without_blank_lines(content, len(header))
    frame = _parse(name, content, header, separator, types, span)
    if frame.height and frame.get_column(header[-1]).null_count():
        _refuse_ragged(name, content, header, separator, span)
    return typed_table(frame, name, types, span, notes)


def typed_table(
    frame: pl.DataFrame, name: str, types: Mapping[str, ColumnSpec], span: Span | None, notes: list[str] | None = None
) -> Table:
    """Give every column of a polars frame its type."""
    if not frame.height:
        raise file_mistake(
            "D405",
            f"{name} has no rows",
            f"only the names of {frame.width} columns",
            name,
            span,
            helps=("a tree needs at least one row",),
        )
    findings = Findings(name, notes=notes or [])
    columns = {
        series.name: infer(series, types.get(series.name, NOTHING_DECLARED), findings)
        for series in frame.iter_columns()
    }
    findings.stop()
    return Table(columns, frame.height, name, notes=tuple(findings.notes))


def _decoded(name: str, content: bytes, span: Span | None, notes: list[str]) -> bytes:
    """UTF-8 bytes without a byte order mark."""
    for mark, encoding in ((b"\xff\xfe\0\0", "UTF-32"), (b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16")):
        if content.startswith(mark):
            try:
                text = content.decode(encoding)
            except UnicodeDecodeError:
                raise file_mistake(
                    "D407",
                    f"{name} is cut off or damaged",
                    f"it starts as {encoding} text, but does not stay so",
                    name,
                    span,
                    helps=("save it again as UTF-8",),
                ) from None
            notes.append(f"{name} is {encoding} text and was decoded")
            return text.encode().removeprefix(b"\xef\xbb\xbf")
    content = content.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise file_mistake(
            "D407",
            f"{name} contains NUL bytes",
            f"the first is in line {line}",
            name,
            span,
            notes=("text has none: this is a binary file, or UTF-16 without its mark",),
            helps=("save it as CSV in UTF-8",),
        )
    if not _is_utf8(content):
        line = _first_bad_line(content)
        notes.append(f"{name} is not UTF-8 (line {line}); it was read as Windows-1252 (Latin-1) text")
        content = content.decode("cp1252", errors="replace").encode()
    if b"\n" not in content and b"\r" in content:
        content = content.replace(b"\r", b"\n")  # the line ends of old Macs
    return content


def _without_blank_lines(content: bytes, columns: int) -> bytes:
    """Blank lines at the end are no rows, nor are those between rows of several columns."""
    if content.endswith((b"\n\n", b"\n\r\n")):
        content = content.rstrip(b"\r\n") + b"\n"
    # In a file with quotes a blank line may be part of a value.
    if columns > 1 and (b"\n\n" in content or b"\n\r\n" in content) and b'"' not in content:
        content = re.sub(rb"\n(?:\r?\n)+", b"\n", content)
    return content


def _is_utf8(content: bytes) -> bool:
    if content.isascii():
        return True
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _first_bad_line(content: bytes) -> int:
    try:
        content.decode()
    except UnicodeDecodeError as problem:
        return content.count(b"\n", 0, problem.start) + 1
    return 1


def _header(name: str, content: bytes, span: Span | None, notes: list[str]) -> tuple[list[str], str]:
    """The column names, and the separator that splits them."""
    head = content[: 1 << 22].lstrip(b"\r\n").decode(errors="replace")
    lines = head.split("\n", 6)[:6]
    first = re.sub(r'"[^"]*"', "", lines[0])
    counts = {separator: first.count(separator) for separator in _SEPARATORS}
    separator = max(counts, key=lambda candidate: counts[candidate])
    if not counts[separator]:
        separator = ","
    if separator != ",":
        notes.append(f"{name} is separated by {_SEPARATORS[separator]}")
    try:
        header = next(csv.reader(io.StringIO(head), delimiter=separator))
    except (csv.Error, StopIteration):
        raise file_mistake(
            "D406", f"the first line of {name} cannot be read", "it should hold the names of the columns", name, span
        ) from None
    header = [column.strip() for column in header]
    unnamed = [position for position, column in enumerate(header, start=1) if not column]
    if unnamed == [1] and len(header) > 1:
        notes.append(f"the first column of {name} has no name; it is called `column_1`")
        header[0] = "column_1"
    elif unnamed:
        raise file_mistake(
            "D408",
            f"{name} has a column without a name",
            f"column {unnamed[0]} of {len(header)}",
            name,
            span,
            helps=("the first line of a data file names its columns, one name each",),
        )
    if len(header) > 1 and all(re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", column) for column in header):
        notes.append(f"the first line of {name} was read as column names, and holds only numbers")
    return header, separator


def _parse(
    name: str, content: bytes, header: list[str], separator: str, types: Mapping[str, ColumnSpec], span: Span | None
) -> pl.DataFrame:
    # What is declared a category or text is read as text, so that 007 stays 007.
    as_text = [
        column for column in header if types.get(column, NOTHING_DECLARED).type in ("category", "text", "ordered")
    ]
    schema = dict.fromkeys(as_text, pl.String())
    read = partial(pl.read_csv, content, separator=separator, new_columns=header, raise_if_empty=False)
    typed = partial(read, null_values=list(MISSING_WORDS), infer_schema_length=1000)
    try:
        try:
            head = typed(n_rows=1000)
            # Truths are read as text too: a label `True` stays `True`.
            schema |= {column: pl.String() for column, dtype in head.schema.items() if dtype == pl.Boolean}
            frame = typed(schema_overrides=schema)
        except (pl.exceptions.ComputeError, pl.exceptions.SchemaError):
            frame = read(infer_schema=False)
    except pl.exceptions.PolarsError:
        _refuse_ragged(name, content, header, separator, span)
        raise file_mistake(
            "D406",
            f"{name} cannot be read as a table",
            "its lines and quotes do not fit together",
            name,
            span,
            helps=('a value with a separator, a quote or a line break in it stands in quotes: "a, ""b"""',),
        ) from None
    if frame.width != len(header):
        _refuse_ragged(name, content, header, separator, span)
    return frame.with_columns(
        _retyped(series, separator) for series in frame.iter_columns() if series.name not in as_text
    )


def _retyped(series: pl.Series, separator: str) -> pl.Series:
    """Text that is all numbers becomes numbers.

    They had blanks around them, were read as text for another column's sake, or have decimal commas, as many countries
    write them where columns are separated by semicolons.
    """
    if series.dtype != pl.String or not len(series):
        return series
    probe = series.head(1000).str.strip_chars()
    probe = probe.filter(~probe.is_in(MISSING_WORDS)).drop_nulls()
    if separator != "," and len(probe) and probe.str.contains(r"^-?\d+(,\d+)?$").all():
        probe = probe.str.replace(",", ".", literal=True)
        series = series.str.replace(",", ".", literal=True)
    if len(probe) and probe.cast(pl.Float64, strict=False).null_count():
        return series
    stripped = series.str.strip_chars()
    stripped = stripped.set(stripped.is_in(MISSING_WORDS), None)
    for dtype in (pl.Int64, pl.Float64):
        numbers = stripped.cast(dtype, strict=False)
        if numbers.null_count() == stripped.null_count():
            return numbers
    return stripped


def _refuse_ragged(name: str, content: bytes, header: list[str], separator: str, span: Span | None) -> None:
    """Name the first line whose number of values is not that of the header; return if there is none."""
    text = content.decode(errors="replace")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    line = 1
    try:
        for values in reader:
            if values and len(values) != len(header):
                break
            line = reader.line_num + 1
        else:
            return
    except csv.Error:
        fact = f"a value of more than {csv.field_size_limit():,} characters: is a quote not closed?"
        raise file_mistake("D406", f"line {line} of {name} cannot be read", fact, name, span) from None
    if reader.line_num > line and text.count('"') % 2:
        raise file_mistake(
            "D406",
            f"a quote that opens in line {line} of {name} is never closed",
            f"all from there to line {reader.line_num} would be one value",
            name,
            span,
            helps=('close it, or write a quote inside a value twice: "5"" pipe"',),
        )
    many = "value" if len(values) == 1 else "values"
    columns = "is 1 column" if len(header) == 1 else f"are {len(header)} columns"
    helps = "give every line one value per column"
    if len(values) > len(header):
        helps = f'a value that contains `{separator}` stands in quotes: "a{separator} b"'
    raise file_mistake(
        "D406",
        f"line {line} of {name} has {len(values)} {many}, but there {columns}",
        _shortened(separator.join(values)),
        name,
        span,
        helps=(helps,),
    )


def _shortened(text: str) -> str:
    text = text.replace("\n", " ")
    return text if len(text) <= 60 else text[:57] + "..."
