"""Every regular expression of the package on long lines that provoke backtracking: time must stay linear."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from attacks import NET

import treeml
from treeml.lang.diagnostic import DataError
from treeml.trees.importing.contract import Origin
from treeml.trees.importing.iti import looks_like_iti, read_iti
from treeml.trees.importing.weka import read_weka

LONG = 50_000
PACKAGE = Path(treeml.__file__).parent
ANYWHERE = {"search", "sub", "subn", "findall", "finditer", "split"}
FUNCTIONS = {"compile", "match", "fullmatch"} | ANYWHERE
LETTERS = (
    " ",
    "a",
    "9",
    "|  ",
    "(",
    ": ",
    " (1)",
    " = ",
    ".",
    '"',
    "`",
    "\\",
    '\\"',
    "#",
    "\n",
    "0 1 ",
    "1:1 ",
    "1_",
    ",000",
)
BEFORE = ("", "a = ", "x = b : ", '"', "+1 1:1", "1")
AFTER = ("!", "\n!", " (1.0", '"')

# The patterns of every file on every long line, in a separate process that can be killed.
CHILD = """
import re, sys
sys.path.insert(0, {tests!r})
from test_patterns import AFTER, BEFORE, LETTERS, LONG, files, patterns_of
middles = [letters * (LONG // len(letters)) for letters in LETTERS]
lines = [before + middle + after for middle in middles for before in BEFORE for after in AFTER]
for file in files():
    for (pattern, flags), anywhere in patterns_of(file).items():
        print(file, ascii(pattern), flush=True)
        compiled = re.compile(pattern, flags)
        for line in lines:
            line = line.encode() if isinstance(pattern, bytes) else line
            if anywhere:
                sum(1 for _ in compiled.finditer(line))
            else:
                compiled.match(line)
                compiled.fullmatch(line)
print("done")
"""


def patterns_of(file: str) -> dict[tuple[str | bytes, int], bool]:
    """The regular expressions of a module with their flags, and whether they are searched at every position of a text.

    These are the literal patterns in calls and the compiled patterns of the module.
    """
    text = Path(file).read_text(encoding="utf-8")
    found: dict[tuple[str | bytes, int], bool] = {}
    for node in ast.walk(ast.parse(text)):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in FUNCTIONS and isinstance(called.value, ast.Name):
            first = node.args[0] if isinstance(node, ast.Call) and called.value.id == "re" and node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, (str, bytes)):
                found[first.value, 0] = called.attr in ANYWHERE
    module = importlib.import_module(".".join(Path(file).relative_to(PACKAGE.parent).with_suffix("").parts))
    for name, value in vars(module).items():
        if isinstance(value, re.Pattern):
            anywhere = any(f"{name}.{function}(" in text for function in ANYWHERE)
            found[value.pattern, value.flags & ~re.UNICODE] = anywhere
    # A pattern without repetition cannot backtrack.
    return {key: anywhere for key, anywhere in found.items() if re.search("[*+?{]", str(key[0]))}


def files() -> list[str]:
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    return [str(path) for path, text in texts.items() if re.search(r"^import re\b", text, re.MULTILINE)]


def test_the_files_with_patterns_are_found() -> None:
    names = {Path(file).name for file in files()}
    assert {"weka.py", "iti.py", "recognize.py", "params.py", "syntax_mistakes.py", "words.py"} <= names
    assert any(isinstance(pattern, bytes) for pattern, _ in patterns_of(f"{PACKAGE}/data/recognize.py"))


@pytest.mark.parametrize("letters", LETTERS)
def test_lines_of_starting_trees_are_read_in_one_go(letters: str) -> None:
    for before in BEFORE:
        for after in AFTER:
            text = before + letters * (LONG // len(letters)) + after
            for read in (read_weka, read_iti):
                with suppress(DataError):
                    read(text, Origin("tree.txt", "a program"))
            looks_like_iti(text)


@pytest.mark.slow
def test_no_pattern_tries_the_same_letters_again_and_again() -> None:
    child = CHILD.format(tests=str(Path(__file__).parent))
    try:
        done = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, timeout=3 * NET)
    except subprocess.TimeoutExpired as late:
        pytest.fail(f"the last pattern does not end: {(late.stdout or b'').decode().splitlines()[-1]}")
    assert done.stdout.splitlines()[-1] == "done", done.stderr
