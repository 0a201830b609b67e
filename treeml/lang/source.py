"""Source text that knows where its lines are, and spans of it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

PIPED_NAME = "standard input"  # the name of a text that was piped in; commands call it `-`


@dataclass(frozen=True)
class Source:
    """The text of one .tml file, with the name that messages use for it."""

    name: str
    text: str = field(repr=False)
    path: Path | None = None
    by_caller: bool = False  # given on the command line or in Python, not in the text of a spec
    hidden: bool = False  # its lines are not quoted, because the reader of the message may not be allowed to see them

    @cached_property
    def starts(self) -> list[int]:
        """Offset of the first character of every line."""
        starts = [0]
        starts.extend(i + 1 for i, character in enumerate(self.text) if character == "\n")
        return starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from one."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line, counted from one, without its line break."""
        start = self.starts[number - 1]
        end = self.starts[number] - 1 if number < len(self.starts) else len(self.text)
        return self.text[start:end].rstrip("\r")


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the source text: the place of a mistake or of a node."""

    source: Source
    start: int
    end: int

    def __str__(self) -> str:
        line, column = self.source.position(self.start)
        return f"{self.source.name}:{line}:{column}"

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]
