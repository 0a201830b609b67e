"""Rows, as a Dataset, a frame, dicts or an array -> the leaves that they reach.

Values are first converted to the form that the tree uses: numbers stay numbers, everything else becomes a code into the
levels of the training data. A level that did not occur in training answers no to every test on its column.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from treeml.data.dates import CALENDAR, calendar_numbers, number_of
from treeml.data.missing_words import is_missing_word
from treeml.data.table import Dataset, label_text, quoted, unmasked
from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.trees.nodes import Branch, Field, Node, TreeData, TreeTest, fan, sides

MISSING, UNKNOWN = -1, -2
EXACT = 2**53  # beyond this, not every integer is a float64
_WHOLE = re.compile(r"[+-]?\d{1,40}")
FEW = 32  # switch to row numbers when fewer than one row in 32 is left

Rows = NDArray[Any]  # a mask over all rows, or the numbers of some rows


@dataclass(frozen=True, eq=False, slots=True)
class Values:
    """One column for routing: numbers, or codes into the levels of the field."""

    field: Field
    values: NDArray[Any]
    missing: NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Inputs:
    """The columns that a tree tests, ready for routing."""

    columns: Mapping[str, Values]
    rows: int


def route(tree: TreeData, inputs: Inputs) -> NDArray[np.intp]:
    """The number of the leaf that each row reaches.

    While many rows reach a test, all rows answer it at once and a mask selects those that count, which is several times
    faster than selecting rows by number. Once few rows are left, row numbers are faster.
    """
    reached = np.zeros(inputs.rows, dtype=np.intp)
    leaf = 0
    todo: list[tuple[Node, Rows]] = [(tree.root, np.ones(inputs.rows, dtype=np.bool_))]
    while todo:
        node, rows = todo.pop()
        if not isinstance(node, Branch):
            if rows.dtype == np.bool_:
                np.putmask(reached, rows, leaf)
            else:
                reached[rows] = leaf
            leaf += 1
            continue
        if rows.dtype == np.bool_ and np.count_nonzero(rows) * FEW < inputs.rows:
            rows = np.flatnonzero(rows)
        column = inputs.columns[node.test.column]
        if rows.dtype == np.bool_:
            yes = answers(node.test, column)
            todo += [(node.no, rows & ~yes), (node.yes, rows & yes)]
        else:
            yes = answers(node.test, column, rows)
            todo += [(node.no, rows.compress(~yes)), (node.yes, rows.compress(yes))]
    return reached


def row_sides(tree: TreeData, row: Any) -> tuple[int, ...]:
    """The sides that one row takes, as places in `TreeData.sides`. A dict only needs the columns on its path."""
    inputs = None if isinstance(row, Mapping) else read_inputs(tree, row)
    if inputs is not None and inputs.rows != 1:
        raise ValueError(f"a path is that of one row, not of {inputs.rows}")
    fields = {field.name: field for field in tree.fields}
    taken: list[int] = []
    node = tree.root
    while isinstance(node, Branch):
        name = node.test.column
        column = inputs.columns[name] if inputs is not None else _values_of_row(fields[name], row)
        taken.append(int(side_numbers(node, column, np.zeros(1, dtype=np.intp))[0]))
        node = sides(node)[taken[-1]]
    return tuple(taken)


def side_numbers(node: Branch, column: Values, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Of each of these rows, the place in `TreeData.sides` of the side that it takes."""
    found = fan(node)
    tests = [node.test] if found is None else [test for test, _ in found.branches]
    taken = np.full(len(rows), len(tests), dtype=np.intp)
    for place, test in reversed(list(enumerate(tests))):
        taken[answers(test, column, rows)] = place
    return taken


def _values_of_row(field: Field, row: Mapping[str, Any]) -> Values:
    if field.name not in row:
        note = f"give it, or None if it is missing; the row has {_listed(row) or 'nothing'}"
        _refuse("D471", f"the row has no `{field.name}`", "the tree asks about it on the way of this row", note)
    value = row[field.name]
    if _is_column(value):
        if len(value) != 1:
            raise ValueError(f"a path is that of one row, and `{field.name}` has {len(value)} values")
        value = value[0]
    return _values(field, [value])


