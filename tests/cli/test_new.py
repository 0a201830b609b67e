"""`treeml new`: a first specification that works as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import treeml as tml
from treeml.cli.main import treeml

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*arguments: str, **more: str) -> Result:
    return CliRunner().invoke(treeml, list(arguments), **more)


@pytest.mark.parametrize("data", sorted(EXAMPLES.glob("*/*.csv")), ids=lambda path: path.stem)
def test_a_spec_for_every_example_checks_with_its_data(data: Path, tmp_path: Path) -> None:
    copied = tmp_path / data.name
    copied.write_bytes(data.read_bytes())
    assert run("new", str(copied)).exit_code == 0
    spec = copied.with_suffix(".tml")
    checked = run("check", str(spec), "--data", str(copied))
    assert checked.exit_code == 0, spec.read_text() + checked.output


def test_awkward_columns(tmp_path: Path) -> None:
    data = tmp_path / "patients list.csv"
    lines = [
        f"{100 + i},{i % 7 if i % 5 else ''},{'abc'[i % 3]},person number {i},{'' if i == 3 else 'ny'[i > 33]}"
        for i in range(40)
    ]
    data.write_text("patient id,body weight (kg),group,name,ill\n" + "\n".join(lines) + "\n")
    made = run("new", str(data), "--predict", "ill", "-o", str(tmp_path / "sub.tml"))
    assert made.exit_code == 0, made.output
    text = (tmp_path / "sub.tml").read_text()
    assert "features all except `patient id`" in text
    assert "column `body weight (kg)` : integer, missing separate" in text
    assert "maximize balanced_accuracy" in text
    assert "column ill : category, missing drop" in text or "column ill : binary, missing drop" in text
    assert "40 different texts in 40 rows: not used" in text
    result = tml.load(tmp_path / "sub.tml").solve()
    assert result.is_optimal


def test_a_number_to_predict(tmp_path: Path) -> None:
    data = tmp_path / "prices.csv"
    data.write_text("size,price\n" + "".join(f"{i},{i * 1.5 + 0.25}\n" for i in range(60)))
    assert run("new", str(data)).exit_code == 0
    assert "minimize mse" in data.with_suffix(".tml").read_text()
    assert tml.load(data.with_suffix(".tml")).solve().is_optimal


def test_nothing_is_overwritten_and_mistakes_are_said(tmp_path: Path) -> None:
    data = tmp_path / "some.csv"
    data.write_text("a,b\n0,1\n1,0\n")
    spec = tmp_path / "some.tml"
    spec.write_text("mine")
    kept = run("new", str(data))
    assert kept.exit_code == 2
    assert spec.read_text() == "mine"
    assert run("new", str(data), "-o", "-").stdout.startswith("# A first specification for some.csv: 2 rows, 2 columns")
    wrong = run("new", str(data), "--predict", "A", "-o", "-")
    assert wrong.exit_code == 1
    assert "did you mean `a`?" in wrong.stderr
    assert run("new", str(tmp_path / "none.csv")).exit_code == 1
    data.write_text("a\n1\n")
    assert run("new", str(data), "-o", "-").exit_code == 1


def test_a_spec_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some.csv").write_text("a,y\n0,1\n1,0\n")
    monkeypatch.chdir(tmp_path)
    text = 'data "some.csv"\npredict y\nminimize errors\nrequire depth <= 1\n'
    solved = run("solve", "-", "-q", "-o", "result.json", input=text)
    assert solved.exit_code == 0, solved.output
    assert solved.stdout == ""  # quiet, and the result is in the file
    assert "optimal, and proved" in run("solve", "-", "-q", input=text).stdout
    assert tml.Tree.read("result.json").depth == 1
    wrong = run("check", "-", input="predict y minimize erors require depth <= 1")
    assert wrong.exit_code == 1
    assert "standard input:1:" in wrong.stderr
    assert "not text in UTF-8" in CliRunner().invoke(treeml, ["check", "-"], input=b"\xff\xfe\x00").stderr
    assert run("check", "-", "--fix", input=text).exit_code == 2
