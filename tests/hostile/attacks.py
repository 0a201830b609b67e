"""Shared by the tests of attacks: a folder with rows and a victim, and the command line in its own process.

The time limit is a safety net: an attack that hangs fails the test. It does not measure speed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from treeml.cli.main import treeml

NET = 120.0  # seconds
SECRET = "PRIVATE=a line that nobody is to see"
ROWS = "a,b,y\n" + "".join(f"{a},{b},{a & b}\n" for a in (0, 1) for b in (0, 1)) * 3
SPEC = 'data "rows.csv"\npredict y\nminimize errors\nrequire depth <= 2\n'
QUESTION = 'data "rows.csv"\npredict y\nsatisfy\nrequire errors = 0\nrequire depth <= 1\n'  # no tree meets it


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    error: str


def command(*arguments: object, cwd: Path | None = None, stdin: str | None = None, **environment: str) -> Answer:
    """`treeml ...` as a user runs it."""
    done = subprocess.run(
        [sys.executable, "-m", "treeml", *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        timeout=NET,
        env={**os.environ, **environment},
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Answer(done.returncode, done.stdout, done.stderr)


def asked(*arguments: object) -> Answer:
    """The same in this process, for attacks that cannot hang."""
    answer = CliRunner().invoke(treeml, list(map(str, arguments)))
    assert answer.exception is None or isinstance(answer.exception, SystemExit), answer.exception
    return Answer(answer.exit_code, answer.stdout, answer.stderr)


def world(folder: Path) -> Path:
    """The folder of a spec with its rows, and next to it another user's folder with a file that must not change."""
    inside, outside = folder / "spec", folder / "others"
    inside.mkdir()
    outside.mkdir()
    (inside / "rows.csv").write_text(ROWS)
    (outside / "victim").write_text(SECRET)
    return inside


def snapshot(folder: Path) -> dict[str, tuple[int, bytes | str]]:
    """Every file, link and other entry in a folder and its subfolders, with its content."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        if path.is_symlink():
            found[str(path)] = mode, os.readlink(path)
        else:
            found[str(path)] = mode, path.read_bytes() if path.is_file() else ""
    return found
