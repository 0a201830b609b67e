"""The data file of a specification -> its columns, types, classes and levels, read again only when the file changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from treeml.lang.diagnostic import SpecError

if TYPE_CHECKING:
    from treeml.data.table import Column, Table
    from treeml.lang.spec import ColumnSpec

MOST_BYTES = 50_000_000  # of a file that is read for completions while somebody types
MOST_FILES = 8
MOST_LEVELS = 50


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What completion and hover say about a column."""

    name: str
    type: str
    levels: tuple[str, ...] = ()  # the most frequent first
    summary: str = ""


@dataclass(frozen=True, slots=True)
class DataFacts:
    """One version of a data file."""

    table: Table
    columns: Mapping[str, ColumnFacts]


Key = tuple[Path, int, int, tuple[tuple[str, str], ...]]


class DataFiles:
    """Tables by path, time and size of the file, and the declared types of its columns."""

    def __init__(self) -> None:
        self._known: OrderedDict[Key, DataFacts | None] = OrderedDict()
        self._lock = Lock()
        self.reads = 0

    def facts(self, path: Path, declared: Mapping[str, ColumnSpec]) -> DataFacts | None:
        """The facts of a file; None if it is absent, large or cannot be read."""
        try:
            state = path.stat()
        except OSError:
            return None
        if state.st_size > MOST_BYTES:
            return None
        types = tuple(sorted((name, column.type) for name, column in declared.items()))
        key = (path, state.st_mtime_ns, state.st_size, types)
        with self._lock:
            if key not in self._known:
                self._known[key] = self._read(path, declared)
                while len(self._known) > MOST_FILES:
                    self._known.popitem(last=False)
            self._known.move_to_end(key)
            return self._known[key]

    def _read(self, path: Path, declared: Mapping[str, ColumnSpec]) -> DataFacts | None:
        from treeml.data.read import load  # imported here: numpy and polars cost start-up time

        self.reads += 1
        try:
            table = load(path, declared)
        except SpecError:
            return None
        return DataFacts(table, {name: _facts(column) for name, column in table.columns.items()})


def _facts(column: Column) -> ColumnFacts:
    from collections import Counter

    from treeml.data.table import label_text

    missing = 0 if column.missing is None else int(column.missing.sum())
    gaps = f", {missing} missing" if missing else ""
    known = column.values if column.missing is None else column.values[~column.missing]
    if column.is_number:
        ends = f"{label_text(known.min())} .. {label_text(known.max())}" if len(known) else "no values"
        return ColumnFacts(column.name, column.type, (), f"{ends}{gaps}")
    counts = Counter(known.tolist()).most_common(MOST_LEVELS)
    levels = tuple(label_text(column.levels[code]) for code, _ in counts)
    told = ", ".join(f"{label_text(column.levels[code])} ({count} rows)" for code, count in counts[:8])
    more = len(column.levels) - min(8, len(counts))
    return ColumnFacts(column.name, column.type, levels, f"{told}{f' and {more} more' if more > 0 else ''}{gaps}")
