"""Dates and times as columns: how they are read, cut, shown, kept and asked for."""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import treeml as tml
from treeml.data.dates import calendar_cut
from treeml.data.read import load
from treeml.export import export
from treeml.lang.diagnostic import SpecError
from treeml.trees.tree import Tree

DAYS = [dt.date(2023, 1, 1) + dt.timedelta(days=37 * number % 400) for number in range(40)]
BORDER = dt.date(2023, 9, 14)
LATE = ["yes" if day > BORDER else "no" for day in DAYS]
MOMENTS = [dt.datetime(day.year, day.month, day.day, number % 24, 30) for number, day in enumerate(DAYS)]
TEXT = "predict late minimize errors require depth <= 1 "

FORMS: dict[str, Any] = {
    "dates": DAYS,
    "texts": [day.isoformat() for day in DAYS],
    "days of numpy": np.array(DAYS, dtype="datetime64[D]"),
    "moments of numpy": np.array(DAYS, dtype="datetime64[ns]"),
    "midnights": [dt.datetime(day.year, day.month, day.day) for day in DAYS],
    "polars": pl.Series(DAYS),
    "moments": MOMENTS,
    "texts of moments": [moment.isoformat(" ") for moment in MOMENTS],
    "moments with a zone": [moment.replace(tzinfo=dt.timezone(dt.timedelta(hours=2))) for moment in MOMENTS],
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_cut_at_a_calendar_value(name: str) -> None:
    data = (
        pl.DataFrame({"opened": FORMS[name], "late": LATE})
        if name == "polars"
        else {"opened": FORMS[name], "late": LATE}
    )
    result = tml.parse(TEXT).solve(data)
    assert result.objective == 0
    assert result.verified
    expected = "time" if "moments" in name and name != "moments of numpy" else "date"
    assert [field.type for field in result.tree.fields] == [expected]
    cut = result.tree.root.test.values[0]
    assert max(day for day in DAYS if day <= BORDER) <= dt.date(cut.year, cut.month, cut.day)
    assert dt.date(cut.year, cut.month, cut.day) < min(day for day in DAYS if day > BORDER) or expected == "time"
    assert f"opened <= {cut}" in str(result.tree)
    again = Tree.from_json(json.dumps(result.tree.to_json()))
    assert again == result.tree
    assert again.predict(data).tolist() == LATE
    assert again.predict({"opened": ["2023-02-01", "2024-02-01T10:00"]}).tolist() == ["no", "yes"]


def test_a_file_of_texts_and_one_of_dates_say_the_same(tmp_path: Path) -> None:
    frame = pl.DataFrame({"opened": DAYS, "late": LATE})
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    trees = [tml.parse(TEXT).solve(tmp_path / f"rows.{ending}").tree for ending in ("csv", "parquet")]
    assert trees[0] == trees[1]


def test_cuts_of_a_spec_and_conditions() -> None:
    data = {"opened": DAYS, "late": LATE}
    model = tml.parse(TEXT + 'binarize opened at "2023-06-01", "2023-12-01 12:00"')
    assert tml.parse(str(model)) == model
    assert model.solve(data).tree.root.test.values[0] in (dt.date(2023, 6, 1), dt.date(2023, 12, 1))
    text = TEXT + 'require count(opened <= "2023-06-01", predicted = "yes") >= 1'
    assert tml.parse(text).solve(data).objective > 0


def test_missing_days() -> None:
    data = {"opened": [None, *DAYS[1:]], "late": LATE}
    tree = tml.parse(TEXT + "column opened : date, missing median").solve(data).tree
    assert tree.predict({"opened": [None, "2024-02-01"]}).tolist()[1] == "yes"
    kept = tml.parse(TEXT + "column opened : date, missing separate").solve(data).tree
    assert Tree.from_json(kept.to_json()) == kept
    with pytest.raises(SpecError, match="missing"):
        tml.parse(TEXT).solve(data)


def test_types_that_are_declared() -> None:
    texts = [day.isoformat() for day in DAYS]
    for kind in ("date", "time", "category"):
        spec = tml.parse(TEXT + f"column opened : {kind}")
        assert spec.solve({"opened": texts, "late": LATE}).tree.fields[0].type == kind
    assert load({"a": ["2024-13-01", "2024-01-01", "2024-13-01"]}).columns["a"].type == "category"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("binarize opened at 5", "cuts at numbers"),
        ('binarize opened at "soon"', "not a date or a time"),
        ('binarize size at "2024-03-01"', "cuts at dates or times"),
        ("binarize opened by levels", "splits levels"),
        ("column note : date", "declared a date"),
        ("column day : number", "holds dates"),
        ('require count(opened <= "soon", predicted = "yes") <= 3', "compared with something that is not a number"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, said: str) -> None:
    texts = [day.isoformat() for day in DAYS]
    note = ["2024-01-01", "never"] * 20
    data = {"opened": texts, "day": DAYS, "size": list(range(40)), "note": note, "late": LATE}
    with pytest.raises(SpecError, match=said):
        tml.parse(TEXT + text).solve(data)


def test_dates_are_not_predicted_and_not_exported_as_numbers() -> None:
    with pytest.raises(SpecError, match="cannot be predicted"):
        tml.parse("predict opened minimize squared_loss require depth <= 1").solve(
            {"opened": DAYS, "x": list(range(40))}
        )
    tree = tml.parse(TEXT).solve({"opened": DAYS, "late": LATE}).tree
    for form in ("text", "dot", "svg", "json"):
        assert export(tree, form)
    for form in ("c", "pmml", "onnx"):
        with pytest.raises(SpecError, match="holds dates or times"):
            export(tree, form)
    with pytest.raises(SpecError, match="is not a date such as"):
        tree.predict({"opened": ["soon"]})


@pytest.mark.parametrize("kind", ["date", "time"])
@pytest.mark.parametrize("missing", ["", ", missing median", ", missing separate"])
def test_programs_compare_calendar_values(kind: str, missing: str) -> None:
    known: list[Any] = DAYS if kind == "date" else MOMENTS
    opened = [None, *known[1:]] if missing else known
    tree = tml.parse(TEXT + f"column opened : {kind}{missing}").solve({"opened": opened, "late": LATE}).tree
    cut = tree.root.test.values[0]
    step = dt.timedelta(days=1) if kind == "date" else dt.timedelta(microseconds=1)
    values = [*opened, cut, cut + step, cut - step]
    expected = tree.predict({"opened": values}).tolist()
    module: dict[str, Any] = {}
    exec(str(export(tree, "python")), module)
    assert [module["predict"]({"opened": value}) for value in values] == expected
    texts = [None if value is None else value.isoformat() for value in values]
    assert [module["predict"]({"opened": text}) for text in texts] == expected
    stored = [None if value is None else value.isoformat(*" "[: kind == "time"]) for value in values]
    assert in_sqlite(str(export(tree, "sql")), stored) == expected
    assert f'"opened" <= "{cut}"' in str(export(tree, "rules"))


def test_a_time_counts_as_its_day_in_programs_too() -> None:
    tree = tml.parse(TEXT).solve({"opened": DAYS, "late": LATE}).tree
    cut = tree.root.test.values[0]
    noon = dt.datetime(cut.year, cut.month, cut.day, 12, tzinfo=dt.UTC)
    module: dict[str, Any] = {}
    exec(str(export(tree, "python")), module)
    moments = [noon, noon.replace(tzinfo=None), np.datetime64(cut, "ns"), noon + dt.timedelta(days=1)]
    assert [module["predict"]({"opened": moment}) for moment in moments] == ["no", "no", "no", "yes"]
    assert in_sqlite(str(export(tree, "sql")), [f"{cut} 12:00:00", f"{cut + dt.timedelta(days=1)}"]) == ["no", "yes"]


def test_a_forest_over_dates_votes_in_programs() -> None:
    text = "predict late maximize margin require depth <= 1 ensemble up to 3 trees by lpboost(penalty = 0.1)"
    size = [number % 7 for number in range(40)]
    forest = tml.parse(text).solve({"opened": DAYS, "size": size, "late": LATE}).forest
    rows = [{"opened": day, "size": each} for day, each in zip(DAYS, size, strict=True)]
    module: dict[str, Any] = {}
    exec(str(export(forest, "python")), module)
    assert [module["predict"](row) for row in rows] == forest.predict(rows).tolist()
    with pytest.raises(SpecError, match="holds dates or times"):
        export(forest, "c")


def in_sqlite(expression: str, opened: list[str | None]) -> list[str]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE rows (opened TEXT)")
        database.executemany("INSERT INTO rows VALUES (?)", [(value,) for value in opened])
        return [found for (found,) in database.execute(f"SELECT {expression} FROM rows ORDER BY rowid")]


def test_a_wrong_file_is_refused() -> None:
    value = tml.parse(TEXT).solve({"opened": DAYS, "late": LATE}).tree.to_json()
    value["root"]["test"]["values"] = [19000]
    with pytest.raises(SpecError, match="compares a column of dates"):
        Tree.from_json(value)


@pytest.mark.parametrize(
    ("first", "last", "cut"),
    [
        ("2023-11-20", "2023-12-08", "2023-11-30"),
        ("2021-03-20", "2024-02-08", "2022-12-31"),
        ("2023-11-20", "2023-11-28", "2023-11-24"),
        ("2023-11-20", "2023-11-21", "2023-11-20"),
        ("9999-12-20", "9999-12-31", "9999-12-25"),
        ("2023-11-20 08:00", "2023-11-20 09:00", "2023-11-20 08:30:00"),
        ("2023-11-20 23:10", "2023-11-21 01:40", "2023-11-21 00:00:00"),
        ("2023-11-20 08:00:00.000001", "2023-11-20 08:00:00.000003", "2023-11-20 08:00:00.000002"),
    ],
)
def test_cuts_are_round_where_a_round_one_is_near_the_middle(first: str, last: str, cut: str) -> None:
    found = tml.parse(TEXT).solve({"opened": [first, last], "late": ["no", "yes"]}).tree.root.test.values[0]
    assert str(found) == cut


@pytest.mark.parametrize("kind", ["date", "time"])
@pytest.mark.parametrize("gap", [1, 2, 7, 1000, 10**6, 10**11])
def test_round_cuts_separate_their_neighbors(kind: str, gap: int) -> None:
    chance = np.random.default_rng(gap)
    for first in chance.integers(-20_000, 40_000, 50).tolist():
        low = first if kind == "date" else first * 86_400_000_000 + int(chance.integers(0, 86_400_000_000))
        high = low + int(chance.integers(1, min(gap, 20_000 if kind == "date" else gap) + 1))
        assert low <= calendar_cut(float(low), float(high), kind) < high
