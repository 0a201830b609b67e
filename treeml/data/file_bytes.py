"""A path -> the bytes of the file, within limits, or a message that says why it cannot be read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from treeml.data.file_error import file_mistake
from treeml.data.limits import PIECE, UNLIMITED, ReadingLimits
from treeml.lang.diagnostic import DataError
from treeml.lang.source import Span
from treeml.lang.suggest import nearest
from treeml.system.confinement import Outside, no_waiting, open_within
from treeml.system.reading import NotPlain, has_more, open_plain, refuse_special

_NO_DATA = (".tml", ".py", ".md", ".expected", ".json", ".svg")


def file_bytes(path: Path, span: Span | None, limits: ReadingLimits = UNLIMITED) -> bytes:
    """The content of a file; DataError if it is too large, takes too long or cannot be read."""
    try:
        return _bytes_within(path, span, limits)
    except DataError:
        raise
    except Outside:
        raise file_mistake(
            "A801",
            f"{path.name or path} leads out of the folder of the specification, which is not trusted",
            "not read",
            path.name or str(path),
            span,
        ) from None
    except NotPlain as problem:
        raise file_mistake("D403", f"{path.name} cannot be read", str(problem.strerror), path.name, span) from None
    except FileNotFoundError:
        raise _gone(path, span) from None
    except IsADirectoryError:
        inside = sorted(child.name for child in path.iterdir() if child.suffix in (".csv", ".parquet", ".data", ".txt"))
        helps = (f"name a file in it: {', '.join(inside[:5])}",) if inside else ("name a file, not a folder",)
        raise file_mistake(
            "D403", f"{path.name} is a folder, not a file", "a folder", path.name, span, helps=helps
        ) from None
    except PermissionError:
        raise file_mistake(
            "D403",
            f"{path.name} may not be read",
            "permission denied",
            path.name,
            span,
            helps=("ask for the right to read it, or copy it to a place of yours",),
        ) from None
    except (OSError, ValueError) as problem:
        reason = os.strerror(problem.errno) if isinstance(problem, OSError) and problem.errno else "not a path"
        raise file_mistake("D403", f"{path.name} cannot be read", reason.lower(), path.name, span) from None


def _bytes_within(path: Path, span: Span | None, limits: ReadingLimits) -> bytes:
    """Read a regular file in pieces; read a pipe or a device until the deadline.

    A file that a spec names has to be regular; if the spec is not trusted, it has to lie in the folder of the spec.
    """
    if limits.folder is not None:
        with open_within(path, limits.folder) as handle:
            refuse_special(handle, path)
            return _read_opened(os.dup(handle), path, span, limits)
    patient = limits.deadline == float("inf")
    if span is not None:
        with open_plain(path) as handle:
            refuse_special(handle, path)
            return _read_opened(os.dup(handle), path, span, limits)

    def opened(name: str, flags: int) -> int:
        # Opening a pipe without a writer would wait forever.
        return os.open(name, flags if patient else flags | no_waiting())

    return _read_opened(opened(str(path), os.O_RDONLY | getattr(os, "O_BINARY", 0)), path, span, limits)


def _read_opened(handle: int, path: Path, span: Span | None, limits: ReadingLimits) -> bytes:
    patient = limits.deadline == float("inf")
    with open(handle, "rb", buffering=0) as file:
        known = os.fstat(file.fileno())
        if stat.S_ISREG(known.st_mode):
            limits.size(path.name, span, known.st_size)
            if known.st_size <= PIECE:
                return file.readall()
        pieces: list[bytes] = []
        held = 0
        while True:
            limits.late(path.name, span)
            if not patient and not stat.S_ISREG(known.st_mode) and not has_more(file.fileno(), limits.deadline):
                continue
            piece = file.read(PIECE)
            if piece is None:
                continue
            if not piece:
                return b"".join(pieces)
            held += len(piece)
            limits.size(path.name, span, held)
            pieces.append(piece)


def _gone(path: Path, span: Span | None) -> DataError:
    folder = path.parent
    relative = () if span is None else ("a path in `data` is relative to the .tml file",)
    shown = "this folder" if str(folder) in ("", ".") else f"`{folder.name or folder}`"
    if not folder.is_dir():
        return file_mistake(
            "D401",
            f"there is no file {path.name}",
            f"the folder {shown} does not exist",
            path.name,
            span,
            notes=relative,
        )
    names = sorted(child.name for child in folder.iterdir() if child.is_file() and child.suffix not in _NO_DATA)
    close = nearest(path.name, names)
    tables = [name for name in names if name.endswith((".csv", ".parquet", ".data", ".tsv"))]
    helps: tuple[str, ...] = ()
    if close:
        helps = (f"did you mean `{close}`?",)
    elif tables:
        helps = (f"data files there: {', '.join(tables[:5])}",)
    return file_mistake(
        "D401",
        f"there is no file {path.name}",
        f"not found in {shown}",
        path.name,
        span,
        notes=relative,
        helps=helps,
    )
