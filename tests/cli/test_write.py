"""`treeml solve --write`: the solver's own model, complete, in a file that other programs can solve."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from treeml.cli.main import treeml

ROWS = [(a, b, c, (a + b + c) % 2 if c else a) for a in (0, 1) for b in (0, 1) for c in (0, 1)]


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text("a,b,c,y\n" + "".join(f"{a},{b},{c},{y}\n" for a, b, c, y in ROWS))
    path = tmp_path / "spec.tml"
    path.write_text('data "rows.csv"\npredict y\nminimize errors\nrequire depth <= 2\n')
    return path


def run(*arguments: object) -> tuple[int, str, str]:
    answer = CliRunner().invoke(treeml, [str(argument) for argument in arguments])
    return answer.exit_code, answer.stdout, answer.stderr


def least_by_highs(path: Path) -> int:
    import highspy

    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.readModel(str(path))
    assert highs.getNumCol() > 5  # the model is complete: it has all splits and leaves
    highs.run()
    return round(highs.getObjectiveValue())


@pytest.mark.parametrize("name", ["model.lp", "model.mps"])
@pytest.mark.parametrize("asked", ["depth <= 2", "depth <= 3", "recall(1) >= 60%"])
def test_another_solver_finds_the_same_optimum(spec: Path, name: str, asked: str) -> None:
    if not asked.startswith("depth"):
        asked = f"depth <= 2\nrequire {asked}"
    spec.write_text(spec.read_text().replace("depth <= 2", asked).replace("predict y", "predict y is 1"))
    code, said, _ = run("solve", spec, "--with", "mip", "--write", spec.parent / name, "--json")
    assert code == 0
    assert least_by_highs(spec.parent / name) == json.loads(said)["objective"]


def test_the_model_of_cp_sat_has_integers_only(spec: Path) -> None:
    from ortools.sat.python import cp_model

    path = spec.parent / "model.txt"
    code, said, _ = run("solve", spec, "--with", "cpsat", "--write", path, "--json")
    assert code == 0
    model = cp_model.CpModel()
    assert model.proto.parse_text_format(path.read_text())
    solver = cp_model.CpSolver()
    assert solver.solve(model) == cp_model.OPTIMAL
    assert round(solver.objective_value) == json.loads(said)["objective"]


def test_a_back_end_that_writes_the_file_format_is_chosen(spec: Path) -> None:
    for name, backend in (("x.mps", "mip"), ("x.pb", "cpsat"), ("x.wcnf", "maxsat")):
        code, said, _ = run("solve", spec, "--write", spec.parent / name, "--json")
        assert (code, json.loads(said)["backend"]) == (0, backend)
        assert (spec.parent / name).stat().st_size > 0


@pytest.mark.parametrize(
    ("backend", "name", "said"),
    [
        ("mip", "x.cnf", "mip writes no model as x.cnf"),
        ("native", "x.lp", "native writes no model as x.lp"),
        ("mip", "none/x.lp", "none does not"),
        ("cpsat", "none/x.pb", "none does not"),
        ("maxsat", "none/x.wcnf", "none does not"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_search(
    spec: Path, backend: str, name: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(spec.parent)
    code, _, error = run("solve", spec, "--with", backend, "--write", name)
    assert code == 1
    assert "B503" in error
    assert said in error


def test_an_unsupported_file_ending_is_refused(spec: Path) -> None:
    code, _, error = run("solve", spec, "--write", spec.parent / "x.abc")
    assert code == 1
    assert "no back-end writes x.abc" in error
    assert "mip writes .lp or .mps" in error


def test_the_option_in_the_spec_is_checked_in_the_same_way(spec: Path) -> None:
    spec.write_text(spec.read_text() + 'solve with mip(write = "x.cnf")\n')
    code, _, error = run("solve", spec)
    assert code == 1
    assert "a name that ends in .lp or .mps" in error


def test_where_no_model_is_built_the_answer_says_so(spec: Path) -> None:
    spec.write_text(spec.read_text().replace("minimize errors", "minimize errors\nrequire support >= 9 rows"))
    path = spec.parent / "x.lp"
    code, said, _ = run("solve", spec, "--with", "mip", "--write", path, "--json")
    assert code == 3
    assert not path.exists()
    assert any("no model was written" in note for note in json.loads(said)["notes"])
