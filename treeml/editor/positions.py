"""Offsets in a text <-> lines and characters of the protocol, which counts characters in UTF-16."""

from __future__ import annotations

from treeml.lang.source import Source

Place = tuple[int, int]  # line and character, both from zero


def place_of(source: Source, offset: int) -> Place:
    line, column = source.position(min(max(offset, 0), len(source.text)))
    start = source.starts[line - 1]
    return line - 1, len(source.text[start : start + column - 1].encode("utf-16-le")) // 2


def offset_of(source: Source, place: Place) -> int:
    """The offset of a place; one beyond the end of its line is the end of the line."""
    line, character = place
    if line >= len(source.starts):
        return len(source.text)
    start = source.starts[line]
    text = source.line(line + 1)
    if text.isascii():
        return start + min(character, len(text))
    units = 0
    for number, letter in enumerate(text):
        if units >= character:
            return start + number
        units += 2 if ord(letter) > 0xFFFF else 1
    return start + len(text)
