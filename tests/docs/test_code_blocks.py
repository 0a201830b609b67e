"""Every code block of the pages: Python runs, specs are checked, commands succeed, data formats can be read.

A block under `<!-- not run: because -->` is parsed but not run. The blocks of a page run in order, in a folder that
contains only the data of the examples; Python blocks share their variables. If the first line of a spec is a comment
with a file name, the spec is saved under that name, as a reader would do.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import tomllib
import warnings
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from printed import PAGES as PRINTED
from printed import UNCOMPARED, agrees

import treeml as tml
from treeml.cli.main import treeml as command
from treeml.lang.parse import parse
from treeml.lang.source import Source
from treeml.lang.words import VERBS
from treeml.notebook import solve_cell

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "backends").glob("*.md"))]
FROM_NOTHING = ("README.md", "index.md", "tutorial.md")  # for a reader in an empty folder
SHOWN = {"text", "lark", "c", "html"}  # for people to read, not run
SETUP = {  # what a page assumes to exist
    "boosting.md": """
import pandas as pd
import treeml as tml
model = tml.load("boost.tml")
frame = pd.read_csv("spambase.csv")
labels = frame["spam"]
x, y = frame.drop(columns="spam"), labels
""",
    "exports.md": """
import treeml as tml
tml.load("plain.tml").solve().tree.write("result.json")
""",
}


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
    for data in () if page.name in FROM_NOTHING else (ROOT / "examples").glob("*/*.*"):
        if data.suffix in (".csv", ".tml"):
            shutil.copy(data, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    exec(SETUP.get(page.name, ""), names)
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
                printed = "".join([_run(line, where, block) for line in block.text.splitlines()])
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


def _run(line: str, where: str, block: Block) -> str:
    """What the command prints, messages last."""
    words = shlex.split(line, comments=True)
    if words[:1] == ["$"]:
        words = words[1:]
    if not words or words[0] != "treeml":
        return ""
    assert all("..." not in word for word in words), f"{where}: `{line}` contains an ellipsis"
    if not block.runs:
        named = command.get_command(click.Context(command), words[1])
        assert named is not None, f"{where}: `{line}` names no command"
        named.make_context(words[1], words[2:])
        return ""
    result = CliRunner().invoke(command, words[1:])
    # No limit is added: commands on these pages end when they are done. Within a limit that a page itself gives,
    # a busy machine may find nothing, which is a valid result.
    allowed = (block.code, 4) if "--within" in words else (block.code,)
    assert result.exit_code in allowed, f"{where}: `{line}` exits with {result.exit_code}\n{result.output}"
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return f"{result.stdout}\n{result.stderr}"
