"""An open CSV or Parquet file -> its columns in batches of rows, in memory that does not grow with the file.

The batches hold what the ordinary readers would hold: CSV is parsed by the same function in pieces of whole lines, and
Parquet is decoded slice by slice, after the same look at its metadata. What these cannot read in pieces, such as text
in another encoding, raises NotInBatches, and the file is read the ordinary way.
"""

from __future__ import annotations

import io
import os
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from treeml.data.column_names import refuse_repeats
from treeml.data.delimited import PieceReader, header_of
from treeml.data.limits import PIECE, ReadingLimits
from treeml.data.parquet import Content, Size, decoded_size
from treeml.data.recognize import recognized
from treeml.lang.diagnostic import DataError
from treeml.lang.source import Span
from treeml.lang.spec import ColumnSpec

BATCH = 1 << 22  # cells of a batch of Parquet
_LONGEST = 8 * PIECE  # bytes of one piece
_HEAD = 1 << 20  # bytes that are looked at first


class NotInBatches(Exception):
    """The file has to be read the ordinary way."""


class OtherTypes(Exception):
    """A later row does not fit the types of the first rows: what was read so far has to be read again, as text."""


class Scan(Protocol):
    """A file that can be read several times, in batches."""

    names: tuple[str, ...]
    rows: int  # for CSV, the lines
    separator: str  # of CSV; "" for Parquet
    notes: list[str]

    def batches(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """These columns of all rows, in order."""

    def sample(self, names: Sequence[str], rows: int) -> pl.DataFrame:
        """About the given number of rows, from several places of the file."""


def scan(
    handle: int, path: Path, types: Mapping[str, ColumnSpec], span: Span | None, limits: ReadingLimits, cells: int
) -> Scan:
    """The scan of a file, open for reading; NotInBatches if it has fewer cells or cannot be read in batches."""
    content = _Opened(handle)
    if content[:4] == b"PAR1":
        found = _sized(content, ask_pages=False)
        if found.rows * found.columns < cells:
            raise NotInBatches("it is small")
        return _ParquetScan(handle, content, path.name, span, limits)
    if _likely_cells(content) < cells:
        raise NotInBatches("it is small")
    return _CsvScan(handle, content, path, types, span, limits)


def _likely_cells(content: Content) -> float:
    """About how many values a text has, if all of its lines are like the first ones."""
    head: bytes = content[:_HEAD]
    lines = head.count(b"\n")
    separators = max(head.count(separator) for separator in (b",", b";", b"\t", b"|"))
    return len(content) / max(1, len(head)) * (separators + lines)


def _sized(content: Content, *, ask_pages: bool, look: Callable[[int], None] = lambda values: None) -> Size:
    try:
        return decoded_size(content, ask_pages=ask_pages, look=look)
    except DataError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, struct.error, UnicodeDecodeError):
        raise NotInBatches("its metadata are damaged") from None


