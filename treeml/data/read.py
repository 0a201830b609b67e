"""A file, a frame or arrays -> Table.

The format of a file is recognized by its ending or its first bytes; frames of any library are read through narwhals.
Arrays of 0 and 1 stay one matrix all the way to the back-end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from datetime import date, time
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from treeml.data.column_names import refuse_repeats
from treeml.data.files import read_file
from treeml.data.infer import EXACT, InferenceNotes, column_of_objects, finite_numbers, infer, too_fine, unusable
from treeml.data.limits import UNLIMITED, ReadingLimits
from treeml.data.table import BitColumns, Column, Table, quoted, unmasked
from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.lang.source import Span
from treeml.lang.spec import UNDECLARED, ColumnSpec

_MISSING_TYPES = ("NAType", "NaTType", "MaskedConstant")  # of pandas and numpy, by name, so that pandas is not imported
_PLAIN = (str, bool, int, float, np.bool_, np.integer, np.floating, Decimal, Fraction)
_INTEGERS = {f"{sign}{bits}" for sign in ("Int", "UInt") for bits in (8, 16, 32, 64)}  # types of narwhals and polars
_SMALL_MATRIX = 2**19  # entries
_FEW_COLUMNS = 8  # fewer columns of 0 and 1 than this are not worth a matrix
_DATES = (date, time, np.datetime64)  # datetime is a subclass of date


def load(
    source: Any,
    types: Mapping[str, ColumnSpec] | None = None,
    *,
    span: Span | None = None,
    limits: ReadingLimits = UNLIMITED,
) -> Table:
    """Read anything that holds columns. `span` is where a spec names the file; `limits` apply to files."""
    types = types or {}
    if isinstance(source, Table):
        return source
    if isinstance(source, (str, Path)):
        return read_file(Path(source), types, span, limits)
    if isinstance(source, np.ndarray):
        return load_arrays(source, types=types)
    if isinstance(source, Mapping):
        refuse_repeats([str(name) for name in source], "the data", None)
        return _from_columns({str(name): values for name, values in source.items()}, types, "the data")
    return _from_frame(source, types)


def load_arrays(
    X: Any,
    y: Any = None,
    weight: Any = None,
    types: Mapping[str, ColumnSpec] | None = None,
    limits: ReadingLimits = UNLIMITED,
) -> Table:
    """Arrays as a table with columns x0, x1, ..., the target `y` and the weights `weight`.

    X may also be anything else that `load` reads: it keeps its names, and y and weight join it.
    """
    types = types or {}
    if not isinstance(X, (np.ndarray, list, tuple)) and not hasattr(X, "toarray"):
        return _with_target(load(X, types, limits=limits), y, weight, types)
    matrix = _matrix(X)
    rows, width = matrix.shape
    names = array_names(width)
    findings = InferenceNotes("the array")
    others: dict[str, Column] = {}
    for name, values in (("y", y), ("weight", weight)):
        if values is not None:
            others[name] = _vector(name, values, rows, types, findings)
    bits = _as_bits(matrix) if width and types.keys().isdisjoint(names) else None
    columns: Mapping[str, Column]
    if bits is not None:
        columns = BitColumns(names, bits, truth_levels(matrix.dtype), others)
    else:
        columns = {name: _column(name, matrix[:, i], types, findings) for i, name in enumerate(names)} | others
    findings.stop()
    target = "y" if y is not None else None
    weighed = "weight" if weight is not None else None
    again = partial(_array_rows, matrix, y, weight, types)
    return Table(columns, rows, "the array", target, weighed, tuple(findings.notes), again)


def _array_rows(matrix: NDArray[Any], y: Any, weight: Any, types: Mapping[str, ColumnSpec], rows: Any) -> Table:
    return load_arrays(matrix[rows], values_at(y, rows), values_at(weight, rows), types)


def values_at(values: Any, rows: Any) -> Any:
    """Selected values of a column, whatever container holds them."""
    if values is None:
        return None
    if isinstance(values, (list, tuple)):
        return [values[row] for row in rows]
    if hasattr(values, "iloc"):  # its own brackets take labels, not positions
        return values.iloc[rows]
    return values[rows]


@lru_cache(maxsize=8)
def array_names(width: int) -> tuple[str, ...]:
    """The names of the columns of an array."""
    return tuple([f"x{i}" for i in range(width)])


def _matrix(X: Any) -> NDArray[Any]:
    if type(X) is not np.ndarray:
        X = X.toarray() if hasattr(X, "toarray") else unmasked(X)  # scipy's sparse matrices, numpy's masked arrays
    try:
        matrix = as_array(X)
    except ValueError:
        raise DataError(
            Diagnostic(
                "D420",
                "X is not a table of rows and columns",
                notes=("its rows are not equally long",),
                helps=("give a two-dimensional array, or a frame",),
                place="the array",
            )
        ) from None
    if matrix.ndim == 1 and matrix.dtype != object:
        raise DataError(
            Diagnostic(
                "D420",
                "X has one dimension, but needs two: rows and columns",
                notes=(f"its shape is {matrix.shape}",),
                helps=("for a single column write X.reshape(-1, 1)",),
                place="the array",
            )
        )
    if matrix.ndim != 2:
        raise DataError(
            Diagnostic(
                "D420",
                "X is not a table of rows and columns",
                notes=(f"its shape is {matrix.shape}",),
                helps=("give a two-dimensional array, or a frame",),
                place="the array",
            )
        )
    if len(matrix) == 0:
        raise DataError(
            Diagnostic("D405", "the array has no rows", helps=("a tree needs at least one row",), place="the array")
        )
    return matrix


def as_array(values: Any) -> NDArray[Any]:
    """An array with the exact values of a list: numpy would turn numbers among texts into text, and round integers."""
    array = np.asarray(values)
    if not isinstance(values, (list, tuple)) or array.dtype.kind not in "USf":
        return array
    if array.dtype.kind == "f" and not (np.abs(array) >= EXACT).any():
        return array
    exact = np.array(values, dtype=object)
    return exact if exact.shape == array.shape else array


def _vector(name: str, values: Any, rows: int, types: Mapping[str, ColumnSpec], findings: InferenceNotes) -> Column:
    try:
        vector = as_array(unmasked(values))
    except ValueError:  # rows of different lengths
        vector = np.empty(0, dtype=object)
    if vector.ndim == 2 and vector.shape[1] == 1:
        vector = vector[:, 0]
    if vector.ndim != 1 or len(vector) != rows:
        raise DataError(
            Diagnostic(
                "D420",
                f"`{name}` does not fit X",
                notes=(f"X has {rows} rows; the shape of {name} is {vector.shape}",),
                helps=(f"give one value of {name} for every row of X",),
                place="the array",
            )
        )
    return _column(name, vector, types, findings)


def _as_bits(matrix: NDArray[Any]) -> NDArray[np.bool_] | None:
    """columns x rows, if the matrix holds nothing but 0 and 1."""
    if matrix.dtype.kind == "b":
        return np.ascontiguousarray(matrix.T)
    if matrix.dtype.kind not in "iuf":
        return None
    if matrix.size > _SMALL_MATRIX or matrix.dtype.kind == "f":
        probe = matrix[: max(1, 4096 // max(1, matrix.shape[1]))]
        if not ((probe == 0) | (probe == 1)).all():
            return None
    if matrix.dtype.kind in "iu":
        unsigned = matrix.view(f"u{matrix.dtype.itemsize}")  # in which negative numbers are large
        if unsigned.max(initial=0) > 1:
            return None
        return np.ascontiguousarray(matrix.astype(np.uint8).view(np.bool_).T)  # faster than a cast to bool
    ones = matrix == 1
    # Counted as integers, which is twice as fast; -0.0 then counts as nonzero and takes the general path.
    entries = matrix.view(np.int64) if matrix.dtype == np.float64 and matrix.flags.c_contiguous else matrix
    if np.count_nonzero(ones) != np.count_nonzero(entries):
        return None
    return np.ascontiguousarray(ones.T)


def truth_levels(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The levels of columns of this type that hold nothing but 0 and 1."""
    if dtype.kind == "b":
        return (False, True)
    return (0.0, 1.0) if dtype.kind == "f" else (0, 1)


