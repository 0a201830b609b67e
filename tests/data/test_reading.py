"""Files, frames and arrays become the same typed columns, and labels come back as they went in."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from treeml.data.read import load, load_arrays
from treeml.data.table import BitColumns, Column, Table
from treeml.lang.diagnostic import DataError
from treeml.lang.spec import ColumnSpec


def csv(
    folder: Path, content: str | bytes, types: dict[str, ColumnSpec] | None = None, name: str = "data.csv"
) -> Table:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return load(path, types or {})


def plain(column: Column) -> list[Any]:
    """The values of a column as the user has them."""
    missing = np.zeros(len(column.values), dtype=bool) if column.missing is None else column.missing
    values = [column.levels[v] if column.levels else v for v in column.values.tolist()]
    return [None if gone else value for value, gone in zip(values, missing, strict=True)]


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["0", "1", "1"], "binary", [0, 1, 1]),
        (["true", "false", "true"], "binary", ["true", "false", "true"]),
        (["True", "False", "True"], "binary", ["True", "False", "True"]),
        (["yes", "no", "yes"], "binary", ["yes", "no", "yes"]),
        (["Yes", "No", "?"], "binary", ["Yes", "No", None]),
        (["0.0", "1.0", "1.0"], "binary", [0.0, 1.0, 1.0]),
        (["1", "2", "2"], "integer", [1.0, 2.0, 2.0]),
        (["-3", "", "7"], "integer", [-3.0, None, 7.0]),
        (["1.5", "2", "NaN"], "number", [1.5, 2.0, None]),
        ([" 1", " 2", "3 "], "integer", [1.0, 2.0, 3.0]),
        (["red", "blue", "red"], "category", ["red", "blue", "red"]),
        ([" red", "blue ", "NA"], "category", ["red", "blue", None]),
        (["1", "2", "three"], "category", ["1", "2", "three"]),
        (["null", "?", "N/A"], "category", [None, None, None]),
    ],
)
def test_types_are_inferred(tmp_path: Path, values: list[str], kind: str, expected: list[Any]) -> None:
    column = csv(tmp_path, "a,b\n" + "".join(f"{value},1\n" for value in values)).columns["a"]
    assert column.type == kind
    assert plain(column) == expected
    assert [type(value) for value in plain(column)] == [type(value) for value in expected]


def test_the_second_level_of_a_binary_column_is_the_true_one(tmp_path: Path) -> None:
    table = csv(tmp_path, "a,b,c\nYES,true,only\nNO,true,only\n", {"c": ColumnSpec("binary")})
    assert table.columns["a"].levels == ("NO", "YES")
    assert table.columns["b"].levels == ("false", "true")
    assert table.columns["c"].type == "category"


def test_declared_types(tmp_path: Path) -> None:
    text = "zip,grade,size,half,rank\n007,2,big,1,room 10\n008,10,small,2,room 9\n"
    declared = {
        "zip": ColumnSpec("category"),
        "grade": ColumnSpec("category"),
        "size": ColumnSpec("binary"),
        "half": ColumnSpec("number"),
        "rank": ColumnSpec("ordered"),
    }
    columns = csv(tmp_path, text, declared).columns
    assert plain(columns["zip"]) == ["007", "008"]
    assert columns["grade"].levels == (2, 10)
    assert columns["size"].levels == ("big", "small")
    assert columns["half"].type == "number"
    assert columns["rank"].levels == ("room 9", "room 10")


def test_blank_lines_between_rows_are_no_rows_unless_a_value_holds_them(tmp_path: Path) -> None:
    rows = '\ufeffa;"the ""b""";y\r\n1,5;"x\n\ny";p\r\n\r\n\r\n2,5;z;q\r\n\r\n3,5;"z";q\r\n\r\n'
    table = csv(tmp_path, rows)
    assert table.rows == 3
    assert table.columns['the "b"'].levels == ("x\n\ny", "z")
    assert list(table.columns["a"].values) == [1.5, 2.5, 3.5]


def test_the_declared_column_may_have_blanks_around_its_name(tmp_path: Path) -> None:
    table = csv(tmp_path, " zip , truth\n007,True\n008,?\n", {"zip": ColumnSpec("category")})
    assert plain(table.columns["zip"]) == ["007", "008"]
    assert table.columns["truth"].levels == ("False", "True")


