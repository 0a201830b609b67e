"""The text of ITI (incremental tree inducer) -> a sketch.

A split is a line with its test, followed by the yes side and then the no side, both indented one step further. A leaf
is a class with its number of rows; an impure leaf predicts the class with the most rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from treeml.data.table import Dataset
from treeml.trees.importing.contract import DEEPEST, Importer, Origin, Sketch, SketchLeaf, SketchSplit

_STEP = 3
_INDENT = re.compile(r"^(?:\|  |   )*")
_COUNT = re.compile(r"\s\((\d+(?:\.\d+)?)\)")


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    level: int
    text: str


def looks_like_iti(text: str) -> bool:
    """Whether some line consists of a class and its number of rows."""
    lines = [_INDENT.sub("", line).strip() for line in text.splitlines()]
    return any(_shares(line) and not _question(line) and ": " not in line for line in lines)


def read_iti(text: str, origin: Origin) -> Sketch:
    """The tree in a text; DataError with the line of the first mistake."""
    lines: list[_Line] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        indent = _INDENT.match(line)
        assert indent is not None
        if indent.end() // _STEP > DEEPEST:
            origin.refuse("D481", f"{origin.name} holds a tree of more than {DEEPEST} levels", number)
        lines.append(_Line(number, indent.end() // _STEP, line[indent.end() :].strip()))
    if not lines:
        origin.refuse("D481", f"{origin.name} holds no tree")
    sketch, after = _node(lines, 0, 0, origin)
    if after < len(lines):
        extra = lines[after]
        origin.refuse("D481", f"{origin.name}: line {extra.number} belongs to no question above it", extra.number)
    return sketch


def _node(lines: Sequence[_Line], at: int, level: int, origin: Origin) -> tuple[Sketch, int]:
    """The node of this line, and the index of the line after it."""
    if at >= len(lines):
        origin.refuse("D481", f"{origin.name} ends before its last question is answered", lines[-1].number)
    line = lines[at]
    if line.level != level:
        origin.refuse(
            "D481", f"{origin.name}: line {line.number} stands {line.level} steps in, and {level} fit here", line.number
        )
    question = _question(line.text)
    if question:
        column, comparison, value = question
        yes, at = _node(lines, at + 1, level + 1, origin)
        no, at = _node(lines, at, level + 1, origin)
        return SketchSplit(column, comparison, value, yes, no, line.number), at
    shares = _shares(line.text)
    if not shares:
        origin.refuse(
            "D481", f"{origin.name}: line {line.number} is neither a question nor a class", line.number, line.text
        )
    return SketchLeaf(max(shares, key=lambda share: float(share[1]))[0], line.number), at + 1


def _question(text: str) -> tuple[str, str, str] | None:
    """`age < 40` -> column, comparison and value (one word); None if the text is not a test."""
    parts = text.rsplit(None, 2)
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 and parts[1] in ("<=", "<", "=") else None


def _shares(text: str) -> list[tuple[str, str]]:
    """`a (3) b (1)` -> every class with its number of rows, as text; an empty list for any other line."""
    shares, after = [], 0
    for count in _COUNT.finditer(text):
        label = text[after : count.start()].strip()
        if not label:
            return []
        shares.append((label, count[1]))
        after = count.end()
    return shares if not text[after:].strip() else []


def recognizes(source: Any) -> bool:
    """Whether some line consists of a class and its number of rows."""
    return isinstance(source, str) and looks_like_iti(source)


def read(source: str, origin: Origin, dataset: Dataset) -> Sketch:
    """The sketch of the tree; its names are looked up in the data later."""
    return read_iti(source, origin)


IMPORTER = Importer("ITI", recognizes, read)
