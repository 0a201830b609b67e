"""Files that cannot be read in time: the tree of a part of the rows, with nothing claimed about the others."""

from __future__ import annotations

import os
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
import polars as pl
import pytest

import treeml as tml
from treeml.backends.contract import Status, Stop
from treeml.data import file_bytes, part
from treeml.solving import long_run, pipeline, unfinished_reading
from treeml.solving.options import RunOptions

SPEC = "predict y minimize errors require depth <= 2"
ROWS = 20_000


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_bytes, "PIECE", 100)  # bytes between two looks at the clock
    monkeypatch.setattr(part, "PLACES", 8)
    monkeypatch.setattr(part, "BYTES", 4096)
    monkeypatch.setattr(part, "SLICE_ROWS", 250)
    monkeypatch.setattr(unfinished_reading, "LEAST", 60.0)  # a small part is solved long before that


def frame(rows: int = ROWS) -> pl.DataFrame:
    random = np.random.default_rng(0)
    values = random.integers(0, 100, (rows, 3))
    noise = random.random(rows) < 0.05
    target = (values[:, 0] > 40) ^ (values[:, 1] > 70) ^ noise
    return pl.DataFrame({f"x{i}": values[:, i] for i in range(3)} | {"y": target.astype(int)}).sort("x0")


def late(path: Path, spec: str = SPEC, **options: object) -> tml.Result:
    """The result of a run whose time was over before it began to read."""
    return pipeline.solve(spec, path, None, RunOptions(within=1.0, begun=monotonic() - 100, **options))  # type: ignore[arg-type]


def test_slices_of_a_wide_table_have_fewer_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part, "SLICE_CELLS", 4 * 100)
    monkeypatch.setattr(part, "FEWEST", 10)
    path = tmp_path / "wide.parquet"
    frame().write_parquet(path)
    assert len(pl.read_parquet(part.part_of_parquet(path))) == part.SLICES * 100
    frame().select(pl.all(), *(pl.lit(0).alias(f"c{i}") for i in range(96))).write_parquet(path)
    assert len(pl.read_parquet(part.part_of_parquet(path))) == part.SLICES * 10


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_tree_of_a_part_is_verified_on_it_and_proves_nothing(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"d.{ending}"
    frame().write_csv(path) if ending == "csv" else frame().write_parquet(path)
    result = late(path)
    assert (result.status, result.stop, result.bound) == (Status.FEASIBLE, Stop.TIME, None)
    assert result.tree is not None
    assert result.verified
    assert result.tree.depth == 2
    rows = sum(leaf.rows for leaf in result.tree.leaves)
    assert 500 < rows < ROWS / 2
    assert all(name in result.tree.to_text() for name in ("x0", "x1"))  # rows from all over a sorted file
    assert any(f"verified on {rows:,} rows" in note for note in result.notes)


def test_a_small_file_is_read_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    frame(200).write_csv(path)
    result = late(path)
    assert result.tree is not None
    assert sum(leaf.rows for leaf in result.tree.leaves) == 200
    assert result.status is Status.OPTIMAL  # all rows were searched, so the proof is about all of them
    assert not any("reading" in note for note in result.notes)


@pytest.mark.parametrize("rows", [ROWS, 200])
def test_the_forest_of_a_part_is_verified_on_it_and_proves_nothing(rows: int, tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    frame(rows).write_csv(path)
    result = late(path, "predict y ensemble by lpboost(nu = 0.5) maximize margin require depth <= 1")
    assert result.forest is not None
    assert result.verified
    if rows == ROWS:
        assert (result.status, result.stop, result.bound) == (Status.FEASIBLE, Stop.TIME, None)
        assert any("the forest was found and verified on" in note for note in result.notes)
    else:
        assert result.status is Status.OPTIMAL
        assert not any("reading" in note for note in result.notes)


def test_text_with_quotation_marks_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    quoted = frame().with_columns(text=pl.lit("one\nline, or two"))
    quoted.write_csv(path)
    result = late(path)
    assert result.tree is not None
    assert sum(leaf.rows for leaf in result.tree.leaves) < ROWS / 2


def refusal(path: Path, spec: str = SPEC, **options: object) -> str:
    with pytest.raises(tml.SpecError) as caught:
        late(path, spec, **options)
    return caught.value.diagnostics[0].code


def test_what_needs_all_rows_is_refused_as_before(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    frame().write_csv(path)
    assert refusal(path, SPEC + " validate by holdout(20%)") == "D412"
    assert refusal(path, SPEC + " require errors <= 3") == "D412"  # no such tree for the part says nothing about all
    assert refusal(path, untrusted=True) == "D412"
    os.mkfifo(tmp_path / "pipe.csv")
    assert refusal(tmp_path / "pipe.csv") == "D412"


def test_reading_that_takes_long_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "d.csv"
    frame(200).write_csv(path)
    load = pipeline.load

    def patient(*arguments: Any, **named: Any) -> Any:
        while not caplog.messages:  # the message comes from another thread
            sleep(0.01)
        return load(*arguments, **named)

    monkeypatch.setattr(long_run, "LONG", 0.0)
    monkeypatch.setattr(pipeline, "load", patient)
    pipeline.solve(f"{SPEC} solve with native", path)  # the search would say so, too
    assert caplog.messages == [long_run.READING % 0.0]
    caplog.clear()
    monkeypatch.setattr(pipeline, "load", load)
    pipeline.solve(SPEC, path, None, RunOptions(within=600))
    assert not caplog.messages
