"""The bytes of a CSV file -> its columns as texts, read exactly as the checkers read them.

A certificate speaks of the words in the file, because a checker knows nothing of types. What the checkers do not read
is refused here, before a proof is made.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from treeml.lang.diagnostic import Diagnostic, RefusedError

SEPARATORS = (",", ";", "|")


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    separator: str
    columns: dict[str, list[str]]
    rows: int


def refuse(reason: str, help: str = "") -> RefusedError:
    """The mistake of asking for a certificate that cannot be written."""
    return RefusedError(
        Diagnostic("B540", "no certificate can be written for this", notes=(reason,), helps=(help,) if help else ())
    )


def read_cells(path: Path) -> Cells:
    """The cells of a file whose first line names the columns."""
    content = path.read_bytes()
    if b"\0" in content or content.startswith(b"\xef\xbb\xbf"):
        raise refuse(f"{path.name} holds a NUL byte or begins with a byte order mark, which the checkers do not read")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise refuse(f"{path.name} is not UTF-8 text") from None
    lines = [line.removesuffix("\r") for line in text.rstrip("\r\n").split("\n")]
    separator = max(SEPARATORS, key=lambda each: lines[0].count(each))
    if any("\r" in line or (line.count('"') % 2) for line in lines):
        raise refuse(f"{path.name} holds values of several lines, which the checkers do not read")
    rows = [[cell.strip(" \t") for cell in row] for row in csv.reader(lines, delimiter=separator, strict=True)]
    if any(len(row) != len(rows[0]) for row in rows):
        raise refuse(f"the lines of {path.name} do not have equally many values")
    names = rows[0]
    columns = {name: [row[i] for row in rows[1:]] for i, name in enumerate(names) if names.count(name) == 1}
    return Cells(separator, columns, len(rows) - 1)
