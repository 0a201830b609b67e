"""A path or a string -> source text that knows where its lines are."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Source:
    """The text of one .tml file, with the name that messages use for it."""

    name: str
    text: str = field(repr=False)
    path: Path | None = None
    by_caller: bool = False  # said on the command line or in Python, and not in the text of a spec
    hidden: bool = False  # its lines are not quoted: it is no business of who reads the message

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
    """A stretch of source text: where a mistake is, or where a node was written."""

    source: Source
    start: int
    end: int

    def __str__(self) -> str:
        line, column = self.source.position(self.start)
        return f"{self.source.name}:{line}:{column}"

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]


MOST_BYTES = 4_000_000  # of a specification; the parser takes a million characters


def read(path: Path | str, untrusted: bool = False) -> Source:
    """The text of a .tml file; SpecError when there is none to be had."""
    path = Path(path)
    try:
        return Source(str(path), decode(_content(path, untrusted)), path)
    except UnicodeDecodeError as error:
        reason = f"byte {error.start + 1} does not belong to a text in UTF-8"
        title, help = f"{path} is not text in UTF-8", "save the specification as plain text in UTF-8"
    except FileNotFoundError:
        title, reason, help = f"there is no file {path}", "", "check the path; it is relative to where you are"
    except IsADirectoryError:
        title, reason, help = f"{path} is a folder", "", "name a .tml file in it"
    except (OSError, ValueError) as error:
        title, reason, help = f"{path} cannot be read", getattr(error, "strerror", None) or str(error), ""
    from treeml.lang.diagnostic import Diagnostic, SpecError

    code = "S108" if title.endswith("UTF-8") else "S109"
    raise SpecError(
        Diagnostic(code, title, notes=(reason,) if reason else (), helps=(help,) if help else (), place=str(path))
    )


def _content(path: Path, untrusted: bool) -> bytes:
    """A spec may come through a pipe, but not without end; one that is not trusted is a plain file."""
    from treeml.system.reading import TooLarge, read_plain

    if untrusted:
        return read_plain(path, MOST_BYTES)
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise TooLarge(path, MOST_BYTES)
    return content


def decode(content: bytes) -> str:
    """Text from bytes in UTF-8, with or without a mark at its front; UnicodeDecodeError for anything else."""
    return content.decode("utf-8-sig")
