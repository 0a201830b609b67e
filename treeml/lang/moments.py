"""Texts of dates and times in ISO form <-> exact numbers of days since 1970.

A time with a zone is the same moment in UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction

DAY = 86_400_000_000  # microseconds
DATE_TEXT = r"^\d{4}-\d{2}-\d{2}$"
TIME_TEXT = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:?\d{2})?$"
_FIRST = datetime(1970, 1, 1)


def days_of(text: str) -> Fraction | None:
    """The days since 1970 of a date or a time; None for any other text."""
    found = moment_of(text)
    return None if found is None else Fraction(microseconds_of(found), DAY)


def moment_of(text: str) -> datetime | None:
    plain = text.strip()
    if not re.fullmatch(DATE_TEXT, plain) and not re.fullmatch(TIME_TEXT, plain):
        return None
    try:
        return datetime.fromisoformat(plain)
    except ValueError:
        return None


def microseconds_of(moment: datetime) -> int:
    """Since 1970."""
    plain = moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    return (plain - _FIRST) // timedelta(microseconds=1)
