"""A specification and a place in it -> the words that may stand there.

The grammar says which kinds of words fit; the words before the place say which of them make sense: measures in a goal,
columns after `predict`, classes after `is`, options inside `native(...)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from treeml.editor.analysis import Analysis
from treeml.editor.data_facts import ColumnFacts
from treeml.lang.arguments import signature
from treeml.lang.backend_options import backend_names
from treeml.lang.diagnostic import SpecError
from treeml.lang.measures import MEASURES
from treeml.lang.methods import FAMILIES
from treeml.lang.node_builder import Word
from treeml.lang.parse import ExpectedWords, expected_at
from treeml.lang.words import INNER_WORDS, TYPES, USAGE, VERBS, spell_name, spell_string

if TYPE_CHECKING:
    from treeml.backends.contract import Option

_PREFIX = re.compile(r"(?<![\w`])[\w`]*$")  # tried once per word, since long lines have many letters
_QUOTED_PREFIX = re.compile(r'"[^"\n]*$')
_METHODS = {"binarize": "BY", "ensemble": "BY", "improve": "BY", "validate": "BY", "start": "FROM", "report": "REPORT"}
MODIFIERS = ("sensitive", "missing drop", "missing median", "missing separate")
TABLES = (".csv", ".parquet", ".pq", ".tsv", ".txt", ".data", ".libsvm")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One word, and how it is inserted."""

    label: str
    kind: str  # keyword, measure, param, column, value, backend, option, method, type or file
    detail: str = ""
    insert: str = ""  # if it differs from the label


@dataclass(frozen=True, slots=True)
class Completions:
    """What fits, and the offset from which the text is replaced."""

    start: int
    suggestions: tuple[Suggestion, ...]


def complete(analysis: Analysis, offset: int) -> Completions:
    """All words that fit at the offset; the beginning of a word before it is replaced."""
    text = analysis.source.text
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    if "#" in re.sub(r'"[^"]*"|`[^`]*`', "", line):
        return Completions(offset, ())
    quoted = _QUOTED_PREFIX.search(line) if line.count('"') % 2 else None
    prefix = quoted or _PREFIX.search(line)
    start = offset - (len(prefix[0]) if prefix is not None else 0)
    expected = expected_at(analysis.source, start)
    found = dict.fromkeys(_suggestions(analysis, expected))
    return Completions(start, tuple(each for each in found if quoted is None or each.kind in ("value", "file")))


def _suggestions(analysis: Analysis, expected: ExpectedWords) -> Iterator[Suggestion]:
    words = expected.words
    verb = words[0].text if words else ""
    if expected.parentheses:
        yield from _arguments(analysis, expected)
    elif "STRING" in expected.terminals and verb in ("data", "validate", "include", "start"):
        yield from _files(analysis.folder, (".tml",) if verb == "include" else TABLES)
    if not expected.parentheses:
        yield from _names(analysis, verb, words, expected.terminals)
    if not expected.parentheses or "GIVEN" in expected.terminals:
        for terminal in sorted(expected.terminals):
            word = terminal.lower()
            if word in VERBS or word in INNER_WORDS:
                yield Suggestion(word, "keyword", USAGE.get(word, ""))


def _names(analysis: Analysis, verb: str, words: Sequence[Word], terminals: frozenset[str]) -> Iterator[Suggestion]:
    last = words[-1].type if words else ""
    if "NAME" not in terminals and "QUOTED" not in terminals:
        return
    if verb == "column" and any(word.type == "COLON" for word in words):
        types = [word for word in words if word.type in ("COLON", "COMMA")]
        allowed = (*TYPES, *MODIFIERS) if types[-1].type == "COLON" else MODIFIERS
        yield from (Suggestion(each, "type") for each in allowed)
    elif verb == "set":
        yield from _params(analysis)
    elif last == "WITH" or (verb == "solve" and last == "COMMA"):
        yield from (Suggestion(name, "backend", "back-end") for name in backend_names())
    elif verb in _METHODS and (last == _METHODS[verb] or (verb == "report" and last == "COMMA")):
        yield from _methods(verb)
    elif last == "IS" or _is_label(words):
        yield from _classes(analysis)
    elif "QUOTED" in terminals and terminals <= {"NAME", "QUOTED", "ALL"}:
        yield from _columns(analysis)
    elif verb in ("minimize", "maximize", "require", "then"):
        yield from _measures(analysis, verb)
        yield from _params(analysis)
    elif verb != "param":
        yield from _params(analysis)


def _is_label(words: Sequence[Word]) -> bool:
    """Does a class follow: `weight class`, `cost predict`, `cost predict "a" when`?"""
    kinds = [word.type for word in words]
    return bool(kinds) and (kinds[-2:] in (["WEIGHT", "CLASS"], ["COST", "PREDICT"]) or kinds[-1] == "WHEN")


