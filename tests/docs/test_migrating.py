"""The calls of other libraries in the guide are valid: if a library is installed, its classes accept these arguments.

`python -m benchmarks.guide` fits both sides and compares them. Our side is run by the test of all code blocks.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

GUIDE = (Path(__file__).parents[2] / "docs" / "migrating.md").read_text(encoding="utf-8")
LINES = re.findall(r"^# ([\w.]+): (\w+\(.*\))$", GUIDE, re.MULTILINE)


def test_the_guide_covers_every_library() -> None:
    libraries = {"pydl85", "pystreed", "gosdt", "pycontree", "odtlearn", "sklearn"}
    assert {library.partition(".")[0] for library, _ in LINES} == libraries
    assert len(LINES) == len(re.findall(r"^# [\w.]+: ", GUIDE, re.MULTILINE))


def test_every_line_of_another_library_is_followed_by_its_translation() -> None:
    for library, line in LINES:
        following = GUIDE.partition(f"# {library}: {line}\n")[2].partition("```")[0]
        assert re.search(r"(OptimalTree|DL85|Forest)\w+\(", following.partition("\n# ")[0]), line


@pytest.mark.parametrize(("library", "line"), LINES, ids=[line for _, line in LINES])
def test_the_quoted_line_is_valid_in_the_other_library(library: str, line: str) -> None:
    name = line.partition("(")[0]
    bound: list[Any] = []
    try:
        signature = inspect.signature(getattr(import_module(library), name))
    except ImportError:  # without the library, the line must still be a call of a class with keywords
        signature = inspect.Signature([inspect.Parameter("given", inspect.Parameter.VAR_KEYWORD)])
        line = re.sub(r'\("[\w-]+", ', "(", line)
    eval(line, {name: lambda *given, **named: bound.append(signature.bind(*given, **named))})
    assert bound
