"""What a page says that its code prints -> does it?

On these pages, a `text` block after a block that runs is what that prints. `...` alone on a line stands for any lines,
and inside a line for any characters. Output under `<!-- one of several -->` depends on which of several optimal trees
is found, and only its status and its objective are compared. `python tests/docs/printed.py docs/tutorial.md` runs a
page and writes such blocks anew, to be read before they are committed.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

PAGES = ("tutorial.md", "README.md", "index.md")
UNCOMPARED = "<!-- one of several -->"
TIMED = re.compile(r"(back-end   \w+), .*|^(?:stopped|rounds) .*$", re.MULTILINE)  # differs from run to run


def agrees(expected: str, printed: str) -> bool:
    """Is this what was printed, up to `...` and blanks at the ends of lines?"""
    pieces = []
    for line in expected.strip("\n").splitlines():
        if line.strip() == "...":
            pieces.append(r"(?:[^\n]*\n)*?")
        else:
            pieces.append(".*".join(map(re.escape, line.rstrip().split("..."))) + r"\n")
    text = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())
    return re.fullmatch("".join(pieces), text) is not None


def rewrite(page: Path) -> None:
    """Run the page and replace every block of output."""
    text = page.read_text(encoding="utf-8")
    session: dict[str, Any] = {"__name__": "page"}
    parts = re.split(rf"({UNCOMPARED}\n```text\n.*?^```\n|^```\w+\n.*?^```\n)", text, flags=re.MULTILINE | re.DOTALL)
    with tempfile.TemporaryDirectory() as folder:
        out, printed = [], None  # what the last block printed, if its output may follow
        for part in parts:
            block = re.fullmatch(r"```(\w+)\n(.*?)```\n", part, re.DOTALL)
            if block is not None and block[1] == "text" and printed is not None:
                kept = agrees(block[2], printed)
                out.append(part if kept else _block(printed))
                printed = None
                continue
            if part.startswith(UNCOMPARED):
                printed = None
            if printed and part.strip():  # no output follows
                out.append(f"\n{_block(printed)}")
                printed = None
            out.append(part)
            if block is not None:
                printed = _run(*block.groups(), session, Path(folder))
    page.write_text(re.sub(r"\n{3,}", "\n\n", "".join(out)), encoding="utf-8")


def _block(printed: str) -> str:
    return f"```text\n{TIMED.sub(_ellipsis, printed.strip(chr(10)))}\n```\n"


def _ellipsis(match: re.Match[str]) -> str:
    return f"{match[1]}, ..." if match[1] else "..."


def _run(language: str, code: str, session: dict[str, Any], folder: Path) -> str | None:
    if language == "tml":
        (folder / code.split()[1]).write_text(code, encoding="utf-8")
        return None
    if language == "sh":
        lines = [shlex.split(line, comments=True)[1:] for line in code.splitlines() if line.startswith("treeml ")]
        done = [
            subprocess.run([sys.executable, "-m", "treeml", *line], cwd=folder, capture_output=True, text=True)
            for line in lines
        ]
        return "".join(f"{each.stdout}\n{each.stderr}" for each in done).strip("\n")
    if language == "python":
        from contextlib import chdir

        stream = StringIO()
        with redirect_stdout(stream), chdir(folder):
            exec(compile(code, "page", "exec"), session)
        return stream.getvalue()
    return None


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name))
