"""The command line as a user types it: output, standard error, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from treeml.backends.portfolio.companion import Companion
from treeml.cli.main import treeml
from treeml.data.files import read_file

EXAMPLES = Path(__file__).parents[2] / "examples"
PLAIN = str(EXAMPLES / "plain" / "plain.tml")
SPARSE = str(EXAMPLES / "sparse" / "sparse.tml")

DATA = "a,b,c,y\n" + "".join(f"{i & 1},{i >> 1 & 1},{i >> 2 & 1},{(i & 1) ^ (i >> 1 & 1)}\n" for i in range(8))
SPEC = 'data "xor.csv"\npredict y\nminimize errors\nrequire small: depth <= 2\n'


def run(*arguments: str) -> Result:
    return CliRunner().invoke(treeml, list(arguments))


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "xor.csv").write_text(DATA)
    path = tmp_path / "xor.tml"
    path.write_text(SPEC)
    return path


@pytest.mark.parametrize(
    ("word", "meant"), [("frontier", "sweep"), ("sovle", "solve"), ("fit", "solve"), ("my.tml", "solve my.tml")]
)
def test_an_unknown_command_is_answered_by_the_one_that_was_meant(word: str, meant: str) -> None:
    result = run(word)
    assert result.exit_code == 2
    assert f"No such command '{word}'. Did you mean `treeml {meant}`?" in result.output
    assert "Did you mean" not in run("zebra").output


def test_solve_prints_the_tree_and_what_was_verified(spec: Path) -> None:
    result = run("solve", str(spec), "--with", "oracle")
    assert result.exit_code == 0
    assert "optimal, and proved" in result.output
    assert "recomputed exactly from the rows" in result.output
    assert "─ a is 1\n" in result.output
    assert "small: depth <= 2" in result.output


def test_solve_prints_one_json_object(spec: Path) -> None:
    result = run("solve", str(spec), "--with", "oracle", "--json")
    assert result.exit_code == 0
    value = json.loads(result.stdout)
    assert (value["status"], value["stop"], value["backend"]) == ("optimal", "proved", "oracle")
    assert (value["objective"], value["bound"], value["gap"], value["verified"]) == (0, 0, 0.0, True)
    assert value["measures"]["errors"] == 0
    assert value["measures"]["depth"] == 2
    assert value["requirements"][0]["name"] == "small"
    assert value["tree"] is not None


def test_maximized_values_are_in_the_users_sense(spec: Path) -> None:
    spec.write_text(SPEC.replace("minimize errors", "maximize accuracy"))
    value = json.loads(run("solve", str(spec), "--with", "oracle", "--json").stdout)
    assert value["objective"] == 1
    assert value["bound"] == 1


def test_lexicographic_goals_give_a_list(spec: Path) -> None:
    spec.write_text(SPEC.replace("minimize errors", "minimize errors\nthen minimize leaves"))
    value = json.loads(run("solve", str(spec), "--with", "oracle", "--json").stdout)
    assert value["objective"] == [0, 4]


def test_infeasible_exits_with_3_and_names_the_requirements(spec: Path) -> None:
    spec.write_text(
        'data "xor.csv"\npredict y\nminimize leaves\nrequire perfect: errors = 0\nrequire shallow: depth <= 1\n'
    )
    result = run("solve", str(spec), "--with", "oracle", "--json")
    assert result.exit_code == 3
    value = json.loads(result.stdout)
    assert value["status"] == "infeasible"
    assert sorted(value["conflict"]) == ["perfect", "shallow"]
    assert "error[F601]" in result.stderr
    assert "perfect: errors = 0" in result.stderr
    assert "shallow: depth <= 1" in result.stderr


def test_no_time_exits_with_4(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Companion, "first_tree", lambda _: None)  # as where no tree is easy to find
    result = run("solve", str(spec), "--with", "oracle", "--within", "0s")
    assert result.exit_code == 4
    assert "error[F610]" in result.stderr
    assert "--within" in result.stderr


def test_a_wrong_spec_exits_with_1_and_shows_every_mistake(spec: Path) -> None:
    spec.write_text('dta "x.csv"\npredict y\nminimize leafs\nrequire depth == 3\n')
    result = run("check", str(spec))
    assert result.exit_code == 1
    assert result.stderr.count("error[") == 3
    assert result.stdout == ""


def test_mistakes_as_json_are_one_object_a_line(spec: Path) -> None:
    spec.write_text(SPEC.replace("errors", "leafs"))
    result = run("solve", str(spec), "--json", "--format", "json")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert [json.loads(line)["code"] for line in result.stderr.splitlines()] == ["N203"]


@pytest.mark.parametrize(
    "arguments",
    [("solve",), ("frobnicate",), ("solve", PLAIN, "--set", "price"), ("solve", PLAIN, "--set", "a=1", "--set", "a=2")],
)
def test_a_wrong_command_line_exits_with_2(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2


def test_a_refusal_says_who_can_do_it(spec: Path) -> None:
    spec.write_text(SPEC + "require monotone(a, increasing)\n")
    spec.write_text(spec.read_text().replace("predict y", "predict y is 1"))
    result = run("solve", str(spec), "--with", "cart")
    assert result.exit_code in (1, 4)
    assert "oracle" in result.stderr or "another back-end" in result.stderr


def test_missing_files_are_named(tmp_path: Path) -> None:
    assert "gone.tml" in run("check", str(tmp_path / "gone.tml")).stderr
    (tmp_path / "a.tml").write_text(SPEC)
    result = run("solve", str(tmp_path / "a.tml"))
    assert result.exit_code == 1
    assert "xor.csv" in result.stderr


def test_check_with_data_finds_what_check_without_cannot(spec: Path) -> None:
    spec.write_text(SPEC.replace("predict y", "predict z"))
    assert run("check", str(spec)).exit_code == 0
    result = run("check", str(spec), "--data", str(spec.parent / "xor.csv"))
    assert result.exit_code == 1
    assert "error[D402]" in result.stderr


def test_fixes_repair_mistakes_of_meaning_too(tmp_path: Path) -> None:
    spec = tmp_path / "spec.tml"
    spec.write_text('data "x.csv"\npredict y is "on"\nmaximize recall\nrequire dept <= 3\nrequire accuracy >= 90\n')
    result = run("check", "--fix", str(spec))
    assert result.exit_code == 0, result.output
    assert "repaired 3 mistakes" in result.output
    assert spec.read_text().splitlines()[2:] == [
        'maximize recall("on")',
        "require depth <= 3",
        "require accuracy >= 90%",
    ]


def test_check_fix_repairs_what_is_safe(spec: Path) -> None:
    spec.write_text(SPEC.replace("require small", "requires small").replace("<= 2", "== 2"))
    result = run("check", "--fix", str(spec))
    assert result.exit_code == 0
    assert "repaired 2 mistakes" in result.stderr
    assert "require small: depth = 2" in spec.read_text()


def test_fmt_changes_once_and_keeps_comments(spec: Path) -> None:
    spec.write_text("# top\n" + SPEC.replace("depth <= 2", "depth<=2   # two"))
    assert run("fmt", "--check", str(spec)).exit_code == 1
    assert run("fmt", str(spec)).exit_code == 0
    text = spec.read_text()
    assert "# top" in text
    assert "depth <= 2  # two" in text or "depth <= 2 # two" in text or "# two" in text
    assert run("fmt", "--check", str(spec)).exit_code == 0


def test_fmt_reads_standard_input() -> None:
    result = CliRunner().invoke(treeml, ["fmt", "-"], input="predict   y\n")
    assert result.stdout == "predict y\n"


def test_params_lists_value_domain_and_origin() -> None:
    rows = json.loads(run("params", SPARSE, "--set", "price=2%", "--json").stdout)
    assert {row["param"]: (row["value"], row["from"]) for row in rows} == {
        "price": (0.02, "--set"),
        "max_depth": (6.0, "default"),
    }


def test_a_param_outside_its_domain_is_refused() -> None:
    result = run("params", SPARSE, "--set", "price=5")
    assert result.exit_code == 1
    assert "error[T306]" in result.stderr
    assert "--set price=5%" in result.stderr


def test_explain_prints_the_plan(spec: Path) -> None:
    result = run("explain", str(spec), "--with", "oracle")
    assert result.exit_code == 0
    assert "8 rows, 3 tests on 3 columns, 2 classes" in result.output
    assert "oracle solves what is left" in result.output


@pytest.mark.parametrize(("word", "found"), [("measures", "parity_gap"), ("errors", "weight"), ("N203", "measure")])
def test_explain_knows_measures_and_codes(word: str, found: str) -> None:
    result = run("explain", word)
    assert result.exit_code == 0
    assert found in result.output


def test_backends_says_who_can_solve_a_spec(spec: Path) -> None:
    rows = {row["back-end"]: row for row in json.loads(run("backends", str(spec), "--json").stdout)}
    assert rows["oracle"]["takes it"] == "yes"
    every = {row["back-end"] for row in json.loads(run("backends", "--json").stdout)}
    assert {"oracle", "cart"} <= every


def test_a_result_can_be_kept_and_shown(spec: Path, tmp_path: Path) -> None:
    kept = tmp_path / "result.json"
    assert run("solve", str(spec), "--with", "oracle", "-o", str(kept), "-q").exit_code == 0
    assert "─ a is 1\n" in run("show", str(kept)).output
    assert run("show", str(kept), "--as", "dot").output.startswith("digraph")
    drawing = tmp_path / "tree.svg"
    assert run("show", str(kept), "--as", "svg", "-o", str(drawing)).exit_code == 0
    assert drawing.read_text().startswith("<svg")


def test_a_result_that_cannot_be_written_is_reported(spec: Path) -> None:
    result = run("solve", str(spec), "--with", "oracle", "-o", "/nowhere/result.json")
    assert result.exit_code == 1
    assert "/nowhere/result.json" in result.stderr


def test_compare_puts_back_ends_side_by_side(spec: Path) -> None:
    entries = json.loads(run("compare", str(spec), "--with", "oracle,cart", "--json").stdout)
    assert [entry["backend"] for entry in entries] == ["oracle", "cart"]
    assert entries[0]["status"] == "optimal"
    assert entries[1]["status"] == "feasible"
    assert "oracle" in run("compare", str(spec), "--with", "oracle,cart").output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_complete_treeml(shell: str) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_TREEML_COMPLETE" in result.output


def test_check_imports_no_data_library_and_no_solver() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from treeml.cli.main import treeml\n"
        f"assert CliRunner().invoke(treeml, ['check', {PLAIN!r}]).exit_code == 0\n"
        "heavy = {'numpy', 'polars', 'narwhals', 'pandas', 'ortools', 'pyscipopt', 'pysat', 'highspy', 'sklearn'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_result_is_written_without_reading_the_file_again(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def watched(path: Path, *others: Any) -> Any:
        seen.append(path.name)
        return read_file(path, *others)

    monkeypatch.setattr("treeml.data.read.read_file", watched)
    output = spec.with_name("out.json")
    assert run("solve", str(spec), "-q", "-o", str(output)).exit_code == 0
    assert seen == ["xor.csv"]
    about = json.loads(output.read_text())["about"]
    assert (about["data"]["source"], about["data"]["rows"], about["data"]["target"]) == ("xor.csv", 8, "y")
    assert [column["name"] for column in about["data"]["columns"]] == ["a", "b", "c", "y"]
