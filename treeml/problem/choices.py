"""A sum with `Largest` terms -> the plain sums that it can be: one part in place of each `Largest`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod

from treeml.problem.like_terms import joined_terms
from treeml.problem.terms import Largest, Sum

Choice = tuple[Sum, ...]  # one part of every `Largest`, in their order


def largest_terms(total: Sum) -> list[tuple[Fraction, Largest]]:
    return [(factor, term) for factor, term in total.parts if isinstance(term, Largest)]


def number_of_choices(total: Sum) -> int:
    return prod(len(term.parts) for _, term in largest_terms(total))


def choices(total: Sum) -> Iterator[Choice]:
    return product(*(term.parts for _, term in largest_terms(total)))


def chosen(total: Sum, choice: Choice) -> Sum:
    """The sum with these parts in place of every `Largest`. Raises CostsTooLarge beyond 64 bits."""
    parts = [part for part in total.parts if not isinstance(part[1], Largest)]
    constant = total.constant
    for (factor, _), part in zip(largest_terms(total), choice, strict=True):
        parts += [(factor * inner, term) for inner, term in part.parts]
        constant += factor * part.constant
    return Sum(joined_terms(parts), constant)


def difference(one: Sum, other: Sum) -> Sum:
    """One sum minus another. Raises CostsTooLarge beyond 64 bits."""
    parts = joined_terms([*one.parts, *other.negated().parts])
    return Sum(parts, one.constant - other.constant)