def test_text_with_nearly_only_different_values_is_no_feature(tmp_path: Path) -> None:
    table = csv(tmp_path, "name,a\n" + "".join(f"person {i},{i % 3}\n" for i in range(40)))
    assert table.columns["name"].type == "text"
    assert "`name` is text with 40 different values in 40 rows" in table.notes[0]


def test_a_surprise_after_the_first_rows_turns_a_column_into_text(tmp_path: Path) -> None:
    lines = [f"{i % 5},{i % 7}\n" for i in range(3000)] + ["many,1.5\n"]
    table = csv(tmp_path, "a,b\n" + "".join(lines))
    assert table.columns["a"].type == "category"
    assert table.columns["b"].type == "number"
    assert plain(table.columns["b"])[-1] == 1.5


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,x\n2,y\n".encode("utf-8-sig"),
        "a,b\n1,x\n2,y\n".encode("utf-16"),
        "a,b\n1,x\n2,y\n".encode("utf-16-be").join([b"\xfe\xff", b""]),
        b"a,b\r\n1,x\r\n2,y\r\n",
        b"a,b\r1,x\r2,y\r",
        b"a;b\n1;x\n2;y\n",
        b"a\tb\n1\tx\n2\ty\n",
        b'"a","b"\n"1","x"\n"2","y"\n',
        b"a,b\n1,x\n2,y",
        b" a , b \n1,x\n2,y\n",
        b"\n\na,b\n1,x\n\n\n2,y\n\n",
        b"a,b\r\n1,x\r\n\r\n2,y\r\n\r\n",
    ],
)
def test_ways_to_write_one_table(tmp_path: Path, content: bytes) -> None:
    columns = csv(tmp_path, content).columns
    assert list(columns) == ["a", "b"]
    assert plain(columns["a"]) == [1.0, 2.0]
    assert plain(columns["b"]) == ["x", "y"]


def test_what_was_guessed_is_noted(tmp_path: Path) -> None:
    assert csv(tmp_path, "a;b\n1;2\n").notes == ("data.csv is separated by semicolons",)
    assert "UTF-16" in csv(tmp_path, "a,b\n1,2\n".encode("utf-16")).notes[0]
    latin = csv(tmp_path, "a,b\nk\xf6ln,2\n".encode("latin-1"))
    assert "line 2" in latin.notes[0]
    assert plain(latin.columns["a"]) == ["köln"]


def test_decimal_commas(tmp_path: Path) -> None:
    assert plain(csv(tmp_path, "a;b\n1,5;x\n2;y\n-0,25;z\n").columns["a"]) == [1.5, 2.0, -0.25]


def test_quotes_and_embedded_line_breaks(tmp_path: Path) -> None:
    table = csv(tmp_path, 'class,depth\n"a ""b"", c",1\n"two\nlines",2\n')
    assert list(table.columns) == ["class", "depth"]
    assert plain(table.columns["class"]) == ['a "b", c', "two\nlines"]


def test_one_row_one_column_and_many_columns(tmp_path: Path) -> None:
    assert csv(tmp_path, "a\n5\n").rows == 1
    wide = csv(tmp_path, ",".join(f"c{i}" for i in range(20_000)) + "\n" + ",".join("1" * 20_000) + "\n")
    assert len(wide.columns) == 20_000


def test_large_whole_numbers_stay_exact(tmp_path: Path) -> None:
    column = csv(tmp_path, f"a,b\n{2**53},1\n{2**53 + 1},2\n{-(2**63)},3\n").columns["a"]
    assert column.values.tolist() == [2**53, 2**53 + 1, -(2**63)]


def test_minus_zero_is_zero(tmp_path: Path) -> None:
    values = csv(tmp_path, "a\n-0.0\n0.0\n2.5\n").columns["a"].values
    assert str(values[0]) == "0.0"


def test_a_file_without_the_right_to_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("treeml.data.file_bytes._bytes_within", refuse)
    with pytest.raises(DataError, match=r"secret\.csv may not be read"):
        load(tmp_path / "secret.csv")


