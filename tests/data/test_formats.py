"""CP4IM text, C4.5 names and data, and libsvm, by ending and by content."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from treeml.data.bind import bind
from treeml.data.read import load
from treeml.data.recognize import names_target
from treeml.lang.diagnostic import DataError
from treeml.lang.spec import ColumnSpec, Spec
from treeml.measures.lower_dataset import lower
from treeml.model import load as load_model


def test_cp4im(tmp_path: Path) -> None:
    path = tmp_path / "tiny.txt"
    path.write_text("1 0 1 1\n0 1 1 0\n1 1 0 0\n\n")
    table = load(path)
    assert list(table.columns) == ["x0", "x1", "x2", "label"]
    assert table.target == "label"
    assert table.columns["label"].values.tolist() == [1, 0, 1]
    assert [table.columns[f"x{i}"].values.tolist() for i in range(3)] == [[0, 1, 1], [1, 1, 0], [1, 0, 0]]
    problem = lower(bind(Spec(), table)).problem
    assert problem.bits.astype(int).tolist() == [[0, 1, 1], [1, 1, 0], [1, 0, 0]]


def test_cp4im_with_a_declared_column(tmp_path: Path) -> None:
    path = tmp_path / "tiny.txt"
    path.write_text("1 0 1\n0 1 1\n")
    assert load(path, {"x0": ColumnSpec("category")}).columns["x0"].type == "category"


@pytest.mark.parametrize("header", ["4 2 3\n", "4\n2\n3\n"])
def test_counted_rows(tmp_path: Path, header: str) -> None:
    path = tmp_path / "tiny.txt"
    path.write_text(header + "1.5 a 0\n2 b 1\n-3 a 2\n4 b 1\n")
    table = load(path)
    assert list(table.columns) == ["x0", "x1", "label"]
    assert (table.target, table.rows) == ("label", 4)
    assert table.columns["x0"].type == "number"
    assert table.columns["x1"].type == "category"
    assert table.columns["label"].values.tolist() == [0, 1, 2, 1]
    assert names_target(path)
    assert len(lower(bind(Spec(), table)).problem.goals) == 0


@pytest.mark.parametrize(
    ("text", "code"),
    [("3 1 2\n1 0\n2 1\n", "D419"), ("2 1 1\n1 0\n2 1\n", "D419"), ("2 1 2\n1 0\n2 3 1\n", "D406")],
)
def test_counted_rows_that_do_not_keep_their_numbers(tmp_path: Path, text: str, code: str) -> None:
    path = tmp_path / "tiny.txt"
    path.write_text(text)
    with pytest.raises(DataError) as raised:
        load(path)
    assert raised.value.diagnostics[0].code == code


def test_a_column_of_numbers_has_no_counts(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("7\n1\n2\n3\n")
    assert not names_target(path)


def test_c45_from_either_file(tmp_path: Path) -> None:
    (tmp_path / "play.names").write_text(
        "| weather\nPlay, Don't Play.\n\noutlook: sunny, overcast, rain.\ntemperature: continuous.\nid: ignore.\n"
    )
    (tmp_path / "play.data").write_text(
        "sunny, 85, a1, Don't Play.\nrain, ?, a2, Play | a comment\novercast, 70.5, a3, Play\n"
    )
    for name in ("play.names", "play.data"):
        table = load(tmp_path / name)
        assert {name: column.type for name, column in table.columns.items()} == {
            "outlook": "category",
            "temperature": "number",
            "id": "text",
            "class": "category",
        }
        assert table.target == "class"
        assert table.columns["class"].levels == ("Don't Play", "Play")
        missing = table.columns["temperature"].missing
        assert missing is not None
        assert missing.tolist() == [False, True, False]


def test_c45_test_rows_validate_the_tree_of_the_others(tmp_path: Path) -> None:
    (tmp_path / "play.names").write_text("yes, no.\nwind: weak, strong.\nheat: continuous.\n")
    (tmp_path / "play.data").write_text("weak, 20, yes\nstrong, 21, no\nweak, 30, yes\nstrong, 31, no\n")
    (tmp_path / "play.test").write_text("weak, 25, yes.\nstrong, 26, yes.\n")
    table = load(tmp_path / "play.test")
    assert table.rows == 2
    assert table.columns["heat"].type == "number"
    spec = tmp_path / "play.tml"
    spec.write_text('data "play.data"\nminimize errors\nrequire depth <= 1\nvalidate on "play.test"\n')
    result = load_model(spec).solve()
    assert result.objective == 0
    assert result.validation is not None
    assert result.validation.mean("accuracy") == 0.5


def test_libsvm(tmp_path: Path) -> None:
    path = tmp_path / "tiny.libsvm"
    path.write_text("+1 1:0.5 3:2 # first\n-1 2:1\n+1 1:1.5 qid:3 3:-1\n")
    table = load(path)
    assert list(table.columns) == ["label", "x1", "x2", "x3"]
    assert np.unique(table.columns["label"].values).tolist() == [-1, 1]
    assert table.columns["x1"].values.tolist() == [0.5, 0.0, 1.5]
    assert table.columns["x2"].type == "binary"
    assert table.columns["x3"].type == "integer"
    assert bind(Spec(), table).classes == (-1, 1)


def test_libsvm_of_bits_by_content(tmp_path: Path) -> None:
    path = tmp_path / "bits.txt"
    path.write_text("1 1:1 3:1\n0 2:1\n")
    table = load(path)
    assert [table.columns[f"x{i}"].values.tolist() for i in (1, 2, 3)] == [[1, 0], [0, 1], [1, 0]]


def test_a_csv_of_bits_is_a_csv(tmp_path: Path) -> None:
    path = tmp_path / "bits.csv"
    path.write_text("label,a,b\n1,0,1\n0,1,1\n")
    assert list(load(path).columns) == ["label", "a", "b"]
