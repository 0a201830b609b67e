"""Pictures and their data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from treeml.cli.main import treeml
from treeml.lang.diagnostic import DataError
from treeml.studies.plots import Plot, Series, cactus, draw, margins, timeline, tradeoff


def record(backend: str, **more: Any) -> dict[str, Any]:
    known = {
        "key": backend + str(more),
        "backend": backend,
        "spec": "s",
        "data": "d",
        "params": {},
        "status": "optimal",
    }
    return {**known, "stop": "proved", "tree": {}, "trace": [], "seconds": 1.0, **more}


def test_timeline() -> None:
    trace = [
        {"seconds": 0.1, "objective": [9], "bound": None},
        {"seconds": 0.4, "objective": [5], "bound": 2},
        {"seconds": 0.8, "objective": None, "bound": 5},
    ]
    plot = timeline([record("a", trace=trace), record("b")])
    assert [series.name for series in plot.series] == ["a", "a, bound"]
    assert plot.series[0].points == ((0.1, 9), (0.4, 5), (1.0, 5))
    assert plot.series[1].points == ((0.4, 2), (0.8, 5))


def test_cactus_counts_proofs_only() -> None:
    records = [record("a", proof_seconds=seconds) for seconds in (3.0, 1.0)]
    records += [record("a", status="feasible", proof_seconds=None), record("b", status="infeasible", proof_seconds=2.0)]
    assert [(series.name, series.points) for series in cactus(records).series] == [
        ("a (2)", ((1.0, 1.0), (3.0, 2.0))),
        ("b (1)", ((2.0, 1.0),)),
    ]


def test_tradeoff_finds_the_requirement_and_the_goal() -> None:
    records = [
        record(
            "a",
            params={"tolerance": tolerance},
            goals=[{"text": "maximize accuracy", "sense": "maximize", "value": str(accuracy)}],
            objective=accuracy,
            measures={"depth": 2, "accuracy": accuracy, "parity_gap(sex)": gap},
        )
        for tolerance, gap, accuracy in ((0.2, 0.13, 0.8), (0.0, 0.0, 0.7))
    ]
    plot = tradeoff(records)
    assert (plot.horizontal, plot.vertical) == ("parity_gap(sex)", "accuracy")
    assert plot.series[0].points == ((0.0, 0.7), (0.13, 0.8))
    assert plot.series[0].labels == ("tolerance = 0.0", "tolerance = 0.2")
    with pytest.raises(DataError, match="no result has a value"):
        tradeoff(records, across="kindness")


def test_margins() -> None:
    plot = margins(np.array([0.5, -0.25, 0.0, 1.0]))
    assert plot.series[0].points == ((-0.25, 0.25), (0.0, 0.5), (0.5, 0.75), (1.0, 1.0))
    assert plot.about["share_at_most_0"] == 0.5


@pytest.mark.parametrize(
    ("ending", "opening"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("json", b"{")]
)
def test_files(tmp_path: Path, ending: str, opening: bytes) -> None:
    path = tmp_path / f"plot.{ending}"
    series = (Series("a", ((0.1, 1.0), (2.0, 3.0)), ("x", "y")), Series("b", ((1.0, 1.0),), group=1, dashed=True))
    for kind in ("line", "steps"):
        draw(Plot("title", "x", "y", series, kind, logarithmic=True), path)
        assert path.read_bytes().startswith(opening)
    with pytest.raises(DataError):
        draw(Plot("title", "x", "y", series), tmp_path / "plot.doc")


def test_the_command_draws_a_race(spec: Path, tmp_path: Path) -> None:
    kept, picture = tmp_path / "race.jsonl", tmp_path / "cactus.json"
    runner = CliRunner()
    assert runner.invoke(treeml, ["compare", str(spec), "--with", "oracle", "-o", str(kept)]).exit_code == 0
    assert runner.invoke(treeml, ["plot", "cactus", str(kept), "-o", str(picture)]).exit_code == 0
    assert json.loads(picture.read_text())["series"][0]["name"] == "oracle (1)"


def test_margins_of_a_forest(tmp_path: Path) -> None:
    rows = "".join(f"{n & 1},{n >> 1 & 1},{n >> 2},{int(n in (3, 5, 6, 7))}\n" for n in range(8))
    (tmp_path / "rows.csv").write_text("a,b,c,label\n" + rows)
    spec, kept, picture = tmp_path / "spec.tml", tmp_path / "forest.json", tmp_path / "margins.json"
    spec.write_text(
        'data "rows.csv" predict label is 1 ensemble by lpboost(penalty = 1) maximize margin require depth <= 1'
    )
    runner = CliRunner()
    assert runner.invoke(treeml, ["solve", str(spec), "--with", "oracle", "-o", str(kept), "-q"]).exit_code == 0
    data = str(tmp_path / "rows.csv")
    assert runner.invoke(treeml, ["plot", "margins", str(kept), "--data", data, "-o", str(picture)]).exit_code == 0
    drawn = json.loads(picture.read_text())
    assert len(drawn["series"][0]["points"]) == 8
    assert drawn["about"]["share_at_most_0"] == 0  # the majority of three stumps is right everywhere
    assert runner.invoke(treeml, ["plot", "margins", str(kept), "-o", str(picture)]).exit_code == 2
