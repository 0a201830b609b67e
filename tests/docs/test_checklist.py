"""docs/checklist.md names only files, tests and commands that exist, and every item of the list once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "checklist.md"
ITEMS = 169
PLACE = re.compile(r"(?<![\w./-])((?:treeml|tests|benchmarks|docs|examples|checker)/[\w./*-]*[\w*])")
PINNED = re.compile(r"(tests/[\w/]+\.py)::(test_\w+)")
OPTION = re.compile(r"options? ((?:`\w+`(?:, )?)+)")


def rows() -> list[list[str]]:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row for row in cells if row[0] not in ("item", "what", "---")]


def named() -> set[str]:
    return set(PLACE.findall(PAGE.read_text(encoding="utf-8")))


@pytest.mark.parametrize("place", sorted(named()))
def test_every_place_exists(place: str) -> None:
    assert list(ROOT.glob(place)), f"{place} does not exist"


def test_tests_are_named_with_tests_in_them() -> None:
    for place in named():
        if place.startswith("tests/"):
            found = ROOT / place
            files = [found] if found.suffix else list(found.rglob("test_*.py"))
            assert any("def test_" in file.read_text(encoding="utf-8") for file in files), place


def test_every_item_once() -> None:
    found: list[int] = []
    for row in rows():
        for part in row[0].split(",") if re.fullmatch(r"[\d, -]+", row[0]) else ():
            first, _, last = part.strip().partition("-")
            found += range(int(first), int(last or first) + 1)
    assert sorted(found) == list(range(1, ITEMS + 1))


def test_every_row_says_where_and_by_which_test() -> None:
    """Experiments that are run by hand have no test, but a command."""
    for row in rows():
        if len(row) == 4 and not row[3]:
            assert "benchmarks/" in row[2], row
        assert len(row) in (3, 4), row
        assert all(row[:2]), row


def test_every_item_is_pinned_by_tests_that_exist() -> None:
    for row in rows():
        if re.fullmatch(r"[\d, -]+", row[0]):
            named = PINNED.findall(row[3])
            assert named, row
            for place, name in named:
                assert re.search(rf"^def {name}\b", (ROOT / place).read_text(encoding="utf-8"), re.MULTILINE), (
                    place,
                    name,
                )


def test_options_exist() -> None:
    from treeml.native.solver import options  # imported here: it loads the library

    for words in OPTION.findall(PAGE.read_text(encoding="utf-8")):
        for name in re.findall(r"`(\w+)`", words):
            assert name in options(), name
