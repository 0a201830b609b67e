"""A path that somebody else gave -> what a plain file there holds, within bounds.

A spec may name a pipe that nobody writes to, a device that never ends, or a file larger than memory. So a file is
looked at before it is opened, opened without waiting, looked at again, and read no further than `most`.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOST_OF_A_TREE = 1 << 28  # bytes of a tree, a forest or a checkpoint

_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


class NotPlain(OSError):
    """What is there is no file that could be read to its end."""

    def __init__(self, path: str | Path, mode: int) -> None:
        kind = next((name for test, name in _KINDS if test(mode)), "something else")
        super().__init__(errno.EINVAL, f"it is {kind}, and not a file", str(path))


class TooLarge(OSError):
    """The file holds more than is read of such files."""

    def __init__(self, path: str | Path, most: int) -> None:
        super().__init__(errno.EFBIG, f"it holds more than {most:,} bytes", str(path))


def read_plain(path: str | Path, most: int) -> bytes:
    """The bytes of a plain file; OSError where there is none, it is something else, or there are more than `most`."""
    with open_plain(path) as handle:
        return read_opened(handle, path, most)


def read_opened(handle: int, path: str | Path, most: int) -> bytes:
    """The same of a file that is open already."""
    refuse_special(handle, path)
    pieces: list[bytes] = []
    held = 0
    while held <= most:
        piece = os.read(handle, min(1 << 20, most + 1 - held))
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        held += len(piece)
    raise TooLarge(path, most)


def refuse_special(handle: int, path: str | Path) -> None:
    """NotPlain, or IsADirectoryError, for an open descriptor of anything but a plain file."""
    mode = os.fstat(handle).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise NotPlain(path, mode)


def read_text(path: str | Path, most: int = MOST_OF_A_TREE) -> str:
    """The text of a plain file in UTF-8; OSError or UnicodeDecodeError."""
    return read_plain(path, most).decode("utf-8")


@contextmanager
def open_plain(path: str | Path) -> Iterator[int]:
    """A descriptor of a plain file or a folder; NotPlain for all else, which is not even opened."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise NotPlain(path, mode)
    # What stands there may have changed since: opening never waits.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
    try:
        yield handle
    finally:
        os.close(handle)
