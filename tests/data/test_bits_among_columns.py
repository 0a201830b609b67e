"""Columns of 0 and 1 in a dict are one matrix; nothing else about the table changes."""

from __future__ import annotations

import numpy as np
import pytest

import treeml as tml
from treeml.data.read import load
from treeml.data.table import BitColumns, take_rows


def some_columns(seed: int = 0, rows: int = 40) -> dict[str, object]:
    random = np.random.default_rng(seed)
    columns: dict[str, object] = {"age": random.integers(20, 60, rows)}
    columns |= {f"b{place}": random.integers(0, 2, rows) for place in range(10)}
    columns["name"] = [f"somebody {row}" for row in range(rows)]
    columns["mark"] = random.choice(["low", "high"], rows)
    columns["last"] = random.integers(0, 2, rows).astype(np.int8)
    return columns


def test_the_table_is_the_same() -> None:
    columns = some_columns()
    table = load(columns, {})
    assert isinstance(table.columns, BitColumns)
    assert list(table.columns) == list(columns)
    assert [*table.columns.index] == [*(f"b{place}" for place in range(10)), "last"]
    one_by_one = {name: load({name: values}, {}).columns[name] for name, values in columns.items()}
    for name, column in table.columns.items():
        assert (column.type, column.levels) == (one_by_one[name].type, one_by_one[name].levels), name
        assert column.values.tolist() == one_by_one[name].values.tolist()
    few = take_rows(table, np.arange(0, 40, 3))
    assert list(few.columns) == list(columns)


def test_other_whole_numbers_stay_numbers() -> None:
    columns = some_columns()
    columns["b3"] = np.asarray(columns["b3"]) * 2
    columns["b4"] = np.asarray(columns["b4"]) - 1
    table = load(columns, {})
    assert isinstance(table.columns, BitColumns)
    assert {"b3", "b4", "age"} <= set(table.columns.others)


@pytest.mark.parametrize("goal", ["minimize errors", "maximize balanced_accuracy"])
def test_trees_are_those_of_the_columns_one_by_one(goal: str) -> None:
    columns = some_columns(1)
    asked = tml.parse(f"predict mark {goal} require depth <= 2")
    plain = {name: np.asarray(values).tolist() for name, values in columns.items()}  # lists are read one by one
    together, apart = asked.solve(columns), asked.solve(plain)
    assert together.objective == apart.objective
    assert together.tree is not None
    assert apart.tree is not None
    assert together.tree.inputs == apart.tree.inputs
    assert together.tree.predict(columns).tolist() == together.tree.predict(plain).tolist()


def test_a_dict_that_changes_is_read_again() -> None:
    columns = some_columns(2)
    target = np.asarray(columns["b0"]).copy()
    columns["y"] = target
    asked = tml.parse("predict y minimize errors require depth <= 1")
    assert asked.solve(columns).objective == 0
    np.asarray(columns["b0"])[:7] ^= 1
    changed = asked.solve(columns)
    assert changed.objective == general_errors(columns)


def general_errors(columns: dict[str, object]) -> float:
    plain = {name: np.asarray(values).tolist() for name, values in columns.items()}
    found = tml.parse("predict y minimize errors require depth <= 1").solve(plain).objective
    assert isinstance(found, int | float)
    return found
