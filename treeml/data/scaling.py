"""Decimals -> whole numbers with one scale, exactly.

A float stands for its shortest decimal: what the user wrote. All decimals of a column share the finest power of ten
among them. If the whole numbers would become too large, they are rounded to the finest power of ten that fits, and the
result says how far that moves their sum.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, gcd, lcm, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
EXACT = 2**53
_FIRST = 64  # values that are looked at before all of them are
_FEW = 4  # values whose digits are counted before any power of ten is tried
_MANY = 10_000  # beyond this many floats, decimals in Python take too long
_DIGITS = 300  # powers of ten up to this are floats
_SOME = 100  # beyond this many, decimals are not tried if only a common divisor could make them fit


def whole_numbers(values: NDArray[Any], most: int, largest: int) -> tuple[Whole, Fraction, Fraction]:
    """values = whole * scale, and the most that rounding moves the sum of the values (0: exact).

    The absolute whole numbers add up to at most `most`, and none of them exceeds `largest`.
    """
    exact = shortest_decimals(values)
    if exact is not None:
        whole, digits = exact
        magnitude = np.abs(whole.astype(np.float64))
        # The sum of floats may be slightly off; values close to the limit take the exact path.
        if not len(whole) or (magnitude.sum() < most * 0.99 and magnitude.max() < largest * 0.99):
            common = int(np.gcd.reduce(whole)) if digits else 1
            return whole // common if common > 1 else whole, Fraction(max(common, 1), 10**digits), Fraction(0)
    if values.dtype.kind == "f" and (len(values) > _MANY or (len(values) > _SOME and _too_fine(values, most))):
        return _rounded(values, most, min(largest, EXACT))
    known, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    decimals = [Decimal(repr(value)).as_integer_ratio() for value in known.tolist()]
    fitted, scale, moved = _fit(decimals, counts.tolist(), most, largest)
    return np.array(fitted, dtype=np.int64)[place.reshape(-1)], scale, moved


def fit(values: list[Fraction], counts: list[int], most: int, largest: int) -> tuple[list[int], Fraction, Fraction]:
    """The same for fractions with multiplicities."""
    return _fit([value.as_integer_ratio() for value in values], counts, most, largest)


def _fit(
    ratios: list[tuple[int, int]], counts: list[int], most: int, largest: int
) -> tuple[list[int], Fraction, Fraction]:
    """The same for numerators and denominators: whole numbers over one denominator, which take a tenth of the time."""
    denominator = lcm(*(below for _, below in ratios))
    parts = [above * (denominator // below) for above, below in ratios]
    total = sum(abs(part) * count for part, count in zip(parts, counts, strict=True))
    top = max(map(abs, parts), default=0)
    common = gcd(*parts) or 1
    if total <= most * common and top <= largest * common:
        return [part // common for part in parts], Fraction(common, denominator), Fraction(0)
    # Rounding adds at most a half to every whole number, so that much room is left.
    room = min(Fraction(most - sum(counts), total), Fraction(largest - 1, top)) * denominator
    digits = floor(log10(room.numerator) - log10(room.denominator))
    scale = Fraction(10) ** -digits
    while scale * room < 1:  # the logarithm may be off by a rounding error
        scale *= 10
    # part / denominator = number * scale, so number is the nearest to part * up / down.
    up, down = scale.denominator, scale.numerator * denominator
    rounded = [nearest(part * up, down) for part in parts]
    moved = sum(
        abs(part * up - number * down) * count for part, number, count in zip(parts, rounded, counts, strict=True)
    )
    return rounded, scale, Fraction(moved, up * denominator)


def nearest(above: int, below: int) -> int:
    """The whole number nearest to a quotient, the even one of two, as `round` has it."""
    whole, rest = divmod(above, below)
    return whole + (2 * rest > below or (2 * rest == below and whole & 1))


def _too_fine(values: NDArray[np.float64], most: int) -> bool:
    """Whether floats that have more digits than `shortest_decimals` tries exceed `most` in units of the last one."""
    total, top = _logarithms(values)
    digits = ceil(log10(EXACT) - top)
    return abs(digits) <= _DIGITS and total + digits > log10(most) + 0.01


def _logarithms(values: NDArray[np.float64]) -> tuple[float, float]:
    """The decimal logarithms of the sum of the magnitudes and of the largest one; the sum itself may be too large."""
    magnitude = np.abs(values)
    top = float(magnitude.max())
    return log10(top) + log10(float((magnitude / top).sum())), log10(top)


def _rounded(values: NDArray[np.float64], most: int, largest: int) -> tuple[Whole, Fraction, Fraction]:
    """Many floats, rounded at once to the finest power of ten that fits."""
    total, top = _logarithms(values)
    room = min(log10(0.99 * (most - len(values))) - total, log10(0.99 * (largest - 1)) - top)
    digits = min(floor(room), _DIGITS)
    whole = np.rint(values * 10.0**digits if digits >= 0 else values / 10.0**-digits)
    scale = Fraction(10) ** -digits
    # Half a unit for every value, and up to four half units in the last place of a product, whose factor is rounded.
    inexact = Fraction(int(np.abs(whole).sum()), 2**51)
    return whole.astype(np.int64), scale, scale * (Fraction(len(values), 2) + inexact)


def whole_fractions(values: Iterable[Fraction]) -> tuple[list[int], Fraction]:
    """values = whole * scale for a few fractions."""
    values = list(values)
    denominator = lcm(*(value.denominator for value in values)) if values else 1
    whole = [int(value * denominator) for value in values]
    common = gcd(*whole) or 1
    return [number // common for number in whole], Fraction(common, denominator)


def _decimals(value: float) -> int:
    """How many digits the shortest decimal of a number has after the point, at least."""
    text = repr(value)
    part = text.partition(".")[2]
    return 0 if "e" in text or part == "0" else len(part)


def shortest_decimals(values: NDArray[Any]) -> tuple[Whole, int] | None:
    """The fewest digits d such that every number is whole / 10**d; covers the common case without a Python loop.

    Whole numbers below 2**53 and powers of ten up to 10**22 are exact floats, so their quotient is the float nearest
    to the decimal: equality means that the float's shortest decimal has at most d digits.
    """
    if values.dtype.kind in "iub":
        return values.astype(np.int64), 0
    first = values[:_FIRST]
    least = max(map(_decimals, values[:_FEW].tolist()), default=0) if values.dtype == np.float64 else 0
    with np.errstate(over="ignore"):
        for digits in range(least, 16):
            power = 10.0**digits
            if (np.rint(first * power) / power != first).any():  # a few values mostly show that digits are missing
                continue
            scaled = np.rint(values * power) if digits else np.rint(values)
            if scaled.size and np.abs(scaled).max() >= EXACT:
                return None
            if ((scaled / power if digits else scaled) == values).all():
                return scaled.astype(np.int64), digits
    return None
