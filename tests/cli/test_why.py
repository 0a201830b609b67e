"""`treeml explain --why`: which requirements conflict, and how far one of them would have to give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from treeml.cli.main import treeml

# Odd parity of three columns: no tree of depth 2 is better than half.
ROWS = [(a, b, c, (a + b + c) % 2) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
DATA = "a,b,c,odd\n" + "".join(f"{a},{b},{c},{odd}\n" for a, b, c, odd in ROWS)
PROVERS = ("native", "cpsat", "mip", "maxsat", "oracle")


def asked(folder: Path, spec: str, *arguments: str) -> Result:
    (folder / "rows.csv").write_text(DATA)
    (folder / "spec.tml").write_text('data "rows.csv"\npredict odd is 1\n' + spec)
    return CliRunner().invoke(treeml, ["explain", "--why", str(folder / "spec.tml"), *arguments])


CONFLICT = """minimize leaves
require perfect: errors <= 1
require shallow: depth <= 2
require leaves <= 20
"""


@pytest.mark.parametrize("backend", PROVERS)
def test_every_proving_back_end_names_the_smallest_conflict(backend: str, tmp_path: Path) -> None:
    answer = asked(tmp_path, CONFLICT, "--with", backend, "--nearest", "perfect", "--nearest", "shallow", "--json")
    assert answer.exit_code == 3, answer.output
    said = json.loads(answer.stdout)
    assert said["status"] == "infeasible"
    assert said["backend"] == backend
    assert [(each["name"], each["line"]) for each in said["conflict"]] == [("perfect", 4), ("shallow", 5)]
    assert said["minimal"] is True
    assert [each["text"] for each in said["others"]] == ["leaves <= 20"]
    assert said["nearest"] == {"perfect": [{"value": 4, "exact": "4"}], "shallow": [{"value": 3, "exact": "3"}]}


def test_the_text_shows_the_lines_and_possible_relaxations(tmp_path: Path) -> None:
    answer = asked(tmp_path, CONFLICT, "--with", "cpsat", "--nearest", "perfect")
    assert answer.exit_code == 3
    assert answer.stdout.splitlines() == [
        "no tree meets these requirements together, proved by cpsat",
        "",
        "    require perfect: errors <= 1",
        "    require shallow: depth <= 2",
        "",
        "without any one of them there is a tree",
        "no part is played by `leaves <= 20`",
        "nearest   `perfect: errors <= 1` could be <= 4, the others kept",
    ]


def test_nothing_conflicts(tmp_path: Path) -> None:
    answer = asked(tmp_path, "minimize errors\nrequire depth <= 2\n", "--json")
    assert answer.exit_code == 0
    assert json.loads(answer.stdout)["status"] == "feasible"


def test_no_time_no_claim(tmp_path: Path) -> None:
    answer = asked(tmp_path, CONFLICT, "--with", "mip", "--within", "0s", "--json")
    assert answer.exit_code == 4
    assert json.loads(answer.stdout)["status"] == "unknown"


def test_a_back_end_without_proofs_cannot_explain_infeasibility(tmp_path: Path) -> None:
    answer = asked(tmp_path, CONFLICT, "--with", "cart")
    assert answer.exit_code != 0
    assert "cart cannot say why: it proves nothing" in answer.stderr


def test_an_unknown_requirement_name_is_refused(tmp_path: Path) -> None:
    answer = asked(tmp_path, CONFLICT, "--nearest", "perfekt")
    assert answer.exit_code == 1
    assert "N213" in answer.stderr
    assert "did you mean `perfect`?" in answer.stderr


def test_nearest_belongs_to_why(tmp_path: Path) -> None:
    (tmp_path / "spec.tml").write_text("minimize errors\n")
    answer = CliRunner().invoke(treeml, ["explain", str(tmp_path / "spec.tml"), "--nearest", "depth"])
    assert answer.exit_code == 2


@pytest.mark.parametrize("backend", ["cpsat", "mip", "maxsat"])
def test_conditions_on_leaves_have_nearest_values_too(backend: str, tmp_path: Path) -> None:
    spec = "satisfy\nrequire deep: depth <= 3\nrequire perfect: errors = 0\nrequire big: support >= 3 rows\n"
    answer = asked(tmp_path, spec, "--with", backend, "--nearest", "big", "--nearest", "perfect", "--json")
    said = json.loads(answer.stdout)
    assert {each["name"] for each in said["conflict"]} == {"perfect", "big"}
    assert said["nearest"]["big"] == [{"value": 1, "exact": "1"}]
    # Leaves of at least three rows: at most one split, with both classes equally frequent on both sides.
    assert said["nearest"]["perfect"] == [{"value": 4, "exact": "4"}]


@pytest.mark.parametrize("backend", ["cpsat", "maxsat"])
def test_where_the_others_conflict_no_value_helps(backend: str, tmp_path: Path) -> None:
    answer = asked(tmp_path, CONFLICT, "--with", backend, "--nearest", "leaves <= 20")
    assert "`leaves <= 20`: no value helps, the others conflict without it" in answer.stdout


def test_a_share_is_rounded_to_the_side_that_can_be_met(tmp_path: Path) -> None:
    sums = "require sure: recall(1) >= 60%\nrequire few: count(predicted = 1) <= 3\n"
    spec = "minimize errors\nrequire shallow: depth <= 1\n" + sums
    answer = asked(tmp_path, spec, "--with", "cpsat", "--nearest", "sure", "--nearest", "few")
    assert answer.exit_code == 3
    assert "`sure: recall(1) >= 60%` could be >= 0, the others kept" in answer.stdout
    assert "`few: count(predicted = 1) <= 3` could be <= 8, the others kept" in answer.stdout
