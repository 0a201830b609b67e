"""`treeml example`: what it writes can be solved in the folder, and nothing is overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import treeml as tml
from treeml.cli.main import treeml as command

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = [path.parent.name for path in sorted(EXAMPLES.glob("*/*.py")) if path.parent.name != "cases"]
CASES = [path.stem for path in sorted((EXAMPLES / "cases").glob("*.tml"))]


def run(*words: str):
    return CliRunner().invoke(command, ["example", *words])


def test_the_list_names_every_example_and_says_what_it_is() -> None:
    lines = run().stdout.splitlines()
    assert [line.split()[0] for line in lines] == [*NAMES, *CASES]
    assert all(len(line.split()) > 3 for line in lines)


@pytest.mark.parametrize("name", [*NAMES, *CASES])
def test_what_is_written_is_a_spec_with_its_data(name: str, tmp_path: Path) -> None:
    done = run(name, "-o", str(tmp_path / "new"))
    assert done.exit_code == 0
    assert f"treeml solve {tmp_path / 'new' / name}.tml" in done.stderr
    model = tml.load(tmp_path / "new" / f"{name}.tml")
    assert model.check() == ()
    assert len(list((tmp_path / "new").glob("*.csv"))) == 1


def test_the_first_example_is_solved_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("plain", "-q").output == ""
    assert tml.load("plain.tml").solve().is_optimal


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "heart.csv").write_text("mine")
    refused = run("plain", "-o", str(tmp_path))
    assert refused.exit_code == 2
    assert "heart.csv" in refused.output
    assert [path.name for path in tmp_path.iterdir()] == ["heart.csv"]
    assert "there are boost" in run("plan").output


def test_what_is_there_already_may_stay(tmp_path: Path) -> None:
    assert run("plain", "-o", str(tmp_path)).exit_code == 0
    assert run("plain", "-o", str(tmp_path)).exit_code == 0
