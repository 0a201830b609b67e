"""Limits of reading (bytes, time, rows, columns) -> a refusal before they are exceeded.

The size of a file says little about its content: a Parquet file of a megabyte may hold a billion rows. Readers
therefore check here before they decode, with the metadata of the file or a count of its lines, and check the deadline
between two pieces of a large file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

from treeml.data.file_error import file_mistake
from treeml.lang import trust
from treeml.lang.source import Span
from treeml.lang.spec import Spec

PIECE = 1 << 24  # bytes that are read or parsed between two checks of the deadline
_CELL = 8  # bytes of a number in a table
_COLUMN = 2000  # bytes of a column in addition to its cells
_ROW = 32  # bytes of a row in addition to its cells: its number, class, weight and count


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Limits of one run. `deadline` is a time of the monotonic clock; None and infinity mean no limit."""

    memory: int | None = None  # bytes of the table and of the content it is read from
    deadline: float = float("inf")
    rows: int | None = None
    columns: int | None = None
    cells: int | None = None
    name_length: int | None = None  # characters of a column's name or of a level
    folder: Path | None = None  # in which every file has to lie after links are followed

    def tightened(self, memory: int | None, within: float | None, begun: float | None = None) -> ReadingLimits:
        """These limits combined with those of a run that began then, or begins now."""
        if memory is None and within is None:
            return self
        least = [size for size in (self.memory, memory) if size is not None]
        begun = monotonic() if begun is None else begun
        deadline = self.deadline if within is None else min(self.deadline, begun + within)
        return replace(self, memory=min(least) if least else None, deadline=deadline)

    @property
    def bytes(self) -> int:
        """The memory that may be used: the given limit, else all of the machine."""
        return self.memory if self.memory is not None else _machine()

    def late(self, name: str, span: Span | None) -> None:
        """Refuse to continue after the deadline."""
        if monotonic() >= self.deadline:
            raise file_mistake(
                "D412",
                f"reading {name} took all the time there was",
                "not read to its end",
                name,
                span,
                helps=("allow more time: `solve within 10 min`, or --within 10min", "or keep fewer rows and columns"),
            )

    def size(self, name: str, span: Span | None, held: int) -> None:
        """Refuse what does not fit in memory; reading would hold `held` bytes at once."""
        if held <= self.bytes:
            return
        whose = "are allowed" if self.memory is not None else "is all that this machine has"
        raise file_mistake(
            "D411",
            f"reading {name} would take about {memory_text(held)} of memory",
            f"{memory_text(self.bytes)} {whose}",
            name,
            span,
            helps=(
                ("allow more: --memory " + memory_text(_generous(held)).replace(" ", ""),)
                if self.memory is not None
                else ()
            )
            + ("keep fewer rows and columns",),
        )

    def admit(self, name: str, span: Span | None, rows: int, columns: int, decoded: int) -> None:
        """Refuse a table that is too large before it is decoded into `decoded` bytes and into typed columns."""
        counted = (("rows", rows, self.rows), ("columns", columns, self.columns), ("cells", rows * columns, self.cells))
        for what, count, most in counted:
            if most is not None and count > most:
                raise file_mistake(
                    "D413",
                    f"{name} has {count:,} {what}, and at most {most:,} are allowed",
                    "too large",
                    name,
                    span,
                    helps=("give a smaller table",),
                )
        self.size(name, span, decoded + table_bytes(rows, columns))

    def texts(self, name: str, span: Span | None, texts: Iterable[Any], what: str) -> None:
        """Refuse names and values that are too long."""
        if self.name_length is None:
            return
        for text in texts:
            if isinstance(text, str) and len(text) > self.name_length:
                raise file_mistake(
                    "D413",
                    f"{name} has {what} of {len(text):,} characters, and at most {self.name_length:,} are allowed",
                    f"it begins {text[:20]!r}",
                    name,
                    span,
                    helps=("give it a shorter name",),
                )


UNLIMITED = ReadingLimits()


def reading_limits(spec: Spec) -> ReadingLimits:
    """The limits on the files that a spec names: tight if the spec is not trusted."""
    if not spec.untrusted:
        return UNLIMITED
    return ReadingLimits(
        rows=trust.ROWS, columns=trust.COLUMNS, cells=trust.CELLS, name_length=trust.NAME, folder=spec.folder
    )


def table_bytes(rows: int, columns: int) -> int:
    """The memory of a table with typed columns."""
    return rows * (_CELL * columns + _ROW) + columns * _COLUMN


def memory_text(size: int) -> str:
    """Bytes in readable form: 500 MB, 9.6 GB."""
    for unit, bytes_of in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= bytes_of:
            number = size / bytes_of
            return f"{number:.0f} {unit}" if number >= 100 or number == int(number) else f"{number:.2g} {unit}"
    return f"{size} bytes"


def _generous(held: int) -> int:
    """A round number of bytes with some reserve."""
    unit = 10**9 if held >= 10**9 else 10**6
    return -(-held * 3 // (2 * unit)) * unit


def _machine() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # a system without this information
        return 1 << 62
