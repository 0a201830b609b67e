"""Every code block of the pages: Python runs, specs are checked, commands succeed, data formats can be read.

A block under `<!-- not run: because -->` is checked but not run. The blocks of a page run in order, in an empty folder,
so a page says where its data come from; Python blocks share their variables. If the first line of a spec is a comment
with a file name, the spec is saved under that name, as a reader would do.
"""

from __future__ import annotations

import json
import re
import tomllib
import warnings
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from commands import ROOT, check, run
from printed import PAGES as PRINTED
from printed import UNCOMPARED, agrees

import treeml as tml
from treeml.lang.parse import parse
from treeml.lang.source import Source
from treeml.lang.words import VERBS
from treeml.notebook import solve_cell

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "backends").glob("*.md"))]
SHOWN = {"text", "lark", "c", "html"}  # for people to read, not run


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int
    runs: bool = True  # False if the page says why not: <!-- not run: because -->
    code: int = 0  # with which it exits: <!-- exits with 3 -->
    compared: bool = True  # False for output under <!-- one of several -->


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_of_the_page_works(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    printed = None  # by the block before
    for block in _blocks(page.read_text(encoding="utf-8")):
        where = f"{page.name}:{block.line}"
        before, printed = printed, None
        match block.language:
            case "python":
                stream = StringIO()
                with warnings.catch_warnings(), redirect_stdout(stream):
                    warnings.simplefilter("ignore", UserWarning)
                    exec(compile(block.text, where, "exec"), names)
                printed = stream.getvalue()
            case "tml":
                _check_spec(block.text, tmp_path)
            case "sh":
                lines = block.text.splitlines()
                done = [run(line, where, block.code, tmp_path) if block.runs else check(line, where) for line in lines]
                printed = "".join(done)
            case "text" if page.name in PRINTED and before is not None and not block.compared:
                values = re.findall(r"^(?:status|objective) .*$", block.text, re.MULTILINE)
                assert set(values) <= set(before.splitlines()), f"{where}: this is printed instead:\n{before}"
            case "text" if page.name in PRINTED and before is not None:
                assert agrees(block.text, before), (
                    f"{where}: this is printed instead; `python tests/docs/printed.py {page.relative_to(ROOT)}` "
                    f"writes it into the page:\n{before}"
                )
            case "ipython":
                line, _, cell = block.text.partition("\n")
                assert line.startswith("%%treeml"), f"{where}: only %%treeml cells are tested"
                solve_cell(line.removeprefix("%%treeml"), cell, names, quiet=True)
            case "json":
                json.loads(block.text)
            case "toml":
                tomllib.loads(block.text)
            case language:
                assert language in SHOWN, f"{where}: there is no test for `{language}`"


def _blocks(text: str) -> list[Block]:
    """Fenced blocks, and indented lines that call `treeml`."""
    found: list[Block] = []
    fence: tuple[str, int] | None = None
    inside: list[str] = []
    runs, code, compared = True, 0, True
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            if fence is None:
                fence, inside = (line[3:].strip(), number), []
            else:
                body = "\n".join(inside)
                found.append(Block(fence[0] or _guess(body), body, fence[1], runs, code, compared))
                fence, runs, code, compared = None, True, 0, True
        elif fence is not None:
            inside.append(line)
        elif re.match(r"<!-- not run: .+ -->$", line):
            runs = False
        elif match := re.match(r"<!-- exits with (\d) -->$", line):
            code = int(match[1])
        elif line == UNCOMPARED:
            compared = False
        elif match := re.match(r"    (?:\$ )?(treeml .*)", line):
            found.append(Block("sh", match[1], number))
    assert fence is None, f"the fence in line {fence[1] if fence else 0} is never closed"
    return found


def _guess(body: str) -> str:
    first = next((line for line in body.splitlines() if line.strip() and not line.startswith("#")), "")
    return "tml" if first.split(" ")[0] in VERBS else "text"


def _check_spec(text: str, folder: Path) -> None:
    named = re.match(r"# ([\w.-]+\.tml)\b", text)
    path = folder / (named[1] if named else "block.tml")
    path.write_text(text + "\n", encoding="utf-8")
    if path.stem == "wrong":  # on purpose
        with pytest.raises(tml.SpecError):
            tml.load(path).check()
        return
    statements = parse(Source("block", text))
    assert statements
    complete = {type(statement).__name__ for statement in statements}
    if complete & {"Objective", "Satisfy"} and complete & {"Data", "Include"}:
        tml.load(path).check()
