"""Output path in the text of a spec -> a file in the folder of that spec, or a refusal.

A spec is text that people mail to each other. The files that it writes stay in its own folder after all links are
resolved, and replace only files that TreeML wrote before. Those are recognized by their first bytes: everything that
TreeML writes for solvers begins with `MARK`. Somebody might replace a folder by a link between the check and the
writing, so every step of the path is opened separately, and none may be a link.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

MARK = "written by TreeML"
_OPENINGS = (
    *(f"{comment} {MARK}".encode() for comment in ("c", "\\", "*")),  # clauses and proofs, .lp, .mps
    b'{"treeml_',  # a checkpoint, a tree
    f'name: "{MARK}"'.encode(),  # a CP-SAT model as text,
    b"\n" + bytes([len(MARK)]) + MARK.encode(),  # and in binary
)
_STEPWISE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")


class Confined(str):
    """The path of an output file with all links resolved, and the folder that it must stay in."""

    folder: str

    def __new__(cls, path: str, folder: str) -> Confined:
        confined = super().__new__(cls, path)
        confined.folder = folder
        return confined

    def __reduce__(self) -> tuple[type[Confined], tuple[str, str]]:
        return Confined, (str(self), self.folder)


class Outside(OSError):
    """The path leads out of its folder."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.EPERM, "it lies outside the folder of the spec", path)


class Foreign(OSError):
    """The path holds something that TreeML did not write."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.EEXIST, "a file that TreeML did not write is there already", path)


def confine(path: str | Path, folder: str | Path) -> Confined:
    """The path with its links resolved; raises Outside if it is not in the folder."""
    root, target = os.path.realpath(folder), os.path.realpath(path)
    if not is_within(target, root) or target == root:
        raise Outside(str(path))
    return Confined(target, root)


def is_within(target: str, root: str) -> bool:
    """Is a resolved path the resolved folder, or below it?"""
    return target == root or target.startswith(root.rstrip(os.sep) + os.sep)


def lies_in(path: str | Path, folder: str | Path) -> bool:
    """Is a path the folder or below it, after all links are resolved?"""
    return is_within(os.path.realpath(path), os.path.realpath(folder))


def refuse_foreign(path: Confined) -> None:
    """Raises Foreign if the path holds something that TreeML did not write, other OSErrors if it cannot be written."""
    with _folder_of(path) as (folder, name):
        _refuse_foreign(path, folder, name)


@contextmanager
def replacing_confined(path: Confined) -> Iterator[IO[bytes]]:
    """A file to write to, which replaces `path` if the block ends without an error; raises OSError."""
    with _folder_of(path) as (folder, name):
        _refuse_foreign(path, folder, name)
        inside, last = os.path.split(name)  # without descriptors of folders, the name is a whole path
        new = os.path.join(inside, f".{last[:80]}.{os.urandom(8).hex()}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        handle = os.open(new, flags | _no_links(), 0o666, dir_fd=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            _refuse_foreign(path, folder, name)
            os.replace(new, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(new, dir_fd=folder)
            raise


@contextmanager
def open_within(path: str | Path, folder: str | Path) -> Iterator[int]:
    """A descriptor for reading a file in the folder, with links resolved; raises Outside if it is not in it."""
    with _folder_of(confine(path, folder)) as (opened, name):
        handle = os.open(name, os.O_RDONLY | _no_links() | no_waiting(), dir_fd=opened)
        try:
            yield handle
        finally:
            os.close(handle)


@contextmanager
def _folder_of(path: Confined) -> Iterator[tuple[int | None, str]]:
    """A descriptor of the file's folder, reached from the confining folder without following any link."""
    target = os.path.realpath(path)
    if not is_within(target, path.folder):  # a link has appeared since
        raise Outside(path)
    if not _STEPWISE:
        yield None, target
        return
    flags = os.O_RDONLY | os.O_DIRECTORY
    opened = os.open(path.folder, flags)
    try:
        *steps, name = os.path.relpath(target, path.folder).split(os.sep)
        for step in steps:
            inner = os.open(step, flags | _no_links(), dir_fd=opened)
            os.close(opened)
            opened = inner
        yield opened, name
    finally:
        os.close(opened)


def _refuse_foreign(path: Confined, folder: int | None, name: str) -> None:
    try:
        handle = os.open(name, os.O_RDONLY | _no_links() | no_waiting(), dir_fd=folder)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Outside(path) from error
        raise
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode) or not file.read(64).startswith(_OPENINGS):
            raise Foreign(path)


def _no_links() -> int:
    return getattr(os, "O_NOFOLLOW", 0)


def no_waiting() -> int:
    """Flags for opening: a pipe without a writer, or a terminal, must not block the program.

    Windows has neither flag. It has one of its own, without which it would change the ends of lines.
    """
    return getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
