"""`treeml tune` and `Model.tune`: candidates over folds, the 1-SE choice, the refit, a plot; and sweeps over folds."""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

import treeml as tml
from treeml.cli.main import treeml
from treeml.studies.plots import draw, tradeoff

TEXT = "predict y maximize accuracy require depth <= 3"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(treeml, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    """One column tells the class for 85 % of the rows; six others are noise that a deep tree learns by heart."""
    random = np.random.default_rng(5)
    y = random.integers(0, 2, 90)
    told = np.where(random.random(90) < 0.85, y, 1 - y)
    noise = {f"noise{place}": random.integers(0, 2, 90) for place in range(6)}
    return pl.DataFrame({"told": told, **noise, "sex": random.integers(0, 2, 90), "y": y})


@pytest.fixture
def spec(rows: pl.DataFrame, tmp_path: Path) -> Path:
    rows.write_csv(tmp_path / "rows.csv")
    path = tmp_path / "spec.tml"
    path.write_text(f'data "rows.csv" {TEXT}')
    return path


def test_the_smallest_within_one_standard_error_is_chosen_and_refitted(rows: pl.DataFrame) -> None:
    model = tml.parse(TEXT)
    tuned = model.tune(rows, depth=[1, 2, 3], folds=4, seed=3)
    assert [each.settings for each in tuned.candidates] == [{"depth": "1"}, {"depth": "2"}, {"depth": "3"}]
    means = {}
    for each in tuned.candidates:
        # The folds are those that `validate by folds` makes.
        limit = f"require depth <= {each.settings['depth']}"
        asked = tml.parse(f"predict y maximize accuracy {limit} validate by folds(4, seed = 3)")
        validation = asked.solve(rows, seed=3).validation
        assert each.validation is not None
        assert validation is not None
        assert each.validation.to_json() == validation.to_json()
        means[each.settings["depth"]] = [part.test["accuracy"] for part in validation.parts]
    best = max(means.values(), key=mean)
    near = [depth for depth, values in means.items() if mean(values) >= mean(best) - stdev(best) / sqrt(4)]
    assert tuned.settings == {"depth": min(near)}
    expected = tml.parse(f"predict y maximize accuracy require depth <= {min(near)}").solve(rows)
    assert tuned.result.objective == expected.objective
    assert tuned.result.is_optimal
    assert tuned.measure == "accuracy"
    assert tuned.maximize


def test_the_best_mean_can_be_asked_for(rows: pl.DataFrame) -> None:
    tuned = tml.parse(TEXT).tune(rows, depth="1..3", folds=3, rule="best")
    means = [each.validation.mean("accuracy") for each in tuned.candidates if each.validation is not None]
    assert tuned.chosen is tuned.best
    assert tuned.chosen.validation is not None
    assert tuned.chosen.validation.mean("accuracy") == max(means)


def test_without_choices_the_depth_goes_up_to_the_limit(rows: pl.DataFrame) -> None:
    tuned = tml.parse(TEXT).tune(rows, folds=2)
    assert [each.settings["depth"] for each in tuned.candidates] == ["1", "2", "3"]


def test_prices_supports_tolerances_and_params(rows: pl.DataFrame) -> None:
    price = tml.parse(TEXT).tune(rows, price=[0, 0.5], folds=2)
    assert [each.leaves for each in price.candidates][1] == 1  # no leaf earns half of all rows
    assert str(price.result.spec.goals[0].text) in ("maximize accuracy", "maximize accuracy - 0.5 * leaves")
    support = tml.parse(TEXT + " require support >= 2").tune(rows, support=[1, "30 rows"], folds=2)
    assert support.candidates[1].leaves <= 2
    param = tml.parse("param price = 0.1 predict y minimize error_rate + price * leaves require depth <= 2")
    tuned = param.tune(rows, price=[0.001, 0.5], folds=2)
    assert [each.leaves for each in tuned.candidates][1] == 1
    fair = tml.parse("predict y is 1 column sex : binary, sensitive " + TEXT[10:] + " require parity_gap(sex) <= 50%")
    tuned = fair.tune(rows, tolerance="1%, 50%", folds=2)
    assert all(each.validation is not None for each in tuned.candidates)
    assert "parity_gap(sex)" in tuned.best.validation.measures  # type: ignore[union-attr]
    limits = {each.text for each in tuned.result.spec.requirements}  # type: ignore[union-attr]
    assert limits & {"parity_gap(sex) <= 1%", "parity_gap(sex) <= 50%"}


def test_a_number_is_tuned_by_its_loss() -> None:
    random = np.random.default_rng(1)
    x = random.random(60)
    frame = pl.DataFrame({"x": x, "z": random.random(60), "y": np.floor(4 * x) + random.normal(0, 0.1, 60)})
    tuned = tml.parse("predict y minimize mse require depth <= 3").tune(frame, depth=[0, 2], folds=3)
    assert not tuned.maximize
    assert tuned.settings == {"depth": "2"}


@pytest.mark.parametrize(
    ("text", "arguments", "code"),
    [
        (TEXT, {"tolerance": [0.1]}, "T331"),
        ("predict y satisfy require depth <= 2 require errors <= 90", {"price": [0.1]}, "T331"),
        ("predict y minimize error_rate + 0.1 * leaves require depth <= 2", {"price": [0.1]}, "T331"),
        (TEXT, {"measure": "leaves", "depth": [1]}, "T332"),
        (TEXT, {"depth": []}, "S151"),
        (TEXT, {"price": ["cheap"]}, "S151"),
        (TEXT, {"params": {"nothing": [1]}}, "N2"),
        (TEXT, {"depth": ["5%"]}, "T3"),
        (TEXT, {"folds": 500}, "D442"),
        (TEXT + " require errors <= 0", {"depth": [1], "folds": 3}, "D443"),
    ],
)
def test_wrong_calls(rows: pl.DataFrame, text: str, arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(tml.SpecError) as raised:
        tml.parse(text).tune(rows, **arguments)
    assert raised.value.diagnostics[0].code.startswith(code)


def test_an_unknown_rule(rows: pl.DataFrame) -> None:
    with pytest.raises(ValueError, match="1-SE"):
        tml.parse(TEXT).tune(rows, rule="2-SE")


def test_a_candidate_without_a_tree_is_left_out(rows: pl.DataFrame) -> None:
    model = tml.parse("predict y maximize accuracy require leaves >= 4 require accuracy >= 70%")
    tuned = model.tune(rows, depth=[1, 3], folds=3)
    assert tuned.candidates[0].validation is None
    assert tuned.rows()[0]["remark"]
    assert tuned.settings == {"depth": "3"}
    perfect = tml.parse("predict y maximize accuracy require errors <= 4").tune(rows, depth=[1, 7], folds=2)
    assert "found no tree" in perfect.rows()[0]["remark"]


def test_the_command(spec: Path, tmp_path: Path) -> None:
    plot, result = tmp_path / "size.json", tmp_path / "result.json"
    done = run("tune", spec, "--depth", "1..2", "--folds", 3, "--plot", plot, "-o", result)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].split()[:4] == ["depth", "unseen", "accuracy", "spread"]
    assert sum("chosen" in line for line in lines[:4]) == 1
    assert "The tree for all rows:" in done.stdout
    assert tml.Tree.read(result).depth in (1, 2)
    drawn = json.loads(plot.read_text())
    assert drawn["vertical"] == "unseen accuracy"
    assert len(drawn["series"][0]["points"]) == len(drawn["series"][0]["spreads"]) == 2
    picture = tmp_path / "size.png"
    value = json.loads(run("tune", spec, "--depth", "1..2", "--folds", 3, "--plot", picture, "--json").stdout)
    assert value["chosen"] in ({"depth": "1"}, {"depth": "2"})
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert run("tune", spec, "--depth", "2..1").exit_code == 1
    assert run("tune", spec, "--set", "depth").exit_code == 1


def test_a_sweep_over_folds_has_a_row_per_job_and_no_zigzag(spec: Path, tmp_path: Path) -> None:
    spec.write_text(f'param deep = 2 data "rows.csv" {TEXT.replace("<= 3", "<= deep")}')
    journal, plot = tmp_path / "sweep.jsonl", tmp_path / "sweep.json"
    done = run("sweep", spec, "--set", "deep=1,2", "--folds", 2, "-o", journal, "--plot", plot)
    assert done.exit_code == 0, done.output
    heading, _, *table = done.stdout.splitlines()
    assert "unseen accuracy" in heading
    assert "spread of accuracy" in heading
    assert len(table) == 2
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    assert sum("fold" in record for record in records) == 4
    drawn = json.loads(plot.read_text())
    assert drawn["vertical"] == "unseen accuracy"
    (series,) = drawn["series"]
    assert len(series["points"]) == 2
    for point in series["points"]:
        folds = [
            record["validation"]["parts"][0]["test"]["accuracy"]
            for record in records
            if record.get("fold") and record["params"]["deep"] == point[0]
        ]
        assert point[1] == pytest.approx(mean(folds))
    draw(tradeoff([record for record in records if "fold" in record]), tmp_path / "sweep.png")


def test_a_page_of_different_problems_is_warned_about(spec: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.tml"
    other.write_text('data "rows.csv" predict y minimize errors require depth <= 1')
    result, same, foreign = tmp_path / "result.json", tmp_path / "same.jsonl", tmp_path / "foreign.jsonl"
    assert run("solve", spec, "-o", result).exit_code == 0
    assert run("compare", spec, "--with", "native", "-o", same).exit_code == 0
    assert run("compare", other, "--with", "native", "-o", foreign).exit_code == 0
    page = tmp_path / "page.html"
    assert "warning" not in run("report", result, same, "-o", page).stderr
    mixed = run("report", result, foreign, "-o", page)
    assert mixed.exit_code == 0
    assert "warning[D499]" in mixed.stderr
    assert "other.tml" in mixed.stderr
    (tmp_path / "rows.csv").write_text((tmp_path / "rows.csv").read_text() + "1,1,1,1,1,1,1,1,1\n")
    assert run("compare", spec, "--with", "native", "-o", foreign, "--resume").exit_code == 0
    assert run("solve", spec, "-o", result).exit_code == 0
    assert "warning[D499]" in run("report", result, same, "-o", page).stderr


def test_the_chosen_tree_is_validated_as_the_spec_asks(spec: Path, rows: pl.DataFrame) -> None:
    rows[:30].write_csv(spec.with_name("other.csv"))
    spec.write_text(f'{spec.read_text()} validate on "other.csv"')
    result = run("tune", spec, "--depth", "1, 2", "--folds", 3)
    assert result.exit_code == 0, result.output
    assert "validated by other.csv" in result.output
    spec.write_text(spec.read_text().replace('on "other.csv"', "by folds(3)"))
    assert "validated by" not in run("tune", spec, "--depth", "1, 2").output
