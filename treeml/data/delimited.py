"""The bytes of a CSV file -> Table.

polars reads the file; this module finds the separator for it and reports what polars would not (short lines, repeated
names, NUL bytes). Most files are read once, typed by polars from their first rows; only if a later row does not fit
these types, the file is read again as text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import polars as pl

from treeml.data.column_names import refuse_repeats
from treeml.data.file_error import file_mistake
from treeml.data.infer import InferenceNotes, infer, wide_numbers
from treeml.data.limits import PIECE, UNLIMITED, ReadingLimits, table_bytes
from treeml.data.missing_words import MISSING_WORDS
from treeml.data.table import Column, Table
from treeml.lang.source import Span
from treeml.lang.spec import UNDECLARED, ColumnSpec

_AS_TEXT = ("category", "text", "ordered")
_COLUMN = 4096  # typing a column takes as long as this many cells
_TYPED = PIECE // 8  # cells that are typed between two checks of the deadline: texts may take half a second
_AT_ONCE = 4 * PIECE  # bytes that are parsed between two checks of the deadline
_WHOLE = r"^[+-]?\d+$"
_COMMA_NUMBER = r"^([+-]?\d*)(?:,(\d*))?$"
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def read_delimited(
    name: str,
    content: bytes,
    types: Mapping[str, ColumnSpec],
    span: Span | None,
    notes: list[str],
    limits: ReadingLimits = UNLIMITED,
) -> Table:
    """Read text of lines and separators, whose first line holds the column names."""
    header, separator = header_of(name, content, span, notes)
    refuse_repeats(header, name, span)
    content = _without_blank_lines(content, len(header))
    lines = content.count(b"\n") - content.endswith(b"\n")  # rows, unless some are within quotes
    if b'"' in content:
        limits.size(name, span, table_bytes(lines, len(header)) + 3 * len(content))
    else:
        limits.admit(name, span, lines, len(header), 3 * len(content))
    frame = _parse(name, content, header, separator, types, span, limits)
    limits.admit(name, span, frame.height, frame.width, 3 * len(content))
    if frame.height and frame.get_column(header[-1]).null_count():
        _refuse_ragged(name, content, header, separator, span, limits)
    table = typed_table(frame, name, types, span, notes, limits)
    return replace(table, again=_Texts(name, content, tuple(header), separator, types))


def typed_table(
    frame: pl.DataFrame,
    name: str,
    types: Mapping[str, ColumnSpec],
    span: Span | None,
    notes: list[str] | None = None,
    limits: ReadingLimits = UNLIMITED,
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
    findings = InferenceNotes(name, notes=notes or [])
    columns: dict[str, Column] = {}
    typed = 0
    for series in frame.iter_columns():
        typed += frame.height + _COLUMN
        if typed > _TYPED:
            limits.late(name, span)
            typed = 0
        columns[series.name] = infer(series, types.get(series.name, UNDECLARED), findings)
    findings.stop()
    return Table(columns, frame.height, name, notes=tuple(findings.notes), again=_Frame(frame, name, types))


@dataclass(frozen=True, slots=True, eq=False)
class _Frame:
    """The frame that a table was made from; selected rows can be typed as if they were all."""

    frame: pl.DataFrame
    name: str
    types: Mapping[str, ColumnSpec]

    def __call__(self, rows: Any) -> Table:
        return typed_table(self.frame[rows], self.name, self.types, None)


class _Texts:
    """The text of all values of a file; selected rows can be typed as if they were the whole file."""

    def __init__(
        self, name: str, content: bytes, header: tuple[str, ...], separator: str, types: Mapping[str, ColumnSpec]
    ) -> None:
        self.name, self.content, self.header, self.separator, self.types = name, content, header, separator, types

    @cached_property
    def frame(self) -> pl.DataFrame:
        return pl.read_csv(
            self.content, separator=self.separator, new_columns=list(self.header), infer_schema=False
        ).with_columns(pl.all().str.strip_chars())

    def __call__(self, rows: Any) -> Table:
        chosen = self.frame[rows]
        typed = [self._typed(series) for series in chosen.iter_columns()]
        return typed_table(pl.DataFrame(typed), self.name, self.types, None)

    def _typed(self, series: pl.Series) -> pl.Series:
        declared = self.types.get(series.name, UNDECLARED)
        return series if declared.type in _AS_TEXT else retyped(series, self.separator, declared)


def _without_blank_lines(content: bytes, columns: int) -> bytes:
    """Remove blank lines at the end, and between rows if there are several columns."""
    if content.endswith((b"\n\n", b"\n\r\n")):
        content = content.rstrip(b"\r\n") + b"\n"
    returns = b"\r" in content  # a single byte is found much faster than several
    if columns > 1 and (b"\n\n" in content or (returns and b"\n\r\n" in content)):
        parts = content.split(b'"')
        # Within quotes, which are every second part, a blank line belongs to a value; an odd number is a mistake.
        if len(parts) % 2:
            parts[::2] = [re.sub(rb"\n(?:\r?\n)+", b"\n", part) for part in parts[::2]]
            content = b'"'.join(parts)
    return content


def header_of(name: str, content: bytes, span: Span | None, notes: list[str]) -> tuple[list[str], str]:
    """The column names, and the separator that splits them."""
    begin = len(content) - len(content.lstrip(b"\r\n"))
    end = content.find(b"\n", begin)
    first = content[begin : end if end >= 0 else len(content)].decode(errors="replace")
    first = re.sub(r'"[^"]*"', "", first)
    counts = {separator: first.count(separator) for separator in _SEPARATORS}
    separator = max(counts, key=lambda candidate: counts[candidate])
    if not counts[separator]:
        separator = ","
    if separator != ",":
        notes.append(f"{name} is separated by {_SEPARATORS[separator]}")
    try:
        header = next(csv.reader(_lines(content, begin), delimiter=separator))
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


def _lines(content: bytes, begin: int) -> Iterator[str]:
    """The lines of a text one by one: a quoted name may continue on the next line."""
    while begin < len(content):
        end = content.find(b"\n", begin) + 1 or len(content)
        yield content[begin:end].decode(errors="replace")
        begin = end


def _parse(
    name: str,
    content: bytes,
    header: list[str],
    separator: str,
    types: Mapping[str, ColumnSpec],
    span: Span | None,
    limits: ReadingLimits,
) -> pl.DataFrame:
    read = partial(pl.read_csv, separator=separator, raise_if_empty=False)
    typed = partial(read, null_values=list(MISSING_WORDS), infer_schema_length=1000)
    as_text = {column for column in header if is_text(column, types)}
    try:
        try:
            head = typed(content, new_columns=header, n_rows=1000)
            schema = _text_columns(head, types)
            if limits.deadline == float("inf") or len(content) <= _AT_ONCE:
                frame = typed(content, new_columns=header, schema_overrides=schema)
            else:
                frame = _in_pieces(typed, content, {**head.schema, **schema}, name, span, limits)
        except (pl.exceptions.ComputeError, pl.exceptions.SchemaError):
            if limits.deadline == float("inf") or len(content) <= _AT_ONCE:
                frame = read(content, new_columns=header, infer_schema=False)
            else:
                frame = _in_pieces(read, content, dict.fromkeys(header, pl.String()), name, span, limits)
    except pl.exceptions.PolarsError:
        _refuse_ragged(name, content, header, separator, span, limits)
        raise file_mistake(
            "D406",
            f"{name} cannot be read as a table",
            "its lines and quotes do not fit together",
            name,
            span,
            helps=('a value with a separator, a quote or a line break in it stands in quotes: "a, ""b"""',),
        ) from None
    if frame.width != len(header):
        _refuse_ragged(name, content, header, separator, span, limits)
    texts = [series for series in frame.iter_columns() if series.dtype == pl.String and series.name not in as_text]
    others = []
    for series in texts:
        if len(content) > _AT_ONCE:
            limits.late(name, span)
        others.append(retyped(series, separator, types.get(series.name, UNDECLARED)))
    return frame.with_columns(others)