def _arguments(analysis: Analysis, expected: ExpectedWords) -> Iterator[Suggestion]:
    """What fits inside the innermost call: options of a back-end or a method, or arguments of a measure."""
    words = list(expected.words)
    opening = expected.parentheses[-1]
    place = next(number for number, word in enumerate(words) if word.span.start == opening.span.start)
    called = words[place - 1].text if place else ""
    inside = words[place + 1 :]
    before = inside[-1] if inside else opening
    verb = words[0].text
    if verb == "solve":
        yield from _options(called, inside)
    elif verb in FAMILIES and called in FAMILIES[verb].methods:
        rules = FAMILIES[verb].methods[called]
        if before.type == "EQUAL":
            rule = next((rule for rule in rules if rule.name == inside[-2].text), None)
            yield from (Suggestion(choice, "value") for choice in (rule.choices if rule is not None else ()))
        else:
            yield from (Suggestion(rule.name, "option", rule.what, f"{rule.name} = ") for rule in rules)
    elif called in MEASURES:
        yield from _measure_arguments(analysis, called, inside)


def _options(backend: str, inside: Sequence[Word]) -> Iterator[Suggestion]:
    options = backend_options(backend)
    if inside and inside[-1].type == "EQUAL":
        option = options.get(inside[-2].text)
        if option is not None:
            choices = ("true", "false") if option.type is bool else option.choices
            yield from (Suggestion(choice, "value", f"{backend}: {inside[-2].text}") for choice in choices)
        return
    yield from (Suggestion(name, "option", option.summary, f"{name} = ") for name, option in options.items())
    if backend == "race":
        yield from (Suggestion(name, "backend", "back-end") for name in backend_names() if name != "race")


@cache
def backend_options(name: str) -> Mapping[str, Option]:
    """The options of a back-end, with what each means; none if there is no such back-end."""
    from treeml.backends.registry import get  # imported here: start-up time

    try:
        return dict(get(name).options)
    except SpecError:
        return {}


def warm_up() -> None:
    """Load the options of all back-ends, so that no answer has to wait for it."""
    for name in backend_names():
        backend_options(name)


def _measure_arguments(analysis: Analysis, called: str, inside: Sequence[Word]) -> Iterator[Suggestion]:
    parameters = MEASURES[called].parameters
    kinds = {parameter.kind for parameter in parameters}
    last = inside[-1] if inside else None
    if "conditions" in kinds:
        if last is not None and last.type in ("EQUAL", "COMPARE"):
            subject = inside[-2].text.strip("`")
            yield from _classes(analysis) if subject in ("predicted", "actual") else _levels(analysis, subject)
            return
        yield from (Suggestion(word, "keyword", insert=f"{word} = ") for word in ("predicted", "actual"))
        yield from _columns(analysis)
        return
    place = sum(word.type == "COMMA" for word in inside)
    parameter = parameters[min(place, len(parameters) - 1)] if parameters else None
    if parameter is None:
        return
    if parameter.kind == "class":
        yield from _classes(analysis)
    elif parameter.kind in ("column", "columns"):
        yield from _columns(analysis)
    for each in parameters:
        yield from (Suggestion(choice, "value", each.name) for choice in each.choices)


def _measures(analysis: Analysis, verb: str) -> Iterator[Suggestion]:
    positive = next((str(each) for each in _positive(analysis)), "")
    for name, measure in MEASURES.items():
        if verb in ("minimize", "maximize") and measure.goal not in (verb, ""):
            continue
        insert = signature(measure, positive) if measure.parameters else name
        yield Suggestion(name, "measure", measure.summary, insert)


def _positive(analysis: Analysis) -> Iterator[str]:
    from treeml.lang.check import positive_class

    found = positive_class(analysis.everything)
    if found:
        yield found


def _params(analysis: Analysis) -> Iterator[Suggestion]:
    for name, node in analysis.params.items():
        yield Suggestion(name, "param", "" if node.span is None else " ".join(node.span.text.split()))


def _methods(verb: str) -> Iterator[Suggestion]:
    for name, rules in FAMILIES[verb].methods.items():
        needed = [rule.example for rule in rules if rule.required]
        insert = f"{name}({', '.join(needed)})" if needed else name
        yield Suggestion(name, "method", f"{FAMILIES[verb].noun}", insert)


def _columns(analysis: Analysis) -> Iterator[Suggestion]:
    facts = analysis.data
    for column in () if facts is None else facts.columns.values():
        yield Suggestion(column.name, "column", f"{column.type}: {column.summary}", spell_name(column.name, VERBS))


def _classes(analysis: Analysis) -> Iterator[Suggestion]:
    if analysis.target is not None:
        yield from _levels(analysis, analysis.target)


def _levels(analysis: Analysis, name: str) -> Iterator[Suggestion]:
    facts = analysis.data
    column: ColumnFacts | None = None if facts is None else facts.columns.get(name)
    for level in () if column is None else column.levels:
        yield Suggestion(spell_string(level), "value", f"{name}")


def _files(folder: Path, endings: tuple[str, ...]) -> Iterator[Suggestion]:
    try:
        names = sorted(path.name for path in folder.iterdir() if path.suffix in endings)
    except OSError:
        return
    yield from (Suggestion(spell_string(name), "file") for name in names[:200])
