"""A file that cannot be read in time -> Table of some of its rows, from places all over the file.

Only CSV and Parquet have rows that can be read without those before them. Text with quotation marks is read from its
beginning, because a line may end inside of them.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from treeml.data.files import read_file
from treeml.data.formats import reader_for
from treeml.data.limits import ReadingLimits
from treeml.data.table import Table
from treeml.lang.source import Span
from treeml.lang.spec import ColumnSpec

PLACES = 32  # of a text
BYTES = 1 << 16  # at each of them
SLICES = 4  # of a Parquet file: each decodes a group of rows
SLICE_ROWS = 1 << 13
SLICE_CELLS = 1 << 18  # at most, but FEWEST rows: to type text takes a microsecond a cell
FEWEST = 1 << 8
SMALL = 2  # times the size of a part: such a file is read as a whole
_OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff", b"\x00")  # lines end otherwise there


@dataclass(frozen=True, slots=True)
class FilePart:
    """Rows of a file; `is_whole` says that they are all of them."""

    table: Table
    is_whole: bool


def load_part(
    path: Path, types: Mapping[str, ColumnSpec], span: Span | None, limits: ReadingLimits, scratch: Path
) -> FilePart | None:
    """Some rows of a file, or all of a small one, within all limits but that of time.

    None if its rows cannot be read one without the other. `scratch` is a folder for a file with these rows alone.
    """
    if not path.is_file():  # a pipe can be read only once
        return None
    patient = replace(limits, deadline=float("inf"))
    is_parquet = _is_parquet(path)
    if is_parquet and limits.memory is not None:  # what a slice decodes to is not known beforehand
        return None
    is_small = (
        _rows_of(path) <= SMALL * SLICES * _slice_rows(path)
        if is_parquet
        else path.stat().st_size <= SMALL * PLACES * BYTES
    )
    if is_small:
        return FilePart(read_file(path, types, span, patient), is_whole=True)
    content = part_of_parquet(path) if is_parquet else part_of_text(path)
    if content is None:
        return None
    part = scratch / path.name
    part.write_bytes(content)
    return FilePart(read_file(part, types, span, replace(patient, folder=None)), is_whole=False)


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _rows_of(path: Path) -> int:
    return int(pl.scan_parquet(path).select(pl.len()).collect().item())


def _slice_rows(path: Path) -> int:
    """The rows of a slice: fewer of a wide table."""
    columns = len(pl.scan_parquet(path).collect_schema())
    return min(SLICE_ROWS, max(FEWEST, SLICE_CELLS // max(1, columns)))


def part_of_parquet(path: Path) -> bytes:
    """Slices from places all over the file, as a file of their own."""
    rows = _slice_rows(path)
    last = _rows_of(path) - rows
    slices = [pl.scan_parquet(path).slice(place * last // (SLICES - 1), rows) for place in range(SLICES)]
    buffer = io.BytesIO()
    pl.concat(slices).collect().write_parquet(buffer)
    return buffer.getvalue()


def part_of_text(path: Path) -> bytes | None:
    """The first line, and whole lines from places all over the file."""
    size = path.stat().st_size
    with path.open("rb") as file:
        first = file.read(BYTES)
        if any(mark in first for mark in _OTHER_ENCODINGS) or reader_for(path, first) is not None:
            return None
        if b'"' in first:
            return _whole_rows(first + file.read((PLACES - 1) * BYTES))
        pieces = [_whole_lines(first)]
        for place in range(1, PLACES):
            file.seek(place * (size - BYTES) // PLACES)
            piece = _whole_lines(file.read(BYTES)).partition(b"\n")[2]
            if b'"' not in piece:
                pieces.append(piece)
    return b"".join(pieces)


def _whole_lines(content: bytes) -> bytes:
    return content[: content.rfind(b"\n") + 1]


def _whole_rows(content: bytes) -> bytes:
    """Lines that do not end inside of quotation marks."""
    content = _whole_lines(content)
    while content.count(b'"') % 2:
        content = _whole_lines(content[:-1])
    return content
