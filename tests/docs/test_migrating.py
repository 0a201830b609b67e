"""The lines of other libraries in the guide are theirs: where one is installed, its classes take these arguments."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

GUIDE = (Path(__file__).parents[2] / "docs" / "migrating.md").read_text(encoding="utf-8")
LINES = re.findall(r"^# ([\w.]+): (\w+\(.*\))$", GUIDE, re.MULTILINE)


def test_the_guide_speaks_of_every_library() -> None:
    assert {library for library, _ in LINES} == {"pydl85", "pystreed", "gosdt", "odtlearn", "sklearn.tree"}
    assert len(LINES) == len(re.findall(r"^# [\w.]+: ", GUIDE, re.MULTILINE))


@pytest.mark.parametrize(("library", "line"), LINES, ids=[line for _, line in LINES])
def test_their_line_is_theirs(library: str, line: str) -> None:
    code = compile(line, "guide", "eval")
    try:
        names: dict[str, Any] = vars(import_module(library))
    except ImportError:
        # Without the library, the line still has to be a call of a class by keywords.
        assert re.match(r"[A-Z]\w+\(", line)
        return
    assert type(eval(code, dict(names))).__name__ == line.partition("(")[0]
