"""Conditions, classes and groups that measures name -> rows and classes of the data.

A row whose value is missing meets no condition on that column. Numbers in a spec are rounded to the nearest float64
before they are compared with a column of floats, because the decimals of the column were rounded too: `x = 0.1` then
means the rows that say 0.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from treeml.data.dates import CALENDAR, cut_number
from treeml.data.mentions import mentions
from treeml.data.scaling import whole_numbers
from treeml.data.table import Column, Dataset, label_text
from treeml.lang.diagnostic import DataError, Diagnostic, Label
from treeml.lang.measures import chosen_loss
from treeml.lang.moments import days_of
from treeml.lang.numerals import exact_number
from treeml.lang.source import Span
from treeml.lang.spec import Condition, Use

Mask = NDArray[np.bool_]


def class_number(dataset: Dataset, value: str | Fraction, span: Span | None = None) -> int:
    """The number of the class that reads `value`."""
    text = value_text(value)
    for number, label in enumerate(dataset.classes):
        if label_text(label) == text:
            return number
    refuse(
        "D450",
        f"no row has the class `{text}`",
        span,
        f"not a class of {dataset.table.source}",
        notes=(f"its classes are {listed(dataset.classes)}",),
    )


def positive_class(dataset: Dataset, use: Use) -> int:
    if dataset.positive is not None:
        return dataset.positive
    refuse(
        "D451",
        f"`{use.measure}` needs to know which class is the positive one",
        use.span,
        "depends on the positive class",
        helps=(f"name it: predict {dataset.spec.target or 'target'} is {quoted(dataset.classes[-1:])}",),
    )


def rows_meeting(dataset: Dataset, conditions: Iterable[Condition]) -> Mask:
    """The rows that meet every condition on columns and on the actual class, whatever is predicted."""
    meeting = np.ones(dataset.rows, dtype=np.bool_)
    for condition in conditions:
        if condition.is_column:
            meeting &= _column_meets(dataset, condition)
        elif condition.subject == "actual":
            meeting &= _classes_of(dataset, condition)[dataset.actual]
    return meeting


def classes_meeting(dataset: Dataset, conditions: Iterable[Condition]) -> Mask:
    """The classes that meet every condition on `predicted`."""
    meeting = np.ones(len(dataset.classes), dtype=np.bool_)
    for condition in conditions:
        if speaks_of_prediction(condition):
            meeting &= _classes_of(dataset, condition)
    return meeting


def speaks_of_prediction(condition: Condition) -> bool:
    return not condition.is_column and condition.subject == "predicted"


def groups_of(dataset: Dataset, name: str) -> list[tuple[str, Mask]]:
    """The groups of a column: its levels or distinct values that occur, and the rows where it is missing, if any."""
    key = ("groups", name)
    if key not in dataset.facts:
        dataset.facts[key] = _found_groups(dataset, name)
    found: list[tuple[str, Mask]] = dataset.facts[key]
    return found


def _found_groups(dataset: Dataset, name: str) -> list[tuple[str, Mask]]:
    column = dataset.column(name)
    values = column_values(dataset, column)
    missing = column_missing(dataset, column)
    groups = []
    if column.levels:
        for code, level in enumerate(column.levels):
            groups.append((label_text(level), values == code))
    else:
        present = values if missing is None else values[~missing]
        for value in np.unique(present):
            mask = values == value
            groups.append((label_text(value), mask if missing is None else mask & ~missing))
    if missing is not None:
        groups.append(("missing", missing))
    return [(text, mask) for text, mask in groups if mask.any()]


def compared_rows(dataset: Dataset, compared: str) -> Mask:
    """The rows that a fairness measure compares between groups: all, the actual positives or the actual negatives."""
    if compared == "all":
        return np.ones(dataset.rows, dtype=np.bool_)
    positives: Mask = dataset.actual == dataset.positive
    return positives if compared == "positives" else ~positives


def column_values(dataset: Dataset, column: Column) -> NDArray[Any]:
    """The values of a column in the rows that count."""
    return column.values if len(column.values) == dataset.rows else column.values[dataset.row_numbers]


def column_missing(dataset: Dataset, column: Column) -> Mask | None:
    """The rows that count where a column is missing; None if there are none."""
    if column.missing is None:
        return None
    missing = column.missing if len(column.missing) == dataset.rows else column.missing[dataset.row_numbers]
    return missing if missing.any() else None


def cluster_targets(dataset: Dataset, use: Use) -> tuple[NDArray[np.int64], Fraction]:
    """The columns that a loss of clusters names, side by side, as whole numbers times one scale."""
    loss = chosen_loss(use)
    columns = () if loss is None else loss.columns
    bound = [mention.column for mention in mentions(dataset.spec) if mention.role == "cluster"]
    if dataset.targets.shape[1] == len(bound) and set(columns) <= set(bound):
        return dataset.targets[:, [bound.index(name) for name in columns]], dataset.target_scale
    numbers = np.concatenate([_numbers(dataset, name, use.span) for name in columns])
    most = 2**62 // max(1, int(dataset.weight.max(initial=1)))
    whole, scale, moved = whole_numbers(numbers, most, 2**53)
    if moved:
        refuse(
            "D457",
            f"the columns of `{use.text or use.measure}` cannot be written in whole numbers",
            use.span,
            "have more digits than exact arithmetic in 64 bits can hold",
            helps=("round them, or scale them to a smaller range",),
        )
    return np.ascontiguousarray(whole.reshape(len(columns), dataset.rows).T), scale


def _numbers(dataset: Dataset, name: str, span: Span | None) -> NDArray[np.float64]:
    column = dataset.column(name)
    if column_missing(dataset, column) is not None:
        refuse("D455", f"`{name}` has missing values, so it has no distances", span, "is missing in some rows")
    if not column.is_number and column.type != "binary":
        refuse(
            "D456",
            f"`{name}` does not hold numbers",
            span,
            f"has {len(column.levels)} levels, which have no distances",
            helps=("name columns of numbers",),
        )
    return column_values(dataset, column).astype(np.float64)


def value_text(value: str | Fraction) -> str:
    """The label that a value in a spec stands for."""
    if isinstance(value, Fraction):
        return str(value.numerator) if value.denominator == 1 else label_text(float(value))
    return value


def listed(labels: Iterable[Any], most: int = 8) -> str:
    texts = [label_text(label) for label in labels]
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")


def quoted(labels: Iterable[Any]) -> str:
    return ", ".join(f'"{label_text(label)}"' for label in labels)


def refuse(
    code: str,
    title: str,
    span: Span | None,
    label: str,
    notes: tuple[str, ...] = (),
    helps: tuple[str, ...] = (),
) -> NoReturn:
    """Raise one diagnostic that points at the user's text, or has its label as a note if there is no span."""
    if span is None:
        raise DataError(Diagnostic(code, title, notes=(label, *notes), helps=helps, place="the specification"))
    raise DataError(Diagnostic(code, title, (Label(span, label),), notes, helps))


