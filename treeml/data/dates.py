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


def _number(value: Any, kind: str) -> float:
    if value is None or value != value or (isinstance(value, str) and not value.strip()):
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
