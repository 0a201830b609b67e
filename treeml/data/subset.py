"""Dataset, row numbers -> the Dataset of those rows alone, or those rows as they were given.

Everything learned from data is learned from the training rows of a fold: the types and levels of columns, medians,
cuts, classes and the scale of weights. The rows of a fold are therefore typed and bound as if there were no others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.bind import bind
from treeml.data.table import BitColumns, Column, Dataset, Table, label_text, take_column, take_rows
from treeml.lang.diagnostic import DataError
from treeml.lang.spec import UNDECLARED, Spec


def take(dataset: Dataset, rows: NDArray[Any]) -> Dataset:
    """Some rows bound on their own: nothing depends on any other row."""
    numbers, table = _given(dataset, rows)
    table = table.again(numbers) if table.again is not None else _present_levels(take_rows(table, numbers))
    table = _same_roles(table, dataset)
    try:
        part = bind(_of_present_classes(dataset.spec, dataset, rows), table)
    except DataError as refused:
        where = f"among the {len(rows)} rows that a part of `validate` is trained on"
        raise DataError([replace(each, notes=(*each.notes, where)) for each in refused.diagnostics]) from None
    return replace(part, spec=dataset.spec, row_numbers=numbers, given=dataset.given)


def held_out(dataset: Dataset, rows: NDArray[Any]) -> Dataset:
    """Some rows with their missing values, and the classes and weights of the whole dataset: for measuring only."""
    numbers, table = _given(dataset, rows)
    table = take_rows(table, numbers)
    return replace(
        dataset,
        table=table,
        rows=table.rows,
        row_numbers=numbers,
        target=None if dataset.target is None else take_column(dataset.target, rows),
        actual=dataset.actual[rows] if len(dataset.actual) else dataset.actual,
        weight=dataset.weight[rows],
        row_cost=None if dataset.row_cost is None else dataset.row_cost[rows],
        targets=dataset.targets[rows],
        linear=None if dataset.linear is None else dataset.linear.at(rows),
        given=None,
        given_weight=None,
    )


def _given(dataset: Dataset, rows: NDArray[Any]) -> tuple[NDArray[Any], Table]:
    """The numbers of these rows in the original table, and that table."""
    if dataset.given is None:
        raise ValueError("parts of these rows cannot be learned from: they were bound without `keep`")
    return dataset.row_numbers[rows], dataset.given


def _present_levels(table: Table) -> Table:
    """The table without levels that do not occur."""
    columns = table.columns.others if isinstance(table.columns, BitColumns) else table.columns
    fewer = {
        name: _with_present_levels(column) if column.type in ("category", "text") else column
        for name, column in columns.items()
    }
    if isinstance(table.columns, BitColumns):
        bits = table.columns
        return replace(table, columns=BitColumns(tuple(bits.index), bits.bits, bits.bit_levels, fewer, bits.order))
    return replace(table, columns=fewer)


def _with_present_levels(column: Column) -> Column:
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
    if counts.all():
        return column
    place = np.append(np.cumsum(counts > 0) - 1, -1).astype(np.int32)
    levels = tuple(level for level, count in zip(column.levels, counts, strict=True) if count)
    return replace(column, values=place[column.values], levels=levels)


def _same_roles(table: Table, dataset: Dataset) -> Table:
    """Restore types that depend on the number of rows: few rows may turn a category into text, and the reverse.

    A target of classes stays one. A column that is text in the whole table, so that the spec declares nothing about its
    missing values, is not a feature here if it has missing values.
    """
    changed = {}
    if dataset.target is not None and dataset.classes:
        target = table.columns[dataset.target.name]
        if target.type == "text":
            changed[target.name] = replace(target, type="category")
    if dataset.given is not None:
        given = dataset.given.columns
        for name, column in (given.others if isinstance(given, BitColumns) else given).items():
            found = table.columns[name] if column.type == "text" and column.missing is not None else None
            if found is not None and found.type != "text" and not dataset.spec.columns.get(name, UNDECLARED).type:
                levels = found.levels if not found.is_number else ()
                changed[name] = replace(found, type="text", levels=levels)
    return replace(table, columns={**table.columns, **changed}) if changed else table


def _of_present_classes(spec: Spec, dataset: Dataset, rows: NDArray[Any]) -> Spec:
    """The spec without weights and costs of classes that these rows do not have."""
    if not spec.class_weights and not spec.mistake_costs and not spec.row_costs:
        return spec
    present = {label_text(dataset.classes[code]) for code in np.unique(dataset.actual[rows]).tolist()}
    return replace(
        spec,
        class_weights={label: weight for label, weight in spec.class_weights.items() if label in present},
        row_costs={label: column for label, column in spec.row_costs.items() if label in present},
        mistake_costs={pair: cost for pair, cost in spec.mistake_costs.items() if present.issuperset(pair)},
    )
