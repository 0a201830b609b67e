"""A path and its new content -> the file, whole or not at all; what is no plain file is written into, not replaced.

Every file that TreeML writes as a whole goes through here. A link is followed: the file that it leads to is replaced,
and the link stays. A pipe, a device or a terminal takes the content: a plain file in its place would destroy it. So
does what the process holds open already, under names such as /dev/stdout: it may be a log that is added to. A path
that the text of a spec gave is `Confined`: it is held to the folder of that spec, and no foreign file gives way to it.
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
    """A full disk or an interrupt never leaves half of it; raises OSError."""
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to, whose content becomes that of `path` when the block ends well; raises OSError."""
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
    """The file that a library writes under a name of ours, put in the place of `path` with an opening before it."""
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, f"model{os.path.splitext(path)[1]}")
        write(made)
        with open(made, "rb") as source, replacing(path) as target:
            target.write(opening)
            shutil.copyfileobj(source, target)


def beside(path: str, ending: str) -> str:
    """The name of a file that goes with another, under the same rule of where it may stand."""
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
    """Is there something that is neither a plain file nor a folder? Replacing a folder fails by itself."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _mask() -> int:
    """Which permissions new files do not get; it can be asked only by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