def _classes_of(dataset: Dataset, condition: Condition) -> Mask:
    if condition.comparison == "=":
        wanted = class_number(dataset, condition.value, condition.span)
        return np.asarray(np.arange(len(dataset.classes)) == wanted)
    numbers = [_as_number(label) for label in dataset.classes]
    limit = _as_number(condition.value)
    if limit is None or any(number is None for number in numbers):
        refuse(
            "D452",
            f"classes cannot be compared with `{condition.comparison}`",
            condition.span,
            "is a class, not a number",
            helps=(f'write {condition.subject} = "{value_text(condition.value)}"',),
        )
    return np.array([_holds(number, condition.comparison, limit) for number in numbers], dtype=np.bool_)


def _column_meets(dataset: Dataset, condition: Condition) -> Mask:
    column = dataset.table.columns.get(condition.subject)
    if column is None:
        refuse(
            "D402",
            f"{dataset.table.source} has no column `{condition.subject}`",
            condition.span,
            f"not among its {len(dataset.table.columns)} columns",
        )
    values = column_values(dataset, column)
    missing = column_missing(dataset, column)
    meeting = _number_meets(column, values, condition) if column.is_number else _level_meets(column, values, condition)
    return meeting if missing is None else meeting & ~missing


def _number_meets(column: Column, values: NDArray[Any], condition: Condition) -> Mask:
    limit = _as_number(condition.value)
    if column.type in CALENDAR:
        days = days_of(value_text(condition.value))
        limit = None if days is None else cut_number(days, column.type)
        if limit is None:
            fact, helps = "is no calendar value", (f'write it like {column.name} {condition.comparison} "2024-03-01"',)
            title = f"`{column.name}` holds {column.type}s, but `{value_text(condition.value)}` is not one"
            refuse("D454", title, condition.span, fact, helps=helps)
    if limit is None:
        refuse(
            "D454",
            f"`{column.name}` is a number, but `{condition.value}` is not",
            condition.span,
            "cannot be compared",
            helps=(f"if `{column.name}` names levels, declare `column {column.name} : category`",),
        )
    bound: Any = float(limit)
    if values.dtype.kind in "iu":
        whole = limit.denominator == 1
        if condition.comparison == "=" and not whole:
            return np.zeros(len(values), dtype=np.bool_)
        round_up = condition.comparison in (">=", "<")
        bound = -(-limit.numerator // limit.denominator) if round_up else limit.numerator // limit.denominator
    return np.asarray(_holds(values, condition.comparison, bound), dtype=np.bool_)


def _level_meets(column: Column, values: NDArray[Any], condition: Condition) -> Mask:
    code = column.code_of(value_text(condition.value))
    if code is None:
        refuse(
            "D458",
            f"`{column.name}` is never `{value_text(condition.value)}`",
            condition.span,
            f"not one of its {len(column.levels)} levels",
            notes=(f"its levels are {listed(column.levels)}",),
        )
    if condition.comparison != "=" and column.type not in ("ordered", "binary"):
        refuse(
            "D459",
            f"the levels of `{column.name}` have no order",
            condition.span,
            f"cannot be compared with `{condition.comparison}`",
            helps=(
                f'write {column.name} = "{value_text(condition.value)}"',
                f"or declare `column {column.name} : ordered`",
            ),
        )
    return np.asarray(_holds(values, condition.comparison, code), dtype=np.bool_) & (values >= 0)


def _holds(left: Any, comparison: str, right: Any) -> Any:
    match comparison:
        case "=":
            return left == right
        case "<=":
            return left <= right
        case ">=":
            return left >= right
        case "<":
            return left < right
        case ">":
            return left > right
    raise ValueError(f"no comparison is called {comparison!r}")


def _as_number(value: Any) -> Fraction | None:
    if isinstance(value, Fraction):
        return value
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return exact_number(label_text(value))
    except ValueError:
        return None
