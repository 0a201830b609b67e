"""The codes in the source, the catalogue and the pages are the same set."""

import re
from pathlib import Path

import pytest

from treeml.lang.check import check_source
from treeml.lang.codes import CATALOGUE
from treeml.lang.codes.pages import pages
from treeml.lang.source import Source

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r'"([SNTDBFLA]\d{3})"')


def codes_in_source() -> set[str]:
    files = [path for path in (ROOT / "treeml").rglob("*.py") if "codes" not in path.parts]
    return {code for path in files for code in CODE.findall(path.read_text(encoding="utf-8"))}


def test_every_code_of_the_source_is_in_the_catalogue_and_no_other() -> None:
    assert codes_in_source() == set(CATALOGUE)


def test_every_page_is_up_to_date_and_there_is_no_other() -> None:
    folder = ROOT / "docs" / "diagnostics"
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")} == dict(pages())


@pytest.mark.parametrize("code", sorted(CATALOGUE))
def test_every_entry_is_complete(code: str) -> None:
    entry = CATALOGUE[code]
    assert entry.code == code
    assert re.fullmatch(r"[SNTDBFLA][1-8]\d\d", code)
    assert all((entry.title, entry.meaning.endswith("."), entry.wrong, entry.instead.endswith((".", "?"))))


# What leads to these is no text of a specification: a file, the command line, a call.
NO_TEXT = {
    "S100",
    "S106",
    "S108",
    "S109",
    "S119",
    "S150",
    "S151",
    "T330",
    "T331",
    "T332",
    "N208",
    "N209",
    "N213",
    "N214",
    "N215",
    "N216",
}


@pytest.mark.parametrize("code", sorted(code for code in CATALOGUE if code[0] in "SNTL" and code not in NO_TEXT))
def test_the_example_of_a_page_leads_to_its_code(code: str) -> None:
    text = CATALOGUE[code].wrong + "\n"
    if "predict" not in text:
        text += "predict y\n"
    if code != "T313" and not re.search("minimize|maximize", text):
        text += "maximize accuracy\n"
    found = check_source(Source("page.tml", text))[1]
    assert code in {diagnostic.code for diagnostic in found}
