"""`treeml solve --proof` and `treeml check-proof`: infeasibility is proved, and the proof is checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from treeml.cli.main import treeml

ROWS = [(a, b, c, (a + b + c) % 2) for a in (0, 1) for b in (0, 1) for c in (0, 1)]


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    rows = "".join(f"{a},{b},{c},{odd}\n" for a, b, c, odd in ROWS)
    (tmp_path / "rows.csv").write_text("a,b,c,odd\n" + rows)
    path = tmp_path / "spec.tml"
    path.write_text('data "rows.csv"\npredict odd\nsatisfy\nrequire errors = 0\nrequire depth <= 2\n')
    return path


def run(*arguments: object) -> tuple[int, str, str]:
    answer = CliRunner().invoke(treeml, [str(argument) for argument in arguments])
    return answer.exit_code, answer.stdout, answer.stderr


def test_a_proof_is_written_and_checked_again(spec: Path, tmp_path: Path) -> None:
    proof = tmp_path / "no-tree.drup"
    code, said, _ = run("solve", spec, "--proof", proof, "--json")
    assert code == 3
    assert json.loads(said)["backend"] == "sat"
    assert any("checked" in note for note in json.loads(said)["notes"])
    assert run("check-proof", proof)[0] == 0
    code, said, _ = run("check-proof", proof, "--json")
    assert json.loads(said) == {"proof": str(proof), "clauses": f"{proof}.cnf", "holds": True, "fault": None}


def test_a_tampered_proof_is_rejected(spec: Path, tmp_path: Path) -> None:
    proof = tmp_path / "no-tree.drup"
    run("solve", spec, "--proof", proof)
    clauses = Path(f"{proof}.cnf")
    lines = [line for line in clauses.read_text().splitlines() if not line.startswith("c ")]
    header = lines[0].split()
    clauses.write_text("\n".join([f"p cnf {header[2]} {len(lines) // 3}", *lines[1 : 1 + len(lines) // 3]]) + "\n")
    code, _, error = run("check-proof", proof)
    assert code == 5
    assert "does not hold" in error
    other = tmp_path / "other.cnf"
    other.write_text("p cnf 1 1\n1 0\n")
    code, said, _ = run("check-proof", proof, "--clauses", other, "--json")
    assert code == 5
    assert json.loads(said)["holds"] is False


def test_the_least_depth_comes_with_a_proof_for_one_less(spec: Path, tmp_path: Path) -> None:
    text = spec.read_text().replace("satisfy", "minimize depth").replace("depth <= 2", "depth <= 6")
    spec.write_text(text)
    proof = tmp_path / "less.drup"
    code, said, _ = run("solve", spec, "--proof", proof, "--json")
    assert code == 0
    assert json.loads(said)["objective"] == 3
    assert run("check-proof", proof)[0] == 0


def test_where_there_is_a_tree_the_answer_says_that_no_proof_was_written(spec: Path, tmp_path: Path) -> None:
    spec.write_text(spec.read_text().replace("depth <= 2", "depth <= 3"))
    proof = tmp_path / "none.drup"
    code, said, _ = run("solve", spec, "--proof", proof, "--json")
    assert code == 0
    assert not proof.exists()
    assert any("no proof was written" in note for note in json.loads(said)["notes"])


def test_rows_that_contradict_each_other_are_refuted_by_clauses_too(spec: Path, tmp_path: Path) -> None:
    data = tmp_path / "rows.csv"
    data.write_text(data.read_text() + "0,0,0,1\n")
    proof = tmp_path / "no-tree.drup"
    assert run("solve", spec, "--proof", proof)[0] == 3
    assert run("check-proof", proof)[0] == 0


def test_a_back_end_that_writes_no_proof_says_so(spec: Path, tmp_path: Path) -> None:
    code, _, error = run("solve", spec, "--with", "cpsat", "--proof", tmp_path / "no-tree.drup")
    assert code == 1
    assert "cpsat writes no proof" in error
    assert "--with sat" in error


def test_files_that_are_not_there(spec: Path, tmp_path: Path) -> None:
    assert run("check-proof", tmp_path / "no.drup")[0] != 0
    code, _, error = run("solve", spec, "--proof", tmp_path / "no" / "folder.drup")
    assert code != 0
    assert "no such folder" in error
