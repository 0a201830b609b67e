"""Equal rows merged while reading: the answer, its proof and its verification are those of the rows one by one."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import polars as pl
import pytest

import treeml as tml
from treeml.data import scan
from treeml.data.limits import UNLIMITED, ReadingLimits
from treeml.data.table import CutColumn, Table
from treeml.lang.diagnostic import DataError
from treeml.lang.spec import Spec
from treeml.measures import binarize, merging
from treeml.solving import pipeline
from treeml.solving.choice import lower
from treeml.solving.options import RunOptions
from treeml.studies.page.about import summary

HEAD = """
predict ill is "yes"
column age, pulse : number, missing separate
column town : category, missing drop
binarize all by quantiles(3)
binarize weight by width(3)
binarize height at 160, 175
"""
SPECS = [
    "minimize errors require depth <= 2",
    "minimize errors + 3 * leaves require depth <= 3 require support >= 5%",
    'minimize errors require depth <= 2 require recall("yes") >= 60%',
    "minimize errors require depth <= 2 require parity_gap(sex) <= 30%",
    'minimize mistake_cost cost predict "no" when "yes" = 3 require depth <= 2',
    'weight class "yes" = 2.5 minimize errors require depth <= 2',
    "minimize leaves require accuracy >= 55% require depth <= 2",
    "minimize errors require depth <= 2 require purity >= 55%",
    'minimize errors require depth <= 2 report auc("yes"), log_loss, parity_gap(sex)',
    'maximize rate(predicted = "yes" given age > 50) require depth <= 2 require support >= 20',
]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is large, in pieces of a few lines and columns that do not fit together."""
    monkeypatch.setattr(merging, "LEAST_CELLS", 0)
    monkeypatch.setattr(merging, "WORTH", 1.0)
    monkeypatch.setattr(merging, "BUDGET", 3000)
    monkeypatch.setattr(merging, "_BLOCK", 64)
    monkeypatch.setattr(merging, "_WORD", 50)
    monkeypatch.setattr(scan, "PIECE", 2000)
    monkeypatch.setattr(scan, "BATCH", 1000)


def people(seed: int, count: int = 400) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    age = random.integers(20, 80, count)
    ill = (age > 50) ^ (random.random(count) < 0.25)
    return pl.DataFrame(
        {
            "name": [f"person {number}" for number in range(count)],
            "age": [None if random.random() < 0.05 else int(value) for value in age],
            "pulse": [
                None if random.random() < 0.05 else round(float(value), 1) for value in random.normal(70, 9, count)
            ],
            "weight": random.normal(80, 15, count).round(2),
            "height": random.integers(150, 195, count),
            "town": [None if random.random() < 0.05 else "abc"[place] for place in random.integers(0, 3, count)],
            "smokes": random.random(count) < 0.4,
            "sex": np.array(["f", "m"])[random.integers(0, 2, count)],
            "ill": np.where(ill, "yes", "no"),
        }
    )


def written(frame: pl.DataFrame, path: Path) -> Path:
    if path.suffix == ".csv":
        frame.write_csv(path)
    else:
        frame.write_parquet(path, row_group_size=100)
    return path


