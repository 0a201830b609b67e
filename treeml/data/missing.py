"""A table with missing values -> rows dropped, medians filled in, or missing values kept as the spec declares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from treeml.data.table import BitColumns, Column, Table, quoted, take_rows
from treeml.lang.diagnostic import Diagnostic, Label
from treeml.lang.spec import UNDECLARED, ColumnSpec, Spec


def fill(
    spec: Spec, table: Table, needed: Iterable[str], whole: Iterable[str], notes: list[str], mistakes: list[Diagnostic]
) -> tuple[Table, NDArray[np.int64]]:
    """The remaining rows, with missing values handled, and their numbers in the table.

    Missing values matter in the columns `needed`; in those of `whole` (the target, the weights) they cannot be kept as
    a value of their own.
    """
    whole = frozenset(whole)
    gaps = [column for column in _columns_with_gaps(table, needed) if column.missing is not None]
    drop = np.zeros(table.rows, dtype=bool)
    medians: list[str] = []
    undeclared = [column for column in gaps if column.name not in whole and column.name not in spec.columns]
    for column in gaps:
        assert column.missing is not None
        declared = spec.columns.get(column.name, UNDECLARED)
        if declared.missing == "drop":
            drop |= column.missing
            notes.append(f"{_rows(table.rows_where(column.missing))} dropped where `{column.name}` is missing")
        elif column.name in whole or not declared.missing:
            alike = undeclared if any(each is column for each in undeclared) else [column]
            mistakes.append(_gap(column, declared, table, column.name in whole, alike))
        elif declared.missing == "median" and column.type in ("category", "text"):
            mistakes.append(_no_median(column, declared, table))
        elif declared.missing == "median":
            medians.append(column.name)
    kept = np.flatnonzero(~drop)
    if len(kept) == 0 and table.rows:
        names = ", ".join(f"`{column.name}`" for column in gaps)
        mistakes.append(
            Diagnostic(
                "D405",
                f"no row of {table.source} is left",
                notes=(f"every row is missing a value of {names}, and `missing drop` drops it",),
                helps=("write `missing median` or `missing separate` for some of these columns",),
                place=table.source,
            )
        )
        return table, np.arange(table.rows)
    if drop.any():
        table = take_rows(table, kept)
    if table.merged is not None:
        kept = table.merged.first
    if medians:
        columns = dict(table.columns)
        for name in medians:
            missing = columns[name].missing
            if missing is not None and missing.all():
                mistakes.append(_no_value(columns[name], spec.columns[name], table))
            else:
                columns[name] = _with_median(columns[name], notes)
        table = replace(table, columns=columns)
    return table, kept


def _columns_with_gaps(table: Table, needed: Iterable[str]) -> list[Column]:
    """Bits have no missing values; creating their columns just to look would be slow."""
    columns = table.columns.others if isinstance(table.columns, BitColumns) else table.columns
    return [columns[name] for name in needed if name in columns] if columns else []


def _with_median(column: Column, notes: list[str]) -> Column:
    """The lower median, so that whole numbers stay whole and a level stays a level."""
    if column.missing is None:
        return column
    known = np.sort(column.values[~column.missing])
    middle = known[(len(known) - 1) // 2]
    values = np.where(column.missing, middle, column.values).astype(column.values.dtype)
    shown = column.levels[middle] if column.levels else f"{middle.item():g}"
    notes.append(
        f"`{column.name}` is missing in {_rows(int(column.missing.sum()), 'row')}; its median {shown} stands there"
    )
    return Column(column.name, column.type, values, column.levels)


def _gap(column: Column, declared: ColumnSpec, table: Table, is_whole: bool, alike: list[Column]) -> Diagnostic:
    """The help is given once for all columns `alike`, since one statement can declare them all."""
    assert column.missing is not None
    count = table.rows_where(column.missing)
    first = table.first_where(column.missing)
    values = "value is" if count == 1 else "values are"
    title = f"{count} {values} missing in `{column.name}`"
    where = f"row {first} of {table.source}" if count == 1 else f"the first in row {first} of {table.source}"
    kind = f"{declared.type}, " if declared.type else ""
    helps = [f"leave such rows out: `column {_names(alike)} : {kind}missing drop`"]
    notes: tuple[str, ...] = ()
    if is_whole:
        notes = ("a row without it teaches nothing, so its gaps can be dropped, not kept apart",)
    else:
        ordered = [each for each in alike if each.type not in ("category", "text")]
        if ordered:
            helps.append(f"put the median there: `column {_names(ordered)} : {kind}missing median`")
        helps.append(f"let tests ask for it: `column {_names(alike)} : {kind}missing separate`")
    if column is not alike[0]:
        helps = []
    if declared.span is None:
        return Diagnostic("D404", title, (), (where, *notes), tuple(helps), place=table.source)
    return Diagnostic("D404", title, (Label(declared.span, where),), notes, tuple(helps))


def _no_median(column: Column, declared: ColumnSpec, table: Table) -> Diagnostic:
    title = f"`{column.name}` is a category, and categories have no median"
    levels = "one level" if len(column.levels) == 1 else f"{len(column.levels)} levels"
    label = f"{levels} without an order in {table.source}"
    helps = ("write `missing separate` or `missing drop`", "or declare it `ordered`, if its levels have an order")
    if declared.span is None:
        return Diagnostic("D426", title, (), (label,), helps, place=table.source)
    return Diagnostic("D426", title, (Label(declared.span, label),), (), helps)


def _no_value(column: Column, declared: ColumnSpec, table: Table) -> Diagnostic:
    title = f"`{column.name}` is missing in every row, so it has no median"
    helps = (f"leave it out: `features all except {quoted(column.name)}`",)
    if declared.span is None:
        return Diagnostic("D426", title, (), (), helps, place=table.source)
    return Diagnostic("D426", title, (Label(declared.span, f"no value in {table.source}"),), (), helps)


def _names(columns: list[Column]) -> str:
    return ", ".join(quoted(column.name) for column in columns)


def _rows(count: int, one: str = "row was") -> str:
    if one == "row":
        return "1 row" if count == 1 else f"{count} rows"
    return "1 row was" if count == 1 else f"{count} rows were"
