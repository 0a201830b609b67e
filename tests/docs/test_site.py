"""The site: every page is in the navigation or generated, every spec is colored, and every block has a language."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
GENERATED = {"gallery.md", "options.md"}


def _places(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    values = nav.values() if isinstance(nav, dict) else nav
    return [place for value in values for place in _places(value)]


def test_the_navigation_shows_every_page_but_those_of_single_messages() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    shown = _places(yaml.safe_load(text)["nav"])
    assert len(shown) == len(set(shown))
    written = {path.relative_to(ROOT / "docs").as_posix() for path in PAGES}
    messages = {place for place in written if place.startswith("diagnostics/") and not place.endswith("README.md")}
    cases = {place for place in shown if place.startswith("cases/")}
    assert set(shown) - cases - GENERATED == written - messages


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_names_its_language(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    fences = re.findall(r"^```(.*)$", text, re.MULTILINE)
    assert len(fences) % 2 == 0
    assert all(fences[::2]), "write ```tml, ```sh, ```python or ```text"
    assert not any(fences[1::2])


def test_the_gallery_shows_trees_that_are_proved() -> None:
    pages: dict[str, Any] = runpy.run_path(str(ROOT / "examples" / "pages.py"))
    files = dict(pages["gallery"]())
    page = files.pop("gallery.md")
    assert len(files) == len(pages["GALLERY"]) >= 8
    assert page.count("optimal, and proved") == len(files)
    for name, content in files.items():
        assert content.startswith("<svg")
        assert f"]({name})" in page


def test_the_pictures_of_the_page_on_pictures_are_those_of_today() -> None:
    from xml.etree import ElementTree

    pages: dict[str, Any] = runpy.run_path(str(ROOT / "examples" / "pages.py"))
    page = (ROOT / "docs" / "pictures.md").read_text(encoding="utf-8")
    for name, content in pages["pictures"]():
        kept = (ROOT / "docs" / "pictures" / name).read_text(encoding="utf-8")
        assert list(ElementTree.fromstring(kept).itertext()) == list(ElementTree.fromstring(content).itertext())
        assert f"](pictures/{name})" in page


def test_the_picture_of_the_first_example_shows_its_tests() -> None:
    drawn = (ROOT / "docs" / "plain.svg").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for test in ("chest_pain", "angina", "cholesterol"):
        assert test in drawn
        assert test in readme