def answers(test: TreeTest, column: Values, rows: NDArray[np.intp] | None = None) -> NDArray[np.bool_]:
    """Which of these rows (or of all rows) answer yes."""
    values = column.values if rows is None else column.values[rows]
    missing = column.missing if rows is None or column.missing is None else column.missing[rows]
    yes: NDArray[np.bool_]
    if test.kind == "missing":
        return np.zeros(len(values), dtype=np.bool_) if missing is None else missing
    if not column.field.levels:
        yes = _number_answers(test, values)
    elif test.kind == "at most":
        yes = _below(column.field, test.values[0])[values]
    elif len(test.values) == 1:
        yes = values == _code(column.field, test.values[0])
    else:
        yes = np.isin(values, [_code(column.field, value) for value in test.values])
    if missing is None:
        return yes
    return yes | missing if test.missing_yes else yes & ~missing


def _number_answers(test: TreeTest, values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype == object:
        wanted = test.values
        found = [value <= wanted[0] if test.kind == "at most" else value in wanted for value in values]
        return np.array(found, dtype=np.bool_)
    if test.kind == "at most":
        return np.asarray(values <= _threshold(test.values[0], values))
    return np.isin(values, [float(value) for value in test.values])


def _below(field: Field, value: Any) -> NDArray[np.bool_]:
    """For every code, then for unknown and for missing: whether the level is at most this level or this number."""
    last = _code(field, value)
    below = [code <= last if last >= 0 else float(level) <= value for code, level in enumerate(field.levels)]
    return np.array([*below, False, False])


def dataset_inputs(fields: Sequence[Field], dataset: Dataset, *, unseen: bool = False) -> Inputs:
    """The rows of a Dataset that are in use.

    `unseen` marks rows that are not the training rows: missing values are filled as in training, and a value that is
    not a number in a numeric column answers no, like a level that did not occur in training.
    """
    columns = {}
    for field in fields:
        column = dataset.table.columns.get(field.name)
        if column is None:
            _refuse("D471", f"{dataset.table.source} has no column `{field.name}`", "the tree asks about it")
        values, missing = column.values, column.missing
        if len(values) != dataset.rows:
            values = values[dataset.row_numbers]
            missing = None if missing is None else missing[dataset.row_numbers]
        if field.levels and column.levels != field.levels:
            if column.levels:
                codes = np.array([_code(field, level) for level in column.levels] + [MISSING], dtype=np.int32)
                values = codes[values]
            else:
                values = _codes(field, values)
        elif column.levels and not field.levels:
            numbers = [_number_or_nan(level) if unseen else _number(level, field, None) for level in column.levels]
            values = np.array([*numbers, np.nan])[values]
        missing = None if missing is None or not missing.any() else missing
        if unseen and missing is not None and field.fill is not None:
            values = np.where(missing, _code(field, field.fill) if field.levels else field.fill, values)
            missing = None
        columns[field.name] = Values(field, values, missing)
    return Inputs(columns, dataset.rows)


def read_inputs(tree: TreeData, data: Any) -> Inputs:
    """The rows of a frame, a dict of columns or of one row, a list of dicts, or an array."""
    if isinstance(data, Inputs):
        return data
    raw, rows = _raw_columns(tree, data)
    return Inputs({field.name: _values(field, raw[field.name]) for field in tree.fields}, rows)


def _raw_columns(tree: TreeData, data: Any) -> tuple[Mapping[str, Any], int]:
    if isinstance(data, np.ndarray):
        return _array_columns(tree, unmasked(data))
    if isinstance(data, Mapping):
        return _dict_columns(tree, data)
    if isinstance(data, (list, tuple)):
        if all(isinstance(row, Mapping) for row in data):
            return _record_columns(tree, data)
        return _array_columns(tree, np.array(data, dtype=object))
    return _frame_columns(tree, data)


def _array_columns(tree: TreeData, data: NDArray[Any]) -> tuple[Mapping[str, Any], int]:
    table = data[None, :] if data.ndim == 1 else data
    if table.ndim != 2 or table.shape[1] != len(tree.inputs):
        _refuse(
            "D472",
            f"the array has {table.shape[1] if table.ndim == 2 else table.ndim} "
            f"{'columns' if table.ndim == 2 else 'dimensions'}, but the tree was trained on {len(tree.inputs)} columns",
            f"in order: {', '.join(tree.inputs)}",
        )
    return {name: table[:, place] for place, name in enumerate(tree.inputs)}, len(table)


def _dict_columns(tree: TreeData, data: Mapping[str, Any]) -> tuple[Mapping[str, Any], int]:
    several = any(_is_column(value) for value in data.values())
    if not several:
        return _record_columns(tree, [data])
    _need_columns(tree, data)
    lengths = {len(value) for value in data.values() if _is_column(value)}
    if len(lengths) != 1 or not all(_is_column(data[field.name]) for field in tree.fields):
        _refuse("D473", "the columns of the dict are not equally long", "every column needs one value per row")
    return data, lengths.pop()


def _record_columns(tree: TreeData, data: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], int]:
    columns: dict[str, list[Any]] = {}
    for field in tree.fields:
        for number, row in enumerate(data):
            if field.name not in row:
                _refuse(
                    "D471",
                    f"row {number + 1} has no `{field.name}`",
                    "the tree asks about it",
                    f"give it, or None where it is missing; this row has {_listed(row)}",
                )
        columns[field.name] = [row[field.name] for row in data]
    return columns, len(data)


