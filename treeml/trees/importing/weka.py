"""The text of Weka's J48 -> a sketch.

Every branch is a line: one bar per level above it, the column, a comparison and a value, and for a leaf the class with
its number of rows. A column of several levels has a branch for each level; they become a chain of splits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from treeml.data.table import Dataset
from treeml.trees.importing.contract import DEEPEST, Importer, Origin, Sketch, SketchLeaf, SketchSplit

# Lines are parsed from both ends by patterns without backtracking, so that the time is linear in the length of a line.
_BARS = re.compile(r"(?:\|\s{1,3})*")
_COMPARISON = re.compile(r"\s(<=|>=|!=|=|>|<)\s")
_ROWS = re.compile(r"\s\([\d.]+(?:/[\d.]+)?\)$")
_COLON = re.compile(r":\s")
_HEADING = re.compile(r"^(J48 .*tree|-+|Number of Leaves\s*:.*|Size of the tree\s*:.*)$")
_OPPOSITE = {"<=": ">", ">": "<=", "<": ">=", ">=": "<", "=": "!=", "!=": "="}


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    level: int
    column: str
    comparison: str
    value: str
    label: str | None


def read_weka(text: str, origin: Origin) -> Sketch:
    """The tree in a text; DataError with the line of the first mistake."""
    lines: list[_Line] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or _HEADING.match(line.strip()):
            continue
        before, alone = _leaf(line.strip())
        if alone is not None and not before and not lines:
            return SketchLeaf(alone, number)
        branch = _branch(line, number)
        if branch is None:
            origin.refuse(
                "D481", f"{origin.name} is not a tree of Weka: line {number} is not a branch", number, line.strip()
            )
        if branch.level > DEEPEST:
            origin.refuse("D481", f"{origin.name} holds a tree of more than {DEEPEST} levels", number)
        lines.append(branch)
    if not lines:
        origin.refuse("D481", f"{origin.name} holds no tree")
    sketch, after = _node(lines, 0, 0, origin)
    if after < len(lines):
        extra = lines[after]
        origin.refuse("D481", f"{origin.name}: line {extra.number} belongs to no branch above it", extra.number)
    return sketch


def _branch(line: str, number: int) -> _Line | None:
    """The parts of a line such as `|   age <= 40: yes (7.0/1.0)`; None for any other line."""
    bars = _BARS.match(line)
    assert bars is not None
    rest = line[bars.end() :].rstrip()
    found = _COMPARISON.search(rest)
    if found is None or not found.start() or rest[0] in "|" or rest[0].isspace():
        return None
    value, label = _leaf(rest[found.end() :].lstrip())
    if not value:
        return None
    return _Line(number, bars[0].count("|"), rest[: found.start()].rstrip(), found[1], value, label)


def _leaf(text: str) -> tuple[str, str | None]:
    """`40: yes (7.0)` -> `40` and `yes`; for a branch without a class, the text and None."""
    rows = _ROWS.search(text, max(0, text.rfind("(") - 1))
    if rows is not None:
        colon = _COLON.search(text, 0, rows.start())
        label = text[colon.end() : rows.start()].strip() if colon is not None else ""
        if colon is not None and label:
            return text[: colon.start()].rstrip(), label
    return text, None


def _node(lines: Sequence[_Line], at: int, level: int, origin: Origin) -> tuple[Sketch, int]:
    """The node whose branches begin here, and the index of the line after it."""
    branches: list[tuple[_Line, Sketch]] = []
    while at < len(lines) and lines[at].level == level:
        line = lines[at]
        if branches and line.column != branches[0][0].column:
            first = branches[0][0]
            origin.refuse(
                "D481",
                f"{origin.name}: line {line.number} asks about `{line.column}`, and its sibling in line {first.number} "
                f"about `{first.column}`",
                line.number,
            )
        if line.label is not None:
            branches.append((line, SketchLeaf(line.label, line.number)))
            at += 1
        elif at + 1 < len(lines) and lines[at + 1].level == level + 1:
            below, at = _node(lines, at + 1, level + 1, origin)
            branches.append((line, below))
        else:
            origin.refuse("D481", f"{origin.name}: line {line.number} has neither a class nor branches", line.number)
    first = branches[0][0]
    if len(branches) < 2:
        origin.refuse("D481", f"{origin.name}: the branch of line {first.number} has no sibling", first.number)
    if first.comparison != "=" or branches[1][0].comparison == "!=":
        return _pair(branches, origin), at
    return _chain(branches, origin), at


def _pair(branches: list[tuple[_Line, Sketch]], origin: Origin) -> Sketch:
    (first, one), (second, other) = branches[0], branches[1]
    if len(branches) > 2 or second.comparison != _OPPOSITE[first.comparison] or second.value != first.value:
        origin.refuse(
            "D481", f"{origin.name}: lines {first.number} and {second.number} are not opposites", second.number
        )
    if first.comparison in (">", ">=", "!="):
        first, one, other = second, other, one
    return SketchSplit(first.column, first.comparison, first.value, one, other, first.number)


def _chain(branches: list[tuple[_Line, Sketch]], origin: Origin) -> Sketch:
    """A split for every level except the last, which takes the remaining rows."""
    sketch = branches[-1][1]
    for line, below in reversed(branches[:-1]):
        if line.comparison != "=":
            origin.refuse("D481", f"{origin.name}: line {line.number} is not a branch of a level", line.number)
        sketch = SketchSplit(line.column, "=", line.value, below, sketch, line.number)
    return sketch


def recognizes(source: Any) -> bool:
    """Any text: this importer is the last to be asked, and its messages say what is wrong with the text."""
    return isinstance(source, str)


def read(source: str, origin: Origin, dataset: Dataset) -> Sketch:
    """The sketch of the tree; its names are looked up in the data later."""
    return read_weka(source, origin)


IMPORTER = Importer("Weka", recognizes, read)
