"""The bytes of a Parquet file -> a frame, after its metadata show that it fits in memory.

Run-length and dictionary encoding let a small file decode to any size, so rows and sizes are read from its footer
before any page is decoded. With a memory limit the headers of the pages are checked too, since a footer may be wrong.
Both are in Thrift's compact format, of which this module reads just enough.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from treeml.data.file_error import file_mistake
from treeml.data.limits import PIECE, ReadingLimits
from treeml.lang.source import Span

# Bytes per decoded value of each physical type; texts also need their own length.
_WIDTHS = {0: 1, 1: 4, 2: 8, 3: 12, 4: 4, 5: 8, 6: 16, 7: 16}
_TEXTS = (6, 7)
_DEEPEST = 32


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a decoded file."""

    rows: int
    columns: int
    bytes: int


def read_parquet(name: str, content: bytes, span: Span | None, limits: ReadingLimits) -> pl.DataFrame:
    """Decode a file if it fits the limits."""
    try:
        size = decoded_size(content, ask_pages=limits.memory is not None)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, struct.error, UnicodeDecodeError):
        raise _damaged(name, span) from None
    limits.admit(name, span, size.rows, size.columns, size.bytes + len(content))
    try:
        if limits.deadline == float("inf") or size.bytes <= 4 * PIECE:
            return pl.read_parquet(io.BytesIO(content))
        rows = max(1, size.rows * 4 * PIECE // size.bytes)
        pieces = []
        for first in range(0, size.rows, rows):
            limits.late(name, span)
            pieces.append(pl.scan_parquet(io.BytesIO(content)).slice(first, rows).collect())
        return pl.concat(pieces)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise _damaged(name, span) from None


def decoded_size(content: bytes, *, ask_pages: bool) -> Size:
    """The size according to the footer, or with `ask_pages` according to the page headers if they state more."""
    if content[-4:] != b"PAR1" or len(content) < 12:
        raise ValueError("no footer")
    length = struct.unpack("<I", content[-8:-4])[0]
    if length > len(content) - 8:
        raise ValueError("a footer larger than the file")
    footer = _Compact(content, len(content) - 8 - length).structure()
    rows = _whole(footer[3])
    total = 0
    leaves = 0
    for group in footer[4]:
        chunks = group[1]
        leaves = max(leaves, len(chunks))
        for chunk in chunks:
            about = chunk[3]
            values, stored = _whole(about[5]), _whole(about[6])
            if ask_pages:
                found = [_page(header) for header in _headers(content, about)]
                values = max(values, sum(page[0] for page in found))
                stored = max(stored, sum(page[1] for page in found))
            kind = about[1]
            total += values * _WIDTHS[kind] + (stored if kind in _TEXTS else 0)
    return Size(rows, leaves or sum(1 for element in footer[2] if 5 not in element), total)


def _headers(content: bytes, about: dict[int, Any]) -> Iterator[dict[int, Any]]:
    """The headers of a column's pages, one after the other."""
    begin = min(_whole(about[9]), _whole(about.get(11, about[9])) or _whole(about[9]))
    end = begin + _whole(about[7])
    while begin < end:
        reader = _Compact(content, begin)
        header = reader.structure()
        yield header
        begin = reader.place + _whole(header[3])


def _page(header: dict[int, Any]) -> tuple[int, int]:
    """Values and bytes of a page; a dictionary page holds no values of the column."""
    about = header.get(5) or header.get(8) or {}
    return _whole(about.get(1, 0)), _whole(header[2])


def _whole(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError("not a count")
    return value


class _Compact:
    """Thrift's compact protocol: a structure as a dict from the numbers of its fields to their values."""

    def __init__(self, content: bytes, place: int) -> None:
        self.content = content
        self.place = place

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
        if kind in (1, 2):
            return [self._byte() == 1 for _ in range(size)]
        return [self._value(kind, depth + 1) for _ in range(size)]

    def _map(self, depth: int) -> None:
        size = self._unsigned()
        kinds = self._byte() if size else 0
        for _ in range(size):
            self._value(kinds >> 4, depth + 1)
            self._value(kinds & 15, depth + 1)

    def _byte(self) -> int:
        self.place += 1
        return self.content[self.place - 1]

    def _bytes(self, size: int) -> bytes:
        if size > len(self.content) - self.place:
            raise ValueError("cut off")
        self.place += size
        return self.content[self.place - size : self.place]

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