def _frame_columns(tree: TreeData, data: Any) -> tuple[Mapping[str, Any], int]:
    import narwhals as nw

    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        _refuse(
            "D474",
            f"a tree cannot read rows from a {type(data).__name__}",
            "rows come as a pandas, polars or Arrow frame, a dict, a list of dicts, or a numpy array",
        )
    names = frame.columns
    _need_columns(tree, names)
    raw: dict[str, Any] = {}
    for field in tree.fields:
        series = frame[field.name]
        if series.dtype.is_numeric() and not series.is_null().any():
            raw[field.name] = series.to_numpy()
        else:
            raw[field.name] = series.to_list()
    return raw, len(frame)


def _need_columns(tree: TreeData, names: Any) -> None:
    absent = [field.name for field in tree.fields if field.name not in names]
    if absent:
        _refuse(
            "D471",
            f"the data have no column `{'`, `'.join(absent)}`",
            "the tree asks about it" if len(absent) == 1 else "the tree asks about them",
            f"the columns given are {_listed(names)}",
        )


def _is_column(value: Any) -> bool:
    return isinstance(value, (list, tuple, np.ndarray)) or (hasattr(value, "__len__") and not isinstance(value, str))


def _values(field: Field, raw: Any) -> Values:
    raw = unmasked(raw)
    values = _codes(field, raw) if field.levels else _numbers(field, raw)
    missing = values == MISSING if field.levels else values != values if values.dtype.kind in "fO" else None
    if missing is None or not missing.any():
        return Values(field, values)
    if field.fill is not None:
        filled = _code(field, field.fill) if field.levels else field.fill
        return Values(field, np.where(missing, filled, values))
    if not field.missing:
        row, others = int(np.argmax(missing)) + 1, int(missing.sum()) - 1
        more = f" and {others:,} more {'row' if others == 1 else 'rows'}" if others else ""
        _refuse(
            "D475",
            f"`{field.name}` is missing in row {row}{more}",
            "the training data had no missing values there, so the tree does not know where such a row goes",
            helps=(f"declare it and solve again: `column {quoted(field.name)} : missing separate`",),
        )
    return Values(field, values, missing)