def is_text(column: str, types: Mapping[str, ColumnSpec]) -> bool:
    """Is the column declared as category or text? It is then read as text, so that 007 stays 007."""
    return types.get(column, UNDECLARED).type in _AS_TEXT


def _text_columns(head: pl.DataFrame, types: Mapping[str, ColumnSpec]) -> dict[str, Any]:
    """The columns that are read as text. Booleans are too, so that a label `True` stays `True`."""
    chosen = (name for name, dtype in head.schema.items() if is_text(name, types) or dtype == pl.Boolean)
    return dict.fromkeys(chosen, pl.String())


class PieceReader:
    """Reads pieces of a text one by one, with the types that `read_delimited` would give to its columns."""

    def __init__(self, first: bytes, header: list[str], separator: str, types: Mapping[str, ColumnSpec]) -> None:
        self.read_csv = partial(pl.read_csv, separator=separator, raise_if_empty=False)
        head = self.read_csv(
            first, new_columns=header, n_rows=1000, null_values=list(MISSING_WORDS), infer_schema_length=1000
        )
        self.schema: dict[str, Any] = {**head.schema, **_text_columns(head, types)}
        self.is_typed = True

    def as_text(self) -> None:
        """From now on all columns are text, because a later value did not fit the types of the first rows."""
        self.schema = dict.fromkeys(self.schema, pl.String())
        self.is_typed = False

    def read(self, piece: bytes, *, has_header: bool, columns: Sequence[str]) -> pl.DataFrame:
        nothing = list(MISSING_WORDS) if self.is_typed else None
        places = [place for place, name in enumerate(self.schema) if name in columns]
        frame = self.read_csv(piece, has_header=has_header, schema=self.schema, columns=places, null_values=nothing)
        return frame.select(columns)


