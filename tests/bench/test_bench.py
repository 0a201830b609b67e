"""Suites: the generated sets are the real ones, and proofs agree with what was published."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from treeml.cli.main import treeml
from treeml.studies.bench.figures import FIGURES
from treeml.studies.bench.generated import GENERATED
from treeml.studies.bench.suites import SUITES, entries


@pytest.mark.parametrize(
    ("name", "classes"),
    [
        ("tic-tac-toe", {"positive": 626, "negative": 332}),
        ("balance-scale", {"left": 288, "rest": 337}),
        ("car", {"unacc": 1210, "rest": 518}),
        ("car-ordered", {"unacc": 1210, "rest": 518}),
        ("mux6", {"0": 32, "1": 32}),
        ("monk1", {"yes": 216, "no": 216}),
        ("monk2", {"yes": 142, "no": 290}),
        ("monk3", {"yes": 228, "no": 204}),
    ],
)
def test_generated_sets_have_the_classes_of_the_real_ones(name: str, classes: dict[str, int]) -> None:
    rows = GENERATED[name]()
    assert Counter(row[-1] for row in rows[1:]) == classes
    assert all(len(row) == len(rows[0]) for row in rows)


def test_every_suite_has_entries_and_every_figure_a_suite(tmp_path: Path) -> None:
    for name in SUITES:
        assert list(entries(name, None, tmp_path))
    assert {suite for suite, _, _ in FIGURES} <= set(SUITES)


def test_proofs_agree_with_what_was_published() -> None:
    arguments = ["bench", "numeric", "--with", "native", "--within", "60s", "--json", "-q"]
    result = CliRunner().invoke(treeml, arguments)
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    assert {row["set"]: (row["ours"], row["verdict"]) for row in rows} == {
        "balance-scale": ("149", "equal"),
        "car": ("250", "equal"),
        "tic-tac-toe": ("282", "equal"),
    }


def test_least_depths_agree_with_what_was_published() -> None:
    spec = ["bench", "least-depth", "--only", "car-ordered", "--with", "native", "--within", "60s", "--json", "-q"]
    result = CliRunner().invoke(treeml, spec)
    assert result.exit_code == 0, result.output
    (row,) = json.loads(result.stdout)
    assert (row["ours"], row["published"]) == ("8", "8")


def test_a_folder_without_data_is_reported(tmp_path: Path) -> None:
    result = CliRunner().invoke(treeml, ["bench", "cp4im", "--data-dir", str(tmp_path)])
    assert result.exit_code == 1
    assert "D496" in result.stderr


def test_data_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "boolean").mkdir()
    (tmp_path / "boolean" / "own.csv").write_text("a,b,label\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n")
    result = CliRunner().invoke(
        treeml, ["bench", "least-depth", "--data-dir", str(tmp_path), "--with", "oracle", "--json"]
    )
    assert result.exit_code == 0, result.output
    (row,) = json.loads(result.stdout)
    assert (row["set"], row["ours"], row["status"]) == ("own", "2", "optimal")


def test_the_improvement_suite_starts_from_the_trees_beside_the_folds(tmp_path: Path) -> None:
    folder = tmp_path / "slim" / "own"
    folder.mkdir(parents=True)
    (folder / "fold0-train.csv").write_text("a,b,label\n0,0,0\n0,1,1\n1,0,1\n1,1,1\n")
    (folder / "fold0-weka.txt").write_text(
        "a = 0\n|   b = 0\n|   |   a = 0: 0 (1.0)\n|   |   a = 1: 1 (0.0)\n|   b = 1: 1 (1.0)\na = 1: 1 (2.0)\n"
    )
    (folder / "fold0-iti.txt").write_text("b < 0.50\n   a < 0.50\n   |  0 (1)\n   |  1 (1)\n   1 (2)\n")
    result = CliRunner().invoke(treeml, ["bench", "improvement", "--data-dir", str(tmp_path), "--json"])
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    assert [(row["set"], row["ours"], row["status"]) for row in rows] == [
        ("own-weka", "2", "local"),
        ("own-iti", "2", "local"),
    ]
