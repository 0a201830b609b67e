"""Path and new content -> the file, written completely or not at all.

Every file that TreeML writes as a whole goes through here. A link is followed: the file that it points to is replaced,
and the link stays. A pipe, a device or a terminal is written into, since replacing it would destroy it. The same holds
for files that the process already has open, under names such as /dev/stdout: one may be a log that is appended to.
A path from the text of a spec is `Confined`: it stays in its folder and replaces only files that TreeML wrote.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from treeml.system.confinement import Confined, replacing_confined

_MOST_LINKS = 40  # as many as Linux follows


def replace_file(path: str | Path, content: str | bytes) -> None:
    """Writes the file; a full disk or an interrupt never leaves half of it. Raises OSError."""
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def create_file(path: str | Path, content: str) -> None:
    """Writes a new file; FileExistsError if there is one already, which stays as it is."""
    with open(path, "x", encoding="utf-8") as file:
        file.write(content)


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to, whose content replaces that of `path` if the block ends without an error; raises OSError."""
    if isinstance(path, Confined):
        with replacing_confined(path) as file:
            yield file
        return
    own = _descriptor(path)
    if own is not None or _is_special(path):
        with tempfile.TemporaryFile() as file:
            yield file
            file.seek(0)
            with open(path if own is None else os.dup(own), "wb") as device:
                shutil.copyfileobj(file, device)
    else:
        with _replacing_plain(_target(path)) as file:
            yield file


def replaced_by(write: Callable[[str], None], path: str, opening: bytes = b"") -> None:
    """Lets a library write a temporary file, then replaces `path` by it, with an opening put before it."""
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, f"model{os.path.splitext(path)[1]}")
        write(made)
        with open(made, "rb") as source, replacing(path) as target:
            target.write(opening)
            shutil.copyfileobj(source, target)


def beside(path: str, ending: str) -> str:
    """The path of a companion file with another ending, confined like the first."""
    return Confined(path + ending, path.folder) if isinstance(path, Confined) else path + ending


@contextmanager
def _replacing_plain(target: str) -> Iterator[IO[bytes]]:
    handle, name = tempfile.mkstemp(dir=os.path.dirname(target), prefix=f".{os.path.basename(target)[:80]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(name, os.stat(target).st_mode if os.path.exists(target) else 0o666 & ~_mask())
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def _target(path: str | Path) -> str:
    """The file that a path leads to; links that lead to each other lead to none."""
    target = os.path.realpath(path)
    if os.path.islink(target):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return target


def _descriptor(path: str | Path) -> int | None:
    """The number under which this process holds open what a path such as /dev/stdout, /dev/fd/3 or a link names."""
    step = os.fspath(path)
    for _ in range(_MOST_LINKS):
        folder, name = os.path.split(os.path.abspath(step))
        if name.isdecimal() and os.path.realpath(folder) == f"/proc/{os.getpid()}/fd":
            return int(name)
        if not os.path.islink(step):
            return None
        step = os.path.join(folder, os.readlink(step))
    return None


def _is_special(path: str | Path) -> bool:
    """Is the path something other than a plain file or a folder? (Replacing a folder fails anyway.)"""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _mask() -> int:
    """The permission bits that new files do not get (umask), which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
