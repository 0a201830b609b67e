"""The built wheel, installed into an empty virtual environment, solves an example from outside the checkout.

`make wheel-check` does the same for every change with the wheel that users get, so the tests that build one are slow.
"""

from __future__ import annotations

import json
import venv
from pathlib import Path

import pytest
from environments import ROOT, check_content, run

pytestmark = pytest.mark.slow


def test_the_wheel_holds_grammar_library_and_types_but_no_sources(wheel: Path) -> None:
    check_content(wheel)


def test_an_empty_environment_solves_an_example(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "environment"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    for name in ("plain.tml", "heart.csv"):
        (tmp_path / name).write_bytes((ROOT / "examples" / "plain" / name).read_bytes())
    assert run(home / "bin" / "treeml", "check", "plain.tml", cwd=tmp_path).stdout == "plain.tml: ok\n"
    solved = json.loads(run(home / "bin" / "treeml", "solve", "plain.tml", "--json", cwd=tmp_path).stdout)
    assert solved["verified"] is True
    assert solved["status"] == "optimal"
    where = run(python, "-c", "import treeml; print(treeml.__file__)", cwd=tmp_path).stdout
    assert str(home) in where
