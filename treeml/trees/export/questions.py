"""A test of a tree -> one of three questions that every language can express: at most, among, or missing.

Levels are compared by their text, as in `Tree.predict`: 1, 1.0 and "1" are one level, and booleans may be written as 0
and 1 or as false and true.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from math import ceil
from typing import Any

from treeml.data.dates import CALENDAR, calendar_value
from treeml.data.table import label_text
from treeml.trees.nodes import Field, TreeTest
from treeml.trees.tree import Tree

BEYOND = 2**53  # from here on, not every integer is a float


@dataclass(frozen=True, slots=True)
class ExportQuestion:
    """A question about one column."""

    field: Field
    kind: str  # "at most", "among" or "missing"
    values: tuple[Any, ...] = ()  # the threshold, the levels or the numbers that pass
    missing_yes: bool = False


def asked(tree: Tree, test: TreeTest) -> ExportQuestion:
    """The question that a test asks."""
    field = next(field for field in tree.fields if field.name == test.column)
    may_miss = field.missing and field.fill is None
    if test.kind == "missing":
        return ExportQuestion(field, "missing")
    missing_yes = test.missing_yes and may_miss
    if test.kind != "at most":
        return ExportQuestion(field, "among", test.values, missing_yes)
    if not field.levels:
        return ExportQuestion(field, "at most", test.values, missing_yes)
    return ExportQuestion(field, "among", _at_most(field, test.values[0]), missing_yes)


def required(tree: Tree) -> tuple[Field, ...]:
    """The columns that must have a value, because they had no missing values in training."""
    return tuple(field for field in tree.fields if not field.missing and field.fill is None)


def level_texts(field: Field, levels: tuple[Any, ...]) -> tuple[str, ...]:
    """All texts that a value of these levels may have."""
    texts = [label_text(level) for level in levels]
    known = {label_text(level) for level in field.levels}
    if known <= {"0", "1", "false", "true"}:
        for text, other in (("0", "false"), ("1", "true"), ("false", "0"), ("true", "1")):
            if text in texts and other not in known:
                texts.append(other)
    return tuple(dict.fromkeys(texts))


def threshold(value: Any) -> int | float:
    """A number to compare with: a float, but an exact integer beyond 2**53."""
    exact = Fraction(value)
    if abs(exact) >= BEYOND and not isinstance(value, float):
        return exact.numerator // exact.denominator
    return float(value)


def calendar_text(value: date) -> str:
    """A date or a time as tables hold it: `2023-05-14`, `2023-05-14 12:30:00`."""
    return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()


def filled(field: Field) -> Any:
    """What replaces missing values: a date or a time where the column holds these.

    A median between two days is taken for the later one: no test, which asks for whole days, tells them apart.
    """
    if field.fill is None or field.type not in CALENDAR:
        return field.fill
    return calendar_value(ceil(field.fill), field.type)


def _at_most(field: Field, last: Any) -> tuple[Any, ...]:
    texts = [label_text(level) for level in field.levels]
    if label_text(last) in texts:
        return field.levels[: texts.index(label_text(last)) + 1]
    return tuple(level for level in field.levels if float(level) <= last)
