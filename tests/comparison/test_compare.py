"""`treeml compare`: every back-end in its own process, and nothing that one does harms another."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars
import pytest
from click.testing import CliRunner, Result

import treeml as tml
from treeml.cli.main import treeml
from treeml.studies.comparison import pool
from treeml.studies.comparison.contradictions import contradict, contradictions
from treeml.studies.comparison.jobs import split_names
from treeml.studies.comparison.journal import read_records


def run(*arguments: object) -> Result:
    return CliRunner().invoke(treeml, [str(argument) for argument in arguments])


def compared(*arguments: object) -> tuple[list[dict[str, Any]], Result]:
    result = run("compare", *arguments, "--json")
    return json.loads(result.stdout), result


def test_records_are_complete(spec: Path) -> None:
    (oracle, cart), result = compared(spec, "--with", "oracle,cart")
    assert result.exit_code == 0
    assert (oracle["status"], oracle["objective"], oracle["verified"]) == ("optimal", 1, True)
    assert (cart["backend"], cart["status"]) == ("cart", "feasible")
    assert 0 < oracle["first_tree_seconds"] <= oracle["best_seconds"] <= oracle["proof_seconds"]
    assert cart["proof_seconds"] is None
    assert oracle["peak_memory"] > 10**7
    assert oracle["goals"] == [{"text": "minimize errors", "sense": "minimize", "value": "1"}]


def test_refusals_are_part_of_the_answer(spec: Path) -> None:
    (oracle, other), result = compared(spec, "--with", "oracle(limit = 1),cart")
    assert result.exit_code == 0
    assert oracle["refused"] is True
    assert "limit" in oracle["because"]
    assert other["tree"] is not None
    everybody = run("compare", spec, "--with", "oracle(limit = 1)")
    assert everybody.exit_code == 1
    assert "refused" in everybody.stdout


def test_the_table_shows_every_back_end(spec: Path) -> None:
    text = run("compare", spec, "--with", "oracle,cart").stdout
    heading, _, first, second = text.splitlines()[:4]
    times = ("first tree (s)", "best tree (s)", "proof (s)", "model built (s)", "total (s)")
    for word in ("back-end", "objective", "bound", "gap", *times, "memory", "verified", "reason"):
        assert word in heading
    assert first.startswith("oracle")
    assert second.startswith("cart")


@pytest.mark.parametrize(
    ("name", "because"),
    [("crash", "SIGSEGV"), ("leave", "exit code 7"), ("fail", "no such thing"), ("fill", "memory|limit")],
)
def test_a_back_end_that_ends_does_not_disturb_the_others(
    spec: Path, bad_backends: Path, name: str, because: str
) -> None:
    records, result = compared(spec, "--with", f"{name},oracle", "--within", "600s", "--memory", "400MB")
    assert [record["backend"] for record in records] == [name, "oracle"]
    assert records[0]["status"] == "unknown"
    assert records[0]["stop"] == ("memory" if name == "fill" else "failed")
    assert any(word in records[0]["because"] for word in because.split("|"))
    assert records[1]["status"] == "optimal"
    assert result.exit_code == (0 if name == "fill" else 5)


def end_the_time_of_sleepers(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the time of a back-end that sleeps were up as soon as it has reported something."""
    seconds = pool.RunningJob.seconds

    def passed(run: pool.RunningJob) -> float:
        sleeps = (run.job.backend or "").endswith("sleep") and run.lost is None
        has_said = run.moment and (run.incumbent is not None or run.job.backend == "sleep")
        return 10_000.0 if sleeps and has_said else seconds.__get__(run)

    monkeypatch.setattr(pool.RunningJob, "seconds", property(passed))
    monkeypatch.setattr(pool, "SECONDS_TO_STOP", 0.2)


