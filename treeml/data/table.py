"""Typed columns: the result of every reader, and the only form in which later stages see the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.dates import CALENDAR, calendar_value
from treeml.data.linear import LinearColumns
from treeml.data.rounding import EXACT_NUMBERS, Rounding

if TYPE_CHECKING:
    from treeml.lang.spec import Spec

Whole = NDArray[np.int64]
Codes = NDArray[np.signedinteger[Any]]
_BLOCK = 1 << 20  # rows that are counted at once: numpy copies what it counts


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """One column. Numbers are float64 (int64 where they are whole and beyond 2**53); all else is codes into `levels`.

    `levels` are the user's own values (str, int, bool, ...), sorted, so that labels come back as they went in.
    A binary column has exactly two levels, the second of which is "true": 0/1, false/true, no/yes, or sorted text.
    """

    name: str
    type: str  # binary, number, integer, category, ordered or text
    values: NDArray[Any]  # numbers, or int32 codes with -1 for missing
    levels: tuple[Any, ...] = ()
    missing: NDArray[np.bool_] | None = None  # None if nothing is missing
    cuts: NDArray[Any] | None = None  # of merged numbers: each value stands for all between two of these cuts

    @property
    def is_number(self) -> bool:
        """Numbers, or dates and times, which are kept as whole numbers (`treeml.data.dates`)."""
        return self.type in ("number", "integer", *CALENDAR)

    @property
    def is_whole(self) -> bool:
        return self.type in ("integer", *CALENDAR)

    def code_of(self, text: str) -> int | None:
        """The code of the level with this text, if there is one."""
        for code, level in enumerate(self.levels):
            if label_text(level) == text:
                return code
        return None


def counted(group: NDArray[Any], groups: int, count: Whole | None = None) -> Whole:
    """How many rows are in each group, or the sum of their counts, which is exact up to 2**53."""
    total = np.zeros(groups, dtype=np.int64)
    for begin in range(0, len(group), _BLOCK):
        weights = None if count is None else count[begin : begin + _BLOCK]
        total += np.bincount(group[begin : begin + _BLOCK], weights, groups).astype(np.int64)
    return total


_HELD: Any = Column.__dict__["values"]  # the place in which a Column keeps its values


class CutColumn(Column):
    """A Column in little memory: its values are looked up in a short table by a small code, whenever they are read."""

    __slots__ = ("_codes",)
    _codes: NDArray[Any]

    @classmethod
    def of(cls, like: Column, codes: NDArray[Any]) -> CutColumn:
        """The column with the value of `like` at each code. If `like` has missing values, they have code 0."""
        missing = None if like.missing is None else codes == 0
        column = cls(like.name, like.type, like.values, like.levels, missing, like.cuts)
        object.__setattr__(column, "_codes", codes)
        return column

    @property
    def values(self) -> NDArray[Any]:  # type: ignore[override]
        """The values; those of a changed copy are kept as they are given."""
        return self.held[self._codes] if self.is_coded else self.held

    @values.setter
    def values(self, values: NDArray[Any]) -> None:
        _HELD.__set__(self, values)

    @property
    def is_coded(self) -> bool:
        """Are its values looked up? Those of a changed copy are not."""
        return getattr(self, "_codes", None) is not None

    @property
    def held(self) -> NDArray[Any]:
        """The value of every code, whether or not a row has it."""
        held: NDArray[Any] = _HELD.__get__(self)
        return held

    def occurs(self) -> NDArray[np.bool_]:
        """For every code: does a row have it?"""
        return np.asarray(counted(self._codes, len(self.held)) > 0)

    def translated(self, numbers: NDArray[Any]) -> Codes:
        """For every row the number of its code, in as little memory as the numbers take; none is below -1."""
        signed = np.dtype(f"i{self._codes.itemsize}")
        if len(numbers) <= np.iinfo(signed).max and np.array_equal(numbers, np.arange(len(numbers))):
            return self._codes.view(signed)  # not copied
        small = numbers.astype(np.min_scalar_type(-1 - int(numbers.max(initial=0))))
        return np.asarray(small[self._codes])

    def at(self, rows: NDArray[Any]) -> CutColumn:
        """Some rows of it."""
        missing = None if self.missing is None or not self.missing[rows].any() else self.missing[rows]
        column = CutColumn(self.name, self.type, _HELD.__get__(self), self.levels, missing, self.cuts)
        object.__setattr__(column, "_codes", self._codes[rows])
        return column


@dataclass(frozen=True, eq=False, slots=True)
class MergedRows:
    """How many of the user's rows each row of a table stands for, and the number of the first of them, from 0."""

    count: Whole
    first: Whole

    def at(self, rows: NDArray[Any]) -> MergedRows:
        return MergedRows(self.count[rows], self.first[rows])


