"""The bytes of a Parquet file -> a frame, after its metadata show that it fits in memory.

Run-length and dictionary encoding let a small file decode to any size, so rows and sizes are read from its footer
before any page is decoded. The headers of the pages are checked too, since a footer may be wrong; without a limit of
the run the memory of the machine is the limit.
Both are in Thrift's compact format, of which this module reads just enough. The decoded length of texts is not stated
anywhere: a dictionary text can occur in every row, and a text can share a prefix with the one before it. Decoded texts
are therefore measured, and texts with shared prefixes are decoded a few rows at a time.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import polars as pl

from treeml.data.file_error import file_mistake
from treeml.data.limits import PIECE, ReadingLimits
from treeml.lang.diagnostic import DataError
from treeml.lang.source import Span

# Bytes per decoded value of each physical type; texts also need their own length.
_WIDTHS = {0: 1, 1: 4, 2: 8, 3: 12, 4: 4, 5: 8, 6: 16, 7: 16}
_TEXT, _FIXED = 6, 7
_SHARED_BEGINNINGS = 7  # the encoding in which a text says how much of the one before it begins with
_DEEPEST = 32
_OFTEN = 1 << 12  # values of metadata between two looks at the limits
_VALUE = 100  # bytes that a value of metadata takes at most


class Content(Protocol):
    """Bytes, in memory or in an open file."""

    def __len__(self) -> int: ...
    def __getitem__(self, place: Any, /) -> Any: ...


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a decoded file."""

    rows: int
    columns: int
    bytes: int
    widest: int = 0  # bytes that the texts of one row may take which begin like others, at most


def read_parquet(name: str, content: bytes, span: Span | None, limits: ReadingLimits) -> pl.DataFrame:
    """Decode a file, unless it would not fit."""

    def look(values: int) -> None:
        limits.late(name, span)
        limits.size(name, span, len(content) + values * _VALUE)

    try:
        size = decoded_size(content, ask_pages=True, look=look)
    except DataError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, struct.error, UnicodeDecodeError):
        raise _damaged(name, span) from None
    limits.admit(name, span, size.rows, size.columns, size.bytes + len(content))
    rows = _rows_at_once(size, limits)
    try:
        if rows >= size.rows:
            return _measured(pl.read_parquet(io.BytesIO(content)), 0, name, span, limits)
        pieces = []
        held = 0
        for first in range(0, size.rows, rows):
            limits.late(name, span)
            piece = pl.scan_parquet(io.BytesIO(content)).slice(first, rows).collect()
            pieces.append(_measured(piece, held, name, span, limits))
            held += int(piece.estimated_size())
        return pl.concat(pieces)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise _damaged(name, span) from None


