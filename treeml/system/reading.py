"""Path from an untrusted source -> the content of a plain file there, up to a size limit.

A spec may name a pipe that nobody writes to, a device that never ends, or a file larger than memory. So a file is
checked before it is opened, opened without blocking, checked again, and read no further than `most`.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from treeml.system.confinement import no_waiting

MOST_OF_A_TREE = 1 << 28  # bytes of a tree, a forest or a checkpoint

_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


class NotPlain(OSError):
    """The path is not a plain file that can be read to its end."""

    def __init__(self, path: str | Path, mode: int) -> None:
        kind = next((name for test, name in _KINDS if test(mode)), "something else")
        super().__init__(errno.EINVAL, f"it is {kind}, and not a file", str(path))


class TooLarge(OSError):
    """The file is larger than the limit for such files."""

    def __init__(self, path: str | Path, most: int) -> None:
        super().__init__(errno.EFBIG, f"it holds more than {most:,} bytes", str(path))


def read_plain(path: str | Path, most: int) -> bytes:
    """The bytes of a plain file; raises OSError if it is missing, not plain, or larger than `most`."""
    with open_plain(path) as handle:
        return read_opened(handle, path, most)


def read_opened(handle: int, path: str | Path, most: int) -> bytes:
    """The same for a file that is already open."""
    refuse_special(handle, path)
    if os.fstat(handle).st_size > most:
        raise TooLarge(path, most)
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
    """Raises NotPlain or IsADirectoryError unless the open descriptor is that of a plain file."""
    mode = os.fstat(handle).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise NotPlain(path, mode)


def read_text(path: str | Path, most: int = MOST_OF_A_TREE) -> str:
    """The text of a plain UTF-8 file; raises OSError or UnicodeDecodeError."""
    return read_plain(path, most).decode("utf-8")


@contextmanager
def open_plain(path: str | Path) -> Iterator[int]:
    """A descriptor of a plain file or a folder; raises NotPlain for anything else, without opening it."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise NotPlain(path, mode)
    # The file may have been replaced since the check, so opening must not block.
    handle = os.open(path, os.O_RDONLY | no_waiting())
    try:
        yield handle
    finally:
        os.close(handle)


def has_more(number: int, deadline: float) -> bool:
    """Wait until a pipe has bytes or ends, or the deadline passes; a system that cannot wait for one says yes."""
    import select

    if not hasattr(select, "poll"):  # Windows
        return True
    waiting = select.poll()
    waiting.register(number, select.POLLIN)
    return bool(waiting.poll(max(0.0, deadline - monotonic()) * 1000))
