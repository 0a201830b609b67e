"""An exact weighted sum of terms, which is what a goal minimizes and a bound limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

from treeml.problem.grid import Grid
from treeml.problem.terms.base import KINDS, Composite, Term

if TYPE_CHECKING:
    from treeml.problem.evaluate import Routed
    from treeml.problem.problem import Problem


@dataclass(frozen=True, slots=True)
class Sum:
    """An exact weighted sum of terms plus a constant. At most one part is a Predicted: `lower` adds them up."""

    parts: tuple[tuple[Fraction, Term], ...]
    constant: Fraction = Fraction(0)

    def kinds(self) -> frozenset[str]:
        return frozenset([type(term).__name__ for _, term in self.parts])

    def all_kinds(self) -> frozenset[str]:
        """The kinds of the terms, including those inside other terms."""
        return frozenset(type(term).__name__ for term in self.terms())

    def terms(self) -> Iterator[Term]:
        """Every term, including those inside other terms."""
        for _, term in self.parts:
            yield from term.nested()

    @property
    def is_real(self) -> bool:
        """May two values be arbitrarily close to each other?"""
        return any(term.is_real for _, term in self.parts)

    def changed(self, change: Callable[[Term], Term]) -> Sum:
        """The same sum of changed terms."""
        return Sum(tuple((factor, change(term)) for factor, term in self.parts), self.constant)

    def negated(self) -> Sum:
        return Sum(tuple((-factor, term) for factor, term in self.parts), -self.constant)

    def evaluate(self, routed: Routed, undefined: Fraction | None) -> Fraction | None:
        """The exact value on a tree; a part without a value there counts as `undefined`."""
        value = self.constant
        for factor, term in self.parts:
            part = term.evaluate(routed, undefined)
            if part is None:
                return None
            part = part if factor == 1 else factor * part
            value = value + part if value else part
        return value

    def with_values(self, values: Mapping[int, Fraction], undefined: Fraction | None) -> Fraction | None:
        """The value, given those of its terms by identity; a quotient by zero is `undefined`."""
        result = self.constant
        for factor, term in self.parts:
            if isinstance(term, Composite):
                value = term.combined(lambda part, missing: part.with_values(values, missing), undefined)
            else:
                value = values[id(term)]
            if value is None:
                return None
            result += factor * value
        return result

    def grid(self, problem: Problem) -> Grid | None:
        """Where the values lie, without the constant; None if a part has no grid."""
        grid: Grid | None = None
        for factor, term in self.parts:
            part = term.grid(problem)
            if part is None:
                return None
            part = part.times(factor)
            grid = part if grid is None else grid.plus(part)
        return grid or Grid(Fraction(1), 0, 0)

    def rough_size(self, problem: Problem) -> int | None:
        """At least the number of units that a value is away from zero, seen from the largest numbers alone."""
        if len(self.parts) == 1:
            only = self.parts[0][1].rough_grid(problem)
            return None if only is None else only[1]
        grids: list[tuple[Fraction, int]] = []
        for factor, term in self.parts:
            rough = term.rough_grid(problem)
            if rough is None:
                return None
            grids.append((factor * rough[0], rough[1]))
        # Multiples of the inverse of a common denominator are whole, though perhaps not the smallest that are.
        denominator = lcm(*(unit.denominator for unit, _ in grids))
        return sum(abs(unit.numerator) * (denominator // unit.denominator) * size for unit, size in grids)

    def lower_bound(self, problem: Problem, row_by_row: bool = False) -> Fraction | None:
        """A value that the sum is never below, whatever the tree; None if none is known without a search."""
        result = self.constant
        for factor, term in self.parts:
            low = term.lower_bound(problem, factor, row_by_row)
            if low is None:
                return None
            result += low
        return result

    def to_json(self) -> dict[str, Any]:
        parts = [[str(factor), {"kind": type(term).__name__, **term.to_json()}] for factor, term in self.parts]
        return {"parts": parts, "constant": str(self.constant)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Sum:
        parts = tuple((Fraction(factor), _term_from_json(term)) for factor, term in value["parts"])
        return cls(parts, Fraction(value["constant"]))


def _term_from_json(value: dict[str, Any]) -> Term:
    fields = {**value}
    kind = KINDS.get(fields.pop("kind", ""))
    if kind is None:
        raise ValueError(f"no term is written as {value}")
    return kind.from_json(fields)
