"""Pictures of a saved set: their data against the set, and files in every format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import treeml as tml
from treeml.cli.main import treeml

EXAMPLE = Path(__file__).parents[2] / "examples" / "list"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sets") / "trees.parquet"
    tml.load(EXAMPLE / "list.tml").trees(slack="30%").save(path)
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(treeml, ["plot", *map(str, arguments)])


def test_the_front_is_drawn_with_all_trees(saved: Path, tmp_path: Path) -> None:
    trees = tml.TreeSet.read(saved, EXAMPLE / "heart.csv")
    axes = ("--across", "leaves", "--up", "balanced_accuracy", "--data", EXAMPLE / "heart.csv")
    assert run("pareto", saved, "-o", tmp_path / "front.json", *axes).exit_code == 0
    plot = json.loads((tmp_path / "front.json").read_text())
    dots, front = plot["series"]
    points = list(zip(trees.measure("leaves"), trees.measure("balanced_accuracy"), strict=True))
    assert {tuple(point) for point in dots["points"]} == set(points)
    beaten = {(x, y) for x, y in points if any((a <= x and b >= y) and (a, b) != (x, y) for a, b in points)}
    assert [tuple(point) for point in front["points"]] == sorted(set(points) - beaten)
    assert 1 < len(front["points"]) < len(dots["points"])
    assert [points[rank] for rank in plot["about"]["front"]] == [tuple(point) for point in front["points"]]
    assert plot["about"]["trees"] == trees.count


def test_importance_has_shares_and_ranges(saved: Path, tmp_path: Path) -> None:
    trees = tml.TreeSet.read(saved, EXAMPLE / "heart.csv")
    expected = [column for column in trees.importance() if column.share]
    assert run("importance", saved, "-o", tmp_path / "a.json", "--data", EXAMPLE / "heart.csv").exit_code == 0
    share, least, most = json.loads((tmp_path / "a.json").read_text())["series"]
    assert share["labels"] == [column.name for column in expected]
    assert [value for value, _ in share["points"]] == [column.share for column in expected]
    assert [value for value, _ in least["points"]] == [column.least for column in expected]
    assert [value for value, _ in most["points"]] == [column.most for column in expected]
    assert run("importance", saved, "-o", tmp_path / "b.json").exit_code == 0  # without the rows: shares alone
    assert json.loads((tmp_path / "b.json").read_text())["series"] == [share]


@pytest.mark.parametrize("ending", [".svg", ".png", ".pdf"])
def test_every_format_is_written(saved: Path, tmp_path: Path, ending: str) -> None:
    pytest.importorskip("matplotlib")
    data = ("--data", EXAMPLE / "heart.csv")
    axes = ("--across", "leaves", "--up", "error_rate")
    assert run("pareto", saved, "-o", tmp_path / f"front{ending}", *axes, *data).exit_code == 0
    assert run("importance", saved, "-o", tmp_path / f"columns{ending}", *data).exit_code == 0
    assert run("importance", saved, "-o", tmp_path / f"shares{ending}").exit_code == 0
    begins = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}[ending]
    for name in ("front", "columns", "shares"):
        assert (tmp_path / f"{name}{ending}").read_bytes().startswith(begins)


def test_wrong_uses_are_refused(saved: Path, tmp_path: Path) -> None:
    out = ("-o", tmp_path / "x.json")
    assert run("pareto", saved, *out, "--across", "leaves").exit_code == 2
    assert run("importance", saved, *out, "--up", "leaves").exit_code == 2
    (tmp_path / "no.json").write_text("{}")
    assert "D480" in run("importance", tmp_path / "no.json", *out).stderr
    axes = ("--across", "no_such", "--up", "leaves", "--data", EXAMPLE / "heart.csv")
    assert run("pareto", saved, *out, *axes).exit_code == 1
