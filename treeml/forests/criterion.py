"""Examples, options -> a criterion: which weighted forest is best, and what its margins are worth.

A criterion is one class in one file. It is the master problem of the column generation (which weights are best for the
trees known so far, and what the prices of the examples are then), the exact value of given margins, and the bound that
follows from the best tree at given prices. `docs/boosting.md` writes one from nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from treeml.forests.column_generation import Restricted
from treeml.forests.examples import Examples, Making, Signs, Whole, made
from treeml.problem.tree import Node


@dataclass(frozen=True, eq=False, slots=True)
class Grown:
    """A tree over the tests of the problem, or how to make it, and its signs: what each margin gets from it."""

    making: Making
    signs: Signs

    @property
    def key(self) -> bytes:
        """Trees of the same signs are one to a criterion."""
        return self.signs.tobytes()

    @property
    def tree(self) -> Node:
        return made(self.making)


@runtime_checkable
class Criterion(Protocol):
    """A master problem over trees: it maximizes some measure of the margins, over weights that add up to `total`."""

    name: ClassVar[str]
    many_classes: ClassVar[bool]  # can it take more than two classes?
    examples: Examples
    total: Fraction

    def __init__(self, examples: Examples, options: Mapping[str, Any]) -> None:
        """Refuses what cannot be solved with a SpecError that says what to do."""

    def solve(self, seconds: float) -> Restricted | None: ...

    def reduced_cost(self, column: Grown, restricted: Restricted) -> float: ...

    def add(self, columns: Sequence[Grown]) -> None: ...

    def forget(self, columns: NDArray[np.bool_]) -> None: ...

    def value(self, margins: Whole, unit: Fraction) -> Fraction:
        """What margins of margins * unit are worth, exactly."""

    def bound(self, prices: Whole, edge: int) -> Fraction | None:
        """What no forest exceeds, if no tree's signs times the prices exceed `edge`; None if that says nothing.

        Prices are whole numbers: any multiple of those that `solve` gave, rounded. The bound has to hold for the
        rounded prices as they are, so that it is a proof.
        """

    def again(self, signs: Signs) -> float | None:
        """The optimum over trees of these signs (trees x margins) by another method than `solve`, to check it."""


def criterion(name: str) -> type[Criterion]:
    """The criterion of a name: those of this package, or of another that is installed."""
    from importlib import import_module

    home, _, word = (OWN.get(name) or _found()[name]).partition(":")
    found: type[Criterion] = getattr(import_module(home), word)
    return found


def names() -> tuple[str, ...]:
    return tuple(_found())


OWN: Mapping[str, str] = {
    "lpboost": "treeml.forests.lpboost:LPBoost",
    "hardmargin": "treeml.forests.hard_margin:HardMargin",
    "mdboost": "treeml.forests.mdboost:MDBoost",
}


def _found() -> dict[str, str]:
    from importlib.metadata import entry_points

    return {**{entry.name: entry.value for entry in entry_points(group="treeml.criteria")}, **OWN}
