"""Spec -> every column that it names, and where.

A message about the data points at the user's own word; a spec keeps the places of statements and measures, and here
they are narrowed to the name within.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from treeml.lang.measures import MEASURES
from treeml.lang.source import Span
from treeml.lang.spec import Condition, Spec, Use


@dataclass(frozen=True, slots=True)
class Mention:
    """One column named in a spec. `role` is what for: target, group, weight, feature, condition, cluster or other."""

    column: str
    role: str
    span: Span | None


def mentions(spec: Spec) -> Iterator[Mention]:
    """Every mention of a column, in no particular order."""
    if spec.target is not None:
        yield Mention(spec.target, "target", place(spec, "predict", spec.target))
    for name in spec.features or ():
        yield Mention(name, "feature", place(spec, "features", name))
    for name in spec.excluded:
        yield Mention(name, "other", place(spec, "except", name))
    for name, declared in spec.columns.items():
        yield Mention(name, "other", narrowed(declared.span, name))
    if spec.weight_column is not None:
        yield Mention(spec.weight_column, "weight", place(spec, "weight", spec.weight_column))
    for name in spec.test_costs:
        yield Mention(name, "other", place(spec, "test cost", name))
    for rule in spec.binarizations:
        if rule.column:
            yield Mention(
                rule.column, "other", place(spec, "binarize", rule.column) or narrowed(rule.span, rule.column)
            )
    for name in spec.forbidden:
        yield Mention(name, "other", place(spec, "forbid", name))
    for use in uses(spec):
        yield from _in_measure(use)


def uses(spec: Spec) -> Iterator[Use]:
    """Every measure with its arguments, of the goals and then of the requirements."""
    for goal in spec.goals:
        for _, use in goal.expression.parts:
            yield use
    for requirement in spec.requirements:
        for _, use in requirement.expression.parts:
            yield use


def conditions(use: Use) -> Iterator[Condition]:
    """The conditions in a `count` or a `rate`."""
    for argument in use.arguments:
        if isinstance(argument, tuple):
            for each in argument:
                if isinstance(each, Condition):
                    yield each


def place(spec: Spec, statement: str, name: str) -> Span | None:
    """Where a statement names something: the name itself if it can be found there."""
    for key in (f"{statement}:{name}", statement):
        if key in spec.spans:
            return narrowed(spec.spans[key], name)
    return None


def narrowed(span: Span | None, name: str) -> Span | None:
    """The place of a name within a stretch of text; all of it where the name is not to be seen."""
    if span is None:
        return None
    found = _found(span.text, name)
    return span if found is None else Span(span.source, span.start + found[0], span.start + found[1])


@lru_cache(maxsize=256)  # the same few words of a spec are looked for at every solve
def _found(text: str, name: str) -> tuple[int, int] | None:
    escaped = re.escape(name)
    found = re.search(rf'`{escaped}`|"{escaped}"|(?<![\w`"]){escaped}(?![\w`"])', text)
    return None if found is None else found.span()


def _in_measure(use: Use) -> Iterator[Mention]:
    for parameter, argument in zip(MEASURES[use.measure].parameters, use.arguments, strict=False):
        if parameter.kind == "column":
            role = "group" if MEASURES[use.measure].fairness else "other"
            yield Mention(argument, role, narrowed(use.span, argument))
        elif parameter.kind == "columns":
            for name in (argument,) if isinstance(argument, str) else argument:
                yield Mention(name, "cluster", narrowed(use.span, name))
    for condition in conditions(use):
        if condition.is_column:
            yield Mention(condition.subject, "condition", narrowed(condition.span or use.span, condition.subject))
