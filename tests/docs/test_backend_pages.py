"""Every back-end has a row in the overview and a page, and the page of options lists all of its options."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from treeml.backends import registry
from treeml.backends.reference import options_page

DOCS = Path(__file__).parents[2] / "docs"
OVERVIEW = (DOCS / "backends.md").read_text(encoding="utf-8")
OWN = ("native", "cpsat", "mip", "maxsat", "sat", "race", "oracle", "cart", "improve")


def pages(name: str) -> list[str]:
    row = re.search(rf"^\| `{name}` \|.*$", OVERVIEW, re.MULTILINE)
    assert row, f"the overview does not mention {name}"
    return re.findall(r"\(([\w/-]+\.md)\)", row[0])


@pytest.mark.parametrize("name", OWN)
def test_a_back_end_has_its_page(name: str) -> None:
    assert name in registry.names()
    assert pages(name)
    assert all((DOCS / page).is_file() for page in pages(name))


@pytest.mark.parametrize("name", OWN)
def test_the_generated_page_lists_every_option(name: str) -> None:
    section = options_page().partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    for option, known in registry.get(name).options.items():
        row = next(line for line in section.splitlines() if line.startswith(f"| `{option}` |"))
        assert row.count("|") == 5
        assert known.summary.replace("|", "/") in row
