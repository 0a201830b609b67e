"""Path and new content -> the file, written completely or not at all.

Every file that TreeML writes as a whole goes through here. A link is followed: the file that it points to is replaced,
and the link stays. A pipe, a device or a terminal is written into, since replacing it would destroy it. A path from the
text of a spec is `Confined`: it stays in the folder of that spec and replaces only files that TreeML wrote.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from treeml.system.confinement import Confined, replacing_confined


def replace_file(path: str | Path, content: str | bytes) -> None:
    """Writes the file; a full disk or an interrupt never leaves half of it. Raises OSError."""
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to, whose content replaces that of `path` if the block ends without an error; raises OSError."""
    if isinstance(path, Confined):
        with replacing_confined(path) as file:
            yield file
    elif _is_special(path):
        with tempfile.TemporaryFile() as file:
            yield file
            file.seek(0)
            with open(path, "wb") as device:
                shutil.copyfileobj(file, device)
    else:
        with _replacing_plain(os.path.realpath(path)) as file:
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
