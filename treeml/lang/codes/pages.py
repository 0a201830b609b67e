"""The catalogue -> docs/diagnostics: a page for every code, and an index."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from treeml.lang.codes import CATALOGUE, CodeEntry
from treeml.lang.words import VERBS

LETTERS = {
    "S": "Syntax: text that is not in the language",
    "N": "Names: unknown, or used twice",
    "T": "Types and units: what does not fit",
    "D": "Data: files, frames and arrays, alone and under a specification",
    "B": "Back-ends: what they refuse, and how they fail",
    "F": "Feasibility: requirements that nothing meets",
    "L": "Lint: allowed, but probably not meant",
    "A": "Access: what a specification may touch and take",
}


def pages() -> Iterator[tuple[str, str]]:
    """The name and the text of every file."""
    yield "README.md", _index()
    for entry in CATALOGUE.values():
        yield f"{entry.code}.md", _page(entry)


def _index() -> str:
    lines = [
        "# Diagnostics",
        "",
        "Every message carries a code. A message has a title, the place in your own text, `note` for what is known and",
        "`help` for what to type; `--format concise` and `--format json` give the same for tools.",
    ]
    for letter, heading in LETTERS.items():
        entries = [entry for entry in CATALOGUE.values() if entry.code.startswith(letter)]
        lines += ["", f"## {heading}", "", "| code | meaning |", "| --- | --- |"]
        lines += [
            f"| [{entry.code}]({entry.code}.md) | {entry.title.replace('|', chr(92) + '|')} |" for entry in entries
        ]
    return "\n".join(lines) + "\n"


def _page(entry: CodeEntry) -> str:
    heading = "Probably not meant" if entry.code.startswith("L") else "What leads to it"
    return (
        f"# {entry.code}: {entry.title}\n\n{entry.meaning}\n\n"
        f"## {heading}\n\n```{_language(entry)}\n{entry.wrong}\n```\n\n"
        f"## What to do\n\n{entry.instead}\n\n[All codes](README.md)\n"
    )


def _language(entry: CodeEntry) -> str:
    """Specifications are colored; commands and Python calls are shown as they are."""
    return "tml" if entry.wrong.split(" ")[0].strip() in VERBS else "text"


def write(folder: Path) -> None:
    """Make the folder hold these pages and no others."""
    folder.mkdir(parents=True, exist_ok=True)
    made = dict(pages())
    for stale in {path.name for path in folder.glob("*.md")} - set(made):
        (folder / stale).unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/diagnostics"))