def _numbers(field: Field, raw: Any) -> NDArray[Any]:
    if field.type in CALENDAR:
        try:
            return calendar_numbers(raw, field.type)
        except (ValueError, TypeError, OverflowError) as error:
            what = "a date such as 2024-03-01" if field.type == "date" else "a time such as 2024-03-01 12:30"
            _refuse("D476", f"`{field.name}` is not {what}: {error}", "the tree compares it with such values")
    if isinstance(raw, np.ndarray) and raw.dtype.kind in "iufb":
        if raw.dtype.kind in "fb":
            # Training used 64 bits, so values are compared in 64 bits.
            return raw.astype(np.float64, copy=False)
        return raw
    numbers = [_number(value, field, row) for row, value in enumerate(raw)]
    if any(isinstance(number, int) for number in numbers):
        # Integers that no float equals stay integers: Python compares them exactly.
        return np.array(numbers, dtype=object)
    return np.array(numbers, dtype=np.float64)


def _number(value: Any, field: Field, row: int | None) -> float | int:
    """A float, or an unchanged integer if it is beyond 2**53."""
    if _is_missing(value) or (isinstance(value, str) and is_missing_word(value)):
        return np.nan
    try:
        if isinstance(value, (int, np.integer)) and not -EXACT <= value <= EXACT:
            return int(value)
        if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
            whole = int(value)
            return whole if not -EXACT <= whole <= EXACT else float(whole)
        if isinstance(value, Decimal) and value == value.to_integral_value() and abs(value) > EXACT:
            return int(value)
        return float(value)
    except (TypeError, ValueError, ArithmeticError):
        where = "" if row is None else f" in row {row + 1}"
        _refuse("D476", f"`{field.name}` is not a number{where}: {value!r}", "the tree compares it with numbers")


def _number_or_nan(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan


def _codes(field: Field, raw: Any) -> NDArray[np.int32]:
    known = {label_text(level): code for code, level in enumerate(field.levels)}
    # Booleans may be written as 0 and 1 in one place and as false and true in another.
    for text, other in (("0", "false"), ("1", "true")):
        if (text in known) != (other in known) and known.keys() <= {"0", "1", "false", "true"}:
            known.setdefault(text, known.get(other, UNKNOWN))
            known.setdefault(other, known[text])

    def code(value: Any) -> int:
        if _is_missing(value):
            return MISSING
        found = known.get(label_text(value))
        if found is None and isinstance(value, str):  # texts are read as they were in training
            found = MISSING if is_missing_word(value) else known.get(value.strip())
        return UNKNOWN if found is None else found

    if isinstance(raw, np.ndarray) and raw.dtype.kind in "iufb":
        distinct, places = np.unique(raw, return_inverse=True)
        return np.array([code(value) for value in distinct], dtype=np.int32)[places]
    seen: dict[Any, int] = {}
    codes = np.empty(len(raw), dtype=np.int32)
    for row, value in enumerate(raw):
        # True == 1, but their texts differ.
        key = (type(value), value)
        if key not in seen:
            seen[key] = code(value)
        codes[row] = seen[key]
    return codes


def _is_missing(value: Any) -> bool:
    if value is None or (isinstance(value, (float, np.floating)) and bool(np.isnan(value))):
        return True
    # pandas.NA and NaT, without importing pandas.
    return type(value).__name__ in ("NAType", "NaTType")


def _code(field: Field, level: Any) -> int:
    if level in field.levels:
        return field.levels.index(level)
    text = label_text(level)
    return next((code for code, known in enumerate(field.levels) if label_text(known) == text), UNKNOWN)


def _threshold(value: Any, values: NDArray[Any]) -> Any:
    """The threshold in the type of the values: exact for integers, else the largest float that is not above it."""
    value = number_of(value)
    if values.dtype.kind == "f" and isinstance(value, float):
        return value
    exact = Fraction(value)
    if values.dtype.kind in "iu":
        return exact.numerator // exact.denominator
    near = float(value)
    return near if Fraction(near) <= exact else float(np.nextafter(near, -np.inf))


def _listed(names: Any, most: int = 12) -> str:
    texts = [str(name) for name in names]
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")


def _refuse(code: str, title: str, *notes: str, helps: tuple[str, ...] = ()) -> NoReturn:
    raise DataError(Diagnostic(code, title, notes=tuple(notes), helps=helps, place="rows to predict"))