def answers(text: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """The results with merged rows and with the rows one by one."""
    merged = tml.parse(text).solve(path, backend="native")
    assert any("different" in note and "merged into" in note for note in merged.notes)
    monkeypatch.setattr(merging, "LEAST_CELLS", 10**9)
    return merged, tml.parse(text).solve(path, backend="native")


def comparable(result: Any) -> dict[str, Any]:
    value = result.to_json()
    for name in ("seconds", "build_seconds", "statistics", "notes", "trace", "plan"):
        value.pop(name, None)
    return value


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("number", range(len(SPECS)))
def test_answers_are_those_of_single_rows(
    number: int, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(people(number), tmp_path / f"people{ending}")
    merged, single = answers(HEAD + SPECS[number], path, monkeypatch)
    assert comparable(merged) == comparable(single)
    assert merged.status.value == "optimal"


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_tables_are_those_of_single_rows(ending: str, tmp_path: Path) -> None:
    path = written(people(20), tmp_path / f"people{ending}")
    model = tml.parse(HEAD + SPECS[0])
    merged, _ = pipeline.prepare(model, path, merge=True)
    single, _ = pipeline.prepare(model, path)
    assert merged.rows < single.rows == merged.given_rows
    assert merged.features == single.features
    assert merged.classes == single.classes
    assert int(merged.weight.sum()) == int(single.weight.sum())
    assert [note for note in single.notes if note not in merged.notes] == []
    for each in single.features:
        assert merged.column(each).type == single.column(each).type
        assert merged.column(each).levels == single.column(each).levels
    numbers = {int(number) for number in merged.row_numbers}
    assert numbers <= {int(number) for number in single.row_numbers}


@pytest.mark.usefixtures("small")
def test_types_that_only_later_rows_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The first 1,000 rows look like whole numbers and truths.
    random = np.random.default_rng(3)
    first = [f"{random.integers(0, 5)},{random.integers(0, 2)},{random.integers(0, 2)}" for _ in range(1500)]
    later = [f"{random.integers(0, 5)}.5, {random.integers(0, 3)},{random.integers(0, 2)}" for _ in range(500)]
    path = tmp_path / "late.csv"
    path.write_text("\n".join(["a,b,y", *first, *later]) + "\n")
    merged, single = answers(
        "predict y binarize all by quantiles(4) minimize errors require depth <= 2", path, monkeypatch
    )
    assert comparable(merged) == comparable(single)


@pytest.mark.usefixtures("small")
def test_quotes_over_the_end_of_a_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(4)
    words = ['"a, b"', '"two\nlines"', "plain", '"say ""hi"""']
    lines = [f"{words[random.integers(0, 4)]},{random.integers(0, 3)},{random.integers(0, 2)}" for _ in range(600)]
    path = tmp_path / "quotes.csv"
    path.write_text("\n".join(["word,number,y", *lines]) + "\n")
    merged, single = answers("predict y minimize errors require depth <= 2", path, monkeypatch)
    assert comparable(merged) == comparable(single)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("predict y minimize errors require depth <= 1", "a,y\n1,0\n2\n3,1\n"),  # a short line
        ("predict y minimize errors require depth <= 1", "a,y\n1,0\n\n2,1\n3,1\n"),  # a blank line
        ("predict y minimize errors require depth <= 1", "a,y\n1,0\n2,1,5\n3,1\n"),  # a long line
        ("column a : integer predict y minimize errors require depth <= 1", "a,y\n1,0\nx,1\n3,1\n"),
        ("predict y minimize errors require depth <= 1", "a,y\n1,0\n2,\n3,1\n"),  # a gap in the target
        ("predict y minimize errors require depth <= 1", "a,a,y\n1,2,0\n2,3,1\n"),
    ],
)
def test_mistakes_read_alike(text: str, content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(content)

    def said() -> str:
        try:
            return str(comparable(tml.parse(text).solve(path)))
        except DataError as refused:
            return str(refused)

    merged = said()
    monkeypatch.setattr(merging, "LEAST_CELLS", 10**9)
    assert merged == said()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "text",
    [
        "predict ill weight by weight minimize errors require depth <= 1",
        "predict height minimize squared_loss require depth <= 1",
        "predict ill minimize errors require depth <= 1 validate by folds(3)",
        "column age : number, missing median predict ill minimize errors require depth <= 1",
    ],
)
def test_what_is_never_merged(text: str, tmp_path: Path) -> None:
    path = written(people(5), tmp_path / "people.parquet")
    with_gaps = "column age, pulse : number, missing separate column town : category, missing separate\n"
    model = tml.parse(text if "column" in text else with_gaps + text)
    spec = pipeline.check(model, RunOptions())[0]
    assert merging.obstacle(spec)
    assert merging.load_merged(path, spec, None, UNLIMITED) is None


@pytest.mark.usefixtures("small")
def test_rows_that_hardly_repeat_are_kept_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "WORTH", 0.5)
    values = np.random.default_rng(0).normal(size=(500, 3))
    frame = pl.DataFrame({f"x{place}": values[:, place] for place in range(3)}).with_columns(y=values[:, 0] > 0)
    path = written(frame, tmp_path / "reals.parquet")
    result = tml.parse("predict y minimize errors require depth <= 1").solve(path)
    assert result.objective == 0
    assert any("500 rows were not merged while reading: about 500" in note for note in result.notes)


@pytest.mark.usefixtures("small")
def test_what_does_not_fit_is_refused_with_an_estimate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "BUDGET", 10**6)
    path = written(people(6), tmp_path / "people.parquet")
    with pytest.raises(DataError) as refused:
        merging.load_merged(path, Spec(target="ill"), None, ReadingLimits(memory=10**5))
    assert refused.value.diagnostics[0].code == "D411"
    assert any("are different" in note for note in refused.value.diagnostics[0].notes)