def test_parquet_equals_csv(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, 2, 3], "b": ["x", None, "y"], "c": [0.5, 1.5, None]})
    frame.write_parquet(tmp_path / "data.parquet")
    frame.write_csv(tmp_path / "data.csv")
    one, other = load(tmp_path / "data.parquet"), load(tmp_path / "data.csv")
    assert [(c.type, plain(c)) for c in one.columns.values()] == [(c.type, plain(c)) for c in other.columns.values()]


COLUMNS = {
    "whole": [3, 1, 2, 3],
    "decimal": [0.5, 1.5, 2.5, 0.5],
    "truth": [True, False, True, True],
    "bit": [0, 1, 1, 0],
    "word": ["b", "a", None, "b"],
    "gap": [1.5, None, 2.5, 3.5],
}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, lambda c: pl.DataFrame(c).lazy(), pa.table])
def test_frames_of_every_library(make: Any) -> None:
    columns = load(make(COLUMNS)).columns
    assert {name: column.type for name, column in columns.items()} == {
        "whole": "integer",
        "decimal": "number",
        "truth": "binary",
        "bit": "binary",
        "word": "category",
        "gap": "number",
    }
    for name, values in COLUMNS.items():
        assert plain(columns[name]) == values


def test_categories_of_frames_keep_their_order() -> None:
    sizes = ["small", "large", "small", "medium"]
    order = ["small", "medium", "large"]
    pandas = pd.DataFrame({"size": pd.Categorical(sizes, categories=order, ordered=True)})
    polars = pl.DataFrame({"size": pl.Series(sizes, dtype=pl.Enum(order))})
    unordered = pd.DataFrame({"size": pd.Categorical(sizes, categories=order)})
    for frame in (pandas, polars):
        column = load(frame).columns["size"]
        assert column.type == "ordered"
        assert column.levels == tuple(order)
        assert plain(column) == sizes
    assert load(unordered).columns["size"].type == "category"


def test_values_of_several_types_are_levels() -> None:
    column = load({"a": [1, "one", None, 2.5]}).columns["a"]
    assert plain(column) == [1, "one", None, 2.5]
    assert plain(load(pd.DataFrame({"a": [1, "one", 1]})).columns["a"]) == [1, "one", 1]


def test_times_of_the_day_are_no_features() -> None:
    table = load(pl.DataFrame({"hour": pl.Series([1, 2]).cast(pl.Time), "a": [1, 2]}))
    assert table.columns["hour"].type == "text"
    assert "turn it into numbers" in table.notes[0]


@pytest.mark.parametrize("kind", [bool, np.int64, np.uint8, np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_matrices_of_bits_stay_bits(kind: type, order: Any) -> None:
    matrix = np.array([[0, 1, 1], [1, 1, 0]], dtype=kind, order=order)
    table = load_arrays(matrix, np.array(["b", "a"]))
    assert list(table.columns) == ["x0", "x1", "x2", "y"]
    assert table.target == "y"
    assert [plain(table.columns[f"x{i}"]) for i in range(3)] == matrix.T.tolist()
    assert plain(table.columns["y"]) == ["b", "a"]


@pytest.mark.parametrize("odd", [2, -1, 0.5, np.nan])
def test_matrices_of_other_numbers_do_not(odd: float) -> None:
    matrix = np.zeros((5000, 3))
    matrix[-1, 1] = odd
    columns = load_arrays(matrix, np.zeros(5000)).columns
    assert columns["x0"].type == "binary"
    assert (columns["x1"].type == "binary") == bool(np.isnan(odd))


def test_frames_with_a_separate_target_and_weights() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3]})
    table = load_arrays(frame, pd.Series([0, 1, 0], name="ill"), [1.0, 0.5, 2.0])
    assert list(table.columns) == ["a", "ill", "weight"]
    assert (table.target, table.weight) == ("ill", "weight")


