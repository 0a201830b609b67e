"""The text of a specification -> its solved tree: in a process of its own, so that the editor goes on."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FAILED = "the specification was not solved"


@dataclass(frozen=True, slots=True)
class Solved:
    """What an editor shows of a run."""

    ok: bool
    summary: str  # one line
    text: str  # the report, or the mistakes
    page: str = ""  # the path of a page with the drawing, if there is a tree


async def solve_text(text: str, folder: Path, pages: Path) -> Solved:
    """Run `treeml solve -` in the folder of the specification, and draw the tree on a page in the folder `pages`."""
    place = Path(tempfile.mkdtemp(dir=pages))
    result, page = place / "result.json", place / "tree.html"
    code, output, errors = await _treeml(text, folder, "solve", "-", "-o", str(result))
    if code not in (0, 3, 4) or not result.exists():
        return Solved(False, FAILED, errors or output)
    value = json.loads(result.read_text())
    summary = _summary(value)
    if not value.get("tree") and not value.get("forest"):
        return Solved(False, summary, errors or output)
    drawn, _, _ = await _treeml("", folder, "show", str(result), "--as", "html", "-o", str(page))
    return Solved(True, summary, output, str(page) if drawn == 0 else "")


async def _treeml(text: str, folder: Path, *arguments: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "treeml",
        *arguments,
        cwd=folder if folder.is_dir() else None,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        output, errors = await process.communicate(text.encode())
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        raise
    return process.returncode or 0, output.decode(errors="replace"), errors.decode(errors="replace")


def _summary(value: dict[str, object]) -> str:
    objective = value.get("objective")
    shown = ", ".join(f"{each:g}" for each in objective) if isinstance(objective, list) else objective
    reached = "" if objective is None else f", objective {shown if isinstance(shown, str) else f'{shown:g}'}"
    seconds = value.get("seconds")
    time = f", {seconds:.1f} s" if isinstance(seconds, float) else ""
    return f"{value.get('status')}{reached}, by {value.get('backend')}{time}"
