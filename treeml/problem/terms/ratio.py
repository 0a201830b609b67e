"""A quotient of two sums, such as precision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from treeml.problem.terms.base import Composite
from treeml.problem.terms.sum import Sum


@dataclass(frozen=True, eq=False, slots=True)
class Ratio(Composite):
    """A quotient of two sums; undefined if the denominator is 0, and a bound on an undefined quotient holds."""

    numerator: Sum
    denominator: Sum

    phrase: ClassVar[str] = "a quotient of two sums"

    @property
    def sums(self) -> tuple[Sum, ...]:
        return (self.numerator, self.denominator)

    def combined(
        self, value: Callable[[Sum, Fraction | None], Fraction | None], undefined: Fraction | None
    ) -> Fraction | None:
        above, below = value(self.numerator, None), value(self.denominator, None)
        return undefined if above is None or not below else above / below

    def with_sums(self, change: Callable[[Sum], Sum]) -> Ratio:
        return Ratio(change(self.numerator), change(self.denominator))

    def to_json(self) -> dict[str, Any]:
        return {"numerator": self.numerator.to_json(), "denominator": self.denominator.to_json()}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Ratio:
        return cls(Sum.from_json(fields["numerator"]), Sum.from_json(fields["denominator"]))