def test_files_and_lists_with_a_separate_target(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b\n1,x\n2,y\n")
    table = load_arrays(tmp_path / "data.csv", weight=[1, 2])
    assert (list(table.columns), table.target, table.weight) == (["a", "b", "weight"], None, "weight")
    assert plain(load_arrays([[1.5, 2], [3, 4]], ["a", "b"]).columns["x0"]) == [1.5, 3.0]


def test_missing_values_of_pandas() -> None:
    frame = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": pd.array(["x", None, "y"], dtype="string")})
    columns = load_arrays(frame, pd.Series([True, None, False], dtype="boolean", name="c")).columns
    assert [plain(column) for column in columns.values()] == [[1, None, 3], ["x", None, "y"], [True, None, False]]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([[1], [1, 2]],), "not a table"),
        ((np.zeros(4),), "X has one dimension"),
        ((np.zeros((2, 2, 2)),), "not a table"),
        ((np.zeros((0, 2)),), "no rows"),
        ((np.zeros((3, 2)), np.zeros(2)), "`y` does not fit X"),
        ((np.array([[1.0, np.inf]]),), "not finite"),
    ],
)
def test_arrays_of_the_wrong_shape(arrays: tuple[Any, ...], message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_arrays(*arrays)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, "no columns"),
        ({"a": []}, "no rows"),
        ({"a": [1], "b": [1, 2]}, "`b` has 2 values, but `a` has 1"),
        (17, "cannot read data from a int"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns called `a`"),
    ],
)
def test_sources_that_are_no_table(source: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load(source)


pieces = st.sampled_from(
    [
        b",",
        b"\n",
        b'"',
        b"1",
        b"a",
        b"y",
        b" ",
        b".",
        b"NaN",
        b"inf",
        b"\r",
        b";",
        b"\xff",
        b"\xc3\xa9",
        b"true",
        b"\0",
        b"1:2",
    ]
)


@given(
    st.one_of(st.lists(pieces, max_size=40).map(b"".join), st.binary(max_size=60)), st.sampled_from([".csv", ".libsvm"])
)
@settings(deadline=None)
def test_garbage_is_a_table_or_a_message(tmp_path_factory: pytest.TempPathFactory, content: bytes, ending: str) -> None:
    path = tmp_path_factory.getbasetemp() / f"garbage{ending}"
    path.write_bytes(content)
    try:
        rows, message = load(path).rows, ""
    except DataError as error:
        rows, message = 0, str(error)
    assert rows > 0 or message.startswith("error[D4")


labels = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30),
    st.lists(st.booleans(), min_size=1, max_size=30),
    st.lists(st.sampled_from(["a", "b", "B", "yes", "no", "1", "0x", "é", "a b"]), min_size=1, max_size=30),
)


@given(labels)
def test_labels_come_back_as_they_went_in(values: list[Any]) -> None:
    for source in ({"y": values}, pl.DataFrame({"y": values}), pd.DataFrame({"y": values})):
        column = load(source, {"y": ColumnSpec("category")}).columns["y"]
        assert plain(column) == [
            int(v) if isinstance(v, str) and v == "1" and set(values) == {"1"} else v for v in values
        ]


def test_the_benchmark_of_reading() -> None:
    main = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "reading.py"))["main"]
    output = CliRunner().invoke(main, ["--rows", "500", "--columns", "12", "--repeat", "1"]).output
    assert "500 rows x 12 columns" in output
    assert "ratio" in output


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame, pd.DataFrame])
@pytest.mark.parametrize("values", [[0, 1, 1], [False, True, True]])
def test_a_frame_of_zeros_and_ones_stays_one_matrix(make: Any, values: list[Any]) -> None:
    table = load(make({"a": values, "b": [values[0]] * 3}))
    assert isinstance(table.columns, BitColumns)
    assert list(table.columns) == ["a", "b"]
    column = table.columns["a"]
    assert (column.type, column.levels, column.values.tolist()) == ("binary", (values[0], values[1]), [0, 1, 1])
    joined = load_arrays(make({"a": values, "b": [values[0]] * 3}), [3, 4, 5])
    assert isinstance(joined.columns, BitColumns)
    assert joined.columns["y"].values.tolist() == [3, 4, 5]


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
@pytest.mark.parametrize("values", [[0, 1, 2], [0, -1, 1], [None, 1, 0], [0.0, 1.0, 0.5]])
def test_a_frame_with_another_value_is_read_column_by_column(make: Any, values: list[Any]) -> None:
    table = load(make({"a": values, "b": [0, 1, 1]}))
    assert not isinstance(table.columns, BitColumns)
    assert table.columns["b"].values.tolist() == [0, 1, 1]
    assert (table.columns["a"].missing is not None) == (None in values)
