"""A rule of `binarize` and a column -> whether the rule can make tests of the column."""

from __future__ import annotations

from treeml.data.dates import CALENDAR
from treeml.data.table import Column
from treeml.lang.columns import LEVEL_METHODS, ORDERED_METHODS
from treeml.lang.spec import Binarization


def suits(rule: Binarization, column: Column) -> bool:
    """Can this rule make tests of this column?"""
    if column.type == "binary":
        return True
    if column.is_number:
        is_calendar = column.type in CALENDAR
        return rule.method in ORDERED_METHODS and (rule.method != "cuts" or rule.calendar == is_calendar)
    if column.type == "ordered":
        return rule.method != "cuts" or all(isinstance(level, (int, float)) for level in column.levels)
    return rule.method in LEVEL_METHODS
