"""A path and its first bytes -> the format, if it is one that defines the target: CP4IM, C4.5, libsvm or counted rows.

This runs before any data are read, to know whether a spec needs `predict`, so it imports nothing heavy.
"""

from __future__ import annotations

import re
import stat
from pathlib import Path

_BITS = re.compile(rb"[01](?:[ \t]+[01])+[ \t]*\r?")
_SPARSE = re.compile(rb"[+-]?\d[\w.+-]*(?:\s+\d+:[^\s:#]+)+\s*(?:#.*)?")
_COUNTS = re.compile(rb"\d{1,18}")
_HEAD = 1 << 16
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def recognized(path: Path, content: bytes) -> str | None:
    """The format according to the ending or the first lines (UTF-8 without a byte order mark); None for any other."""
    if path.suffix == ".names" or (path.suffix in (".data", ".test") and path.with_suffix(".names").is_file()):
        return "C4.5"
    if path.suffix in (".libsvm", ".svm", ".svmlight"):
        return "libsvm"
    lines = [line for line in content[:_HEAD].split(b"\n")[:5] if line.strip()]
    if lines and all(_BITS.fullmatch(line) for line in lines[:-1] or lines):
        return "CP4IM"
    if lines and all(_SPARSE.fullmatch(line.strip()) for line in lines[:-1] or lines):
        return "libsvm"
    return "counted" if header_of(lines) else None


def header_of(lines: list[bytes]) -> tuple[int, tuple[int, int, int]] | None:
    """The lines that the counts of rows, features and classes take, one or three, and the counts; None for no header.

    The first row has to have as many values as there are features, and a class. Lines of one number are a header only
    together with such a row, so that a single column of numbers is not taken for one.
    """
    for taken in (1, 3):
        words = [word for line in lines[:taken] for word in line.split()]
        if len(words) != 3 or len(lines) <= taken or not all(map(_COUNTS.fullmatch, words)):
            continue
        rows, features, classes = (int(word) for word in words)
        if rows >= 1 and features >= 1 and classes >= 1 and len(lines[taken].split()) == features + 1:
            return taken, (rows, features, classes)
    return None


def names_target(path: Path) -> bool:
    """Does the format of this file say which column is predicted? False if the file cannot be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except (OSError, ValueError):
        return False
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            head = head.decode(encoding, errors="ignore").removeprefix("\ufeff").encode()
    return recognized(path, head) is not None
