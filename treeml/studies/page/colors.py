"""The text of a spec -> HTML with a class for each kind of word."""

from __future__ import annotations

import re
from html import escape

from treeml.lang.measures import MEASURES
from treeml.lang.words import INNER_WORDS, UNITS, VERBS

_UNITS = "|".join(re.escape(unit) if unit == "%" else rf"{unit}\b" for unit in UNITS)
_TOKENS = re.compile(
    r"(?P<comment>#[^\n]*)"
    r'|(?P<string>"[^"\n]*"?)'
    r"|(?P<quoted>`[^`\n]*`?)"
    rf"|(?P<number>\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?(?:\s?(?:{_UNITS}))?)"
    r"|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<operator><=|>=|\.\.|[-+*/=<>:])"
)


def colored(text: str) -> str:
    """The text as HTML, with `<span class="...">` around every recognized word; other text stays plain."""
    parts, last = [], 0
    for match in _TOKENS.finditer(text):
        parts.append(escape(text[last : match.start()]))
        kind = match.lastgroup or ""
        if kind == "word":
            kind = _kind_of(match.group(), text, match.start())
        parts.append(f'<span class="{kind}">{escape(match.group())}</span>' if kind else escape(match.group()))
        last = match.end()
    return "".join([*parts, escape(text[last:])])


def _kind_of(word: str, text: str, start: int) -> str:
    opens_line = not text[text.rfind("\n", 0, start) + 1 : start].strip()
    if word in VERBS and (opens_line or word in ("minimize", "maximize")):
        return "verb"
    if word in INNER_WORDS:
        return "inner"
    return "measure" if word in MEASURES else ""
