"""The codes in the source, the catalogue and the pages are the same set."""

import re
from pathlib import Path

import pytest

from treeml.lang.codes import CATALOGUE
from treeml.lang.codes.pages import pages

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r'"([SNTDBFL]\d{3})"')


def codes_in_source() -> set[str]:
    files = [path for path in (ROOT / "treeml").rglob("*.py") if "codes" not in path.parts]
    return {code for path in files for code in CODE.findall(path.read_text(encoding="utf-8"))}


def test_every_code_of_the_source_is_in_the_catalogue_and_no_other() -> None:
    assert codes_in_source() == set(CATALOGUE)


def test_every_page_is_up_to_date_and_there_is_no_other() -> None:
    folder = ROOT / "docs" / "diagnostics"
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")} == dict(pages())


@pytest.mark.parametrize("code", sorted(CATALOGUE))
def test_entry_says_something(code: str) -> None:
    entry = CATALOGUE[code]
    assert entry.code == code
    assert re.fullmatch(r"[SNTDBFL][1-7]\d\d", code)
    assert all((entry.title, entry.meaning.endswith("."), entry.wrong, entry.instead.endswith((".", "?"))))
