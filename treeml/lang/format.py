"""Source text -> the same statements in canonical layout, every comment kept; and statements -> canonical text.

The layout works on the tokens as the user wrote them, so it keeps spellings (`2_000_000`, needless backquotes), the
order of statements, the breaks inside a long one, and blank lines between groups; it only decides about spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from treeml.lang.parse import parse, tokens
from treeml.lang.source import Source
from treeml.lang.syntax import (
    Binarize,
    ColumnCost,
    ColumnRule,
    Data,
    Ensemble,
    Features,
    Forbid,
    Improve,
    Include,
    LeafModels,
    ListTrees,
    MistakeCost,
    Objective,
    Param,
    Predict,
    Report,
    Require,
    RowCost,
    Satisfy,
    Set,
    Solve,
    Start,
    Statement,
    Validate,
    Version,
    WeightBy,
    WeightClass,
)
from treeml.lang.write import write

INDENT = "    "

_ORDER: tuple[type, ...] = (
    *(
        Version,
        Include,
        Param,
        Set,
        Data,
        Predict,
        Features,
        ColumnRule,
        WeightBy,
        WeightClass,
        MistakeCost,
        RowCost,
        ColumnCost,
    ),
    *(
        Binarize,
        Objective,
        Satisfy,
        Require,
        Forbid,
        LeafModels,
        Ensemble,
        Start,
        Improve,
        ListTrees,
        Validate,
        Solve,
        Report,
    ),
)


def format_source(source: Source) -> str:
    """The file in canonical layout; SpecError when it does not parse."""
    parse(source)
    lines = _Lines()
    for item in _items(source):
        lines.add(item)
    return lines.text()


def format_statements(statements: Iterable[Statement]) -> str:
    """Canonical text: kinds in a fixed order and equal kinds by their text, so that equal models print alike."""
    ranked = sorted((_ORDER.index(type(statement)), write(statement)) for statement in statements)
    return "".join(f"{text}\n" for _, text in ranked)


@dataclass(frozen=True, slots=True)
class _Item:
    """A token or a comment, and how it is separated from the previous one."""

    text: str
    kind: str  # the terminal, or COMMENT
    breaks: int  # line breaks before it
    opens: bool = False  # begins a statement


def _items(source: Source) -> Iterator[_Item]:
    end = 0
    for word, opens in tokens(source):
        comments, breaks = _comments(source.text[end : word.span.start])
        yield from comments
        yield _Item(word.text, word.type, breaks, opens)
        end = word.span.end
    comments, _ = _comments(source.text[end:])
    yield from comments


def _comments(gap: str) -> tuple[list[_Item], int]:
    """The comments between two tokens, and the line breaks after the last of them."""
    comments, breaks = [], 0
    for match in re.finditer(r"#[^\n]*|\n", gap):
        if match[0] == "\n":
            breaks += 1
        else:
            comments.append(_Item(match[0].rstrip(), "COMMENT", breaks))
            breaks = 0
    return comments, breaks


@dataclass(slots=True)
class _Lines:
    """The lines of the result as they grow."""

    done: list[str] = field(default_factory=list)
    line: str = ""
    verb: str = ""  # of the statement
    last: _Item | None = None  # the last token
    after_sign: bool = False  # the last token is a unary minus
    after_comment: bool = False
    waiting: list[_Item] = field(default_factory=list)  # comment lines whose indent depends on the next token

    def add(self, item: _Item) -> None:
        if item.kind == "COMMENT":
            self._add_comment(item)
            return
        indent = "" if item.opens or item.kind == "THEN" else INDENT
        self._place_waiting(indent)
        if item.opens or item.breaks > 0 or self.after_comment:
            self._break(blank=item.opens and item.breaks > 1)
            self.line = indent + item.text
        else:
            self.line += self._space(item) + item.text
        if item.opens:
            self.verb = item.kind
        self.after_sign = item.kind == "MINUS" and (self.last is None or self.last.kind not in _OPERANDS)
        self.after_comment = False
        self.last = item

    def text(self) -> str:
        self._place_waiting("")
        self._break(blank=False)
        return "".join(f"{line}\n" for line in self.done)

    def _add_comment(self, item: _Item) -> None:
        if item.breaks == 0 and self.line:
            self.line += f"  {item.text}"
            self.after_comment = True
        else:
            self.waiting.append(item)

    def _place_waiting(self, indent: str) -> None:
        for comment in self.waiting:
            self._break(blank=comment.breaks > 1 and not indent)
            self.line = indent + comment.text
            self.after_comment = True
        self.waiting = []

    def _break(self, blank: bool) -> None:
        if self.line:
            self.done.append(self.line)
        if blank and self.done:
            self.done.append("")
        self.line = ""

    def _space(self, item: _Item) -> str:
        last = self.last
        if last is None or self.after_sign or last.kind in ("LEFT_PARENTHESIS", "LEFT_BRACE"):
            return ""
        if item.kind in ("COMMA", "RIGHT_PARENTHESIS", "RIGHT_BRACE") or item.text == "%":
            return ""
        if item.kind == "LEFT_PARENTHESIS" and last.kind == "NAME":
            return ""
        return "" if item.kind == "COLON" and self.verb == "REQUIRE" else " "


_OPERANDS = ("NAME", "QUOTED", "STRING", "NUMBER", "UNIT", "RIGHT_PARENTHESIS")