def _column(name: str, values: NDArray[Any], types: Mapping[str, ColumnSpec], findings: InferenceNotes) -> Column:
    declared = types.get(name, UNDECLARED)
    kind = values.dtype.kind
    if kind == "b" and not declared.type:
        return Column(name, "binary", values.astype(np.int32), (False, True))
    if kind in "iu" and not declared.type and len(values) and values.min() >= 0 and values.max() <= 1:
        return Column(name, "binary", values.astype(np.int32), (0, 1))
    if kind in "buif":
        if kind == "f" and values.dtype.itemsize > 8:
            return _from_long_floats(name, values, declared, findings)
        wide = values.astype(np.float64) if kind == "f" else values
        if kind == "f" and (column := finite_numbers(name, wide, declared)) is not None:
            return column
        return infer(pl.Series(name, np.ascontiguousarray(wide)), declared, findings)
    if kind == "M":  # in a list, timestamps in nanoseconds would be integers
        return infer(pl.Series(name, values.astype("datetime64[us]")), declared, findings)
    return _from_list(name, values.tolist() if kind != "m" else list(values), declared, findings)


def _from_long_floats(name: str, values: NDArray[Any], declared: ColumnSpec, findings: InferenceNotes) -> Column:
    """Floats of more than 64 bits become floats of 64, unless two different numbers would become equal."""
    order = np.argsort(values, kind="stable")
    with np.errstate(over="ignore", invalid="ignore"):  # infinities are refused later, like all others
        wide = values.astype(np.float64)
        alike = (np.diff(wide[order]) == 0) & (np.diff(values[order]) != 0)
    if alike.any() and np.isfinite(wide).all():
        row = int(order[int(np.argmax(alike)) + 1])
        return too_fine(name, values[row], row, declared, findings, len(values))
    return infer(pl.Series(name, wide), declared, findings)


