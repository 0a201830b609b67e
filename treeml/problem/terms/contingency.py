"""A measure of the two-by-two table of one class that is a root: Matthews' correlation, the geometric mean.

Both rise with the weight of the true positives and fall with that of the false positives, which is what planning uses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Any, ClassVar

from treeml.problem.terms.base import Composite
from treeml.problem.terms.sum import Sum

if TYPE_CHECKING:
    from treeml.problem.problem import Problem

DIGITS = 10**80  # roots are rounded down to this many parts, so different trees and limits stay apart


@dataclass(frozen=True, eq=False, slots=True)
class Contingency(Composite):
    """A value that follows from the weights of true and of false positives; always defined.

    mcc: the correlation of prediction and class, 0 if all rows get the same prediction. gmean: the root of recall times
    specificity.
    """

    kind: str  # mcc or gmean
    right: Sum  # the weight of the true positives
    wrong: Sum  # the weight of the false positives
    positives: Fraction  # the weight of the class
    negatives: Fraction  # the weight of all others

    phrase: ClassVar[str] = "a root, such as mcc or gmean"

    @property
    def sums(self) -> tuple[Sum, ...]:
        return (self.right, self.wrong)

    def combined(
        self, value: Callable[[Sum, Fraction | None], Fraction | None], undefined: Fraction | None
    ) -> Fraction | None:
        right, wrong = value(self.right, None), value(self.wrong, None)
        return undefined if right is None or wrong is None else self.at(right, wrong)

    def lower_bound(self, problem: Problem, factor: Fraction, row_by_row: bool) -> Fraction | None:
        """Correlations lie between -1 and 1, means of shares between 0 and 1."""
        if factor < 0:
            return factor
        return Fraction(0) if self.kind == "gmean" else -factor

    def at(self, right: Fraction, wrong: Fraction) -> Fraction:
        """The value for these weights of true and false positives."""
        if self.kind == "gmean":
            return rounded_root(right * (self.negatives - wrong) / (self.positives * self.negatives))
        named = right + wrong
        square = self.positives * self.negatives * named * (self.positives + self.negatives - named)
        beyond_chance = right * self.negatives - wrong * self.positives
        return rounded_root(beyond_chance**2 / square, beyond_chance < 0) if square else Fraction(0)

    def with_sums(self, change: Callable[[Sum], Sum]) -> Contingency:
        return replace(self, right=change(self.right), wrong=change(self.wrong))

    def to_json(self) -> dict[str, Any]:
        return {
            "measure": self.kind,  # "kind" names the term
            "right": self.right.to_json(),
            "wrong": self.wrong.to_json(),
            "positives": str(self.positives),
            "negatives": str(self.negatives),
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Contingency:
        right, wrong = (Sum.from_json(fields[name]) for name in ("right", "wrong"))
        return cls(fields["measure"], right, wrong, Fraction(fields["positives"]), Fraction(fields["negatives"]))


def rounded_root(square: Fraction, negative: bool = False, root: int = 2) -> Fraction:
    """The root of a number that is not negative, or minus the root, rounded down."""
    above = square.numerator * DIGITS**root
    whole = _whole_root(above // square.denominator, root)
    if negative:
        return Fraction(-whole if whole**root * square.denominator == above else -whole - 1, DIGITS)
    return Fraction(whole, DIGITS)


def _whole_root(number: int, root: int) -> int:
    """The greatest whole number whose power is not above the number."""
    if root == 2:
        return isqrt(number)
    low, high = 0, 1 << (number.bit_length() // root + 1)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**root <= number else (low, middle)
    return low