@dataclass(frozen=True, eq=False, slots=True)
class Table:
    columns: Mapping[str, Column]  # in the order of the source
    rows: int
    source: str = "the data"  # what messages call it: a file's name, "the frame", "the array"
    target: str | None = None  # predicted unless the spec says otherwise: `y` of arrays, the class of some formats
    weight: str | None = None  # weighs the rows unless the spec says otherwise: the weights given with arrays
    notes: tuple[str, ...] = ()  # for the report: a separator that was guessed, text columns left out
    again: Callable[[NDArray[Any]], Table] | None = None  # selected rows, typed as if there were no others
    merged: MergedRows | None = None  # the user's rows that each row stands for, if equal rows were merged

    @property
    def given_rows(self) -> int:
        """The number of the user's rows."""
        return self.rows if self.merged is None else int(self.merged.count.sum())

    def rows_where(self, mask: NDArray[np.bool_]) -> int:
        """How many of the user's rows these are."""
        return int(np.count_nonzero(mask) if self.merged is None else self.merged.count[mask].sum())

    def first_where(self, mask: NDArray[np.bool_]) -> int:
        """The number, from 1, of the first of these rows in the user's table."""
        return int(np.argmax(mask) if self.merged is None else self.merged.first[mask].min()) + 1


class BitColumns(Mapping[str, Column]):
    """The columns of a 0/1 matrix, stored as the matrix: a Column is created only on access.

    A few are cached, since the columns of a tree are accessed repeatedly. Other columns come after them, unless another
    order is given.
    """

    __slots__ = ("bit_levels", "bits", "index", "made", "order", "others")
    KEPT = 64

    def __init__(
        self,
        names: tuple[str, ...],
        bits: NDArray[np.bool_],  # columns x rows
        levels: tuple[Any, Any],
        others: Mapping[str, Column],  # the columns that are not in the matrix: the target, the weights
        order: tuple[str, ...] = (),  # of all columns
    ) -> None:
        self.index = dict(zip(names, range(len(names)), strict=True))
        self.bits = bits
        self.bit_levels = levels
        self.others = others
        self.order = order
        self.made: dict[str, Column] = {}

    def __getitem__(self, name: str) -> Column:
        found = self.others.get(name) or self.made.get(name)
        if found is None:
            found = Column(name, "binary", self.bits[self.index[name]].astype(np.int32), self.bit_levels)
            if len(self.made) < self.KEPT:
                self.made[name] = found
        return found

    def bits_of(self, names: tuple[str, ...]) -> NDArray[np.bool_]:
        """The bits of these columns; not copied if they lie side by side."""
        places = [self.index[name] for name in names]
        first = places[0] if places else 0
        if places == list(range(first, first + len(places))):
            return self.bits[first : first + len(places)]
        return self.bits[places]

    def joined(self, others: Mapping[str, Column]) -> BitColumns:
        """The columns with others behind them."""
        order = (*self.order, *others) if self.order else ()
        return BitColumns(tuple(self.index), self.bits, self.bit_levels, {**self.others, **others}, order)

    def __contains__(self, name: object) -> bool:
        return name in self.index or name in self.others

    def __iter__(self) -> Iterator[str]:
        return iter(self.order) if self.order else chain(self.index, self.others)

    def __len__(self) -> int:
        return len(self.index) + len(self.others)


