"""Pieces of text -> one HTML file that contains its style and script, and fetches nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parent


def filled(name: str, pieces: Mapping[str, str]) -> str:
    """The page of this name with a piece for every `{{name}}`. Pieces are HTML: foreign text is escaped before."""
    parts = asset(name).split("{{")
    written = [parts[0]]
    for part in parts[1:]:
        place, _, rest = part.partition("}}")
        written += [pieces[place], rest]
    return "".join(written)


def asset(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def in_script(json: str) -> str:
    """JSON inside a script element: text in the data must not end the element."""
    return json.replace("<", "\\u003c")
