"""A line in the words of another tool -> the statements that say the same here.

`borrowed_rules.py` holds the patterns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from treeml.lang.borrowed_rules import RULES

MOST_OF_A_LINE = 300  # characters; matching takes time that grows with their square


@dataclass(frozen=True, slots=True)
class Translation:
    """What a line means here."""

    title: str
    lines: tuple[str, ...]  # statements that replace the line
    note: str = ""
    exact: bool = True  # do the statements mean the same? (otherwise they show how it is written)


def translated(line: str) -> Translation | None:
    """The statements that say what the line says, if it is one that other tools write."""
    if len(line) > MOST_OF_A_LINE or re.search(r"\s{20}", line):  # long runs of blanks make matching slow
        return None
    return _joined_requirements(line) or _conditions_joined_inside(line) or _by_rule(line) or _several_options(line)


def _by_rule(line: str) -> Translation | None:
    for rule in RULES:
        match = rule.pattern.match(line)
        if match is not None:
            parts = {name: " ".join((text or "").split()) for name, text in match.groupdict().items()}
            parts["unit"] = UNIT_WORDS.get(parts.get("u", "")[:3].rstrip("s") or "s", "s")
            lines = tuple(_british(" ".join(text.format(**parts).split())) for text in rule.lines)
            return Translation(rule.title, lines, rule.note, rule.exact)
    return None


UNIT_WORDS = {"ms": "ms", "m": "min", "min": "min", "h": "h", "hr": "h", "hou": "h"}


def _british(text: str) -> str:
    return text.replace("maximise", "maximize").replace("minimise", "minimize")


_JOINT = re.compile(r"(?:(?<!\s)\s+)?(?:,|&&?|\band\b)\s*", re.IGNORECASE)


def _joined_requirements(line: str) -> Translation | None:
    """`require depth <= 3, leaves <= 6` and `require depth <= 3 and leaves <= 6`."""
    verb = re.match(r"require\s+", line)
    parts = _split_outside(line[verb.end() :]) if verb is not None else []
    if len(parts) < 2 or not all(re.search(r"[<>=]|^(?:uses|monotone)\b", part) for part in parts):
        return None
    return Translation("every requirement is a statement of its own", tuple(f"require {part}" for part in parts))


def _split_outside(text: str) -> list[str]:
    """The parts of a text between commas, `and` and `&` that no parenthesis encloses."""
    parts, depth, start = [], 0, 0
    for match in re.finditer(rf"[()]|{_JOINT.pattern}", text, re.IGNORECASE):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if match[0] not in ("(", ")") and depth == 0:
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:].rstrip("; ")]


def _conditions_joined_inside(line: str) -> Translation | None:
    """`count(predicted = "no" and actual = "yes")`: inside a measure, conditions are separated by commas."""
    call = re.search(r"\b(?:count|rate)\s*\(([^()]*)\)", line)
    if call is None or not re.search(r"&|\band\b", call[1], re.IGNORECASE):
        return None
    inside = re.sub(r"(?:(?<!\s)\s+)?(?:&&?|\band\b)\s*", ", ", call[1], flags=re.IGNORECASE)
    written = f"{line[: call.start(1)]}{inside}{line[call.end(1) :]}".replace("==", "=").rstrip("; ")
    return Translation("conditions inside a measure are separated by commas", (written,))


def _several_options(line: str) -> Translation | None:
    """`max_depth=3, min_sup=5`: options of one call."""
    parts = [_by_rule(part.strip()) for part in line.split(",")] if "," in line else []
    if len(parts) < 2 or any(part is None for part in parts):
        return None
    found = [part for part in parts if part is not None]
    lines = tuple(each for part in found for each in part.lines)
    return Translation("every option is a statement of its own", lines, exact=all(part.exact for part in found))


_COLUMN_VERBS = re.compile(
    r"[ \t]*(?:predict|features(?:[ \t]+all[ \t]+except)?|column|forbid[ \t]+split[ \t]+on|weight[ \t]+by"
    r"|cost[ \t]+test|binarize)[ \t]+"
)
# What ends a name after each of these verbs. The colon of `column` is the last of its line: `column sex:M : binary`.
_ENDS = {
    "predict": re.compile(r"\bis\b|#|$"),
    "column": re.compile(r",|:(?=[^:]*$)|#|$"),
    "cost": re.compile(r",|=|\b(?:together|after)\b|#|$"),
    "binarize": re.compile(r",|\b(?:by|at)\b|#|$"),
}
_END = re.compile(r",|\bexcept\b|#|$")
_SPACED = re.compile(r"[^\W\d](?:[\w ()/%.$&'+²³°-]|(?<! )[:=<>](?! ))*[\w)%$²³°]")
MOST_OF_A_NAME = 60


def spaced_names(line: str) -> Iterator[tuple[int, int]]:
    """Where a line names columns, the places of names that need backquotes: `body weight (kg)`, `sex=M`."""
    verb = _COLUMN_VERBS.match(line) if len(line) <= MOST_OF_A_LINE else None
    start = None if verb is None else verb.end()
    ends = _END if verb is None else _ENDS.get(verb[0].split()[0], _END)
    while start is not None and start < len(line):
        end = ends.search(line, start)
        assert end is not None
        item = line[start : end.start()]
        name = item.strip()
        if len(name) <= MOST_OF_A_NAME and _SPACED.fullmatch(name) and not re.fullmatch(r"\w+", name):
            begin = start + len(item) - len(item.lstrip())
            yield begin, begin + len(name)
        start = end.end() if end[0] in (",", "except") else None
