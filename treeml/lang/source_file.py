"""A path, or `-` for standard input -> the Source of a specification, or a message why it cannot be read."""

from __future__ import annotations

import sys
from pathlib import Path

from treeml.lang.diagnostic import Diagnostic, SpecError
from treeml.lang.source import PIPED_NAME, Source
from treeml.system.reading import TooLarge, read_plain

STANDARD_INPUT = "-"
MOST_BYTES = 4_000_000  # of a specification; the parser accepts a million characters


def read(path: Path | str, untrusted: bool = False) -> Source:
    """The text of a .tml file; SpecError if it cannot be read."""
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
    code = "S108" if title.endswith("UTF-8") else "S109"
    raise SpecError(
        Diagnostic(code, title, notes=(reason,) if reason else (), helps=(help,) if help else (), place=str(path))
    )


def read_standard_input() -> Source:
    """The specification that is piped in; its paths are relative to the current folder."""
    name = PIPED_NAME
    content = sys.stdin.buffer.read(MOST_BYTES + 1)
    try:
        if len(content) > MOST_BYTES:
            raise SpecError(Diagnostic("S109", f"{name} holds more than {MOST_BYTES:,} bytes", place=name))
        return Source(name, decode(content))
    except UnicodeDecodeError as error:
        reason = f"byte {error.start + 1} does not belong to a text in UTF-8"
        raise SpecError(Diagnostic("S108", f"{name} is not text in UTF-8", notes=(reason,), place=name)) from error


def _content(path: Path, untrusted: bool) -> bytes:
    """A spec may come through a pipe of limited length; an untrusted one must be a regular file."""
    if untrusted:
        return read_plain(path, MOST_BYTES)
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise TooLarge(path, MOST_BYTES)
    return content


def decode(content: bytes) -> str:
    """Text from bytes in UTF-8, with or without a byte order mark; UnicodeDecodeError for anything else."""
    return content.decode("utf-8-sig")
