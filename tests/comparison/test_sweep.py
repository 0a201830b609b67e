"""Sweeps: every combination once, here or on a cluster, and no result lost when a worker dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from treeml.cli.main import treeml
from treeml.lang.diagnostic import SpecError
from treeml.studies.comparison.journal import read_records
from treeml.studies.sweep import values_of


@pytest.fixture
def priced(spec: Path) -> Path:
    spec.write_text(
        'param price = 1\nparam deepest = 2\ndata "rows.csv"\npredict label\n'
        "minimize errors + price * leaves\nrequire depth <= deepest\n"
    )
    return spec


def run(*arguments: object) -> Result:
    return CliRunner().invoke(treeml, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    ("text", "steps", "values"),
    [
        ("0..20%", 3, ["0%", "10%", "20%"]),
        ("1..4", None, ["1", "2", "3", "4"]),
        ("1 .. 2", 3, ["1", "1.5", "2"]),
        ("0..1.0", None, ["0", "1"]),
        ("0..0.5", 3, ["0", "0.25", "0.5"]),
        ("0..0.12", 8, ["0", "0.0171", "0.0343", "0.0514", "0.0686", "0.0857", "0.1029", "0.12"]),
        ("0.123456..1.5", 3, ["0.123456", "0.812", "1.5"]),
        ("-1..1.0", 4, ["-1", "-0.333", "0.333", "1"]),
        ("0.00001..0.00004", 3, ["0.00001", "0.000025", "0.00004"]),
        ("a, b", None, ["a", "b"]),
        ("7", None, ["7"]),
        ("3..3", None, ["3"]),
    ],
)
def test_values(text: str, steps: int | None, values: list[str]) -> None:
    assert values_of(text, steps) == values


@pytest.mark.parametrize("text", ["", "4..1", "0%..3", ","])
def test_no_values(text: str) -> None:
    with pytest.raises(SpecError):
        values_of(text)


def test_every_combination(priced: Path, tmp_path: Path) -> None:
    kept, picture = tmp_path / "sweep.jsonl", tmp_path / "curve.json"
    arguments = (priced, "--set", "price=0,0.5,2", "--set", "deepest=1..2", "--with", "oracle", "-o", kept)
    result = run("sweep", *arguments, "--jobs", 2, "--plot", picture, "--across", "leaves", "--up", "errors", "--json")
    assert result.exit_code == 0, result.output
    records = json.loads(result.stdout)
    assert [(record["params"]["price"], record["params"]["deepest"]) for record in records] == [
        (0, 1), (0, 2), (0.5, 1), (0.5, 2), (2, 1), (2, 2),
    ]  # fmt: skip
    assert all(record["status"] == "optimal" for record in records)
    curve = json.loads(picture.read_text())
    assert len(curve["series"][0]["points"]) == 6
    again = run("sweep", *arguments, "--resume")
    assert again.exit_code == 0
    assert "price" in again.stdout
    assert len(read_records(kept)) == 6


def test_folds(priced: Path) -> None:
    result = run("sweep", priced, "--folds", 2, "--with", "oracle", "--json")
    assert result.exit_code == 0, result.output
    records = json.loads(result.stdout)
    assert [record["fold"] for record in records] == ["1 of 2", "2 of 2"]
    for record in records:
        (part,) = record["validation"]["parts"]
        assert part["rows"] == 4
        assert 0 <= part["test"]["accuracy"] <= 1


def test_folds_of_forests(spec: Path) -> None:
    spec.write_text(
        'param weight = 2\ndata "rows.csv"\npredict label\nensemble by mdboost(penalty = weight)\n'
        "maximize margin\nrequire depth <= 2\n"
    )
    result = run("sweep", spec, "--set", "weight=1,2", "--folds", 2, "--with", "native", "--json")
    assert result.exit_code == 0, result.output
    records = json.loads(result.stdout)
    assert [(record["params"]["weight"], record["fold"]) for record in records] == [
        (1, "1 of 2"), (1, "2 of 2"), (2, "1 of 2"), (2, "2 of 2"),
    ]  # fmt: skip
    for record in records:
        assert record["status"] == "optimal"
        assert record["forest"]["trees"]
        (part,) = record["validation"]["parts"]
        assert part["rows"] == 4
        assert 0 <= part["test"]["accuracy"] <= 1


def test_fairness_against_accuracy(tmp_path: Path) -> None:
    # What predicts the label best, `a`, is more frequent among men; `b` is fair and predicts less.
    rows = [f"{int(n < (14 if m else 10))},{n % 2},{'m' if m else 'f'},{int(n < (15 if m else 9))}" for m in (0, 1)
            for n in range(24)]  # fmt: skip
    (tmp_path / "rows.csv").write_text("a,b,sex,label\n" + "\n".join(rows) + "\n")
    spec = tmp_path / "fair.tml"
    spec.write_text(
        'param tolerance = 5%\ndata "rows.csv"\npredict label is 1\nmaximize accuracy\n'
        "require parity_gap(sex) <= tolerance\nrequire depth <= 2\n"
    )
    curve = tmp_path / "curve.json"
    picture = tmp_path / "curve.svg"
    for path in (curve, picture):
        result = run("sweep", spec, "--set", "tolerance=0..20%", "--steps", 5, "--plot", path, "--json")
        assert result.exit_code == 0, result.output
    records = json.loads(result.stdout)
    assert [record["params"]["tolerance"] for record in records] == [0, 0.05, 0.1, 0.15, 0.2]
    objectives = [record["objective"] for record in records]
    assert objectives == sorted(objectives)
    assert objectives[0] < objectives[-1]
    points = json.loads(curve.read_text())["series"][0]["points"]
    assert len(points) == 5
    assert "<svg" in picture.read_text()


def test_an_invalid_value_is_reported_before_anything_runs(priced: Path) -> None:
    result = run("sweep", priced, "--set", "cheap=1..2")
    assert result.exit_code == 1
    assert "cheap" in result.stderr


def test_no_cluster(priced: Path) -> None:
    result = run("sweep", priced, "--cluster", "no address at all")
    assert result.exit_code == 5
    assert "B531" in result.stderr


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupt_ends_the_sweep_and_keeps_what_was_finished(
    priced: Path, bad_backends: Path, tmp_path: Path, jobs: int
) -> None:
    kept = tmp_path / "sweep.jsonl"
    command = ["sweep", str(priced), "--set", "price=0..5", "--with", "oracle,toldsleep", "-o", str(kept)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(bad_backends), *sys.path])}
    process = subprocess.Popen(
        [sys.executable, "-m", "treeml", *command, "--jobs", str(jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    while not kept.exists() or not kept.read_text().endswith("\n"):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=600)
    assert process.returncode == 130, said
    assert "error[B532]: the sweep was interrupted after" in said
    assert f"= help: the same command with `--resume` runs what {kept} does not hold" in said
    assert "optimal" in out
    records = read_records(kept)
    done = [record for record in records if record["stop"] == "proved"]
    assert done
    assert len(records) < 12
    assert {record["stop"] for record in records} <= {"proved", "interrupted"}
    lines = len(kept.read_text().splitlines())
    again = run("sweep", priced, "--set", "price=0..5", "--with", "oracle", "-o", kept, "--resume", "--json")
    assert again.exit_code == 0
    assert len(json.loads(again.stdout)) == 6
    assert len(kept.read_text().splitlines()) == lines + 6 - len(done)


def test_interrupt_without_a_file_says_how_to_keep_results() -> None:
    from treeml.cli.sweep_run import _interrupted

    said = _interrupted(1, None, False)
    assert said.title == "the sweep was interrupted after 1 job"
    assert said.helps == ("with `-o sweep.jsonl` results are kept as they come, and `--resume` goes on with them",)
    assert _interrupted(0, Path("x.jsonl"), True).helps == ("the same command again runs what x.jsonl does not hold",)


def test_a_cluster_that_loses_a_worker_loses_no_result(priced: Path, tmp_path: Path) -> None:
    # In a process of its own: the event loop of a cluster wants one without the threads of other tests.
    kept = tmp_path / "sweep.jsonl"
    command = [sys.executable, str(Path(__file__).with_name("lost_worker.py")), str(priced), str(kept)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout.splitlines()[-1])
    found: list[dict[str, Any]] = outcome["found"]
    assert outcome["killed"]
    assert sorted(record["params"]["price"] for record in found) == list(range(8))
    assert all(record["status"] == "optimal" and record["verified"] for record in found)
    assert len(read_records(kept)) == 8
