"""grammar/treeml.lark -> the TextMate grammar of the VS Code extension: `python editors/textmate.py` writes it.

Verbs are the words that can open a statement, and all other words of the grammar stand inside statements; the patterns
of numbers, names, texts and comments are those of the terminals. Measures come from their declarations.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from lark import Lark
from lark.lexer import PatternStr

from treeml.lang.measures import BUILT_IN
from treeml.lang.words import TYPES

HERE = Path(__file__).resolve().parent
GRAMMAR = HERE.parent / "grammar" / "treeml.lark"
WRITTEN = HERE / "vscode" / "syntaxes" / "treeml.tmLanguage.json"


def textmate() -> dict[str, Any]:
    """The grammar as VS Code reads it."""
    lark = Lark(GRAMMAR.read_text(encoding="utf-8"), parser="lalr", start="start", maybe_placeholders=False)
    terminals = {terminal.name: terminal.pattern for terminal in lark.terminals}
    words = {
        name: pattern.value
        for name, pattern in terminals.items()
        if isinstance(pattern, PatternStr) and pattern.value.isalpha()
    }
    opening = _first(lark, "statement")
    verbs = sorted(value for name, value in words.items() if name in opening)
    inner = sorted(value for name, value in words.items() if name not in opening)
    regular = {name: pattern.value for name, pattern in terminals.items() if not isinstance(pattern, PatternStr)}
    name = regular["NAME"]
    # A word right after one of these is a name, whatever it is: `predict class`, `param depth = 3`.
    naming = sorted({"predict", "param", "set", "column"} & set(verbs))
    patterns = [
        {"name": "comment.line.number-sign.treeml", "match": regular["COMMENT"]},
        {"name": "string.quoted.double.treeml", "match": regular["STRING"]},
        {"name": "variable.other.column.treeml", "match": regular["QUOTED"]},
        {
            "match": rf"\b({_any(naming)})\s+({name})\b",
            "captures": {"1": {"name": "keyword.control.treeml"}, "2": {"name": "variable.other.treeml"}},
        },
        {"name": "keyword.control.treeml", "match": rf"\b(?:{_any(verbs)})\b"},
        # `leaves` opens a statement only before `linear` and `simple_linear`; elsewhere it is a measure.
        *({"name": "keyword.control.treeml", "match": rf"\b{regular[each]}"} for each in opening if each in regular),
        {
            "match": rf"(:)\s*({_any(sorted(TYPES))})\b",
            "captures": {"1": {"name": "punctuation.treeml"}, "2": {"name": "storage.type.treeml"}},
        },
        {"name": "support.function.measure.treeml", "match": rf"\b(?:{_any(sorted(BUILT_IN))})\b"},
        {"name": "entity.name.function.treeml", "match": rf"{name}(?=\s*\()"},
        {"name": "keyword.other.treeml", "match": rf"\b(?:{_any(inner)})\b"},
        {
            "match": rf"({regular['NUMBER']})\s*({regular['UNIT']})?",
            "captures": {
                "1": {"name": "constant.numeric.treeml"},
                _unit_group(regular): {"name": "keyword.other.unit.treeml"},
            },
        },
        {"name": "keyword.operator.treeml", "match": r"<=|>=|\.\.|[<>=+*/-]"},
        {"name": "variable.other.treeml", "match": name},
    ]  # fmt: skip
    return {
        "name": "TreeML",
        "scopeName": "source.treeml",
        "fileTypes": ["tml"],
        "patterns": patterns,
    }


def _unit_group(regular: dict[str, str]) -> str:
    """The number of the group that holds the unit, after the groups inside the pattern of numbers."""
    return str(2 + re.compile(regular["NUMBER"]).groups)


def _first(lark: Lark, rule: str) -> set[str]:
    """The terminals that a rule can begin with."""
    found: set[str] = set()
    todo, seen = [rule], set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for each in lark.rules:
            if str(each.origin.name) == name and each.expansion:
                first = each.expansion[0]
                if first.is_term:
                    found.add(str(first.name))
                else:
                    todo.append(str(first.name))
    return found


def _any(words: list[str]) -> str:
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


def text() -> str:
    return json.dumps(textmate(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    WRITTEN.write_text(text(), encoding="utf-8")
