"""Untrusted text (names, labels, paths, messages) -> text that is safe to print in a terminal.

A column can have any name, and terminals execute some characters instead of showing them: escape sequences move the
cursor and rename the window, bidirectional controls reorder printed text, line separators forge lines. Characters that
are not printable are therefore written as escapes of the language, `\\u{1b}`, and can be pasted into a spec.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

MOST_OF_A_NAME = 80  # characters of a name or label in a table, a tree or a sentence
MOST_OF_A_SENTENCE = 2000  # characters of a title, a note or a help, with everything it quotes

_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
# Characters that move the cursor, change the direction of text or end a line; and lone surrogates.
_OBEYED = "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_LONG_WORD = re.compile(rf"\S{{{MOST_OF_A_NAME + 1},}}")
OBEYED = re.compile(f"[{_OBEYED}]")
OBEYED_IN_LINES = re.compile(f"(?![\n\t])[{_OBEYED}]")


def shown(text: object, most: int = MOST_OF_A_NAME) -> str:
    """Untrusted text on one line, without control characters; a long text is shortened in the middle."""
    written = visible(shortened(str(text), most))
    return shortened(written, most)


def shown_lines(text: str) -> str:
    """Text of several lines: line breaks and tabs stay, other control characters are made visible."""
    if text.isprintable():
        return text
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in text.split("\n"))


def visible(text: str) -> str:
    """The text with every unprintable character written as an escape of the language; spaces stay."""
    return text if text.isprintable() else "".join(map(visible_letter, text))


def visible_letter(letter: str) -> str:
    """A character as it is, or its escape."""
    if letter.isprintable() or unicodedata.category(letter) == "Zs":
        return letter
    return _SHORT.get(letter) or f"\\u{{{ord(letter):x}}}"


def shortened(text: str, most: int = MOST_OF_A_NAME) -> str:
    """The text, or its beginning and its end if it is too long: names often differ only at the end."""
    if len(text) <= most:
        return text
    end = (most - 1) // 3
    return f"{text[: most - 1 - end]}…{text[len(text) - end :]}"


def short_lines(text: str) -> str:
    """Text of several lines with every long word, and every long line, shortened."""
    lines = (_LONG_WORD.sub(lambda word: shortened(word[0]), line) for line in text.split("\n"))
    return "\n".join(shortened(line, MOST_OF_A_SENTENCE) for line in lines)


def width(text: str) -> int:
    """The number of terminal columns that printable text occupies."""
    return len(text) if text.isascii() else sum(map(_letter_width, text))


def _letter_width(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in ("W", "F") else 1


def xml_text(document: str) -> str:
    """An XML document with control characters as references; XML readers would also change a lone `\\r`."""
    return OBEYED_IN_LINES.sub(lambda found: f"&#x{ord(found[0]):x};", document)


def readable_json(value: Any, **layout: Any) -> str:
    """JSON in which printable characters of every alphabet stay as they are; all others are escaped."""
    text = json.dumps(value, ensure_ascii=False, **layout)
    return "\n".join(line if line.isprintable() else "".join(map(_json_letter, line)) for line in text.split("\n"))


def _json_letter(letter: str) -> str:
    if letter.isprintable() or unicodedata.category(letter) == "Zs":
        return letter
    return json.dumps(letter)[1:-1] if letter != "\x7f" else "\\u007f"


def json_text(value: Any, **layout: Any) -> str:
    """JSON in ASCII, with everything else escaped, so that it can be printed anywhere."""
    return json.dumps(value, **layout).replace("\x7f", "\\u007f")