def _from_list(name: str, values: list[Any], declared: ColumnSpec, findings: InferenceNotes) -> Column:
    values = [None if type(value).__name__ in _MISSING_TYPES else value for value in values]
    kinds = {type(value) for value in values if value is not None}
    odd = next((kind for kind in kinds if not issubclass(kind, _PLAIN) or issubclass(kind, np.timedelta64)), None)
    if odd is not None and not all(issubclass(kind, _DATES) for kind in kinds):
        return unusable(name, odd.__name__, np.array([value is None for value in values]), findings)
    if any(issubclass(kind, np.longdouble) for kind in kinds) and all(issubclass(kind, np.floating) for kind in kinds):
        long = np.array([np.nan if value is None else value for value in values], dtype=np.longdouble)
        return _from_long_floats(name, long, declared, findings)
    if kinds & {Decimal, Fraction} or (int in kinds and _has_wide(values)):
        exact = _exact_numbers(name, values, kinds, declared, findings)
        if isinstance(exact, Column):
            return exact
        values = exact
    if any(issubclass(kind, str) for kind in kinds) and not all(issubclass(kind, str) for kind in kinds - {float}):
        return column_of_objects(name, values, declared, findings)
    if str in kinds and float in kinds:  # pandas writes missing text as the float nan
        if any(isinstance(value, float) and value == value for value in values):
            return column_of_objects(name, values, declared, findings)
        values = [value if isinstance(value, str) else None for value in values]
    try:
        series = pl.Series(name, values, strict=False)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return column_of_objects(name, values, declared, findings)
    if series.dtype == pl.Object or series.null_count() != sum(value is None for value in values):
        return column_of_objects(name, values, declared, findings)
    return infer(series, declared, findings)


def _has_wide(values: list[Any]) -> bool:
    return any(type(value) is int and not -EXACT <= value <= EXACT for value in values)


