"""A stored set of trees from a stranger: it opens no other file, and its size is known before it is decoded."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from attacks import SECRET, asked, world

import treeml as tml
from treeml.studies.tree_sets import stored
from treeml.studies.tree_sets.stored import content_of

SPEC = 'data "rows.csv"\npredict y\nminimize errors + leaves\nrequire depth <= 2\nlist trees within 50% of best\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    inside = world(tmp_path)
    (inside / "spec.tml").write_text(SPEC)
    monkeypatch.chdir(inside)
    return inside


def changed(folder: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """A stored set with one part replaced."""
    content = content_of(tml.load(folder / "spec.tml").trees())
    change(content)
    path = folder / "trees.json"
    path.write_text(json.dumps(content))
    return path


def refusal(path: Path) -> str:
    with pytest.raises(tml.DataError) as error:
        tml.TreeSet.read(path, "rows.csv")
    return str(error.value)


@pytest.mark.parametrize("name", ["../others/victim.tml", "victim.tml", "/etc/passwd"])
def test_its_specification_includes_nothing(name: str, folder: Path) -> None:
    for place in (folder, folder.parent / "others"):
        (place / "victim.tml").write_text(SECRET)
    path = changed(folder, lambda content: content.update(spec=f'include "{name}"\n{content["spec"]}'))
    assert "includes another file" in refusal(path)
    answer = asked("report", path, "--data", "rows.csv", "-o", "page.html")
    assert answer.code == 1
    assert SECRET not in answer.out + answer.error


def test_the_data_that_it_names_are_not_read(folder: Path) -> None:
    other = folder.parent / "others" / "secret.csv"
    other.write_text("a,b,y\n7,PRIVATE,1\n")
    path = changed(folder, lambda content: content.update(spec=content["spec"].replace("rows.csv", str(other))))
    assert asked("report", path, "-o", "page.html").code == 0
    assert "PRIVATE" not in Path("page.html").read_text()


@pytest.mark.parametrize("values", [[["3", 10**15]], [["3", -1], ["3", 10**9]], [["3", 10**9]]])
def test_it_has_one_value_for_each_tree(values: Any, folder: Path) -> None:
    assert "as many values as trees" in refusal(changed(folder, lambda content: content.update(values=values)))


def test_a_table_of_many_equal_nodes_is_not_decoded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tml.load("spec.tml").trees().save("trees.parquet")
    assert tml.TreeSet.read("trees.parquet", "rows.csv").count
    frame = pl.read_parquet("trees.parquet")
    many = pl.concat([frame, *[frame[1:2]] * 100_000], rechunk=True)
    many.write_parquet("trees.parquet")
    assert Path("trees.parquet").stat().st_size < 100_000
    monkeypatch.setattr(stored, "MOST_DECODED", 1_000_000)
    assert "of memory" in refusal(Path("trees.parquet"))


@pytest.mark.parametrize("dtype", [pl.Float64, pl.String])
def test_nodes_are_whole_numbers(dtype: Any, folder: Path) -> None:
    tml.load("spec.tml").trees().save("trees.parquet")
    pl.read_parquet("trees.parquet").with_columns(pl.col("yes").cast(dtype)).write_parquet("trees.parquet")
    assert "whole number" in refusal(Path("trees.parquet"))


def test_a_set_of_a_specification_with_includes_stands_alone(folder: Path) -> None:
    (folder / "part.tml").write_text("require depth <= 2\nminimize errors + leaves\n")
    (folder / "spec.tml").write_text('include "part.tml"\ndata "rows.csv"\npredict y\nlist trees within 50% of best\n')
    trees = tml.load("spec.tml").trees()
    trees.save(folder / "trees.json")
    (folder / "part.tml").unlink()
    again = tml.TreeSet.read(folder / "trees.json", "rows.csv")
    assert list(again) == list(trees)
    assert again.where("depth <= 1").count == trees.where("depth <= 1").count
    assert again.measure("leaves") == trees.measure("leaves")
