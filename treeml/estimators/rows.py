"""X, y and sample_weight -> a Table; rows to predict -> the input of a Tree.

Arrays are checked by scikit-learn and hold numbers. Frames are read by TreeML, which handles categories, booleans and
missing values. Rows of weight zero are left out: they carry no information, so they must not add thresholds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.read import load, load_arrays
from treeml.data.table import BitColumns, Column, Table, take_column

Numbers = NDArray[np.float64]

WEIGHT = 1e3  # units of the largest weight if weights have to be rounded
ROUNDED = " (rounded)"  # suffix of the copy of a column that distances are measured in
SQUARED, ABSOLUTE = 2.0**54, 2.0**44  # limits of sums of losses, with room for a penalty per leaf


def is_frame(X: Any) -> bool:
    """Whether X is a table with named columns, of any library."""
    import narwhals.stable.v2 as nw

    return bool(nw.dependencies.is_into_dataframe(X))


def plain_names(X: Any) -> Any:
    """The frame with texts as column names; pandas also allows numbers."""
    if hasattr(X, "iloc") and not all(isinstance(name, str) for name in X.columns):
        return X.set_axis([str(name) for name in X.columns], axis=1)
    return X


def make_table(X: Any) -> Table:
    """The table of a checked array or of a frame."""
    table = load(plain_names(X)) if is_frame(X) else load_arrays(X)
    return replace(table, source="X")


def take_rows(X: Any, kept: NDArray[np.bool_]) -> Any:
    """Some rows of an array or a frame."""
    if not is_frame(X):
        return X[kept]
    import narwhals.stable.v2 as nw

    return nw.from_native(X, eager_only=True).filter(kept.tolist()).to_native()


def in_order(X: Any, codes: NDArray[Any], weight: Any) -> tuple[Any, Any, Any]:
    """The sorted rows of an array, so that their order does not decide between equally good answers."""
    if is_frame(X) or np.asarray(X).dtype.kind not in "biuf":
        return X, codes, weight
    rows = np.ascontiguousarray(np.column_stack((X, codes)) + 0)  # + 0 turns -0.0 into 0.0
    order = np.argsort(rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).ravel(), kind="stable")
    return X[order], codes[order], None if weight is None else weight[order]


def with_column(table: Table, column: Column, role: str) -> Table:
    """The table with an additional column, its target or its weight."""
    columns, new = table.columns, {column.name: column}
    joined = columns.joined(new) if isinstance(columns, BitColumns) else {**columns, **new}
    again = None if table.again is None else partial(_rows_with_column, table.again, column, role)
    if role == "target":
        return replace(table, columns=joined, target=column.name, again=again)
    return replace(table, columns=joined, weight=column.name, again=again)


def _rows_with_column(again: Callable[[Any], Table], column: Column, role: str, rows: Any) -> Table:
    return with_column(again(rows), take_column(column, rows), role)


def classes_column(name: str, codes: NDArray[Any], labels: tuple[Any, ...]) -> Column:
    return Column(name, "category", codes.astype(np.int32), labels)


def numbers_column(name: str, values: Any) -> Column:
    return Column(name, "number", np.ascontiguousarray(values, dtype=np.float64))


def fitting(values: Numbers, weight: Numbers | None, squared: bool) -> tuple[Numbers, Numbers | None, tuple[str, ...]]:
    """Numbers and weights, rounded so that sums of losses are exact in 64 bits, and notes about what was rounded.

    Floats carry sixteen digits whether or not they are significant; solvers add up their products in integers.
    """
    notes = []
    total = float(len(values))
    if weight is not None:
        weight, digits, cut = _coarse(weight, WEIGHT)
        total = float(weight.sum()) * 10.0**digits
        notes += [f"weights were rounded to {digits} decimals"] if cut else []
    total = max(total, 1.0)
    values, digits, cut = _coarse(values, (SQUARED / total) ** 0.5 if squared else ABSOLUTE / total)
    notes += [f"numbers to predict were rounded to {digits} decimals"] if cut else []
    return values, weight, tuple(notes)


def _coarse(values: Numbers, most: float) -> tuple[Numbers, int, bool]:
    """Values rounded so that the largest is at most `most` units, the number of decimals, and whether one changed."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return values, 0, False
    digits = int(np.floor(np.log10(most / largest)))
    if not -300 < digits < 300:
        raise ValueError("numbers to predict and weights are beyond what can be added up exactly; scale them")
    fewer = next(
        (few for few in range(min(digits, 0), digits) if np.array_equal(np.round(values, few), values)), digits
    )
    rounded = np.round(values, fewer)
    return rounded, fewer, not np.array_equal(rounded, values)


def free_name(table: Table, *wanted: Any) -> str:
    """The first of the wanted names that is not the name of a column; otherwise the last one with a number."""
    for name in wanted:
        if isinstance(name, str) and name and name not in table.columns:
            return name
    number = 0
    while f"{wanted[-1]}_{number}" in table.columns:
        number += 1
    return f"{wanted[-1]}_{number}"
