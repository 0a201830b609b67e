"""`treeml predict`: rows with their predictions, and why."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

import treeml as tml
from treeml.cli.main import treeml

EXAMPLES = Path(__file__).parents[2] / "examples"
HEART = EXAMPLES / "plain" / "heart.csv"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(treeml, list(arguments))


@pytest.fixture(scope="module")
def tree_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trees") / "tree.json"
    tree = tml.parse("predict disease maximize accuracy require depth <= 2").solve(HEART).tree
    assert tree is not None
    tree.write(path)
    return path


def test_all_columns_stand_beside_the_rows(tree_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    result = run(
        "predict", str(tree_file), str(HEART), "-o", str(out), "--probabilities", "--leaf", "--path", "--reasons"
    )
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(StringIO(out.read_text())))
    given = list(csv.DictReader(StringIO(HEART.read_text())))
    tree = tml.Tree.read(tree_file)
    assert len(rows) == len(given)
    for row, before in zip(rows, given, strict=True):
        assert {name: row[name] for name in before} == before
        *facts, said = tree.decision_path({name: before[name] for name in tree.inputs})
        assert said == f"predict {row['predicted disease']}"
        assert row["path"] == "; ".join(facts)
        leaf = tree.leaves[int(row["leaf"]) - 1]
        assert leaf.prediction == row["predicted disease"]
        assert float(row["probability of no"]) + float(row["probability of yes"]) == pytest.approx(1)
        own = leaf.counts[tree.classes.index(leaf.prediction)]
        assert row["reasons"].startswith(f"{leaf.prediction} because ")
        assert row["reasons"].endswith(f": {own} of {leaf.rows} training rows like this are {leaf.prediction}")


def test_a_reason_tells_of_a_leaf_against_its_majority(tmp_path: Path) -> None:
    spec = "predict disease cost predict no when yes = 9 cost predict yes when no = 1 minimize mistake_cost"
    tree = tml.parse(f"{spec} require depth <= 2").solve(HEART).tree
    assert tree is not None
    tree.write(tmp_path / "tree.json")
    lines = run("predict", str(tmp_path / "tree.json"), str(HEART), "--only", "--reasons").stdout
    assert "are yes, against their majority no, for minimize mistake_cost" in lines


def test_a_column_may_lack_every_value(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("color,size,y\nred,1,a\n,2,b\nblue,3,c\nred,4,a\n")
    spec = "predict y column color : category, missing separate minimize errors require depth <= 2"
    tree = tml.parse(spec).solve(rows).tree
    assert tree is not None
    tree.write(tmp_path / "tree.json")
    new = tmp_path / "new.csv"
    new.write_text("color,size\n,2\n,2\n")
    result = run("predict", str(tmp_path / "tree.json"), str(new), "--only")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == ["predicted y", "b", "b"]


def test_a_declared_column_may_lack_values_that_training_had(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("age,y\n20,a\n30,a\n40,b\n50,b\n")
    new = tmp_path / "new.csv"
    new.write_text("age\n25\n\n45\n")
    for declared, answers in (("", None), ("column age : missing separate ", ["a", "b", "b"])):
        tree = tml.parse(f"predict y {declared}minimize errors require depth <= 1").solve(rows).tree
        assert tree is not None
        tree.write(tmp_path / "tree.json")
        result = run("predict", str(tmp_path / "tree.json"), str(new), "--only")
        assert (result.stdout.splitlines()[1:] == answers) if answers else "D475" in result.output
        assert ("or is missing" in str(tree)) == bool(answers)


def test_parquet_in_and_out(tree_file: Path, tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.parquet", tmp_path / "out.parquet"
    pl.read_csv(HEART).drop("disease").write_parquet(rows)
    assert run("predict", str(tree_file), str(rows), "-o", str(out)).exit_code == 0
    found = pl.read_parquet(out)
    assert found.columns[-1] == "predicted disease"
    assert found["predicted disease"].to_list() == tml.Tree.read(tree_file).predict(pl.read_csv(HEART)).tolist()
    assert found["age"].dtype == pl.Int64


def test_to_the_screen_without_the_columns_of_the_file(tree_file: Path) -> None:
    lines = run("predict", str(tree_file), str(HEART), "--only").stdout.splitlines()
    assert lines[0] == "predicted disease"
    assert set(lines[1:]) == {"yes", "no"}


def test_a_level_that_training_did_not_have(tree_file: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("age,sex,chest_pain,pressure,cholesterol,angina\n50,F,strange,120,200,perhaps\n")
    result = run("predict", str(tree_file), str(rows), "--path", "--only")
    assert result.exit_code == 0, result.output
    assert "chest_pain is not none" in result.stdout


def test_numbers_and_clusters(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("a,b,y\n" + "".join(f"{i},{i % 3},{i / 4}\n" for i in range(12)))
    for text, heading in (
        ("predict y minimize mse require depth <= 2", "predicted y"),
        (
            "column a, b : number minimize cluster_loss(a, b) require depth <= 1 require leaves >= 2",
            "center a,center b",
        ),
    ):
        tree = tml.parse(text).solve(rows).tree
        assert tree is not None
        tree.write(tmp_path / "tree.json")
        result = run("predict", str(tmp_path / "tree.json"), str(rows), "--only")
        assert result.stdout.splitlines()[0] == heading, result.output
        assert run("predict", str(tmp_path / "tree.json"), str(rows), "--reasons").exit_code == 0
        refused = run("predict", str(tmp_path / "tree.json"), str(rows), "--probabilities")
        assert refused.exit_code == 1
        assert "error[D478]" in refused.stderr


def test_a_forest_votes_and_has_no_path(tmp_path: Path) -> None:
    forest = (
        tml.parse("predict disease maximize margin require depth <= 1 ensemble by lpboost(penalty = 0.5)")
        .solve(HEART)
        .forest
    )
    assert forest is not None
    forest.write(tmp_path / "forest.json")
    result = run("predict", str(tmp_path / "forest.json"), str(HEART), "--probabilities", "--only")
    assert result.stdout.splitlines()[0] == "predicted disease,probability of no,probability of yes"
    refused = run("predict", str(tmp_path / "forest.json"), str(HEART), "--path")
    assert refused.exit_code == 1
    assert "error[D478]" in refused.stderr


def test_wrong_calls(tree_file: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("age\n50\n")
    missing = run("predict", str(tree_file), str(rows))
    assert missing.exit_code == 1
    assert "error[D471]" in missing.stderr
    assert run("predict", str(tree_file), str(tmp_path / "none.csv")).exit_code == 1
    assert run("predict", str(tmp_path / "none.json"), str(rows)).exit_code == 1
    assert run("predict", str(tree_file), str(HEART), "-o", "out.xlsx").exit_code == 2
    taken = tmp_path / "taken.csv"
    taken.write_text(HEART.read_text().replace("pressure", "leaf"))
    clash = run("predict", str(tree_file), str(taken), "--leaf")
    assert clash.exit_code == 1
    assert "error[D477]" in clash.stderr
    assert run("predict", str(tree_file), str(taken), "--leaf", "--only").exit_code == 0


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_tree_that_tests_dates(tmp_path: Path, ending: str) -> None:
    rows = pl.DataFrame({"opened": [f"202{year}-0{month}-01" for year in range(4) for month in (2, 7)]})
    rows = rows.with_columns(pl.Series("y", ["old"] * 4 + ["new"] * 4)).with_columns(pl.col("opened").str.to_date())
    file = tmp_path / f"rows{ending}"
    (rows.write_csv if ending == ".csv" else rows.write_parquet)(file)
    tree = tml.parse("predict y maximize accuracy require depth <= 1").solve(file).tree
    assert tree is not None
    tree.write(tmp_path / "tree.json")
    result = run("predict", str(tmp_path / "tree.json"), str(file), "-o", str(tmp_path / "out.csv"))
    assert result.exit_code == 0, result.output
    assert pl.read_csv(tmp_path / "out.csv")["predicted y"].to_list() == rows["y"].to_list()


def test_survival_predictions_say_what_they_are(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("kind,months,died\n" + "a,3,1\na,4,1\nb,30,1\nb,40,0\n" * 3)
    tree = tml.parse("predict months observed died minimize survival_loss require depth <= 1").solve(file).tree
    assert tree is not None
    tree.write(tmp_path / "tree.json")
    result = run("predict", str(tmp_path / "tree.json"), str(file), "--only")
    assert result.output.splitlines()[0] == "relative hazard of months"