@dataclass(frozen=True, eq=False, slots=True)
class Dataset:
    """A table joined with a spec by `bind`: every column in its role, in whole numbers. It is never changed.

    Rows dropped by `missing drop` are not among its `rows`; `row_numbers` holds the numbers of the remaining rows in
    the user's table, from 0.
    """

    spec: Spec
    table: Table
    rows: int
    row_numbers: Whole
    features: tuple[str, ...]  # columns that may be split on, in order; forbidden ones are not among them
    target: Column | None
    classes: tuple[Any, ...]  # the user's own labels; () for numeric targets and clustering
    actual: NDArray[np.int32]  # class number of every row; empty where there are no classes
    positive: int | None  # the class that counts as positive
    weight: Whole  # row weight = weight * weight_scale
    weight_scale: Fraction
    targets: Whole  # rows x outputs: numeric targets = targets * target_scale; rows x 0 for classes
    target_scale: Fraction
    mistake_cost: Whole  # classes (predicted) x classes (actual), times mistake_scale
    mistake_scale: Fraction
    test_cost: Mapping[str, Fraction]  # per feature column, 0 unless stated
    row_cost: Whole | None = None  # rows x classes (predicted), times row_cost_scale; instead of mistake_cost if given
    row_cost_scale: Fraction = Fraction(1)
    test_discount: Mapping[tuple[str, str], Fraction] = field(default_factory=dict)  # (column, tested before) -> cost
    notes: tuple[str, ...] = ()  # for the report: rounding, dropped rows, tests that are not exact
    given: Table | None = None  # the original table, if folds of its rows are to be bound
    rounding: Rounding = EXACT_NUMBERS  # how far weights and targets differ from the user's
    given_weight: tuple[NDArray[Any], Fraction] | None = None  # if rounded and required: integers and scale
    linear: LinearColumns | None = None  # the columns of the linear models of leaves; None: leaves hold constants
    count: Whole | None = None  # the user's rows that each row stands for; its weight is their weight. None: one each
    facts: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)  # about the rows, each computed once

    @property
    def has_unit_weights(self) -> bool:
        """Is every weight one unit of `weight_scale`?"""
        if "unit weights" not in self.facts:
            self.facts["unit weights"] = bool((self.weight == 1).all())
        return bool(self.facts["unit weights"])

    @property
    def has_equal_weights(self) -> bool:
        """Has every row the same weight?"""
        return self.has_unit_weights or bool((self.weight == self.weight[:1]).all())

    @property
    def given_rows(self) -> int:
        """The number of the user's rows."""
        return self.rows if self.count is None else int(self.count.sum())

    def rows_in(self, group: NDArray[Any], groups: int) -> NDArray[np.int64]:
        """How many of the user's rows are in each group; `group` holds the number of the group of every row."""
        return counted(group, groups, self.count)

    def column(self, name: str) -> Column:
        return self.table.columns[name]

    def with_given_weights(self) -> Dataset:
        """The same rows with weights that were not rounded; for exact measuring, not for solvers."""
        if self.given_weight is None:
            return self
        whole, scale = self.given_weight
        return replace(self, weight=whole, weight_scale=scale, given_weight=None)


def take_rows(table: Table, rows: NDArray[Any]) -> Table:
    columns = table.columns
    if isinstance(columns, BitColumns):
        others = {name: take_column(column, rows) for name, column in columns.others.items()}
        bits = np.ascontiguousarray(columns.bits[:, rows])
        taken: Any = BitColumns(tuple(columns.index), bits, columns.bit_levels, others, columns.order)
    else:
        taken = {name: take_column(column, rows) for name, column in columns.items()}
    merged = None if table.merged is None else table.merged.at(rows)
    return replace(table, columns=taken, rows=len(rows), again=None, merged=merged)


def take_column(column: Column, rows: NDArray[Any]) -> Column:
    if isinstance(column, CutColumn):
        return column.at(rows)
    missing = None if column.missing is None or not column.missing[rows].any() else column.missing[rows]
    return replace(column, values=column.values[rows], missing=missing)


def plain_columns(table: Table) -> dict[str, list[Any]]:
    """The values of every column as plain Python values, None where one is missing."""
    columns: dict[str, list[Any]] = {}
    for name, column in table.columns.items():
        if column.type in CALENDAR:
            known = np.ones(len(column.values), dtype=np.bool_) if column.missing is None else ~column.missing
            columns[name] = [
                calendar_value(value, column.type) if here else None
                for value, here in zip(column.values.tolist(), known.tolist(), strict=True)
            ]
            continue
        if column.is_number or not column.levels:  # no levels: every value is missing
            values = column.values.tolist()
        else:
            values = [column.levels[code] for code in column.values]
        if column.missing is not None:
            values = [None if absent else value for value, absent in zip(values, column.missing.tolist(), strict=True)]
        columns[name] = values
    return columns


def label_text(value: Any) -> str:
    """The text of a label or level in a spec: 1, 1.0 and "1" all read `1`; True reads `true`."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    return str(value)


def quoted(name: str) -> str:
    """A column's name as a spec writes it."""
    return name if name.isidentifier() and name.isascii() else f"`{name}`"


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names in a sentence; of many, the first few."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def unmasked(values: Any) -> Any:
    """A masked array with its masked values missing; anything else as it is."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    hidden = np.ma.getmaskarray(values)
    if not hidden.any():
        return values.data
    shown = values.data.astype(values.dtype if values.dtype.kind == "f" else object)
    shown[hidden] = np.nan if values.dtype.kind == "f" else None
    return shown