def _in_pieces(
    read: Callable[..., pl.DataFrame],
    content: bytes,
    schema: Mapping[str, Any],
    name: str,
    span: Span | None,
    limits: ReadingLimits,
) -> pl.DataFrame:
    """Read a large text in pieces of whole lines, and check the deadline before each."""
    frames = []
    begin = 0
    while begin < len(content):
        limits.late(name, span)
        end = _line_end(content, begin, begin + _AT_ONCE)
        frames.append(read(content[begin:end], has_header=begin == 0, schema=dict(schema)))
        begin = end
    return pl.concat(frames)


def _line_end(content: bytes, begin: int, after: int) -> int:
    """The first end of a line after a position that is not inside quotes."""
    end = content.find(b"\n", after) + 1 or len(content)
    quotes = content.count(b'"', begin, end)
    while quotes % 2 and end < len(content):
        following = content.find(b"\n", end) + 1 or len(content)
        quotes += content.count(b'"', end, following)
        end = following
    return end


def retyped(series: pl.Series, separator: str, declared: ColumnSpec) -> pl.Series:
    """Text that is all numbers becomes numbers.

    They had spaces around them, were read as text because of another column, or have decimal commas, which many
    countries use with semicolons as separators. If one value is not a number, all stay text.
    """
    if not len(series):
        return series
    commas = separator != ","
    probe = series.head(1000).str.strip_chars()
    probe = probe.filter(~probe.is_in(MISSING_WORDS)).drop_nulls()
    if declared.type not in ("number", "integer") and not _reads_as_numbers(probe, commas):
        return series
    stripped = series.str.strip_chars()
    stripped = stripped.set(stripped.is_in(MISSING_WORDS), None)
    for text in (stripped, stripped.str.replace(",", ".", literal=True)) if commas else (stripped,):
        numbers = text.cast(pl.Int64, strict=False)
        if numbers.null_count() == stripped.null_count():
            return numbers
        numbers = text.cast(pl.Float64, strict=False)
        if numbers.null_count() == stripped.null_count():
            return numbers if not text.str.contains(_WHOLE).all() else wide_numbers(text)
        if commas and not _with_comma(stripped).all():
            break
    if commas and declared.type in ("number", "integer"):  # so that the message names the value that is not a number
        return stripped.str.replace(_COMMA_NUMBER, "${1}.${2}")
    return series


def _reads_as_numbers(texts: pl.Series, commas: bool) -> bool:
    if not texts.cast(pl.Float64, strict=False).null_count():
        return True
    return commas and bool(_with_comma(texts).all())


def _with_comma(texts: pl.Series) -> pl.Series:
    """Which of these are numbers, with or without a decimal comma."""
    return texts.str.contains(_COMMA_NUMBER)


def _refuse_ragged(
    name: str, content: bytes, header: list[str], separator: str, span: Span | None, limits: ReadingLimits
) -> None:
    """Refuse the first line that has not as many values as the header; return if there is no such line."""
    text = content.decode(errors="replace")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    line = 1
    try:
        for number, values in enumerate(reader):
            if number % (1 << 16) == (1 << 16) - 1:
                limits.late(name, span)
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
