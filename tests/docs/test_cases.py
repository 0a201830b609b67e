"""The case studies: each script runs, proves its claims, and produces its figure; each has a page."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import treeml as tml
from treeml.lang.format import format_source
from treeml.lang.source_file import read

EXAMPLES = Path(__file__).parents[2] / "examples"
PAGES: dict[str, Any] = runpy.run_path(str(EXAMPLES / "pages.py"))
NAMES = PAGES["NAMES"]


def test_every_case_is_whole() -> None:
    assert len(NAMES) == 9
    for name in NAMES:
        assert {path.suffix for path in (EXAMPLES / "cases").glob(f"{name}.*")} == {".tml", ".py", ".csv", ".svg"}


@pytest.mark.parametrize("name", NAMES)
def test_the_script_runs_and_makes_its_picture(name: str, tmp_path: Path) -> None:
    for path in (EXAMPLES / "cases").glob(f"{name}.*"):
        if path.suffix != ".svg":
            shutil.copy(path, tmp_path)
    made = runpy.run_path(str(tmp_path / f"{name}.py"))
    drawn = ElementTree.parse(tmp_path / f"{name}.svg").getroot()
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}path"))) >= 4
    found = made.get("fair") or made["result"]
    assert found.verified
    assert found.is_optimal or name == "machines"
    if found.tree is not None and name != "credit":
        assert str(found.tree.columns[0]) in "".join(drawn.itertext())


@pytest.mark.parametrize("name", NAMES)
def test_the_spec_has_no_flaw_and_the_page_shows_it(name: str) -> None:
    path = EXAMPLES / "cases" / f"{name}.tml"
    model = tml.load(path)
    assert model.check() == ()
    assert tml.parse(format_source(read(path))) == model
    page = PAGES["page"](name)
    assert page.startswith("# ")
    assert path.read_text(encoding="utf-8").strip() in page
    assert f"{name}.svg" in page
    assert page.count("```") % 2 == 0
