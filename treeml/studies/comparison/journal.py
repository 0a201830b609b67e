"""Records <-> a file with one JSON object per line, which stays usable after an interruption or a full disk."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.studies.comparison.record import Record, flaw_of
from treeml.system.reading import read_plain

MOST_OF_A_JOURNAL = 1 << 29  # bytes; its records take several times as much memory
FINAL = frozenset({"proved", "gap", "time", "memory", "finished", "failed"})


class Journal:
    """Appends each record at once. A failed write is remembered in `trouble`, and the work continues."""

    def __init__(self, path: Path, resume: bool) -> None:
        self.path = path
        self.trouble = ""
        self.done: dict[str, Record] = {}
        if path.is_file() and path.stat().st_size and not resume:
            raise DataError(_exists(path))
        if resume and path.is_file():
            records = read_records(path)
            self.done = {record["key"]: record for record in records if is_final(record)}
            self._drop_torn_line()
        try:
            self.file = open(path, "ab", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise DataError(_cannot_write(path, error)) from error
        self.is_plain = stat.S_ISREG(os.fstat(self.file.fileno()).st_mode)

    def add(self, record: Record) -> None:
        if self.trouble:
            return
        line = json.dumps(record).encode() + b"\n"
        place = self.file.tell() if self.is_plain else 0
        try:
            if self.file.write(line) != len(line):
                raise OSError(28, "the disk is full")
            if self.is_plain:  # a pipe or a device has nothing to flush
                os.fsync(self.file.fileno())
        except OSError as error:
            self.trouble = f"{self.path} cannot be written any more: {error.strerror or error}"
            with suppress(OSError):
                if self.is_plain:
                    self.file.truncate(place)

    def close(self) -> None:
        self.file.close()

    def _drop_torn_line(self) -> None:
        """Remove a truncated final line, left by a crash or a full disk."""
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole != len(data):
            with self.path.open("r+b") as file:
                file.truncate(whole)


def read_records(path: Path) -> list[Record]:
    """The last record of each job; a truncated final line is ignored. DataError if the file holds anything else."""
    try:
        lines = read_plain(path, MOST_OF_A_JOURNAL).split(b"\n")
    except OSError as error:
        raise DataError(_cannot_read(path, error.strerror or str(error))) from error
    return list({record["key"]: record for record in _parsed(path, lines)}.values())


def _parsed(path: Path, lines: list[bytes]) -> Iterable[Record]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            if number == len(lines):
                return
            reason = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
            raise DataError(_cannot_read(path, f"line {number} is not JSON: {reason}")) from error
        flaw = flaw_of(record) or ("" if "key" in record else "it has no `key`")
        if flaw:
            raise DataError(_cannot_read(path, f"line {number} is not a record of a comparison: {flaw}"))
        yield record


def is_final(record: Record) -> bool:
    """Whether the job was completed, rather than interrupted or lost with its process."""
    if record.get("stop") == "failed" and not record.get("refused"):
        # Files of earlier versions have no `lost`: there, only failures that a back-end reported itself have codes.
        return not record.get("lost", "codes" not in record)
    return bool(record.get("refused")) or record.get("stop") in FINAL


def _exists(path: Path) -> Diagnostic:
    return Diagnostic(
        "D490",
        f"{path} is there already",
        place=str(path),
        helps=("add `--resume` to go on with it: what it holds is not run again", "or name another file"),
    )


def _cannot_write(path: Path, error: OSError) -> Diagnostic:
    return Diagnostic("D491", f"{path} cannot be written: {error.strerror or error}", place=str(path))


def _cannot_read(path: Path, reason: str) -> Diagnostic:
    return Diagnostic(
        "D491",
        f"{path} cannot be read as results of `treeml compare`: {reason}",
        place=str(path),
        helps=("name a file that `treeml compare -o` wrote",),
    )