class _Opened:
    """The bytes of an open file, read where they are asked for; enough for whoever reads the metadata of Parquet."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self.size = os.fstat(handle).st_size
        self._begin, self._held = 0, b""

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            begin, end, _ = place.indices(self.size)
            return os.pread(self.handle, max(0, end - begin), begin)
        if not 0 <= place < self.size:
            raise IndexError(place)
        if not self._begin <= place < self._begin + len(self._held):
            self._begin, self._held = place, os.pread(self.handle, 1 << 12, place)
        return self._held[place - self._begin]


class _ParquetScan:
    separator = ""

    def __init__(self, handle: int, content: _Opened, name: str, span: Span | None, limits: ReadingLimits) -> None:
        self.handle, self.name, self.span, self.limits = handle, name, span, limits
        size = _sized(content, ask_pages=True, look=lambda values: limits.late(name, span))
        try:
            self.schema = self._frame().collect_schema()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as problem:
            raise NotInBatches(str(problem)) from None
        if size.widest:
            raise NotInBatches("its texts share beginnings")
        self.names = tuple(self.schema)
        self.rows = size.rows
        self.notes: list[str] = []

    def batches(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        step = max(1, BATCH // max(1, len(names)))
        for first in range(0, self.rows, step):
            yield self._slice(names, first, step)

    def sample(self, names: Sequence[str], rows: int) -> pl.DataFrame:
        places = 4
        begins = sorted({place * max(0, self.rows - rows // places) // (places - 1) for place in range(places)})
        return pl.concat([self._slice(names, begin, max(1, rows // places)) for begin in begins])

    def _slice(self, names: Sequence[str], first: int, rows: int) -> pl.DataFrame:
        self.limits.late(self.name, self.span)
        try:
            part = self._frame().select(names).slice(first, rows).collect(engine="streaming")
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as problem:
            raise NotInBatches(str(problem)) from None
        self.limits.size(self.name, self.span, 2 * int(part.estimated_size()))
        return part

    def _frame(self) -> pl.LazyFrame:
        # The open file itself, so that nobody can exchange it after it was checked.
        return pl.scan_parquet(io.FileIO(self.handle, closefd=False))


class _CsvScan:
    def __init__(
        self,
        handle: int,
        content: _Opened,
        path: Path,
        types: Mapping[str, ColumnSpec],
        span: Span | None,
        limits: ReadingLimits,
    ) -> None:
        name = path.name
        self.handle, self.name, self.span, self.limits = handle, name, span, limits
        head: bytes = content[:_HEAD]
        if (not head.isascii() and not _is_utf8(head)) or recognized(path, head) is not None:
            raise NotInBatches("it is not plain UTF-8 text with a line of names")
        self.notes: list[str] = []
        header, self.separator = header_of(name, head, span, self.notes)
        self.names = tuple(header)
        refuse_repeats(header, name, span)
        try:
            self.reader = PieceReader(next(self._pieces(), b""), header, self.separator, types)
        except pl.exceptions.PolarsError as problem:
            raise NotInBatches(str(problem)) from None
        self.rows = self._counted_rows()

    def batches(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        for number, piece in enumerate(self._pieces()):
            yield self._read(piece, number == 0, names)

    def sample(self, names: Sequence[str], rows: int) -> pl.DataFrame:
        return self._read(next(self._pieces(), b""), True, names).head(rows)

    def _read(self, piece: bytes, is_first: bool, names: Sequence[str]) -> pl.DataFrame:
        try:
            return self.reader.read(piece, has_header=is_first, columns=names)
        except pl.exceptions.PolarsError as problem:
            if not self.reader.is_typed:
                raise NotInBatches(str(problem)) from None
            self.reader.as_text()
            raise OtherTypes from None

    def _counted_rows(self) -> int:
        """The lines after the first; NotInBatches if one of them has too few or too many values."""
        lines = 0
        separator = self.separator.encode()
        for piece in self._pieces():
            plain = re.sub(rb'"[^"]*"', b"", piece) if b'"' in piece else piece
            found = plain.count(b"\n") + (not plain.endswith(b"\n"))
            if plain.count(separator) != found * (len(self.names) - 1):
                raise NotInBatches("its lines do not all have as many values")
            lines += found
        return max(0, lines - 1)

    def _pieces(self) -> Iterator[bytes]:
        """Whole lines of about PIECE bytes."""
        place, held = 0, b""
        while True:
            self.limits.late(self.name, self.span)
            more = os.pread(self.handle, PIECE, place)
            place += len(more)
            held += more
            if b"\0" in more or b"\n\n" in more or b"\n\r\n" in more:
                raise NotInBatches("it has blank lines or NUL bytes")
            if not more:
                if held:
                    yield held
                return
            end = held.rfind(b"\n") + 1
            if b'"' in held and held.count(b'"', 0, end) % 2:  # a value goes on over the end of the line
                if len(held) > _LONGEST:
                    raise NotInBatches("a quote is never closed")
                continue
            if not end and len(held) > _LONGEST:
                raise NotInBatches("its lines are too long")
            if end:
                yield held[:end]
                held = held[end:]


def _is_utf8(content: bytes) -> bool:
    try:
        content[:-4].decode()
    except UnicodeDecodeError as problem:
        return problem.start > len(content) - 8
    return not content.startswith(b"\xef\xbb\xbf")
