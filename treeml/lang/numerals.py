"""A number in untrusted text or JSON -> its exact value, within bounds.

`Fraction("1e99999999")` has a hundred million digits: it takes minutes to compute and to print. Numbers from files are
therefore read here, where the digits are counted before anything is computed.
"""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from typing import Any

MOST_DIGITS = 4000  # of a number written out; Python itself refuses to print integers of more than 4300 digits


def exact_number(value: Any) -> Fraction:
    """The value of `7/2`, `0.25`, `1e-3` or of a number; ValueError for anything else and for numbers out of bounds.

    Numbers of more than 4000 digits when written out, and numbers beyond the range of floats, are out of bounds.
    """
    if isinstance(value, str):
        _count_digits(value)
    elif isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        raise ValueError(f"a {type(value).__name__} is not a number")
    elif isinstance(value, float) and not isfinite(value):
        raise ValueError("it is not finite")
    try:
        exact = Fraction(value)
        float(exact)
    except ZeroDivisionError:
        raise ValueError("it is divided by 0") from None
    except OverflowError:
        raise ValueError("it is too large") from None
    return exact


def finite_float(text: str) -> float:
    """A decimal number of JSON; ValueError if it is too large for a float, which would silently become infinite."""
    value = float(text)
    if not isfinite(value):
        raise ValueError("a number is too large")
    return value


def readable(value: Any) -> str:
    """A number with as many digits as help a reader."""
    if value is None:
        return ""
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else f"{number:.6g}"


def _count_digits(text: str) -> None:
    """Raise ValueError if the number would have too many digits."""
    mantissa, _, exponent = text.strip().lower().partition("e")
    shift = exponent.lstrip("+-").lstrip("0")
    size = max(map(len, mantissa.split("/")))
    if size > MOST_DIGITS or len(shift) > 4 or size + int(shift if shift.isdecimal() else 0) > MOST_DIGITS:
        raise ValueError(f"it has more than {MOST_DIGITS:,} digits")