def _rows_at_once(size: Size, limits: ReadingLimits) -> int:
    """Rows between two looks at the clock, and few enough to fit whatever their texts hold."""
    rows = size.rows
    if limits.deadline != float("inf") and size.bytes > 4 * PIECE:
        rows = size.rows * 4 * PIECE // size.bytes
    if size.widest * size.rows > limits.bytes:
        rows = min(rows, limits.bytes // (4 * size.widest))
    return max(1, rows)


def _measured(frame: pl.DataFrame, held: int, name: str, span: Span | None, limits: ReadingLimits) -> pl.DataFrame:
    """What was decoded, unless its texts, of which typing makes another copy, do not fit beside what is held."""
    limits.size(name, span, 2 * (held + int(frame.estimated_size())))
    return frame


def decoded_size(content: Content, *, ask_pages: bool, look: Callable[[int], None] = lambda values: None) -> Size:
    """The size that the footer states, or with `ask_pages` the headers of the pages where they state more.

    `look` is called now and then with the number of values that were read, and raises where there are too many.
    """
    if content[-4:] != b"PAR1" or len(content) < 12:
        raise ValueError("no footer")
    length = struct.unpack("<I", content[-8:-4])[0]
    if length > len(content) - 8:
        raise ValueError("a footer larger than the file")
    footer = _Compact(content, len(content) - 8 - length, look).structure()
    rows = _whole(footer[3])
    lengths = [_whole(element.get(2, 0)) for element in footer[2] if 1 in element]
    widest = [0] * len(lengths)
    total = 0
    columns = 0
    for group in footer[4]:
        chunks = group[1]
        columns = max(columns, len(chunks))
        for place, chunk in enumerate(chunks):
            about = chunk[3]
            values, stored = _whole(about[5]), _whole(about[6])
            if ask_pages:
                counted = pages = 0
                for header in _headers(content, about, look):
                    counted += _values(header)
                    pages += _whole(header[2])
                    if _encoding(header) == _SHARED_BEGINNINGS:
                        widest[place] = max(widest[place], _whole(header[2]))
                values, stored = max(values, counted), max(stored, pages)
            kind = about[1]
            width = max(_WIDTHS[kind], lengths[place]) if kind == _FIXED else _WIDTHS[kind]
            total += values * width + (stored if kind in (_TEXT, _FIXED) else 0)
    return Size(rows, columns or sum(1 for element in footer[2] if 5 not in element), total, sum(widest))


def _headers(content: Content, about: dict[int, Any], look: Callable[[int], None]) -> Iterator[dict[int, Any]]:
    """The headers of a column's pages, one after the other."""
    begin = min(_whole(about[9]), _whole(about.get(11, about[9])) or _whole(about[9]))
    end = begin + _whole(about[7])
    while begin < end:
        look(0)
        reader = _Compact(content, begin, look)
        header = reader.structure()
        yield header
        begin = reader.place + _whole(header[3])


def _values(header: dict[int, Any]) -> int:
    """Values of a page; a dictionary has no values of the column."""
    about = header.get(5) or header.get(8) or {}
    return _whole(about.get(1, 0))


def _encoding(header: dict[int, Any]) -> Any:
    return header[5].get(2) if header.get(5) else (header.get(8) or {}).get(4)


def _whole(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError("not a count")
    return value


class _Compact:
    """Thrift's compact protocol: a structure as a dict from the numbers of its fields to their values."""

    def __init__(self, content: Content, place: int, look: Callable[[int], None]) -> None:
        self.content = content
        self.place = place
        self.look = look
        self.values = 0

    def structure(self, depth: int = 0) -> dict[int, Any]:
        if depth > _DEEPEST:
            raise ValueError("too deep")
        fields: dict[int, Any] = {}
        number = 0
        while True:
            head = self._byte()
            if head == 0:
                return fields
            number = number + (head >> 4) if head >> 4 else self._signed()
            fields[number] = self._value(head & 15, depth)

    def _value(self, kind: int, depth: int) -> Any:
        self.values += 1
        if self.values % _OFTEN == 0:
            self.look(self.values)
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 7:
            return self._bytes(8)
        if kind == 8:
            return self._bytes(self._unsigned())
        if kind in (9, 10):
            return self._list(depth)
        if kind == 11:
            return self._map(depth)
        if kind == 12:
            return self.structure(depth + 1)
        raise ValueError("no such type")

    def _list(self, depth: int) -> list[Any]:
        if depth > _DEEPEST:
            raise ValueError("too deep")
        head = self._byte()
        size = head >> 4 if head >> 4 != 15 else self._unsigned()
        kind = head & 15
        return [self._element(kind, depth) for _ in range(size)]

    def _map(self, depth: int) -> None:
        size = self._unsigned()
        kinds = self._byte() if size else 0
        for _ in range(size):
            self._element(kinds >> 4, depth)
            self._element(kinds & 15, depth)

    def _element(self, kind: int, depth: int) -> Any:
        """A truth within a list or a map is a byte; as a field, its kind says it all."""
        return self._value(3 if kind in (1, 2) else kind, depth + 1)

    def _byte(self) -> int:
        self.place += 1
        return int(self.content[self.place - 1])

    def _bytes(self, size: int) -> bytes:
        if size > len(self.content) - self.place:
            raise ValueError("cut off")
        self.place += size
        return bytes(self.content[self.place - size : self.place])

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("no such number")

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)


def _damaged(name: str, span: Span | None) -> Exception:
    return file_mistake(
        "D403",
        f"{name} is not a Parquet file that can be read",
        "",
        name,
        span,
        notes=("its ending or its first bytes say Parquet, but its content is damaged or cut off",),
        helps=("write it again, or give it the ending of what it is",),
    )
