"""Numbers with units -> exact values, and values -> the text of a message."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from treeml.lang.syntax import Number
from treeml.lang.words import spell_unit

TINY = Fraction(1, 10**4)  # what is above is written with all of up to 20 digits: rounded it would be another number
SECONDS = {"ms": Fraction(1, 1000), "s": Fraction(1), "min": Fraction(60), "h": Fraction(3600)}


@dataclass(frozen=True, slots=True)
class Quantity:
    """An exact value in the base unit of its kind: shares as fractions of one, times in seconds."""

    value: Fraction
    unit: str = ""  # "", "%", "rows" or "s"

    def __str__(self) -> str:
        if self.unit == "%":
            return f"{decimal(self.value * 100)}%"
        return f"{decimal(self.value)} {spell_unit(self.value, self.unit)}".strip()


def quantity(number: Number) -> Quantity:
    if number.unit == "%":
        return Quantity(number.value / 100, "%")
    if number.unit in SECONDS:
        return Quantity(number.value * SECONDS[number.unit], "s")
    return Quantity(number.value, number.unit)


def decimal(value: Fraction | int) -> str:
    """The shortest exact text of a number: `3`, `0.05`, `1/3`, `2e-30`."""
    value = Fraction(value)
    if value.numerator.bit_length() > 900 or value.denominator.bit_length() > 900:
        return "a huge number" if abs(value) > 1 else "a tiny number"
    if value.denominator == 1:
        return str(value.numerator) if abs(value) < 10**15 else f"{float(value):g}"
    rest = value.denominator
    twos = fives = 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    digits = max(twos, fives)
    if rest == 1 and (digits <= 12 or (digits <= 20 and abs(value) > TINY)):
        scaled = value.numerator * 10**digits // value.denominator
        sign, scaled = ("-", -scaled) if scaled < 0 else ("", scaled)
        whole, part = divmod(scaled, 10**digits)
        return f"{sign}{whole}.{part:0{digits}d}"
    if len(str(value.numerator)) + len(str(value.denominator)) <= 15 and rest != 1:
        return f"{value.numerator}/{value.denominator}"
    return f"{float(value):g}"


def percent(value: Fraction) -> str:
    return f"{decimal(value * 100)}%"


def spelled(number: int) -> str:
    """`five` for 5: small numbers read better as words."""
    words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    return words[number] if 0 <= number < len(words) else str(number)


def enumerated(words: Iterable[str], last: str = "and", quote: bool = True) -> str:
    """`a`, `b` and `c`."""
    shown = [f"`{word}`" if quote else word for word in words]
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} {last} {shown[-1]}"
