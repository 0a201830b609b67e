"""A file, a frame or arrays -> Table.

Files are told apart by their ending, and where that says nothing by their first bytes; a frame of any library comes in
through narwhals. Arrays of 0 and 1 stay one matrix all the way to the back-end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from treeml.data.infer import Findings, column_of_objects, infer
from treeml.data.limits import UNLIMITED, ReadingLimits
from treeml.data.table import BitColumns, Column, Table
from treeml.lang.diagnostic import DataError, Diagnostic, Label
from treeml.lang.source import Span
from treeml.spec import ColumnSpec

NOTHING_DECLARED = ColumnSpec()
_MISSING_TYPES = ("NAType", "NaTType")  # of pandas, which is not imported for this


def load(
    source: Any,
    types: Mapping[str, ColumnSpec] | None = None,
    *,
    span: Span | None = None,
    limits: ReadingLimits = UNLIMITED,
) -> Table:
    """Read anything that holds columns. `span` is where a spec names the file; `limits` hold for files."""
    types = types or {}
    if isinstance(source, Table):
        return source
    if isinstance(source, (str, Path)):
        from treeml.data.files import read_file

        return read_file(Path(source), types, span, limits)
    if isinstance(source, np.ndarray):
        return load_arrays(source, types=types)
    if isinstance(source, Mapping):
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
    names = _names(width)
    findings = Findings("the array")
    others: dict[str, Column] = {}
    for name, values in (("y", y), ("weight", weight)):
        if values is not None:
            others[name] = _vector(name, values, rows, types, findings)
    bits = _as_bits(matrix) if width and types.keys().isdisjoint(names) else None
    columns: Mapping[str, Column]
    if bits is not None:
        columns = BitColumns(names, bits, _truth_levels(matrix.dtype), others)
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
    """Some of the values of a column, whatever holds them."""
    if values is None:
        return None
    if isinstance(values, (list, tuple)):
        return [values[row] for row in rows]
    if hasattr(values, "iloc"):  # whose own brackets take labels
        return values.iloc[rows]
    return values[rows]


@lru_cache(maxsize=8)
def _names(width: int) -> tuple[str, ...]:
    return tuple([f"x{i}" for i in range(width)])


def _matrix(X: Any) -> NDArray[Any]:
    if hasattr(X, "toarray"):  # scipy's sparse matrices
        X = X.toarray()
    try:
        matrix = np.asarray(X)
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


def _vector(name: str, values: Any, rows: int, types: Mapping[str, ColumnSpec], findings: Findings) -> Column:
    vector = values if isinstance(values, np.ndarray) else np.asarray(values)
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
    probe = matrix[: max(1, 4096 // max(1, matrix.shape[1]))]
    if not ((probe == 0) | (probe == 1)).all():
        return None
    ones = matrix == 1
    # Counted as whole numbers, which is twice as fast; -0.0 then counts, and takes the long way.
    entries = matrix.view(np.int64) if matrix.dtype == np.float64 and matrix.flags.c_contiguous else matrix
    if np.count_nonzero(ones) != np.count_nonzero(entries):
        return None
    return np.ascontiguousarray(ones.T)


def _truth_levels(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    if dtype.kind == "b":
        return (False, True)
    return (0.0, 1.0) if dtype.kind == "f" else (0, 1)


def _column(name: str, values: NDArray[Any], types: Mapping[str, ColumnSpec], findings: Findings) -> Column:
    declared = types.get(name, NOTHING_DECLARED)
    kind = values.dtype.kind
    if kind == "b" and not declared.type:
        return Column(name, "binary", values.astype(np.int32), (False, True))
    if kind in "iu" and not declared.type and len(values) and values.min() >= 0 and values.max() <= 1:
        return Column(name, "binary", values.astype(np.int32), (0, 1))
    if kind in "buif":
        wide = values.astype(np.float64) if kind == "f" else values
        return infer(pl.Series(name, np.ascontiguousarray(wide)), declared, findings)
    return _from_list(name, values.tolist(), declared, findings)


def _from_list(name: str, values: list[Any], declared: ColumnSpec, findings: Findings) -> Column:
    values = [None if type(value).__name__ in _MISSING_TYPES else value for value in values]
    kinds = {type(value) for value in values if value is not None}
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
    if series.dtype == pl.Object:
        return column_of_objects(name, values, declared, findings)
    return infer(series, declared, findings)


def _from_columns(columns: Mapping[str, Any], types: Mapping[str, ColumnSpec], source: str) -> Table:
    findings = Findings(source)
    typed: dict[str, Column] = {}
    rows = -1
    columns = {
        name: values if isinstance(values, (np.ndarray, Sequence)) else list(values) for name, values in columns.items()
    }
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
        declared = types.get(name, NOTHING_DECLARED)
        if isinstance(values, np.ndarray) and values.ndim == 1:
            typed[name] = _column(name, values, types, findings)
        else:
            typed[name] = _from_list(name, list(values), declared, findings)
    return _finished(typed, max(rows, 0), source, findings, partial(_column_rows, columns, types, source))


def _column_rows(columns: Mapping[str, Any], types: Mapping[str, ColumnSpec], source: str, rows: Any) -> Table:
    return _from_columns({name: values_at(values, rows) for name, values in columns.items()}, types, source)


def _from_frame(frame: Any, types: Mapping[str, ColumnSpec]) -> Table:
    import narwhals.stable.v2 as nw

    if hasattr(frame, "iloc"):  # pandas allows two columns of one name
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
        wrapped = wrapped.collect()
    findings = Findings("the frame")
    names = [str(name) for name in wrapped.columns]
    refuse_repeats(names, "the frame", None)
    typed: dict[str, Column] = {}
    for name, column in zip(names, wrapped.iter_columns(), strict=True):
        declared = types.get(name, NOTHING_DECLARED)
        native = column.to_native()
        if isinstance(native, pl.Series):
            typed[name] = infer(native.alias(name), declared, findings)
        elif column.dtype == nw.Enum or column.dtype == nw.Categorical:
            typed[name] = _from_category(name, column, declared, findings, nw.is_ordered_categorical(column))
        elif column.dtype.is_numeric() and column.null_count() == 0:
            typed[name] = _column(name, column.to_numpy(), types, findings)
        else:
            typed[name] = _from_list(name, column.to_list(), declared, findings)
    return _finished(typed, wrapped.shape[0], "the frame", findings, partial(_frame_rows, wrapped, types))


def _frame_rows(frame: Any, types: Mapping[str, ColumnSpec], rows: Any) -> Table:
    return _from_frame(frame[rows.tolist(), :].to_native(), types)


def _from_category(name: str, column: Any, declared: ColumnSpec, findings: Findings, ordered: bool) -> Column:
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
    findings = Findings(table.source, notes=list(table.notes))
    columns = dict(table.columns)
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
        columns[name] = _vector(name, np.asarray(values), table.rows, types, findings)
        names[role] = name
    findings.stop()
    again = None if table.again is None else partial(_joined_rows, table.again, y, weight, types)
    return Table(columns, table.rows, table.source, names["y"], names["weight"], tuple(findings.notes), again)


def _joined_rows(
    again: Callable[[Any], Table], y: Any, weight: Any, types: Mapping[str, ColumnSpec], rows: Any
) -> Table:
    return _with_target(again(rows), values_at(y, rows), values_at(weight, rows), types)


def _finished(
    columns: Mapping[str, Column], rows: int, source: str, findings: Findings, again: Callable[[Any], Table]
) -> Table:
    if not findings.mistakes and not columns:
        findings.mistakes.append(Diagnostic("D405", f"{source} has no columns", place=source))
    elif not findings.mistakes and rows == 0:
        findings.mistakes.append(
            Diagnostic("D405", f"{source} has no rows", helps=("a tree needs at least one row",), place=source)
        )
    findings.stop()
    return Table(columns, rows, source, notes=tuple(findings.notes), again=again)


def refuse_repeats(names: Sequence[str], source: str, span: Span | None) -> None:
    """Two columns of one name cannot be told apart, so neither can be meant."""
    seen: dict[str, int] = {}
    mistakes = []
    for position, name in enumerate(names, start=1):
        if name in seen:
            title = f"{source} has two columns called `{name}`"
            where = f"columns {seen[name]} and {position}"
            helps = ("rename one of them in the header",)
            labels = () if span is None else (Label(span, where),)
            notes = (where,) if span is None else ()
            mistakes.append(Diagnostic("D408", title, labels, notes, helps, place=source))
        seen.setdefault(name, position)
    if mistakes:
        raise DataError(mistakes)