def _exact_numbers(
    name: str, values: list[Any], kinds: set[type], declared: ColumnSpec, findings: InferenceNotes
) -> list[Any] | Column:
    """Python numbers as values of a column: integers as they are, others as floats; or a refusal if digits are lost."""
    if not all(issubclass(kind, (int, float, np.integer, np.floating, Decimal, Fraction)) for kind in kinds):
        return values
    gaps = any(value is not None and value != value for value in values)
    values = [None if value is None or value != value else value for value in values]
    known = [value for value in values if value is not None]
    # Missing values written as nan turn integers into floats, except integers that would change.
    if all(map(_is_whole, known)) and (not gaps or max(map(abs, known), default=0) > EXACT):
        wide = next((row for row, value in enumerate(values) if value is not None and abs(value) >= 2**126), None)
        if wide is not None:
            findings.mistake(
                "D410",
                f"a number of `{name}` is too large",
                declared,
                f"a number of {len(str(abs(int(values[wide]))))} digits in row {wide + 1} of {findings.source} "
                "does not fit 64 bits",
                helps=(f"if these are names, give them as text and declare `column {quoted(name)} : text`",),
            )
            return Column(name, "text", np.full(len(values), -1, dtype=np.int32))
        return [None if value is None else int(value) for value in values]
    if any(issubclass(kind, Fraction) for kind in kinds):
        findings.notes.append(f"`{name}` holds fractions; they were read as the nearest decimals of 17 digits")
    for row, value in enumerate(values):
        if isinstance(value, (int, Decimal)) and not _keeps(value):
            return too_fine(name, value, row, declared, findings, len(values))
    return [None if value is None else float(value) for value in values]


def _is_whole(value: Any) -> bool:
    """Is it an integer by type? 2 and Decimal("2") are, 2.0 is not."""
    if isinstance(value, (int, np.integer)):
        return True
    if isinstance(value, Decimal):
        return value.is_finite() and value.as_tuple().exponent == 0
    return isinstance(value, Fraction) and value.denominator == 1


def _keeps(value: int | Decimal) -> bool:
    """Is the number equal to a float, or to the shortest decimal of one?"""
    if isinstance(value, Decimal) and not value.is_finite():
        return True
    try:
        near = float(value)
    except OverflowError:
        return False
    return near == value or Decimal(repr(near)) == value


def _from_columns(columns: Mapping[str, Any], types: Mapping[str, ColumnSpec], source: str) -> Table:
    findings = InferenceNotes(source)
    typed: dict[str, Column] = {}
    rows = -1
    columns = {name: _one_column(name, values, source) for name, values in columns.items()}
    for name, values in columns.items():
        if rows >= 0 and len(values) != rows:
            first = next(iter(columns))
            raise DataError(
                Diagnostic(
                    "D420",
                    f"`{name}` has {len(values)} values, but `{first}` has {rows}",
                    helps=("give every column the same number of values",),
                    place=source,
                )
            )
        rows = len(values)
    bit_names, bits = _bits_among(columns, types, rows)
    for name, values in columns.items():
        if name in bit_names:
            continue
        if isinstance(values, np.ndarray) and values.ndim == 1:
            typed[name] = _column(name, values, types, findings)
        else:
            typed[name] = _from_list(name, list(values), types.get(name, UNDECLARED), findings)
    found = BitColumns(tuple(bit_names), bits, (0, 1), typed, tuple(columns)) if bit_names else typed
    return _finished(found, max(rows, 0), source, findings, partial(_column_rows, columns, types, source))


def _bits_among(
    columns: Mapping[str, Any], types: Mapping[str, ColumnSpec], rows: int
) -> tuple[dict[str, None], NDArray[np.bool_]]:
    """The columns of whole numbers that hold nothing but 0 and 1, as a matrix; none if they are few."""
    whole = [
        name
        for name, values in columns.items()
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and name not in types
    ]
    if len(whole) < _FEW_COLUMNS or rows < 1:
        return {}, np.zeros((0, 0), dtype=np.bool_)
    matrix = np.array([columns[name] for name in whole])
    fitting = (matrix.max(axis=1) <= 1) & (matrix.min(axis=1) >= 0)
    bits = matrix if fitting.all() else matrix[fitting]
    names = [name for name, fits in zip(whole, fitting.tolist(), strict=True) if fits]
    return dict.fromkeys(names), bits.astype(np.uint8).view(np.bool_)


