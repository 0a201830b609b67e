"""Dataset, row numbers -> the Dataset of those rows, with the same classes, scales and columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.table import BitColumns, Column, Dataset, Table


def take(dataset: Dataset, rows: NDArray[Any]) -> Dataset:
    """The part of a dataset that a fold trains on, or is tested on."""
    table = take_rows(dataset.table, rows)
    return replace(
        dataset,
        table=table,
        rows=table.rows,
        row_numbers=dataset.row_numbers[rows],
        target=None if dataset.target is None else _take_column(dataset.target, rows),
        actual=dataset.actual[rows] if len(dataset.actual) else dataset.actual,
        weight=dataset.weight[rows],
        targets=dataset.targets[rows],
    )


def take_rows(table: Table, rows: NDArray[Any]) -> Table:
    columns = table.columns
    if isinstance(columns, BitColumns):
        others = {name: _take_column(column, rows) for name, column in columns.others.items()}
        bits = np.ascontiguousarray(columns.bits[:, rows])
        taken: Any = BitColumns(tuple(columns.index), bits, columns.bit_levels, others)
    else:
        taken = {name: _take_column(column, rows) for name, column in columns.items()}
    return replace(table, columns=taken, rows=len(rows))


def _take_column(column: Column, rows: NDArray[Any]) -> Column:
    missing = None if column.missing is None or not column.missing[rows].any() else column.missing[rows]
    return replace(column, values=column.values[rows], missing=missing)
