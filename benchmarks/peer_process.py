"""Columns, and a program for another library's interpreter -> what that program prints about them."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np


@contextmanager
def file_of_rows(columns: Mapping[str, Any]) -> Iterator[str]:
    """The path of a CSV file with these columns, as long as the block lasts."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*(np.asarray(each).tolist() for each in columns.values()), strict=True))
        yield str(path)


def asked(python: str, program: Path, *words: str) -> str | None:
    """What the program prints; None if it fails, with the last line of its errors told."""
    done = subprocess.run([python, str(program), *words], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{python}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return done.stdout
