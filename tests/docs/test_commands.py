"""Commands in sentences, tables and indented lines of a page name what exists; blocks run in test_code_blocks.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from commands import PROGRAMS, ROOT, check

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "ARCHITECTURE.md")),
    ROOT / "editors/vscode/README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
# What follows `treeml` in a file, not in a shell; and words for the name of a command.
NOT_COMMANDS = re.compile(r"treeml (?:1|certificate 2)\b")


def commands(text: str) -> list[str]:
    """Between backquotes, also over the end of a line, and in indented lines."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    spans = [" ".join(span.split()) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", prose)]
    lines = [line.strip().removeprefix("$ ") for line in re.findall(r"^    (.+)$", prose, re.MULTILINE)]
    found = [each for each in (*spans, *lines) if re.match(rf"(?:{'|'.join(sorted(PROGRAMS))}) [\w.'-]", each)]
    return [each for each in found if not NOT_COMMANDS.match(each)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_of_the_page_exists(page: Path) -> None:
    for line in commands(page.read_text(encoding="utf-8")):
        check(line, page.name)


def test_commands_are_found() -> None:
    text = "Write `treeml\nsolve x.tml`.\n\n    $ make demo     # all\n\n```sh\ntreeml no\n```\n`treeml 1` is a line."
    assert commands(text) == ["treeml solve x.tml", "make demo     # all"]


@pytest.mark.parametrize(
    "line",
    [
        "treeml slove x.tml",
        "treeml solve x.tml --quickly",
        "make dmeo",
        "make fuzz HOURS=1",
        "pip install 'treeml[sklaern]'",
        "python -m benchmarks.rase",
        "python -m benchmarks.race --dapth 3",
        "python -m treeml.testing.fuz",
        "python tests/gone.py",
        "treelm solve",
    ],
)
def test_a_command_that_does_not_exist_is_found(line: str) -> None:
    with pytest.raises((AssertionError, ModuleNotFoundError)):
        check(line, "here")