def test_a_back_end_that_sleeps_for_ever_is_ended(
    spec: Path, bad_backends: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_the_time_of_sleepers(monkeypatch)
    records, result = compared(spec, "--with", "sleep,oracle", "--within", "600s", "--parallel", 2)
    assert records[0]["stop"] == "failed"
    assert "did not end within its 600 s" in records[0]["because"]
    assert records[0]["told"]["objective"] == [1]
    assert records[1]["status"] == "optimal"
    assert result.exit_code == 5


@pytest.mark.parametrize(
    ("name", "because", "stop"),
    [
        ("toldcrash", "SIGSEGV", "failed"),
        ("toldfail", "no such thing", "failed"),
        ("toldfill", "memory|limit", "memory"),
        ("toldsleep", "did not end", "failed"),
    ],
)
def test_a_tree_reported_by_a_killed_back_end_is_kept_and_verified(
    spec: Path, bad_backends: Path, monkeypatch: pytest.MonkeyPatch, name: str, because: str, stop: str
) -> None:
    end_the_time_of_sleepers(monkeypatch)
    limits = ("--within", "600s", "--memory", "400MB", "--parallel", 2)
    records, result = compared(spec, "--with", f"{name},oracle", *limits)
    lost, oracle = records
    assert lost["backend"] == name
    assert (lost["stop"], lost["status"], lost["objective"], lost["verified"]) == (stop, "feasible", 1, True)
    assert any(word in lost["because"] for word in because.split("|"))
    assert "is kept" in lost["because"]
    assert lost["tree"] is not None
    assert lost["first_tree_seconds"] is not None
    assert lost["proof_seconds"] is None
    assert oracle["status"] == "optimal"
    assert result.exit_code == (5 if stop == "failed" else 0)


def test_a_forest_reported_by_a_killed_back_end_is_kept(tmp_path: Path, bad_backends: Path) -> None:
    rows = [f"{n & 1},{n >> 1 & 1},{n >> 2 & 1},{int(n in (3, 5, 6, 7))}" for n in range(8)]
    (tmp_path / "rows.csv").write_text("a,b,c,label\n" + "\n".join(rows) + "\n")
    path = tmp_path / "forest.tml"
    path.write_text(
        'data "rows.csv"\npredict label\nensemble by lpboost(penalty = 1, columns = 1)\n'
        "maximize margin\nrequire depth <= 1\n"
    )
    (lost, oracle), result = compared(path, "--with", "straw,oracle")
    assert (lost["stop"], lost["status"], lost["verified"]) == ("failed", "feasible", True)
    assert len(lost["forest"]["trees"]) >= 1
    assert oracle["status"] == "optimal"
    assert lost["objective"] <= oracle["objective"]
    assert "is kept" in lost["because"]
    assert result.exit_code == 5


def test_a_stored_tree_that_fails_verification_is_an_error(spec: Path, bad_backends: Path, tmp_path: Path) -> None:
    result = run("compare", spec, "--with", "wrong,oracle", "--reproduce", tmp_path / "found")
    assert result.exit_code == 5
    assert "the answer of wrong does not hold" in result.stderr
    assert "uses test 99" in result.stderr


def test_the_table_shows_a_kept_tree(spec: Path, bad_backends: Path) -> None:
    text = run("compare", spec, "--with", "toldcrash").stdout
    line = next(line for line in text.splitlines() if line.startswith("toldcrash"))
    assert "failed" in line
    assert "yes" in line
    assert "is kept" in line


@pytest.mark.parametrize(
    ("name", "words"),
    [("boast", "contradict each other"), ("deny", "contradict each other"), ("lie", "does not hold")],
)
def test_a_false_answer_fails_the_comparison(
    spec: Path, bad_backends: Path, tmp_path: Path, name: str, words: str
) -> None:
    folder = tmp_path / "found"
    result = run("compare", spec, "--with", f"oracle,{name}", "--reproduce", folder)
    assert result.exit_code == 5
    assert words in result.stderr
    (written,) = folder.iterdir()
    assert {path.name for path in written.iterdir()} == {
        "README.md", "records.jsonl", "rows.csv", "spec.tml", "versions.json",
    }  # fmt: skip
    again = run("solve", written / "spec.tml", "--with", "oracle", "--json", "-q")
    assert json.loads(again.stdout)["objective"] == 1
    assert name in (written / "README.md").read_text()
    assert json.loads((written / "versions.json").read_text())["python"]


def test_results_are_kept_resumed_and_compared(spec: Path, tmp_path: Path) -> None:
    kept = tmp_path / "results.jsonl"
    other = tmp_path / "other.tml"
    other.write_text(spec.read_text().replace("depth <= 2", "depth <= 3"))
    assert run("compare", spec, "--with", "oracle", "-o", kept, "-q").exit_code == 0
    first = kept.read_bytes()
    assert run("compare", spec, other, "--with", "oracle", "-o", kept).exit_code == 1
    with kept.open("ab") as file:
        file.write(b'{"key": "torn')
    result = run("compare", spec, other, "--with", "oracle,cart", "--repeat", 2, "-o", kept, "--resume", "--json")
    assert result.exit_code == 0
    assert kept.read_bytes().startswith(first)
    records = read_records(kept)
    assert len(records) == 8
    assert len({record["key"] for record in records}) == 8
    assert [record["seed"] for record in json.loads(result.stdout)[:2]] == [0, 1]
    text = run("compare", spec, "--with", "oracle", "--against", kept).stdout
    assert "1 of 1 jobs were run before" in text
    assert "same" in text or "faster" in text or "SLOWER" in text


def test_another_answer_than_before_is_a_contradiction(spec: Path, tmp_path: Path) -> None:
    kept = tmp_path / "results.jsonl"
    run("compare", spec, "--with", "oracle", "-o", kept, "-q")
    record = json.loads(kept.read_text())
    record["goals"][0]["value"] = "2"
    kept.write_text(json.dumps(record) + "\n")
    result = run("compare", spec, "--with", "oracle", "--against", kept, "--reproduce", tmp_path / "found")
    assert result.exit_code == 5
    assert "now and oracle earlier contradict" in result.stderr


def test_a_full_disk_keeps_the_table(spec: Path) -> None:
    result = run("compare", spec, "--with", "oracle,cart", "-o", "/dev/full")
    assert result.exit_code == 1
    assert "No space left" in result.stderr
    assert "optimal" in result.stdout
    assert "feasible" in result.stdout


def test_several_data_files(spec: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("a,b,c,label\n0,0,0,no\n1,1,1,yes\n")
    records, _ = compared(spec, "--with", "oracle", "--data", tmp_path / "rows.csv", "--data", other)
    assert [(record["data"], record["objective"]) for record in records] == [("rows.csv", 1), ("other.csv", 0)]


@pytest.mark.parametrize("arguments", [("--with", "no_such"), ("--against", "nowhere.jsonl"), ("--memory", "much")])
def test_mistakes_are_reported_before_anything_runs(spec: Path, arguments: tuple[str, ...]) -> None:
    result = run("compare", spec, *arguments)
    assert result.exit_code == 1
    assert result.stderr.startswith("error[")


def test_interrupt_keeps_what_was_finished(spec: Path, bad_backends: Path, tmp_path: Path) -> None:
    kept = tmp_path / "results.jsonl"
    command = [sys.executable, "-m", "treeml", "compare", str(spec), "--with", "oracle,sleep,cart", "-o", str(kept)]
    path = os.pathsep.join([str(bad_backends), *sys.path])
    process = subprocess.Popen(
        [*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}
    )
    while not kept.exists() or not kept.read_text().strip():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=600)
    records = json.loads(out)
    assert [record["stop"] for record in records] == ["proved", "interrupted", "interrupted"]
    assert process.returncode == 0  # there is a tree
    assert {record["backend"] for record in read_records(kept)} == {"oracle", "sleep", "cart"}


def test_a_killed_worker_is_run_again(
    spec: Path, bad_backends: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TREEML_TEST_MARK", str(tmp_path / "killed"))
    kept = tmp_path / "results.jsonl"
    arguments = ("compare", spec, "--with", "oracle,once,fail", "-o", kept, "--json")
    first = run(*arguments)
    assert first.exit_code == 5
    proved, lost, failed = json.loads(first.stdout)
    assert (lost["stop"], lost["lost"]) == ("failed", True)
    assert "SIGKILL" in lost["because"]
    again = json.loads(run(*arguments, "--resume").stdout)
    assert [record["status"] for record in again] == ["optimal", "optimal", "unknown"]
    # What a back-end itself said is an answer, and is not asked for again.
    assert again[0] == proved
    assert again[2] == failed
    assert [record["backend"] for record in map(json.loads, kept.read_text().splitlines())] == [
        "oracle", "once", "fail", "once",
    ]  # fmt: skip


def test_comparing_frames_from_python() -> None:
    model = tml.parse("predict label minimize errors require depth <= 1")
    frame = polars.DataFrame({"a": [0, 1, 1, 0], "label": ["no", "yes", "yes", "no"]})
    comparison = model.compare(frame, ["oracle", "cart"])
    assert [entry.backend for entry in comparison.entries] == ["oracle", "cart"]
    assert comparison.best is not None
    assert comparison.best.tree is not None
    assert comparison.best.tree.predict([{"a": 1}]).tolist() == ["yes"]
    comparison.raise_contradictions()


def record(status: str, value: str | None = None, **more: Any) -> dict[str, Any]:
    goals = [] if value is None else [{"text": "errors", "sense": "minimize", "value": value}]
    known = {"backend": "x", "status": status, "goals": goals, "tree": None if value is None else {}, "bound": None}
    return {**known, "objective": value, "spec": "s", "data": "d", "fingerprint": "f", **more}


@pytest.mark.parametrize(
    ("one", "other", "wrong"),
    [
        (record("optimal", "3"), record("optimal", "3"), False),
        (record("optimal", "3"), record("optimal", "4"), True),
        (record("optimal", "3"), record("feasible", "4"), False),
        (record("optimal", "3"), record("feasible", "2"), True),
        (record("optimal", "1/3"), record("optimal", "33333333/100000000"), True),
        (record("optimal", "1/3", real_valued=True), record("optimal", "0.3333333", real_valued=True), False),
        (record("infeasible"), record("feasible", "2"), True),
        (record("infeasible"), record("infeasible"), False),
        (record("infeasible"), record("unknown"), False),
        (record("feasible", "9", bound=5), record("feasible", "4"), True),
        (record("feasible", "9", bound=5), record("feasible", "5"), False),
    ],
)
def test_which_claims_contradict(one: dict[str, Any], other: dict[str, Any], wrong: bool) -> None:
    assert contradict(one, other) is wrong
    assert bool(contradictions([one, other])) is wrong
    assert not contradictions([one, {**other, "spec": "another"}])


def test_back_ends_with_different_options_are_distinguished() -> None:
    assert split_names("native, mip(solver = highs, threads = 2),cart") == [
        "native",
        "mip(solver = highs, threads = 2)",
        "cart",
    ]
