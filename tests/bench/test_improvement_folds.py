"""Folds for the improvement benchmarks: columns of 0 and 1, and the tree that Weka prints."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.improvement_folds import binary, tree_of

PRINTED = """
J48 unpruned tree
------------------

a = 0: x (2.0)
a = 1
|   b = 0: y (1.0)
|   b = 1: x (1.0)

Number of Leaves  : \t3

Size of the tree : \t5
"""


def test_every_value_is_a_column_and_contradictions_go() -> None:
    rows = [("0", "red", "x"), ("1", "red", "y"), ("1", "blue", "y"), ("1", "blue", "x"), ("0", "red", "x")]
    table = binary(pd.DataFrame(rows, columns=["bit", "color", "class"]))
    assert list(table.columns) == ["bit", "color_0", "color_1", "label"]
    assert table.to_numpy().tolist() == [[0, 0, 1, "x"], [1, 0, 1, "y"], [1, 1, 0, "y"], [0, 0, 1, "x"]]


def test_the_class_is_the_column_of_that_name() -> None:
    assert list(binary(pd.DataFrame([("x", "0"), ("y", "1")], columns=["label", "bit"])).columns) == ["bit", "label"]


def test_the_tree_is_what_stands_below_its_heading() -> None:
    assert tree_of(PRINTED).splitlines() == ["a = 0: x (2.0)", "a = 1", "|   b = 0: y (1.0)", "|   b = 1: x (1.0)"]
