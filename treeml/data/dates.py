"""Dates and times <-> whole numbers: days since 1970 for dates, microseconds since 1970 for times.

A column of dates or times is a column of numbers with another face: tests compare the numbers, and people see calendar
values. A time with a zone is read as the same moment in UTC.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.missing_words import is_missing_word
from treeml.lang.moments import DAY, microseconds_of, moment_of

CALENDAR = ("date", "time")  # the types of such columns
_FIRST_DAY = date(1970, 1, 1)
_FIRST_MOMENT = datetime(1970, 1, 1)


def number_of(value: Any) -> Any:
    """A date as days, a time as microseconds; a number as it is."""
    if isinstance(value, datetime):
        return microseconds_of(value)
    return (value - _FIRST_DAY).days if isinstance(value, date) else value


def calendar_value(number: float, kind: str) -> date:
    """The date or time that stands for a number."""
    if kind == "date":
        return _FIRST_DAY + timedelta(days=int(number // 1))
    return _FIRST_MOMENT + timedelta(microseconds=int(number // 1))


def calendar_numbers(values: Iterable[Any], kind: str) -> NDArray[np.float64]:
    """Dates, times or their ISO texts as the numbers of a column; ValueError names the first other value."""
    return np.array([_number(value, kind) for value in values], dtype=np.float64)


def cut_number(days: Fraction, kind: str) -> Fraction:
    """A cut of a spec, in days since 1970, as a number of the column."""
    return Fraction(days // 1) if kind == "date" else days * DAY


_SECOND = 1_000_000
_ROUND = (
    DAY,
    6 * 3600 * _SECOND,
    3600 * _SECOND,
    *(minutes * 60 * _SECOND for minutes in (30, 15, 5, 1)),
    _SECOND,
    1000,
)


def calendar_cut(low: float, high: float, kind: str) -> float:
    """A round date or time near the middle of two values: at or after the first, and before the second.

    Round dates are the last days of years and months, because `<=` includes them; round times are midnights, hours and
    so on.
    """
    first, last = int(low), int(high)
    middle = (first + last) // 2
    for near in _round_dates(middle) if kind == "date" else (round(middle / unit) * unit for unit in _ROUND):
        if abs(4 * near - 2 * (first + last)) <= last - first and first <= near < last:
            return float(near)
    return float(middle)


def _round_dates(middle: int) -> Iterable[int]:
    day = calendar_value(middle, "date")
    months = [(day.year, day.month), (day.year + day.month // 12, day.month % 12 + 1)]
    firsts = [date(day.year, 1, 1), date(min(day.year + 1, 9999), 1, 1), *(date(min(y, 9999), m, 1) for y, m in months)]
    ends = [(first - _FIRST_DAY).days - 1 for first in firsts]
    return *sorted(ends[:2], key=lambda end: abs(end - middle)), *sorted(ends[2:], key=lambda end: abs(end - middle))


def _number(value: Any, kind: str) -> float:
    if value is None or value != value or (isinstance(value, str) and is_missing_word(value)):
        return float("nan")
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    moment = moment_of(value) if isinstance(value, str) else value
    if not isinstance(moment, date):
        raise ValueError(value)
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    microseconds = microseconds_of(moment)
    return float(microseconds // DAY if kind == "date" else microseconds)
