"""Numbers of a tree: whole ones beyond 2**53 are compared exactly, and the text of a cut is the cut."""

from __future__ import annotations

import random
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import treeml
from treeml.measures.cuts import distinct, width_cuts
from treeml.trees.export.registry import export
from treeml.trees.nodes import Branch, number_text
from treeml.trees.tree import Tree

B = 2**53
WIDE = [B + 4, B + 5, B + 6, B + 7]
RIGHT = ["p", "q", "p", "q"]


@pytest.fixture(scope="module")
def tree() -> Tree:
    found = treeml.Model.parse("predict y minimize errors require depth <= 3").solve({"k": WIDE, "y": RIGHT}).tree
    assert found is not None
    return found


FORMS: dict[str, Any] = {
    "dict": {"k": WIDE},
    "tuple": {"k": tuple(WIDE)},
    "rows": [{"k": value} for value in WIDE],
    "lists": [[value] for value in WIDE],
    "texts": {"k": [str(value) for value in WIDE]},
    "decimals": {"k": [Decimal(value) for value in WIDE]},
    "int64": {"k": np.array(WIDE)},
    "uint64": {"k": np.array(WIDE, dtype=np.uint64)},
    "objects": np.array([[value] for value in WIDE], dtype=object),
    "array": np.array(WIDE)[:, None],
    "pandas": pd.DataFrame({"k": WIDE}),
    "pandas nullable": pd.DataFrame({"k": pd.array(WIDE, dtype="Int64")}),
    "pandas objects": pd.DataFrame({"k": pd.Series(WIDE, dtype=object)}),
    "polars": pl.DataFrame({"k": WIDE}),
    "arrow": pl.DataFrame({"k": WIDE}).to_arrow(),
}


@pytest.mark.parametrize("form", FORMS)
def test_wide_whole_numbers(tree: Tree, form: str) -> None:
    assert list(tree.predict(FORMS[form])) == RIGHT


def test_decision_paths_of_wide_whole_numbers(tree: Tree) -> None:
    assert [tree.decision_path({"k": value})[-1] for value in WIDE] == [f"predict {label}" for label in RIGHT]
    assert tree.decision_path({"k": [WIDE[1]]}) == tree.decision_path({"k": WIDE[1]})
    assert tree.decision_path({"k": 2**70})[-1] == "predict q"
    assert tree.decision_path({"k": -(2**70)})[-1] == "predict p"


def test_wide_whole_numbers_beside_gaps() -> None:
    data = {"k": [*WIDE, None], "y": [*RIGHT, "p"]}
    spec = "predict y minimize errors require depth <= 3 column k : integer, missing separate"
    tree = treeml.Model.parse(spec).solve(data).tree
    assert tree is not None
    assert list(tree.predict({"k": data["k"]})) == data["y"]
    assert list(tree.predict(pd.DataFrame({"k": pd.array(data["k"], dtype="Int64")}))) == data["y"]
    assert list(tree.predict(pl.DataFrame({"k": data["k"]}))) == data["y"]


def test_wide_whole_numbers_beside_decimals(tree: Tree) -> None:
    assert list(tree.predict({"k": [WIDE[1], 0.5, float(B + 6), 1e300]})) == ["q", "p", "p", "q"]
    assert list(tree.predict({"k": np.array([B + 4, B + 6, B + 8], dtype=float)})) == ["p", "p", "q"]


def test_floats_of_fewer_bits_are_compared_as_in_training() -> None:
    values = np.array([[0.1], [0.2], [0.3], [0.4]], dtype=np.float32)
    tree = treeml.Model.parse("minimize errors require depth <= 2").solve(values, ["p", "q", "p", "q"]).tree
    assert tree is not None
    for node in tree.nodes():
        if isinstance(node, Branch):
            cut = np.float32(node.test.values[0])
            column = np.array([[np.nextafter(cut, np.float32(-9))], [cut], [np.nextafter(cut, np.float32(9))]])
            assert list(tree.apply(column)) == list(tree.apply(column.astype(np.float64)))


def test_the_text_of_a_cut_is_the_cut() -> None:
    chance = random.Random(7)
    for _ in range(3000):
        number = chance.uniform(-1, 1) * 10.0 ** chance.randint(-300, 300)
        number = round(number, chance.randint(0, 17))
        assert float(number_text(number)) == number
    assert [number_text(number) for number in (0.1, 2.0, 1e15, 1e22, 0.1 + 0.2)] == [
        "0.1",
        "2",
        "1000000000000000",
        "1e+22",
        "0.30000000000000004",
    ]


@pytest.mark.parametrize("rule", ["", "binarize b by width(3)", "binarize b by width(7)", "binarize b by quantiles(3)"])
def test_printed_thresholds_separate_the_training_rows_in_the_same_way(rule: str) -> None:
    chance = random.Random(len(rule))
    for number in range(10):
        values = [round(chance.uniform(0, 1), chance.choice([1, 2, 16])) for _ in range(12)]
        if number == 0:
            values = [0.0, 0.1, 0.3, *values[:3]]
        data = {"b": values, "y": [chance.choice("pq") for _ in values]}
        tree = treeml.Model.parse(f"predict y\n{rule}\nminimize errors\nrequire depth <= 2").solve(data).tree
        assert tree is not None
        cuts = [node.test.values[0] for node in tree.nodes() if isinstance(node, Branch)]
        parted = {tuple(value <= cut for value in values) for cut in cuts}
        for text in (str(tree), export(tree, "rules"), export(tree, "sql"), tree.to_dot()):
            printed = [float(found) for found in re.findall(r"<= ([-+.e\d]+)", text.replace("&lt;", "<"))]
            assert {tuple(value <= cut for value in values) for cut in printed} == parted
            assert set(printed) == set(cuts)


def test_width_cuts_are_short() -> None:
    known = distinct(np.array([0.0, 0.1, 0.3]))
    assert width_cuts(known, 3, whole=False).tolist() == [0.099, 0.2]
    chance = np.random.default_rng(1)
    for pieces in (2, 3, 5, 9):
        values = np.round(chance.uniform(0, 10, 30), 2)
        for cut in width_cuts(values, pieces, whole=False).tolist():
            assert len(repr(cut)) <= 6
