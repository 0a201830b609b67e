"""The text of ITI (incremental tree inducer) -> a sketch.

A split is a line with its question; the side that answers yes follows, then the other, both one step further in. A leaf
is its class with the rows that reached it; of an impure leaf the class with the most rows counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from treeml.starts.sketch import Asks, Origin, Says, Sketch

_STEP = 3
_INDENT = re.compile(r"^(?:\|  |   )*")
_QUESTION = re.compile(r"^(?P<column>.+?)\s+(?P<comparison><=|<|=)\s+(?P<value>\S+)$")
_LEAF = re.compile(r"^(?:\S.*?\s+\(\d+(?:\.\d+)?\)\s*)+$")
_SHARE = re.compile(r"(\S.*?)\s+\((\d+(?:\.\d+)?)\)\s*")


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    level: int
    text: str


def looks_like_iti(text: str) -> bool:
    """Does some line hold a class and its rows, and nothing else?"""
    lines = [_INDENT.sub("", line).strip() for line in text.splitlines()]
    return any(_LEAF.match(line) and not _QUESTION.match(line) and ": " not in line for line in lines)


def read_iti(text: str, origin: Origin) -> Sketch:
    lines: list[_Line] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        indent = _INDENT.match(line)
        assert indent is not None
        lines.append(_Line(number, indent.end() // _STEP, line[indent.end() :].strip()))
    if not lines:
        origin.refuse("D481", f"{origin.name} holds no tree")
    sketch, after = _node(lines, 0, 0, origin)
    if after < len(lines):
        extra = lines[after]
        origin.refuse("D481", f"{origin.name}: line {extra.number} belongs to no question above it", extra.number)
    return sketch


def _node(lines: Sequence[_Line], at: int, level: int, origin: Origin) -> tuple[Sketch, int]:
    """The node of this line, and the place after it."""
    if at >= len(lines):
        origin.refuse("D481", f"{origin.name} ends before its last question is answered", lines[-1].number)
    line = lines[at]
    if line.level != level:
        origin.refuse(
            "D481", f"{origin.name}: line {line.number} stands {line.level} steps in, and {level} fit here", line.number
        )
    question = _QUESTION.match(line.text)
    if question:
        yes, at = _node(lines, at + 1, level + 1, origin)
        no, at = _node(lines, at, level + 1, origin)
        return Asks(question["column"], question["comparison"], question["value"], yes, no, line.number), at
    if not _LEAF.match(line.text):
        origin.refuse(
            "D481", f"{origin.name}: line {line.number} is neither a question nor a class", line.number, line.text
        )
    shares = _SHARE.findall(line.text)
    return Says(max(shares, key=lambda share: float(share[1]))[0], line.number), at + 1
