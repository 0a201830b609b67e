"""Ctrl-C while a back-end works: the best tree so far is printed, or a message that there is no tree."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SPEC = 'data "noise.csv"\npredict y\nminimize errors\nrequire depth <= 7\n'


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    chance = random.Random(1)
    lines = [",".join([*(f"x{i}" for i in range(120)), "y"])]
    lines += [",".join(str(chance.randint(0, 1)) for _ in range(121)) for _ in range(3000)]
    (tmp_path / "noise.csv").write_text("\n".join(lines))
    path = tmp_path / "noise.tml"
    path.write_text(SPEC)
    return path


# The command line, which also prints when there is a first tree: the test sends Ctrl-C then.
TELLING = """
import sys
from contextlib import contextmanager
import treeml.solving.progress

@contextmanager
def told(quiet):
    def tell(moment):
        if moment.objective is not None:
            print("there is a tree", file=sys.stderr, flush=True)
    yield tell

treeml.solving.progress.progress_line = told
import treeml.__main__, treeml.cli.main
begin = treeml.cli.main.run

def run():
    print("begun", file=sys.stderr, flush=True)
    begin()

treeml.cli.main.run = run
treeml.__main__.main()
"""


def interrupted(*arguments: str, after: float | None = None, file: Path | None = None) -> tuple[int, str, str]:
    """Send Ctrl-C once there is a tree, and `file` if it is given; or `after` this many seconds."""
    command = [sys.executable, "-c", TELLING, "solve", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        assert ("begun\n" if after is not None else "there is a tree\n") in iter(process.stderr.readline, "")
        if after is not None:
            time.sleep(after)
        else:
            while file is not None and not file.exists():
                assert process.poll() is None
                time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=600)
    finally:
        process.kill()
    return process.returncode, output, errors


def test_the_incumbent_survives(spec: Path) -> None:
    code, output, errors = interrupted(str(spec), "--with", "native", "--json")
    assert code == 0, errors
    result = json.loads(output)
    assert result["stop"] == "interrupted"
    assert result["status"] == "feasible"
    assert result["verified"]
    assert result["bound"] <= result["objective"]


WAYS = (
    "cpsat",
    "cpsat(encoding = cover)",
    "mip",
    "mip(formulation = flow)",
    "mip(solver = scip)",
    "maxsat",
    "maxsat(solver = cadical153)",
)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_every_solver_leaves_its_best_tree(tmp_path: Path, way: str) -> None:
    """Also while tables are counted, and in steps that a solver does not interrupt."""
    chance = random.Random(1)
    lines = [",".join([*(f"x{i}" for i in range(12)), "g", "y"])]
    for _ in range(1500):
        values = [round(chance.random() * 100, 2) for _ in range(12)]
        lines.append(",".join(map(str, [*values, chance.choice("ab"), int((values[0] > 50) ^ (values[1] > 30))])))
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    spec = tmp_path / "rows.tml"
    spec.write_text(
        'data "rows.csv"\npredict y is 1\nfeatures all except g\nminimize errors\nrequire depth <= 4\n'
        "require parity_gap(g) <= 1%\n"
    )
    code, output, errors = interrupted(str(spec), "--with", way, "--json")
    assert code == 0, errors
    result = json.loads(output)
    assert (result["status"], result["stop"], result["verified"]) == ("feasible", "interrupted", True)


def test_no_traceback_at_any_moment(spec: Path) -> None:
    for after in (0.0, 0.1, 0.3, 1.0, 2.5):
        code, output, errors = interrupted(str(spec), "--with", "native", "--json", after=after)
        assert "Traceback" not in errors, errors
        assert code in (0, 4, -signal.SIGINT)
        assert (code == 0) == bool(output)


# A run in which Ctrl-C comes while a class is made, which Python 3.11 turns into another error; or while an object is
# deleted, where Python drops the exception.
AT_ODD_MOMENTS = """
import signal, sys, time
import treeml.__main__, treeml.cli.main

class Named:
    def __set_name__(self, owner, name):
        signal.raise_signal(signal.SIGINT)

class Deleted:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

def run():
    if sys.argv[1] == "named":
        type("Owner", (), {"named": Named()})
    Deleted()
    while True:
        time.sleep(0.01)

treeml.cli.main.run = run
treeml.__main__.main()
"""


@pytest.mark.parametrize("moment", ["named", "deleted"])
def test_no_interrupt_is_lost_or_becomes_another_error(moment: str) -> None:
    ended = subprocess.run([sys.executable, "-c", AT_ODD_MOMENTS, moment], capture_output=True, text=True, timeout=600)
    assert (ended.returncode, ended.stderr) == (4, "interrupted before there was a tree\n")


def test_improvement_keeps_what_it_has(spec: Path, tmp_path: Path) -> None:
    spec.write_text(
        'data "noise.csv"\npredict y\nminimize depth\nrequire errors <= 1_000\n'
        'start from cart(prune = none)\nimprove by subtrees(checkpoint = "noise.json")\n'
    )
    code, output, errors = interrupted(str(spec), "--json", file=tmp_path / "noise.json")
    assert code == 0, errors
    result = json.loads(output)
    assert (result["status"], result["stop"], result["backend"]) == ("feasible", "interrupted", "improve")
    assert result["verified"]
    assert result["objective"] <= result["trace"][0]["objective"][0]
    saved = json.loads((tmp_path / "noise.json").read_text())
    assert saved["depth"] == result["objective"]
