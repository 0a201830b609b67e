"""A large file, a spec -> a Table in which equal rows are one, so that memory grows with the different rows.

Two rows are equal if no test tells them apart and they agree in every column that a measure looks at: a number that is
cut counts as its piece, anything else as its value. Column after column is read in full, typed and cut exactly as the
ordinary way does it, and kept as a byte or two per row; then blocks of rows are merged. The merged row stands for all
of its rows in everything that follows: in weights, in supports, in the counts of leaves.

`obstacle` names what is never merged and read the ordinary way. If a sample shows that the rows hardly repeat, they are
kept one by one, still as a byte or two per value; only decimals that are not cut are kept as they are. What that takes
is said before it is tried, and if it does not fit in memory, the estimate is the refusal.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from treeml.data.delimited import is_text, retyped
from treeml.data.file_error import file_mistake
from treeml.data.infer import InferenceNotes, infer
from treeml.data.limits import ReadingLimits, memory_text
from treeml.data.mentions import mentions, uses
from treeml.data.scan import NotInBatches, OtherTypes, Scan, scan
from treeml.data.table import Column, CutColumn, MergedRows, Table, take_column
from treeml.lang.measures import BUILT_IN, MEASURES
from treeml.lang.source import Span
from treeml.lang.spec import UNDECLARED, ColumnSpec, Spec
from treeml.measures.binarize import cuts_of, rule_of
from treeml.measures.cuts import codes_of, distinct
from treeml.system.reading import open_plain, refuse_special

LEAST_CELLS = 20_000_000  # of a file; a smaller one is read the ordinary way
BUDGET = 400_000_000  # bytes of columns that are held in full at once
SAMPLE = 1 << 16  # rows from which the number of different rows is estimated
WORTH = 0.5  # merging is tried if the different rows are at most this share of all
_FINE = 5000  # values of a column that count apart, in a sample: more are decimals that are not cut
_FEW = 32  # values of a column; numbers with more of them are searched as they are
_BLOCK = 1 << 20  # rows that are merged at once
_WORD = 2**62  # codes of several columns are packed into whole numbers below this
_PER_ROW = 100  # bytes of a row in addition to its columns: its number, count, weight and costs, and those of a search
_PER_CELL = 6  # bytes of a cell of a row: its code, and its answers to tests
_PER_NUMBER = 12  # bytes of a decimal that is not cut: its value, and those of the columns that are being typed
_SEARCHED = 28  # bytes of such a number if all rows are searched: its rank, and its place in the order of every column
_WORTH_SAYING = 10**9  # bytes that are announced before they are used
LOGGER = logging.getLogger("treeml")
_EXACT_ROLES = ("target", "weight", "group", "condition", "cluster")


def obstacle(spec: Spec) -> str | None:
    """Why rows are not merged for this spec; None if they can be."""
    if spec.untrusted:
        return "a specification that is not trusted has limits of its own"
    if spec.ensemble is not None or spec.listing is not None or spec.validate is not None:
        return "forests, lists of trees and `validate` look at single rows"
    if spec.weight_column is not None or spec.row_costs:
        return "every row has a weight or costs of its own"
    if any(declared.missing == "median" for declared in spec.columns.values()):
        return "`missing median` needs all rows at once"
    for use in uses(spec):
        if use.measure not in BUILT_IN or MEASURES[use.measure].task in ("numbers", "clusters"):
            return f"`{use.text or use.measure}` looks at single rows"
    return None


def load_merged(path: Path, spec: Spec, span: Span | None, limits: ReadingLimits) -> Table | None:
    """The table of a large file with equal rows merged; None if it has to be read the ordinary way."""
    if obstacle(spec) is not None or not path.is_file():
        return None
    try:
        with open_plain(path) as handle:
            refuse_special(handle, path)
            found = scan(handle, path, spec.columns, span, limits, LEAST_CELLS)
            return _Merging(found, path.name, spec, span, limits).table()
    except (OSError, NotInBatches):  # the ordinary way reports what is wrong, if anything is
        return None


@dataclass(frozen=True, eq=False, slots=True)
class _Coded:
    """One column as codes; 0 is a missing value, if there are any."""

    like: Column  # its values are those of the codes
    codes: NDArray[np.unsignedinteger]
    radix: int

    @property
    def rows(self) -> int:
        return len(self.codes)

    def column(self) -> Column:
        return CutColumn.of(self.like, self.codes)

    def at(self, codes: NDArray[np.int64]) -> Column:
        """The column of rows with these codes."""
        return CutColumn.of(self.like, codes.astype(self.codes.dtype))


@dataclass(frozen=True, eq=False, slots=True)
class _Plain:
    """One column as it is."""

    given: Column

    @property
    def rows(self) -> int:
        return len(self.given.values)

    def column(self) -> Column:
        return self.given


@dataclass(frozen=True, slots=True)
class _Sample:
    """What a sample of the rows shows."""

    different: int  # about as many rows of all
    fine: frozenset[str]  # columns with so many values that count apart that they are decimals that are not cut
    uncut: int  # columns of numbers with every threshold, which are searched as they are


class _Merging:
    def __init__(self, found: Scan, name: str, spec: Spec, span: Span | None, limits: ReadingLimits) -> None:
        self.scan, self.name, self.spec, self.span, self.limits = found, name, spec, span, limits
        roles = {mention.column for mention in mentions(spec) if mention.role in _EXACT_ROLES}
        self.exact = roles & set(found.names)
        chosen = set(found.names if spec.features is None else spec.features) - {*spec.excluded, *spec.forbidden}
        self.needed = [name for name in found.names if name in chosen or name in self.exact]
        self.kept: NDArray[np.bool_] | None = None  # the rows that `missing drop` leaves; None: all

    def table(self) -> Table:
        sample = self._estimate()
        is_merged = sample.different <= WORTH * self.scan.rows
        self._admit(sample, is_merged)
        findings = InferenceNotes(self.name, notes=self.scan.notes)
        self.kept = self._rows_that_stay()
        # To give every number of a fine column a code would take longer than to keep it.
        coded = self._coded(findings, frozenset() if is_merged else sample.fine)
        findings.stop()
        rows = max((each.rows for each in coded.values()), default=self.scan.rows)
        merged: MergedRows | None = None
        columns = {name: each.column() for name, each in coded.items()}
        note = f"{rows:,} rows were not merged while reading: about {sample.different:,} of them are different"
        if is_merged:
            merged, columns = self._merged(coded, rows)
            note = f"{rows:,} rows were merged into {len(merged.count):,} different ones while reading"
            rows = len(merged.count)
        idle = np.broadcast_to(np.int32(-1), (rows,))
        made = {name: columns.get(name) or Column(name, "text", idle) for name in self.scan.names}
        return Table(made, rows, self.name, notes=(*findings.notes, note), merged=merged)

    def _estimate(self) -> _Sample:
        """About how many different rows there are, from how fast their number grows in a sample (Heaps 1978)."""
        try:
            part = self.scan.sample(self.needed, SAMPLE)
        except OtherTypes:
            part = self.scan.sample(self.needed, SAMPLE)
        findings = InferenceNotes(self.name)
        found = {series.name: self._code(series, findings) for series in part.iter_columns()}
        coded = {name: each for name, each in found.items() if each is not None}
        order = np.random.default_rng(0).permutation(part.height)
        frame = pl.DataFrame({name: each.codes[order] for name, each in coded.items()})
        seen = [max(1, frame.head(rows).n_unique()) for rows in (max(1, frame.height // 2), frame.height)]
        growth = float(np.log2(seen[1] / seen[0])) if frame.width else 0.0
        grown = int(seen[1] * (self.scan.rows / max(1, frame.height)) ** growth)
        different = min(self.scan.rows, grown, prod(each.radix for each in coded.values()))
        fine = frozenset(name for name, each in coded.items() if each.radix > _FINE)
        features = [each for name, each in coded.items() if name not in self.exact]
        uncut = sum(each.like.is_number and each.like.cuts is None and each.radix > _FEW for each in features)
        return _Sample(different, fine, uncut)

    def _bytes(self, sample: _Sample, is_merged: bool) -> int:
        """The memory for some columns in full and the codes of all rows, or later for the different rows.

        Numbers that are not cut are searched as they are, but under a limit of time only in a sample.
        """
        rows, columns = self.scan.rows, len(self.needed)
        codes = columns * rows
        searched = 0 if self.limits.deadline < float("inf") else _SEARCHED * sample.uncut * sample.different
        if sample.fine and not is_merged:
            return codes + searched + rows * (_PER_ROW // 2 + _PER_NUMBER * len(sample.fine))
        kept = (0 if is_merged else codes) + searched + sample.different * (_PER_ROW + _PER_CELL * columns)
        return max(max(BUDGET, 24 * rows) + codes, kept)

    def _admit(self, sample: _Sample, is_merged: bool) -> None:
        """Refuse what does not fit in memory, say what takes much, and how many rows are different."""
        held = self._bytes(sample, is_merged)
        known = f"equal rows are merged, but about {sample.different:,} of {self.scan.rows:,} are different"
        if held <= self.limits.bytes:
            if held > _WORTH_SAYING and not is_merged:
                LOGGER.warning("%s: %s; that takes about %s of memory", self.name, known, memory_text(held))
            return
        whose = "are allowed" if self.limits.memory is not None else "is all that this machine has"
        raise file_mistake(
            "D411",
            f"reading {self.name} would take about {memory_text(held)} of memory",
            f"{memory_text(self.limits.bytes)} {whose}",
            self.name,
            self.span,
            notes=(known,),
            helps=("cut numbers into fewer pieces: `binarize all by quantiles(4)`", "or use fewer columns"),
        )

    def _rows_that_stay(self) -> NDArray[np.bool_] | None:
        """The rows without a gap in a column whose gaps are dropped; cuts are made from these rows alone."""
        dropped = None
        columns = self.spec.columns
        for name in [name for name in self.needed if columns.get(name, UNDECLARED).missing == "drop"]:
            column = self._typed(_joined(name, self._restarted([name])[name]), InferenceNotes(self.name))
            if column.missing is not None and (column.type != "text" or name in self.exact):
                dropped = column.missing if dropped is None else dropped | column.missing
        return None if dropped is None else ~dropped

    def _restarted(self, names: Sequence[str]) -> dict[str, list[pl.Series]]:
        try:
            return self._held(names)
        except OtherTypes:
            return self._held(names)

    def _coded(self, findings: InferenceNotes, fine: frozenset[str]) -> dict[str, _Coded | _Plain]:
        """Every column that matters as codes, unless it is fine; some columns at a time are held in full."""
        done: dict[str, _Coded | _Plain | None] = {}
        while len(done) < len(self.needed):
            left = [name for name in self.needed if name not in done]
            try:
                held = self._held(left, fine)
            except OtherTypes:
                done.clear()
                continue
            for name in list(held):
                self.limits.late(self.name, self.span)
                series = _joined(name, held.pop(name))
                done[name] = _Plain(self._typed(series, findings)) if name in fine else self._code(series, findings)
                del series  # before the next one is made
        return {name: each for name, each in done.items() if each is not None}

    def _held(self, names: Sequence[str], fine: frozenset[str] = frozenset()) -> dict[str, list[pl.Series]]:
        """The first of these columns, as many as the budget allows, in full; it allows all that are kept in full."""
        held: dict[str, list[pl.Series]] = {name: [] for name in names}
        size = -8 * self.scan.rows * len(fine)
        for batch in self.scan.batches(names):
            for name in held:
                part = _small(batch.get_column(name))
                held[name].append(part)
                size += int(part.estimated_size())
            while size > BUDGET and len(held) > 1:
                _, parts = held.popitem()
                size -= sum(int(part.estimated_size()) for part in parts)
        return held

    def _code(self, series: pl.Series, findings: InferenceNotes) -> _Coded | None:
        """A column as codes; None if nothing can depend on it."""
        column, name = self._typed(series, findings), series.name
        if column.type == "text" and name not in self.exact:
            return None
        if not column.is_number:
            return _of_levels(column)
        rule = None if name in self.exact else rule_of(self.spec, column)
        if rule is None or rule.method == "thresholds":
            return _of_values(column)
        stays = self.kept
        known = column if stays is None or len(stays) != len(column.values) else take_column(column, stays)
        return _of_pieces(column, cuts_of(known, rule))

    def _typed(self, series: pl.Series, findings: InferenceNotes) -> Column:
        declared: ColumnSpec = self.spec.columns.get(series.name, UNDECLARED)
        if series.dtype.is_decimal() or series.dtype.is_nested():
            raise NotInBatches(f"`{series.name}` holds values of a kind that is not merged")
        if self.scan.separator and series.dtype == pl.String and not is_text(series.name, self.spec.columns):
            series = retyped(series, self.scan.separator, declared)
        return infer(series, declared, findings)

    def _merged(self, given: Mapping[str, _Coded | _Plain], rows: int) -> tuple[MergedRows, dict[str, Column]]:
        coded = {name: each for name, each in given.items() if isinstance(each, _Coded)}
        groups = list(_packed(coded))
        names = [f"key{number}" for number in range(len(groups))]
        parts: list[pl.DataFrame] = []
        least = _BLOCK
        for begin in range(0, rows, _BLOCK):
            self.limits.late(self.name, self.span)
            end = min(begin + _BLOCK, rows)
            keys = {
                name: _key([coded[each] for each in group], begin, end)
                for name, group in zip(names, groups, strict=True)
            }
            numbers = np.arange(begin, end)
            parts.append(_grouped(pl.DataFrame({**keys, "first": numbers, "count": np.ones_like(numbers)}), names))
            if sum(part.height for part in parts) > 2 * least:
                parts = [_grouped(pl.concat(parts), names)]
                least = max(least, parts[0].height)
        frame = _grouped(pl.concat(parts), names).sort("first")
        columns: dict[str, Column] = {}
        for name, group in zip(names, groups, strict=True):
            key = frame.get_column(name).to_numpy()
            for each in reversed(group):
                columns[each] = coded[each].at(key % coded[each].radix)
                key = key // coded[each].radix
        return MergedRows(frame.get_column("count").to_numpy(), frame.get_column("first").to_numpy()), columns


def _small(series: pl.Series) -> pl.Series:
    """The same values in less memory."""
    if series.dtype.is_integer():
        return series.shrink_dtype()
    if series.dtype == pl.String and series.head(10_000).n_unique() < 1000:
        return series.cast(pl.Categorical)
    return series


def _joined(name: str, parts: list[pl.Series]) -> pl.Series:
    if any(part.dtype == pl.Categorical for part in parts):
        parts = [part.cast(pl.String) for part in parts]
    return pl.concat([part.to_frame(name) for part in parts], how="vertical_relaxed").to_series()


def _of_levels(column: Column) -> _Coded:
    missing = column.missing is not None
    shift = int(missing)
    known = np.arange(-shift, len(column.levels), dtype=np.int32)
    like = replace(column, values=known, missing=np.zeros(0, dtype=np.bool_) if missing else None)
    return _Coded(like, _narrow(column.values + np.int32(shift), len(known)), max(1, len(known)))


def _of_values(column: Column) -> _Coded:
    """Numbers that count as they are."""
    values = distinct(column.values if column.missing is None else column.values[~column.missing])
    return _numbers(column, values, np.searchsorted(values, column.values))


def _of_pieces(column: Column, cuts: NDArray[np.float64]) -> _Coded:
    """Numbers that count as the piece they are in; each piece has the greatest number that belongs to it as its own."""
    values = column.values if column.missing is None else column.values[~column.missing]
    top = values.max() if len(values) else np.zeros(1, dtype=values.dtype)[0]
    last = top
    if len(cuts) and top <= cuts[-1]:  # no number is in the last piece
        last = np.nextafter(cuts[-1], np.inf) if cuts.dtype.kind == "f" else cuts[-1] + 1
    return _numbers(
        replace(column, cuts=cuts), np.append(cuts, last).astype(values.dtype), codes_of(column.values, cuts)
    )


def _numbers(column: Column, values: NDArray[np.float64], codes: NDArray[np.integer]) -> _Coded:
    if column.missing is None:
        return _Coded(replace(column, values=values), _narrow(codes, len(values)), max(1, len(values)))
    gap = np.full(1, np.nan if values.dtype.kind == "f" else 0, dtype=values.dtype)
    like = replace(column, values=np.concatenate([gap, values]), missing=np.zeros(0, dtype=np.bool_))
    return _Coded(like, _narrow(np.where(column.missing, 0, codes + 1), len(values) + 1), len(values) + 1)


def _narrow(codes: NDArray[np.integer], radix: int) -> NDArray[np.unsignedinteger]:
    kind = np.uint8 if radix <= 2**8 else np.uint16 if radix <= 2**16 else np.uint32
    return codes.astype(kind)


def _packed(coded: Mapping[str, _Coded]) -> Iterator[list[str]]:
    """The columns whose codes fit together into one whole number."""
    group: list[str] = []
    size = 1
    for name, each in coded.items():
        if size * each.radix >= _WORD and group:
            yield group
            group, size = [], 1
        group.append(name)
        size *= each.radix
    if group or not coded:
        yield group


def _key(columns: Sequence[_Coded], begin: int, end: int) -> NDArray[np.int64]:
    key = np.zeros(end - begin, dtype=np.int64)
    for each in columns:
        key *= each.radix
        key += each.codes[begin:end]
    return key


def _grouped(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    return frame.group_by(names).agg(pl.col("first").min(), pl.col("count").sum())
