"""X, y and sample_weight -> a Table, and rows to predict -> what a Tree reads.

Arrays are checked by scikit-learn and hold numbers. Frames are left to TreeML, which knows categories, truths and gaps.
Rows of weight zero are left out: they say nothing, so no cut should fall between them and others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.read import load, load_arrays
from treeml.data.table import BitColumns, Column, Table

Numbers = NDArray[np.float64]


def is_frame(X: Any) -> bool:
    """A table with named columns, of whatever library."""
    import narwhals.stable.v2 as nw

    return bool(nw.dependencies.is_into_dataframe(X))


def plain_names(X: Any) -> Any:
    """A frame whose columns are named by texts; pandas also allows numbers."""
    if hasattr(X, "iloc") and not all(isinstance(name, str) for name in X.columns):
        return X.set_axis([str(name) for name in X.columns], axis=1)
    return X


def make_table(X: Any) -> Table:
    """The columns of a checked array, or of a frame."""
    table = load(plain_names(X)) if is_frame(X) else load_arrays(X)
    return replace(table, source="X")


def take_rows(X: Any, kept: NDArray[np.bool_]) -> Any:
    """Some rows of an array or a frame."""
    if not is_frame(X):
        return X[kept]
    import narwhals.stable.v2 as nw

    return nw.from_native(X, eager_only=True).filter(kept.tolist()).to_native()


def with_column(table: Table, column: Column, role: str) -> Table:
    """The table with one more column: its target or its weight."""
    columns = table.columns
    if isinstance(columns, BitColumns):
        others = {**columns.others, column.name: column}
        joined: Any = BitColumns(tuple(columns.index), columns.bits, columns.bit_levels, others)
    else:
        joined = {**columns, column.name: column}
    return replace(table, columns=joined, **{role: column.name})


def classes_column(name: str, codes: NDArray[Any], labels: tuple[Any, ...]) -> Column:
    return Column(name, "category", codes.astype(np.int32), labels)


def numbers_column(name: str, values: Any) -> Column:
    return Column(name, "number", np.ascontiguousarray(values, dtype=np.float64))


def free_name(table: Table, *wanted: Any) -> str:
    """The first name that no column has."""
    for name in wanted:
        if isinstance(name, str) and name and name not in table.columns:
            return name
    number = 0
    while f"{wanted[-1]}_{number}" in table.columns:
        number += 1
    return f"{wanted[-1]}_{number}"
