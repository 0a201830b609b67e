"""Spec -> every column that it names, and where, so that a message about the data points at the user's own word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from treeml.lang.measures import MEASURES
from treeml.lang.source import Span
from treeml.lang.spec import Condition, Linear, Spec, Use


@dataclass(frozen=True, slots=True)
class Mention:
    """One column named in a spec; its `role` is target, observed, group, weight, feature, condition or other."""

    column: str
    role: str
    span: Span | None


def mentions(spec: Spec) -> Iterator[Mention]:
    """Every mention of a column, in no particular order."""
    if spec.target is not None:
        yield Mention(spec.target, "target", place(spec, "predict", spec.target))
    if spec.observed is not None:
        yield Mention(spec.observed, "observed", place(spec, "observed", spec.observed))
    if spec.linear is not None:
        for name, span in zip(spec.linear.columns, spec.linear.column_spans, strict=True):
            yield Mention(name, "linear", span or spec.linear.span)
    for name in spec.features or ():
        yield Mention(name, "feature", place(spec, "features", name))
    for name in spec.excluded:
        yield Mention(name, "other", place(spec, "except", name))
    for name, declared in spec.columns.items():
        yield Mention(name, "other", declared.span)
    if spec.weight_column is not None:
        yield Mention(spec.weight_column, "weight", place(spec, "weight", spec.weight_column))
    for name in dict.fromkeys(column for column, _ in spec.row_costs.values()):
        yield Mention(name, "cost", place(spec, "row cost", name))
    for name in dict.fromkeys((*spec.test_costs, *(before for _, before in spec.test_discounts))):
        yield Mention(name, "other", place(spec, "test cost", name))
    for rule in spec.binarizations:
        if rule.column:
            yield Mention(rule.column, "other", rule.span)
    for name in spec.forbidden:
        yield Mention(name, "other", place(spec, "forbid", name))
    for use in uses(spec):
        yield from _in_measure(use)


def uses(spec: Spec) -> Iterator[Use]:
    """Every measure with its arguments, and those in a quotient: of goals, then requirements, then reported ones."""
    for goal in spec.goals:
        yield from _in_sum(goal.expression)
    for requirement in spec.requirements:
        yield from _in_sum(requirement.expression)
    for use in spec.reported:
        yield from _in_sum(Linear(((Fraction(1), use),)))


def _in_sum(total: Linear) -> Iterator[Use]:
    for _, use in total.parts:
        yield use
        for argument in use.arguments:
            if isinstance(argument, Linear):
                yield from _in_sum(argument)


def conditions(use: Use) -> Iterator[Condition]:
    """The conditions in a `count` or a `rate`."""
    for argument in use.arguments:
        if isinstance(argument, tuple):
            for each in argument:
                if isinstance(each, Condition):
                    yield each


def place(spec: Spec, statement: str, name: str) -> Span | None:
    """The span of a name in a statement; that of the statement if the name has none."""
    return spec.spans.get(f"{statement}:{name}") or spec.spans.get(statement)


def _in_measure(use: Use) -> Iterator[Mention]:
    measure = MEASURES[use.measure]
    for number, (parameter, argument) in enumerate(zip(measure.parameters, use.arguments, strict=False)):
        if parameter.kind not in ("column", "columns"):
            continue
        role = "cluster" if parameter.kind == "columns" else "group" if measure.fairness else "other"
        names = (argument,) if isinstance(argument, str) else argument
        spans = use.spans_of(number)
        for name, span in zip(names, spans if len(spans) == len(names) else spans[:1] * len(names), strict=True):
            yield Mention(name, role, span)
    for condition in conditions(use):
        if condition.is_column:
            yield Mention(condition.subject, "condition", condition.subject_span or use.span)
