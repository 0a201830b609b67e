"""Text -> syntax tree, or every mistake of the text at once.

The grammar is LALR and keywords are recognized by context, so that a column may be called `class` or `depth`. When a
statement does not parse, `syntax_mistakes.py` explains that statement alone, and the parser goes on at the next line
that begins with a verb.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from treeml.lang.diagnostic import Diagnostic, Label, SpecError
from treeml.lang.nesting import MAXIMUM_DEPTH, deepest
from treeml.lang.node_builder import Flawed, Word
from treeml.lang.parser_table import parser
from treeml.lang.source import Source, Span
from treeml.lang.syntax import Statement, Version
from treeml.lang.syntax_mistakes import (
    Failure,
    bad_escape,
    explain,
    next_statement,
    too_deep,
    too_long,
    too_many_digits,
)
from treeml.lang.words import VERBS, bad_escapes, read_number

if TYPE_CHECKING:
    from lark.lexer import Token

MAXIMUM_MISTAKES = 50
MAXIMUM_LENGTH = 1_000_000  # characters of a file
MAXIMUM_OPERATORS = 2_000  # in one statement

_OPERATORS = frozenset({"PLUS", "MINUS", "STAR", "SLASH"})
_VERB_TERMINALS = frozenset(verb.upper() for verb in VERBS)


def parse(source: Source) -> list[Statement]:
    """The statements of a file in the order they were written; SpecError with every mistake if there is one."""
    parsed = parse_all(source)
    if parsed.diagnostics:
        raise SpecError(parsed.diagnostics)
    return parsed.statements


def parse_clause(source: Source, *opening: str) -> list[Statement]:
    """The statement that starts with the keywords in `opening` and ends with the text: `60s` after `solve within`."""
    parsed = Parsed()
    here = Span(source, 0, 0)
    words = tuple(Word(keyword.upper(), keyword, here) for keyword in opening)
    failure = _read(source, 0, len(source.text), parsed, words)
    if failure is not None:
        parsed.diagnostics.append(explain(failure))
    if parsed.diagnostics:
        raise SpecError(parsed.diagnostics)
    return parsed.statements


@dataclass(frozen=True, slots=True)
class Parsed:
    """The statements that could be parsed, and the mistakes in the others."""

    statements: list[Statement] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def parse_all(source: Source) -> Parsed:
    """All statements of a file that can be parsed, so that they can be checked despite mistakes in others."""
    parsed = Parsed()
    unreadable = _not_a_specification(source)
    if unreadable is not None:
        return Parsed([], [unreadable])
    position = 0
    while True:
        failure = _read(source, position, len(source.text), parsed)
        if failure is None:
            break
        position = _recover(source, failure, parsed)
        if len(parsed.diagnostics) >= MAXIMUM_MISTAKES:
            break
    parsed.diagnostics.extend(_misplaced_versions(parsed.statements))
    parsed.diagnostics.sort(key=_place)
    if len(parsed.diagnostics) >= MAXIMUM_MISTAKES:
        del parsed.diagnostics[MAXIMUM_MISTAKES:]
        parsed.diagnostics.append(_too_many(source))
    return parsed


def tokens(source: Source) -> Iterator[tuple[Word, bool]]:
    """The tokens of a text without syntax errors, each with whether it begins a statement; for the formatter."""
    return iter(_Run(source, 0, len(source.text)))


@dataclass(frozen=True, slots=True)
class ExpectedWords:
    """What may stand at a place of the text: terminals, after the words of the statement so far."""

    terminals: frozenset[str]
    words: tuple[Word, ...]  # of the statement, from its verb
    parentheses: tuple[Word, ...]  # that are open


def expected_at(source: Source, offset: int) -> ExpectedWords:
    """What the grammar allows at an offset, whatever follows; statements before it that do not parse are skipped."""
    position = 0
    while True:
        run = _Run(source, position, offset, closes=False)
        words: list[Word] = []
        for word, opens in run:
            words = [word] if opens else [*words, word]
        failure = run.failure
        if failure is None:
            return ExpectedWords(frozenset(run.parser.accepts()), tuple(words), tuple(run.parentheses))
        position = max(next_statement(source, max(failure.opened, failure.offset)), failure.offset + 1)
        if position >= offset:
            same_line = "\n" not in source.text[failure.offset : offset]
            return ExpectedWords(failure.accepted if same_line else _VERB_TERMINALS, (), ())


class _Run:
    """One run of the parser over a part of the text; iterating yields its tokens, each parsed before the next is read.

    After the last token, `failure` says where and why the run stopped, or is None; `result` holds the statements.
    """

    def __init__(
        self, source: Source, start: int, end: int, opening: tuple[Word, ...] = (), closes: bool = True
    ) -> None:
        from lark.utils import TextSlice

        self.source, self.start, self.end, self.opening, self.closes = source, start, end, opening, closes
        # Lark counts lines from the beginning of what it is given; we count our own and only use offsets.
        self.parser: Any = parser().parse_interactive(TextSlice(source.text, start, end))
        self.failure: Failure | None = None
        self.result: list[Statement | Flawed] = []

    def __iter__(self) -> Iterator[tuple[Word, bool]]:
        """Every token, and whether it opens a statement."""
        from lark.exceptions import UnexpectedCharacters, UnexpectedToken

        self.opened = self.start
        self.previous: Word | None = None
        self.parentheses: list[Word] = []
        for word in self.opening:
            self.parser.feed_token(cast("Token", word))
            self.previous = word
        try:
            for token in self.parser.lexer_thread.lex(self.parser.parser_state):
                offset = cast(int, token.start_pos)
                word = Word(token.type, str(token), Span(self.source, offset, offset + len(token)))
                opens = word.type in _VERB_TERMINALS and (
                    self.previous is None or self.previous.type not in ("COST", "GAIN", "THEN", "BY")
                )
                self.parser.feed_token(cast("Token", word))
                if opens:
                    self.opened = offset
                    self.parentheses = []
                elif word.type == "LEFT_PARENTHESIS":
                    self.parentheses.append(word)
                elif word.type == "RIGHT_PARENTHESIS" and self.parentheses:
                    self.parentheses.pop()
                yield word, opens
                self.previous = word
            if self.closes:
                self.result = self.parser.feed_eof()
        except UnexpectedToken as error:
            self._fail(_start(error.token, self.end))
        except UnexpectedCharacters as error:
            self._fail(cast(int, error.pos_in_stream))

    def stop(self, offset: int, because: Diagnostic) -> None:
        self._fail(offset, because)

    def _fail(self, offset: int, because: Diagnostic | None = None) -> None:
        self.failure = Failure(
            self.source,
            offset,
            self.opened,
            self.end,
            frozenset(self.parser.accepts()),
            self.previous,
            tuple(self.parentheses),
            because,
        )
        for value in self.parser.parser_state.value_stack:
            children = getattr(value, "children", (value,))
            self.result.extend(child for child in children if isinstance(child, Flawed | Statement))


def _start(token: Token | Word, end: int) -> int:
    """The offset of an unexpected token: one of ours, one of the lexer, or the end of the text."""
    if isinstance(token, Word):
        return token.span.start
    return end if token.type == "$END" or token.start_pos is None else token.start_pos


def _read(source: Source, start: int, end: int, parsed: Parsed, opening: tuple[Word, ...] = ()) -> Failure | None:
    """Read statements until one fails; the good ones, and what is wrong inside them, go to `parsed`."""
    run = _Run(source, start, end, opening)
    operators = 0
    for word, opens in run:
        operators = 0 if opens else operators + (word.type in _OPERATORS)
        if word.type == "NUMBER" and read_number(word.text) is None:
            parsed.diagnostics.append(too_many_digits(word))
        elif word.type in ("STRING", "QUOTED"):
            parsed.diagnostics.extend(bad_escape(word, match) for match in bad_escapes(word.text))
        elif word.type == "LEFT_PARENTHESIS" and len(run.parentheses) > MAXIMUM_DEPTH:
            run.stop(word.span.start, too_deep(word.span))
            break
        elif operators > MAXIMUM_OPERATORS:
            run.stop(word.span.start, too_long(word.span, MAXIMUM_OPERATORS))
            break
    for statement in run.result:
        if isinstance(statement, Flawed):
            parsed.diagnostics.append(statement.diagnostic)
        elif (span := _too_deep_at(statement)) is not None:
            parsed.diagnostics.append(too_deep(span))
        else:
            parsed.statements.append(statement)
    return run.failure


def _too_deep_at(statement: Statement) -> Span | None:
    span = statement.span
    if span is None or span.end - span.start <= MAXIMUM_DEPTH:  # every level takes at least a character
        return None
    depth, lowest = deepest(statement)
    return getattr(lowest, "span", None) or span if depth > MAXIMUM_DEPTH else None


def _recover(source: Source, failure: Failure, parsed: Parsed) -> int:
    """Explain a failed statement; return where the next one begins."""
    end = next_statement(source, failure.opened)
    if failure.because is None and end <= failure.offset and end > failure.opened:
        # The parser failed in the next statement: the mistake is at the end of the one before.
        run = _Run(source, failure.opened, end)
        for _ in run:
            pass
        if run.failure is not None:
            explained = explain(run.failure)
            parsed.diagnostics.append(explained)
            return _after_line(explained, source) or end
        parsed.statements.extend(child for child in run.result if not isinstance(child, Flawed))
    explained = explain(failure)
    parsed.diagnostics.append(explained)
    return _after_line(explained, source) or next_statement(source, max(failure.opened, failure.offset))


def _after_line(explained: Diagnostic, source: Source) -> int | None:
    """Where the text goes on after a line in the words of another tool, which is understood as a whole."""
    if explained.code != "S120":
        return None
    rest = source.text.find("\n", explained.labels[0].span.end)
    return len(source.text) if rest < 0 else rest


def _not_a_specification(source: Source) -> Diagnostic | None:
    if len(source.text) > MAXIMUM_LENGTH:
        return Diagnostic(
            "S119",
            f"a file of {len(source.text):,} characters is too long for a specification",
            notes=(f"the limit is {MAXIMUM_LENGTH:,} characters",),
            helps=('name the file of the rows with `data "rows.csv"`',),
            place=source.name,
        )
    nul = source.text.find("\0")
    if nul >= 0:
        return Diagnostic(
            "S103",
            "this is not a text file",
            (Label(Span(source, nul, nul + 1), "a NUL byte"),),
            helps=("save the specification as plain text in UTF-8",),
        )
    return None


def _misplaced_versions(statements: list[Statement]) -> list[Diagnostic]:
    spans = [(index, node.span) for index, node in enumerate(statements) if isinstance(node, Version) and node.span]
    return [
        Diagnostic(
            "S116",
            "the version is not the first statement",
            (Label(span, "belongs at the top of the file"),),
            helps=("make `treeml 1` the first line, once, or leave it out",),
        )
        for index, span in spans
        if index > 0 and any(other.span and other.span.start < span.start for other in statements)
    ]


def _too_many(source: Source) -> Diagnostic:
    return Diagnostic(
        "S100",
        f"more than {MAXIMUM_MISTAKES - 1} mistakes; the rest of the file was not read",
        helps=("correct the first ones and check again",),
        place=source.name,
    )


def _place(diagnostic: Diagnostic) -> int:
    return diagnostic.labels[0].span.start if diagnostic.labels else 0
