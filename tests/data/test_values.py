"""Values of every kind that Python, numpy, pandas and polars have: kept, read as a gap, or refused in a sentence."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import treeml
from treeml.data.read import load, load_arrays
from treeml.data.table import Column
from treeml.lang.diagnostic import DataError, SpecError

Y = [0, 1, 0, 1]
WIDE = 2**53


def column(values: Any) -> Column:
    return load({"a": values, "y": Y}).columns["a"]


def message(given: Any, *more: Any, **named: Any) -> str:
    with pytest.raises(DataError) as caught:
        load_arrays(given, *more, **named) if more or named else load(given)
    return str(caught.value)


# What a column is not.


def test_a_table_is_no_column() -> None:
    assert message({"a": np.zeros((4, 2)), "y": Y}) == (
        "error[D420]: `a` has 2 dimensions, but a column has one\n"
        " --> the data\n"
        "  = note: its shape is (4, 2)\n"
        "  = help: give every column a name of its own, or give the array as X"
    )
    assert column(np.array([[1], [2], [3], [4]])).values.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("value", "kind"), [(1, "int"), ("abcd", "str"), (b"abcd", "bytes"), (None, "NoneType"), (np.array(3), "ndarray")]
)
def test_a_single_value_is_no_column(value: Any, kind: str) -> None:
    assert message({"a": value, "y": Y}) == (
        "error[D420]: `a` is a single value, not a column\n"
        " --> the data\n"
        f"  = note: it is of type {kind}\n"
        '  = help: give a list with one value per row: {"a": [...], ...}'
    )


@pytest.mark.parametrize("value", [{1, 2, 3, 4}, {1: 2, 3: 4, 5: 6, 7: 8}])
def test_what_has_no_order_is_no_column(value: Any) -> None:
    assert message({"a": value, "y": Y}).startswith("error[D420]: `a` has no order, so it is not a column\n")


@pytest.mark.parametrize("series", [pd.Series(Y, name="y"), pl.Series("y", Y)])
def test_a_series_is_no_table(series: Any) -> None:
    assert message(series) == (
        "error[D421]: cannot read data from a Series\n"
        " --> the data\n"
        "  = help: give a path, a pandas, polars or Arrow frame, a dict of columns, or arrays X and y"
    )


def test_names_that_read_alike_are_told() -> None:
    assert message({0: [1, 2], "0": [1, 2]}).startswith("error[D408]: the data has two columns called `0`")


def test_rows_of_several_lengths() -> None:
    assert "`y` does not fit X" in message(np.zeros((3, 1)), [[0], [0, 0], []])
    assert "its rows are not equally long" in message([[0], [0, 0]], [0, 1])


# Values that no test can be made of.

UNUSABLE: dict[str, tuple[Any, str]] = {
    "lists": ([[1], [2], [3], [4]], "list"),
    "tuples": ([(1,), (2,), (3,), (4,)], "tuple"),
    "dicts": ([{"k": 1}] * 4, "dict"),
    "sets": ([{1}] * 4, "set"),
    "arrays": ([np.zeros(2)] * 4, "ndarray"),
    "complex": ([1j, 2j, 3j, 4j], "complex"),
    "bytes": ([b"a", b"b", b"a", b"b"], "bytes"),
    "objects": ([object()] * 4, "object"),
    "timedelta": ([datetime.timedelta(days) for days in range(4)], "timedelta"),
    "numpy timedelta": (np.arange(4).astype("timedelta64[h]"), "timedelta64"),
    "lists beside text": ([[1], "a", [2], "b"], "list"),
    "frames": ([pl.DataFrame({"z": [1]})] * 4, "DataFrame"),
    "times of the day": ([datetime.time(12, 30)] * 4, "time"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_column_that_no_test_can_be_made_of(name: str) -> None:
    values, kind = UNUSABLE[name]
    table = load({"a": values, "y": Y})
    assert table.columns["a"].type == "text"
    assert table.notes == (f"`a` holds {kind} values, which cannot be tested; turn it into numbers to use it",)


@pytest.mark.parametrize(
    ("series", "kind"),
    [
        (pl.Series([[1], [2], [3], [4]]), "list"),
        (pl.Series([[1, 1]] * 4, dtype=pl.Array(pl.Int64, 2)), "array"),
        (pl.Series([{"k": 1}] * 4), "struct"),
        (pl.Series([datetime.timedelta(days) for days in range(4)]), "duration"),
        (pl.Series([b"a"] * 4), "binary"),
        (pl.Series([object()] * 4, dtype=pl.Object), "object"),
    ],
)
def test_columns_of_frames_that_no_test_can_be_made_of(series: pl.Series, kind: str) -> None:
    table = load(pl.DataFrame({"a": series, "y": Y}))
    assert table.columns["a"].type == "text"
    assert table.notes == (f"`a` holds {kind} values, which cannot be tested; turn it into numbers to use it",)


@pytest.mark.parametrize(
    ("series", "kind"),
    [
        (pd.to_timedelta(range(4), unit="D"), "Timedelta"),
        (pd.Series([(1, 2)] * 4), "tuple"),
        (pd.period_range("2020", periods=4, freq="M"), "Period"),
        (pd.interval_range(0, 4), "Interval"),
    ],
)
def test_columns_of_pandas_that_no_test_can_be_made_of(series: Any, kind: str) -> None:
    table = load(pd.DataFrame({"a": series, "y": Y}))
    assert table.columns["a"].type == "text"
    assert kind.lower() in table.notes[0].lower()


def test_such_a_column_plays_no_part() -> None:
    data = {"a": [[1], [2], [3], [4]], "b": [1, 2, 3, 4], "y": Y}
    spec = "minimize errors\nrequire depth <= 1"
    tree = treeml.Model.parse(f"predict y\n{spec}").solve(data).tree
    assert tree is not None
    assert tree.columns == ("b",)
    for part in ("predict a", "predict y\nfeatures a", "predict y\nweight by a"):
        with pytest.raises(DataError):
            treeml.Model.parse(f"{part}\n{spec}").solve(data)


# Gaps.


@pytest.mark.parametrize("kind", [float, int, bool, np.float32, "U1", object])
def test_masks_are_gaps(kind: Any) -> None:
    values = np.ma.masked_array(np.array([1, 0, 1, 1]).astype(kind), mask=[True, False, False, True])
    assert column(values).missing.tolist() == [True, False, False, True]  # type: ignore[union-attr]
    matrix = load_arrays(np.ma.masked_array(values.data[:, None], mask=values.mask[:, None]), Y)
    assert matrix.columns["x0"].missing.tolist() == [True, False, False, True]  # type: ignore[union-attr]
    target = load_arrays(np.arange(8).reshape(4, 2), values)
    assert target.columns["y"].missing.tolist() == [True, False, False, True]  # type: ignore[union-attr]
    weights = load_arrays(np.arange(8).reshape(4, 2), Y, np.ma.masked_array([1.0, 2.0, 3.0, 4.0], mask=values.mask))
    assert weights.columns["weight"].missing.tolist() == [True, False, False, True]  # type: ignore[union-attr]


def test_a_mask_that_hides_nothing() -> None:
    values = np.ma.masked_array([1.0, 0.0, 1.0, 1.0], mask=[False] * 4)
    assert column(values).missing is None
    assert column(np.ma.masked_array([1.0, 0.0, 1.0, 1.0])).missing is None


def test_a_declaration_without_a_type_leaves_the_type_to_inference() -> None:
    data = {"a": [1.5, None, 3.5, 2.5], "b": ["u", "v", None, "u"], "y": ["p", "p", "q", "p"]}
    goal = "predict y\nminimize errors\nrequire depth <= 1\n"
    typed = goal + "column a : number, missing separate\ncolumn b : category, missing separate"
    inferred = treeml.parse(goal + "column a, b : missing separate").solve(data)
    assert inferred.tree == treeml.parse(typed).solve(data).tree
    with pytest.raises(DataError) as told:
        treeml.parse(goal).solve(data)
    helps = [line for each in told.value.diagnostics for line in each.helps]
    assert "let tests ask for it: `column a, b : missing separate`" in helps
    assert "put the median there: `column a : missing median`" in helps
    built = (
        treeml.Model()
        .predict("y")
        .minimize(treeml.errors)
        .require(treeml.depth <= 1)
        .column(["a", "b"], missing="separate")
    )
    assert built.solve(data).tree == inferred.tree


def test_trees_see_masks_too() -> None:
    data = {"a": [1.5, 2.5, None, 3.5], "y": ["p", "p", "q", "p"]}
    spec = "predict y\ncolumn a : number, missing separate\nminimize errors\nrequire depth <= 1"
    tree = treeml.Model.parse(spec).solve(data).tree
    assert tree is not None
    masked = np.ma.masked_array([1.5, 2.5, 3.5], mask=[False, True, False])
    assert list(tree.predict({"a": masked})) == ["p", "q", "p"]
    assert list(tree.predict(masked[:, None])) == ["p", "q", "p"]


def test_gaps_beside_wide_whole_numbers() -> None:
    for gap in (None, float("nan"), pd.NA):
        found = column([WIDE + 1, WIDE + 3, gap, 5])
        assert (found.type, found.values[:2].tolist()) == ("integer", [WIDE + 1, WIDE + 3])
        assert found.missing.tolist() == [False, False, True, False]  # type: ignore[union-attr]


# Numbers.


def test_whole_numbers_as_decimals_are_kept() -> None:
    assert column([Decimal(WIDE + k) for k in range(4)]).values.tolist() == [WIDE + k for k in range(4)]
    assert column(pl.Series([Decimal(WIDE + k) for k in range(4)])).values.tolist() == [WIDE + k for k in range(4)]
    assert column([Decimal("0.1"), Decimal("0.25"), 3, Decimal(-2)]).values.tolist() == [0.1, 0.25, 3, -2]


@pytest.mark.parametrize("series", [list, pl.Series])
def test_decimals_of_too_many_digits(series: Any) -> None:
    values = series([Decimal("0.5"), Decimal("0.1000000000000000000001"), Decimal("0.1"), Decimal("0.2")])
    assert message({"a": values, "y": Y}) == (
        "error[D410]: a number of `a` has more digits than are kept\n"
        " --> the data\n"
        "  = note: 0.1000000000000000000001 in row 2 of the data would become 0.1\n"
        "  = note: numbers are kept as floats of 64 bits, which hold 15 digits and most numbers of 16 and 17\n"
        "  = help: round the numbers, or subtract what they have in common"
    )


def test_whole_numbers_beside_decimals() -> None:
    assert column([WIDE, 0.5, 1, 2]).values.tolist() == [WIDE, 0.5, 1, 2]
    assert f"{WIDE + 1} in row 2 of the data would become" in message({"a": [0.5, WIDE + 1, 1, 2], "y": Y})
    assert load_arrays([[WIDE + 1, 0.5], [1, 2.5]], [0, 1]).columns["x0"].values.tolist() == [WIDE + 1, 1]


def test_fractions_are_noted() -> None:
    table = load({"a": [Fraction(1, 3), Fraction(1, 2), Fraction(2), None], "y": Y})
    assert table.columns["a"].values[:3].tolist() == [1 / 3, 0.5, 2]
    assert table.notes == ("`a` holds fractions; they were read as the nearest decimals of 17 digits",)
    assert load({"a": [Fraction(1), Fraction(3)], "y": [0, 1]}).columns["a"].type == "integer"


def test_long_floats_become_numbers() -> None:
    values = np.arange(4, dtype=np.longdouble) / 7
    for given in ({"a": values, "y": Y}, pd.DataFrame({"a": values, "y": Y})):
        found = load(given).columns["a"]
        assert (found.type, found.values.tolist()) == ("number", values.astype(float).tolist())


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="no floats of more than 64 bits here")
def test_long_floats_that_would_fall_together() -> None:
    values = np.longdouble(1) + np.arange(4) * np.finfo(np.longdouble).eps
    assert "error[D410]: a number of `a` has more digits than are kept" in message({"a": values, "y": Y})
    huge = np.longdouble(10) ** 4000 * np.arange(1, 5)
    assert "error[D410]: `a` holds a number that is not finite" in message({"a": huge, "y": Y})


@pytest.mark.parametrize(("power", "digits"), [(126, 38), (200, 61), (5000, None)])
def test_whole_numbers_of_any_size(power: int, digits: int | None) -> None:
    title = "error[D410]: a number of `a` is too large\n"
    values = [2**power + k for k in range(4)] if power < 5000 else [10**4000] * 4
    found = message({"a": values, "y": Y})
    assert found.startswith(title)
    assert f"a number of {digits or 4001} digits in row 1 of the data does not fit 64 bits" in found


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_floats_of_fewer_bits_are_the_numbers_they_are(kind: Any) -> None:
    assert column(np.array([0.1, 0.2, 0.3, 0.4], dtype=kind)).values.tolist() == [
        float(kind(k / 10)) for k in (1, 2, 3, 4)
    ]


def test_lists_keep_what_they_hold() -> None:
    table = load_arrays([[1, "a"], [2, "b"], [3, "a"]], [1, "x", 2.5])
    assert (table.columns["x0"].type, table.columns["x0"].values.tolist()) == ("integer", [1, 2, 3])
    assert table.columns["y"].levels == (2.5, 1, "x")


def test_a_matrix_of_numpy() -> None:
    matrix = np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix)
    assert load_arrays(matrix, matrix[:, 0]).columns["y"].values.tolist() == [1, 3]


# Files.


def test_one_text_leaves_decimal_commas_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    rows = "".join(f"{i % 4},5;{i % 2}\n" for i in range(1500))
    path.write_text(f"a;y\n{rows}", encoding="utf-8")
    assert load(path).columns["a"].type == "number"
    path.write_text(f"a;y\n{rows}see note, below;0\n", encoding="utf-8")
    assert load(path).columns["a"].levels == ("0,5", "1,5", "2,5", "3,5", "see note, below")
    path.write_text(f"a;y\n{rows}7.5;0\n", encoding="utf-8")
    assert load(path).columns["a"].levels == ("0,5", "1,5", "2,5", "3,5", "7.5")
    path.write_text(f"a;y\n{rows}-7;0\n+8,25;0\nNA;1\n", encoding="utf-8")
    assert load(path).columns["a"].values[-3:-1].tolist() == [-7, 8.25]


def test_a_declared_number_names_the_text_among_decimal_commas(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("a;y\n1,5;0\n2,5;1\nsee note, below;0\n", encoding="utf-8")
    with pytest.raises(DataError, match='"see note, below" in row 3'):
        treeml.Model.parse("predict y\ncolumn a : number\nminimize errors").solve(path)


def test_wide_numbers_that_come_late(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    rows = "".join(f"{i},{i % 2}\n" for i in range(1500))
    path.write_text(f"a,y\n{rows}{2**63},1\n", encoding="utf-8")
    with pytest.raises(DataError, match=rf"{2**63} in row 1501 of d\.csv does not fit 64 bits"):
        load(path)
    path.write_text(f"a,y\n{rows}{10**50},1\n", encoding="utf-8")
    assert load(path).columns["a"].type == "text"


def test_a_header_longer_than_four_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    names = [f"{'c' * 500_000}{i}" for i in range(9)]
    path.write_text(",".join(names) + ",y\n" + "1,2,3,4,5,6,7,8,9,0\n" * 2, encoding="utf-8")
    with pytest.raises(DataError, match=r"the first line of wide\.csv cannot be read"):
        load(path)  # no name is so long
    names = [f"{'c' * 100_000}{i}" for i in range(50)]
    path.write_text(",".join(names) + "\n" + ",".join("1" * 50) + "\n", encoding="utf-8")
    assert tuple(load(path).columns) == tuple(names)


MARKS = {"none": b"", "UTF-8": b"\xef\xbb\xbf", "UTF-16": None}
FORMATS = {
    "cp.txt": "1 0 1\n0 1 0\n1 1 1\n0 0 0\n",
    "sparse.libsvm": "+1 1:2\n-1 2:1\n",
    "sparse.txt": "+1 1:2\n-1 2:1\n",
    "stem.data": "1, 0\n2, 1\n",
    "stem.names": "0, 1.\na: continuous.\n",
}


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("name", FORMATS)
def test_formats_that_name_their_target(name: str, mark: str, tmp_path: Path) -> None:
    for each, text in FORMATS.items():
        lead = MARKS[mark]
        (tmp_path / each).write_bytes(text.encode("utf-16") if lead is None else lead + text.encode())
    target = "class" if name.startswith("stem") else "label"
    spec = f'data "{name}"\nmaximize accuracy\nrequire depth <= 2\n'
    trees = []
    for predict in ("", f"predict {target}\n"):
        (tmp_path / "spec.tml").write_text(spec + predict, encoding="utf-8")
        model = treeml.load(tmp_path / "spec.tml")
        assert model.check() is not None
        trees.append(model.solve(backend="native").tree)
    assert trees[0] == trees[1]
    assert treeml.Model.parse("maximize accuracy\nrequire depth <= 2").solve(tmp_path / name).tree == trees[0]


def test_other_formats_do_not(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a,y\n1,0\n", encoding="utf-8")
    for data in ("d.csv", "gone.csv", "."):
        with pytest.raises(SpecError, match="T313"):
            treeml.Model.parse("maximize accuracy\nrequire depth <= 2").solve(tmp_path / data)
