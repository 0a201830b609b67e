"""Reductions of the parser -> nodes of the syntax tree.

One method per rule of the grammar, named after it. The children are all tokens and nodes of the rule in order, each
with a span, so the span of a node is that of its first child through its last.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from treeml.lang.diagnostic import Diagnostic, Fix, Label
from treeml.lang.source import Span
from treeml.lang.suggest import suggest
from treeml.lang.syntax import (
    Argument,
    Binarize,
    Binary,
    Call,
    Choices,
    ColumnCost,
    ColumnRule,
    Data,
    Ensemble,
    Expression,
    Features,
    Forbid,
    GoalPart,
    Improve,
    Include,
    LeafModels,
    ListTrees,
    MistakeCost,
    Modifier,
    Name,
    Negate,
    Number,
    Objective,
    Param,
    Predict,
    Range,
    Relation,
    Report,
    Require,
    RowCost,
    Satisfy,
    Set,
    Solve,
    Start,
    String,
    Validate,
    Version,
    WeightBy,
    WeightClass,
)
from treeml.lang.words import MODIFIERS, TYPES, read_number, read_quoted, read_unit


@dataclass(frozen=True, slots=True)
class Word:
    """A token: its terminal, its text and its place."""

    type: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Flawed:
    """Replaces a statement that is well formed but says something impossible."""

    diagnostic: Diagnostic
    span: Span


@dataclass(frozen=True, slots=True)
class Limit:
    word: Word
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Several:
    """The items of a list, without its commas."""

    items: tuple[Any, ...]
    span: Span


Children = list[Any]


class Builder:
    """The methods that the parser calls, one for each grammar rule."""

    def start(self, children: Children) -> Children:
        return children

    # reuse

    def version(self, children: Children) -> Version | Flawed:
        _, number = children
        span = _span(children)
        if number.text == "1":
            return Version(1, span=span)
        return Flawed(
            Diagnostic(
                "S115",
                f"there is no version {number.text} of the language",
                (Label(number.span, "the only version is 1"),),
                helps=("write `treeml 1`, or leave the line out",),
            ),
            span,
        )

    def include(self, children: Children) -> Include:
        return Include(read_quoted(children[1].text), span=_span(children))

    def param(self, children: Children) -> Param | Flawed:
        name = children[1]
        parts = _after_words(children)
        kind: Word | None = parts.get("COLON")
        if kind is not None and kind.text not in TYPES:
            return _unknown_type(kind.text, kind.span, _span(children))
        return Param(
            name.text,
            parts.get("EQUAL"),
            parts.get("IN"),
            kind.text if kind is not None else "",
            span=_span(children),
            name_span=name.span,
        )

    def set(self, children: Children) -> Set:
        _, name, _, value = children
        return Set(name.text, value, span=_span(children), name_span=name.span)

    def range(self, children: Children) -> Range:
        return Range(children[0], children[2], span=_span(children))

    def choices(self, children: Children) -> Choices:
        return Choices(_items(children), span=_span(children))

    # data

    def data(self, children: Children) -> Data:
        return Data(read_quoted(children[1].text), span=_span(children))

    def predict(self, children: Children) -> Predict:
        words = _after_words(children)
        return Predict(children[1], words.get("IS"), words.get("OBSERVED"), span=_span(children))

    def features(self, children: Children) -> Features:
        named = children[1]
        excluded = _after_words(children).get("EXCEPT")
        return Features(
            named.items if isinstance(named, Several) else (),
            excluded.items if excluded is not None else (),
            span=_span(children),
        )

    def column(self, children: Children) -> ColumnRule | Flawed:
        first, names, span = children[3], children[1].items, _span(children)
        if first.name in TYPES and not first.value:
            return ColumnRule(names, first.name, _items(children[4:]), span=span)
        if first.name in MODIFIERS:  # the type is inferred
            return ColumnRule(names, "", _items(children[3:]), span=span)
        return _unknown_type(first.name, first.span, span, MODIFIERS)

    def modifier(self, children: Children) -> Modifier:
        value = children[1].text if len(children) > 1 else ""
        return Modifier(children[0].text, value, span=_span(children))

    def weight_by(self, children: Children) -> WeightBy:
        return WeightBy(children[2], span=_span(children))

    def weight_class(self, children: Children) -> WeightClass:
        return WeightClass(children[2], children[4], span=_span(children))

    def mistake_cost(self, children: Children) -> MistakeCost:
        return MistakeCost(children[2], children[4], children[6], span=_span(children))

    def row_cost(self, children: Children) -> RowCost:
        return RowCost(children[2], children[5], children[0].type == "GAIN", span=_span(children))

    def test_cost(self, children: Children) -> ColumnCost:
        words = _after_words(children)
        return ColumnCost(
            children[2].items, children[-1], "TOGETHER" in words, words.get("AFTER"), span=_span(children)
        )

    def binarize(self, children: Children) -> Binarize:
        _, named, word, how = children
        columns = named.items if isinstance(named, Several) else ()
        if word.type == "BY":
            return Binarize(columns, how, span=_span(children))
        return Binarize(columns, None, how.items, span=_span(children))

    def cuts(self, children: Children) -> Several:
        return Several(_items(children), _span(children))

    # goals and requirements

    def objective(self, children: Children) -> Objective:
        return Objective(_items(children), span=_span(children))

    def goal(self, children: Children) -> GoalPart:
        return GoalPart(children[0].text, children[1], span=_span(children))

    def satisfy(self, children: Children) -> Satisfy:
        return Satisfy(span=_span(children))

    def require(self, children: Children) -> Require:
        name = children[1].text if len(children) == 4 else ""
        return Require(children[-1], name, span=_span(children))

    def forbid(self, children: Children) -> Forbid:
        return Forbid(children[3].items, span=_span(children))

    def leaf_model(self, children: Children) -> LeafModels:
        return LeafModels(children[1], span=_span(children))

    # one tree, many trees, better trees

    def ensemble(self, children: Children) -> Ensemble:
        trees = next((child for child in children[1:-1] if not isinstance(child, Word)), None)
        return Ensemble(children[-1], trees, span=_span(children))

    def begin(self, children: Children) -> Start:
        return Start(children[2], span=_span(children))

    def improve(self, children: Children) -> Improve:
        return Improve(children[2], _after_words(children).get("WITHIN"), span=_span(children))

    def listing(self, children: Children) -> ListTrees:
        parts = _after_words(children)
        trees = next(place for place, child in enumerate(children) if isinstance(child, Word) and child.type == "TREES")
        most = next((child for child in children[1:trees] if not isinstance(child, Word)), None)
        style: Word | None = parts.get("AS")
        return ListTrees(
            most,
            parts.get("WITHIN"),
            "" if style is None else style.text,
            span=_span(children),
            name_span=None if style is None else style.span,
        )

    # running

    def validate(self, children: Children) -> Validate:
        return Validate(children[2], span=_span(children))

    def solve(self, children: Children) -> Solve | Flawed:
        backends: tuple[Call | Name, ...] = ()
        limits: dict[str, Limit] = {}
        for child in children:
            if isinstance(child, Several):
                backends = child.items
            elif isinstance(child, Limit):
                first = limits.setdefault(child.word.text, child)
                if first is not child:
                    return _said_twice(first, child, _span(children))
        values = {word: limit.value for word, limit in limits.items()}
        return Solve(backends, **values, span=_span(children))

    def methods(self, children: Children) -> Several:
        return Several(_items(children), _span(children))

    def limit(self, children: Children) -> Limit:
        return Limit(children[0], children[1], _span(children))

    def report(self, children: Children) -> Report:
        return Report(children[1].items, span=_span(children))

    # expressions

    def comparison(self, children: Children) -> Relation:
        operators = children[1::2]
        return Relation(
            tuple(children[::2]),
            tuple(word.text for word in operators),
            span=_span(children),
            operator_spans=tuple(word.span for word in operators),
        )

    def binary(self, children: Children) -> Binary:
        left, operator, right = children
        return Binary(operator.text, left, right, span=_span(children))

    def negate(self, children: Children) -> Negate:
        return Negate(children[1], span=_span(children))

    def group(self, children: Children) -> Expression:
        inner: Expression = children[1]
        return replace(inner, span=_span(children))

    def call(self, children: Children) -> Call:
        name, *rest = children
        arguments, given, *_ = [*(child.items for child in rest if isinstance(child, Several)), (), ()]
        span = _span(children)
        return Call(name.text, arguments, given, span=span, name_span=name.span, own_span=span)

    def arguments(self, children: Children) -> Several:
        return Several(_items(children), _span(children))

    def argument(self, children: Children) -> Argument:
        return as_argument(children[0], _span(children))

    def word(self, children: Children) -> Name:
        return Name(children[0].text, span=_span(children))

    def number(self, children: Children) -> Number:
        # The token loop has already reported a number that cannot be read.
        value = read_number(children[0].text)
        return Number(
            Fraction(0) if value is None else value,
            read_unit(children[1].text) if len(children) > 1 else "",
            span=_span(children),
        )

    def string(self, children: Children) -> String:
        return String(read_quoted(children[0].text), span=_span(children))

    def column_list(self, children: Children) -> Several:
        return Several(_items(children), _span(children))

    def column_name(self, children: Children) -> Name:
        word = children[0]
        if word.type == "QUOTED":
            return Name(read_quoted(word.text), quoted=True, span=word.span)
        return Name(word.text, span=word.span)


def as_argument(value: Expression, span: Span | None = None) -> Argument:
    """An argument of a call: `seed = 7` is the value 7 with a name, every other comparison is a condition."""
    if isinstance(value, Relation) and value.operators == ("=",) and isinstance(value.operands[0], Name):
        name = value.operands[0]
        return Argument(value.operands[1], name.text, span=span, name_span=name.span)
    return Argument(value, span=span)


def _span(children: Children) -> Span:
    first: Span = children[0].span
    return Span(first.source, first.start, children[-1].span.end)


def _items(children: Children) -> tuple[Any, ...]:
    return tuple(child for child in children if not isinstance(child, Word))


def _after_words(children: Children) -> dict[str, Any]:
    """What follows each token: `is ">50K"` gives {"IS": String(">50K")}."""
    return {child.type: following for child, following in pairwise(children) if isinstance(child, Word)}


def _unknown_type(name: str, place: Span, span: Span, modifiers: tuple[str, ...] = ()) -> Flawed:
    """A word that is no type, nor one of the modifiers that may stand in its place."""
    guess = suggest(name, (*TYPES, *modifiers))
    return Flawed(
        Diagnostic(
            "S117",
            f"no type is called `{name}`",
            (Label(place, f"did you mean `{guess}`?" if guess else "not a type"),),
            notes=("types are " + ", ".join(f"`{each}`" for each in TYPES[:-1]) + f" and `{TYPES[-1]}`",),
            fix=(Fix(place, guess),) if guess else (),
        ),
        span,
    )


def _said_twice(first: Limit, second: Limit, span: Span) -> Flawed:
    return Flawed(
        Diagnostic(
            "S118",
            f"`{first.word.text}` is given twice",
            (Label(first.span, "first here"), Label(second.span, "and again here")),
            helps=("keep one of them",),
        ),
        span,
    )