def _one_column(name: str, values: Any, source: str) -> Any:
    """The values of one column of a dict; a single value or a table is refused."""
    if type(values) is np.ndarray and values.ndim == 1:
        return values
    if isinstance(values, np.ndarray):
        values = np.asarray(unmasked(values))
        if values.ndim == 2 and values.shape[1] == 1:
            return values[:, 0]
        if values.ndim > 1:
            raise DataError(
                Diagnostic(
                    "D420",
                    f"`{name}` has {values.ndim} dimensions, but a column has one",
                    notes=(f"its shape is {values.shape}",),
                    helps=("give every column a name of its own, or give the array as X",),
                    place=source,
                )
            )
        if values.ndim == 1:
            return values
    elif not isinstance(values, (str, bytes, Mapping, Set)) and values is not None:
        if isinstance(values, Sequence):
            return values
        try:
            return list(values)
        except TypeError:
            pass
    unordered = isinstance(values, (Mapping, Set))
    raise DataError(
        Diagnostic(
            "D420",
            f"`{name}` has no order, so it is not a column"
            if unordered
            else f"`{name}` is a single value, not a column",
            notes=(f"it is of type {type(values).__name__}",),
            helps=(f'give a list with one value per row: {{"{name}": [...], ...}}',),
            place=source,
        )
    )


def _column_rows(columns: Mapping[str, Any], types: Mapping[str, ColumnSpec], source: str, rows: Any) -> Table:
    return _from_columns({name: values_at(values, rows) for name, values in columns.items()}, types, source)


def _from_frame(frame: Any, types: Mapping[str, ColumnSpec]) -> Table:
    import narwhals.stable.v2 as nw

    if isinstance(frame, pl.DataFrame):
        return _from_polars(frame, types)
    if hasattr(frame, "iloc") and hasattr(frame, "columns"):  # pandas allows two columns of the same name
        refuse_repeats([str(name) for name in frame.columns], "the frame", None)
    try:
        wrapped = nw.from_native(frame)
    except TypeError:
        raise DataError(
            Diagnostic(
                "D421",
                f"cannot read data from a {type(frame).__name__}",
                helps=("give a path, a pandas, polars or Arrow frame, a dict of columns, or arrays X and y",),
                place="the data",
            )
        ) from None
    if isinstance(wrapped, nw.LazyFrame):
        return _from_frame(wrapped.collect().to_native(), types)
    names = [str(name) for name in wrapped.columns]
    refuse_repeats(names, "the frame", None)
    again = partial(_frame_rows, wrapped, types)
    kinds = {str(kind) for kind in wrapped.schema.values()}
    if _may_be_bits(kinds, names, types) and (bits := _as_bits(wrapped.to_numpy())) is not None:
        return _bit_table(names, bits, kinds, again)
    findings = InferenceNotes("the frame")
    typed: dict[str, Column] = {}
    for name, column in zip(names, wrapped.iter_columns(), strict=True):
        declared = types.get(name, UNDECLARED)
        if isinstance(column.to_native(), pl.Series):
            typed[name] = infer(column.to_native().alias(name), declared, findings)
        elif column.dtype == nw.Enum or column.dtype == nw.Categorical:
            typed[name] = _from_category(name, column, declared, findings, nw.is_ordered_categorical(column))
        elif column.dtype.is_numeric() and column.null_count() == 0:
            typed[name] = _column(name, column.to_numpy(), types, findings)
        else:
            typed[name] = _from_list(name, column.to_list(), declared, findings)
    return _finished(typed, wrapped.shape[0], "the frame", findings, again)


