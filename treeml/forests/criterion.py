"""Examples, options -> a criterion: which weighted forest is best.

A criterion is one class in one file. It solves the master problem of the column generation (the best weights for the
trees known so far, and the prices of the examples), computes the exact value of given margins, and derives a bound from
the best tree at given prices. `docs/boosting.md` shows how to write one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from treeml.forests.column_generation import Prices, Restricted
from treeml.forests.examples import Examples, Making, Signs, Whole, in_whole_numbers, made
from treeml.lang.plugins import CRITERIA, installed, resolve
from treeml.problem.tree import Node


@dataclass(frozen=True, eq=False, slots=True)
class Grown:
    """A tree over the tests of the problem, or a function that makes it, and its contribution to every margin."""

    making: Making
    signs: Signs

    @property
    def key(self) -> bytes:
        """Trees with the same signs are the same column."""
        return self.signs.tobytes()

    @property
    def tree(self) -> Node:
        return made(self.making)


@runtime_checkable
class Criterion(Protocol):
    """A master problem over trees: it maximizes a function of the margins over weights that add up to `total`."""

    name: ClassVar[str]
    many_classes: ClassVar[bool]  # does it support more than two classes?
    examples: Examples
    total: Fraction

    def __init__(self, examples: Examples, options: Mapping[str, Any]) -> None:
        """Raises SpecError, with what to do, for examples or options that it does not support."""

    def solve(self, seconds: float) -> Restricted | None: ...

    def reduced_cost(self, column: Grown, restricted: Restricted) -> float: ...

    def add(self, columns: Sequence[Grown]) -> None: ...

    def forget(self, columns: NDArray[np.bool_]) -> None: ...

    def value(self, margins: Whole, unit: Fraction) -> Fraction:
        """The exact value of the margins `margins * unit`."""

    def bound(self, prices: Whole, edge: int) -> Fraction | None:
        """A bound on every forest, given that no tree's signs times the prices exceed `edge`; None if none follows.

        Prices are whole numbers: a rounded multiple of those that `solve` returned. The bound has to hold for the
        rounded prices, so that it is a proof.
        """

    def in_whole_numbers(self, prices: Prices, scale: int) -> Whole:
        """The prices in whole numbers whose absolute values add up to about `scale`."""

    def again(self, signs: Signs) -> float | None:
        """The optimum over trees with these signs (trees x margins), by a method other than that of `solve`."""


class CriterionBase:
    """The contract with its defaults; a criterion usually derives from it."""

    def in_whole_numbers(self, prices: Prices, scale: int) -> Whole:
        return in_whole_numbers(prices, scale)


def criterion(name: str) -> type[Criterion]:
    """The criterion with this name, of this package or of another one that is installed."""
    found: Any = resolve(OWN.get(name) or installed(CRITERIA)[name].value)
    kind: type[Criterion] = found
    return kind


def names() -> tuple[str, ...]:
    return tuple({**installed(CRITERIA), **OWN})


OWN: Mapping[str, str] = {
    "lpboost": "treeml.forests.lpboost:LPBoost",
    "hardmargin": "treeml.forests.hard_margin:HardMargin",
    "mdboost": "treeml.forests.mdboost:MDBoost",
}