@pytest.mark.usefixtures("small")
def test_memory_of_a_merged_table_is_that_of_its_different_rows(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"a": random.integers(0, 2, 20_000), "b": random.normal(size=20_000), "y": np.arange(20_000) % 2}
    )
    path = written(frame, tmp_path / "many.parquet")
    spec = pipeline.check(tml.parse("predict y binarize b by quantiles(2) minimize errors require depth <= 1"))[0]
    table = merging.load_merged(path, spec, None, UNLIMITED)
    assert isinstance(table, Table)
    assert table.rows == 8
    assert table.given_rows == 20_000


def reals(path: Path) -> Path:
    random = np.random.default_rng(0)
    frame = pl.DataFrame({"x": random.normal(size=1000), "few": random.integers(0, 5, 1000)})
    gaps = pl.when(pl.int_range(1000) % 50 != 7).then(pl.col("x")).alias("gaps")
    return written(frame.with_columns(gaps, y=pl.col("x") > pl.col("few") / 5), path)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_decimals_that_are_not_cut_are_kept_as_they_are(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(merging, "WORTH", 0.5)
    monkeypatch.setattr(merging, "_FINE", 20)
    monkeypatch.setattr(merging, "_WORTH_SAYING", 0)
    monkeypatch.setattr(binarize, "LONG", 10)
    path = reals(tmp_path / f"reals{ending}")
    text = "predict y column gaps : number, missing separate minimize errors require depth <= 2"
    whole = tml.parse(text).solve(path)
    assert any("1,000 rows were not merged while reading" in note for note in whole.notes)
    assert "about 1,000 of 1,000 are different; that takes about" in caplog.text
    table = merging.load_merged(path, Spec(target="y"), None, UNLIMITED)
    assert isinstance(table, Table)
    assert {name: isinstance(column, CutColumn) for name, column in table.columns.items()} == {
        "x": False,
        "few": True,
        "gaps": False,
        "y": True,
    }
    searched = caplog.messages[-1]
    merging.load_merged(path, Spec(target="y"), None, ReadingLimits(deadline=monotonic() + 1000))
    assert caplog.messages[-1] != searched  # under a limit of time, a sample is
    with pytest.raises(DataError) as refused:
        merging.load_merged(path, Spec(target="y"), None, ReadingLimits(memory=100_000))
    assert any("about 1,000 of 1,000 are different" in note for note in refused.value.diagnostics[0].notes)
    monkeypatch.setattr(merging, "LEAST_CELLS", 10**9)
    assert comparable(whole) == comparable(tml.parse(text).solve(path))


@pytest.mark.usefixtures("small")
def test_more_rows_than_combinations_of_pieces_are_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "WORTH", 0.5)
    monkeypatch.setattr(merging, "SAMPLE", 20)  # in which all rows are different
    random = np.random.default_rng(3)
    frame = pl.DataFrame({f"x{place}": random.normal(size=5000) for place in range(9)}).with_columns(y=pl.lit(1))
    path = written(frame, tmp_path / "pieces.parquet")
    spec = pipeline.check(tml.parse("predict y binarize all by quantiles(2) minimize errors require depth <= 1"))[0]
    table = merging.load_merged(path, spec, None, UNLIMITED)
    assert isinstance(table, Table)
    assert table.merged is not None
    assert table.rows <= 2**9


@pytest.mark.usefixtures("small")
def test_codes_of_rows_that_are_not_merged_are_those_of_their_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(people(8), tmp_path / "people.parquet")
    model = tml.parse(HEAD + SPECS[0])
    monkeypatch.setattr(merging, "WORTH", 0.0)
    coded, single = (lower(*pipeline.prepare(model, path, merge=merge)).form(numeric=True).problem for merge in (1, 0))
    for mine, its in zip(coded.features, single.features, strict=True):
        assert mine.codes is not None
        assert mine.codes.dtype == np.int8
        assert np.array_equal(mine.codes, its.codes)
    assert np.array_equal(coded.bits, single.bits)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("worth", [1.0, 0.0])
def test_the_summary_of_a_large_file_counts_its_rows(
    worth: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "WORTH", worth)  # 0: cut, but not merged
    frame = people(3)
    path = written(frame, tmp_path / "people.csv")
    shown: list[dict[str, Any]] = []
    pipeline.solve(HEAD + SPECS[0], path, on_table=lambda table: shown.append(summary(table)))
    (found,) = shown
    columns = {column["name"]: column for column in found["columns"]}
    assert found["rows"] == frame.height
    assert columns["ill"]["levels"] == [
        list(pair) for pair in sorted(frame["ill"].value_counts().iter_rows(), key=lambda pair: -pair[1])
    ]
    assert columns["age"]["missing"] == frame["age"].null_count()
    assert "range" not in columns["weight"]  # the numbers were cut