def _from_polars(frame: pl.DataFrame, types: Mapping[str, ColumnSpec]) -> Table:
    names = frame.columns
    again = partial(_polars_rows, frame, types)
    kinds = {type(kind).__name__ for kind in frame.dtypes}
    is_small = frame.width * len(frame) < _SMALL_MATRIX
    # One row of most large frames shows that they hold other numbers.
    if _may_be_bits(kinds, names, types) and len(frame) and (is_small or {*frame.row(0)} <= {0, 1}):
        # polars is quick with one small matrix; for a large one it waits for its threads, and columns are not copied.
        bits = _as_bits(frame.to_numpy() if is_small else np.array([column.to_numpy() for column in frame]).T)
        if bits is not None:
            return _bit_table(names, bits, kinds, again)
    findings = InferenceNotes("the frame")
    typed = {column.name: infer(column, types.get(column.name, UNDECLARED), findings) for column in frame}
    return _finished(typed, len(frame), "the frame", findings, again)


def _may_be_bits(kinds: set[str], names: Sequence[str], types: Mapping[str, ColumnSpec]) -> bool:
    """Can a frame with columns of these types hold nothing but 0 and 1, or nothing but truths?"""
    return bool(kinds) and (kinds == {"Boolean"} or kinds <= _INTEGERS) and types.keys().isdisjoint(names)


def _bit_table(names: Sequence[str], bits: NDArray[np.bool_], kinds: set[str], again: Callable[[Any], Table]) -> Table:
    levels = (False, True) if kinds == {"Boolean"} else (0, 1)
    return Table(BitColumns(tuple(names), bits, levels, {}), bits.shape[1], "the frame", again=again)


def _frame_rows(frame: Any, types: Mapping[str, ColumnSpec], rows: Any) -> Table:
    return _from_frame(frame[rows.tolist(), :].to_native(), types)


def _polars_rows(frame: pl.DataFrame, types: Mapping[str, ColumnSpec], rows: Any) -> Table:
    return _from_polars(frame[rows.tolist()], types)


def _from_category(name: str, column: Any, declared: ColumnSpec, findings: InferenceNotes, ordered: bool) -> Column:
    values = column.to_list()
    if ordered and declared.type in ("", "ordered"):
        levels = column.cat.get_categories().to_list()
        place = {level: code for code, level in enumerate(levels)}
        codes = np.array([place.get(value, -1) for value in values], dtype=np.int32)
        missing = codes < 0
        return Column(name, "ordered", codes, tuple(levels), missing if missing.any() else None)
    return _from_list(name, values, declared if declared.type else ColumnSpec("category"), findings)


def _with_target(table: Table, y: Any, weight: Any, types: Mapping[str, ColumnSpec]) -> Table:
    """A frame X with a separate y: y joins it under its own name, or as `y`."""
    findings = InferenceNotes(table.source, notes=list(table.notes))
    columns, joined = table.columns, {}
    names: dict[str, str | None] = {"y": table.target, "weight": table.weight}
    for role, values in (("y", y), ("weight", weight)):
        if values is None:
            continue
        name = str(getattr(values, "name", None) or role)
        if name in columns:
            raise DataError(
                Diagnostic(
                    "D408",
                    f"X already has a column `{name}`",
                    helps=(f"rename {role}, or leave the column out of X",),
                    place=table.source,
                )
            )
        joined[name] = _vector(name, values, table.rows, types, findings)
        names[role] = name
    findings.stop()
    columns = columns.joined(joined) if isinstance(columns, BitColumns) else {**columns, **joined}
    again = None if table.again is None else partial(_joined_rows, table.again, y, weight, types)
    return Table(columns, table.rows, table.source, names["y"], names["weight"], tuple(findings.notes), again)


def _joined_rows(
    again: Callable[[Any], Table], y: Any, weight: Any, types: Mapping[str, ColumnSpec], rows: Any
) -> Table:
    return _with_target(again(rows), values_at(y, rows), values_at(weight, rows), types)


def _finished(
    columns: Mapping[str, Column], rows: int, source: str, findings: InferenceNotes, again: Callable[[Any], Table]
) -> Table:
    if not findings.mistakes and not columns:
        findings.mistakes.append(Diagnostic("D405", f"{source} has no columns", place=source))
    elif not findings.mistakes and rows == 0:
        findings.mistakes.append(
            Diagnostic("D405", f"{source} has no rows", helps=("a tree needs at least one row",), place=source)
        )
    findings.stop()
    return Table(columns, rows, source, notes=tuple(findings.notes), again=again)
