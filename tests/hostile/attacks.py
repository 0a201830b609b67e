"""What the tests of attacks share: a folder with rows and a victim, and the command line in a process of its own.

The limit of time is a safety net: an attack that hangs fails the test. It is no measure of speed.
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
    """The same within this process, for attacks that end by themselves."""
    answer = CliRunner().invoke(treeml, list(map(str, arguments)))
    assert answer.exception is None or isinstance(answer.exception, SystemExit), answer.exception
    return Answer(answer.exit_code, answer.stdout, answer.stderr)


def world(folder: Path) -> Path:
    """A spec's folder with rows in it, and beside it a folder of others with a file that is to stay as it is."""
    inside, outside = folder / "spec", folder / "others"
    inside.mkdir()
    outside.mkdir()
    (inside / "rows.csv").write_text(ROWS)
    (outside / "victim").write_text(SECRET)
    return inside


def snapshot(folder: Path) -> dict[str, tuple[int, bytes | str]]:
    """Every file, link and other thing below a folder, with what it holds."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        if path.is_symlink():
            found[str(path)] = mode, os.readlink(path)
        else:
            found[str(path)] = mode, path.read_bytes() if path.is_file() else ""
    return found
