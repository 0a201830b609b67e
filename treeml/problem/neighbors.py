"""A fraction -> its neighbors with bounded numerators and denominators, and fractions that can stand in for it.

Shares and prices are compared with fractions that rows can produce, whose numerators and denominators are bounded by
the weights of the rows. In such comparisons a number such as 0.6666666666666666 can be replaced by one of its
neighbors. The neighbors are found in the tree of Stern (1858) and Brocot (1861), taking all steps to one side at once.
"""

from __future__ import annotations

from fractions import Fraction

SHORT = 1000  # fractions with numbers up to this size are left as they are
Pair = tuple[int, int]  # numerator and denominator; 1/0 is greater than every fraction


def neighbors(value: Fraction, top: int, bottom: int) -> tuple[Pair, Pair]:
    """The closest fractions at or below, and at or above, a value that is not negative.

    Numerators go up to `top` and denominators up to `bottom`, but 0/1 and 1/0 are always included. If the
    value is such a fraction itself, both are equal to it.
    """
    if value < 0:
        raise ValueError("neighbors are those of a value that is not negative")
    above, below = value.numerator, value.denominator
    if value == 0 or (above <= top and below <= bottom):
        return (above, below), (above, below)
    low, high = (0, 1), (1, 0)
    while low[0] + high[0] <= top and low[1] + high[1] <= bottom:
        # The value lies strictly between the two and is not a fraction within these bounds, so it is never reached.
        if above * (low[1] + high[1]) > (low[0] + high[0]) * below:
            room = (above * low[1] - low[0] * below) // (high[0] * below - above * high[1])
            low = _moved(low, high, room, top, bottom)
        else:
            room = (high[0] * below - above * high[1]) // (above * low[1] - low[0] * below)
            high = _moved(high, low, room, top, bottom)
    return low, high


def _moved(start: Pair, towards: Pair, room: int, top: int, bottom: int) -> Pair:
    """Take `room` steps of the tree to one side, or as many as the bounds allow."""
    steps = room
    if towards[0]:
        steps = min(steps, (top - start[0]) // towards[0])
    if towards[1]:
        steps = min(steps, (bottom - start[1]) // towards[1])
    return start[0] + steps * towards[0], start[1] + steps * towards[1]


def least_from(value: Fraction, top: int, bottom: int) -> Fraction | None:
    """The least fraction within these bounds that is not below the value; None if all are below it."""
    _, (above, below) = neighbors(value, top, bottom)
    return Fraction(above, below) if below else None


def greatest_to(value: Fraction, top: int, bottom: int) -> Fraction:
    """The greatest fraction within these bounds, including 0, that is not above the value."""
    (above, below), _ = neighbors(value, top, bottom)
    return Fraction(above, below)


def alike(value: Fraction, top: int, bottom: int) -> Fraction:
    """A simple fraction that compares with every fraction within these bounds as the value does."""
    low, high = neighbors(value, top, bottom)
    return value if low == high else Fraction(low[0] + high[0], low[1] + high[1])


def beside(limit: Fraction, sense: str, top: int, bottom: int) -> Fraction:
    """A fraction that can replace a limit (not negative) when fractions within these bounds are compared with it."""
    if sense == ">=":
        other = least_from(limit, top, bottom)
        return Fraction(top + 1) if other is None else other
    return greatest_to(limit, top, bottom) if sense == "<=" else alike(limit, top, bottom)


def simplest_between(low: Fraction, high: Fraction | None) -> Fraction:
    """The simplest fraction above `low`, which is not negative, and below `high`; None means no upper limit."""
    whole = low.numerator // low.denominator
    if high is None or whole + 1 < high:
        return Fraction(whole + 1)
    return whole + 1 / simplest_between(1 / (high - whole), 1 / (low - whole) if low > whole else None)
