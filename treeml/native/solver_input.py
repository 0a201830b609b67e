"""What the C solver over tests is given besides the tests: what a leaf costs, and the conditions on a tree.

Exactly one of the eight kinds of `LeafCosts` says what a leaf costs. Arrays may have any integer type and layout; the
solver converts and checks them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class PackedBits:
    """The answers of the rows to tests, 64 rows in a word: the first row of a test is the lowest bit of its first."""

    words: NDArray[np.uint64]  # tests x words
    rows: int

    @property
    def shape(self) -> tuple[int, int]:
        """Tests and rows."""
        return len(self.words), self.rows


@dataclass(frozen=True, slots=True)
class Labels:
    """A leaf costs the weight of its rows that have another class than the one it predicts."""

    labels: Any  # the class of each row, counted from 0
    classes: int | None = None  # None: one more than the largest label
    weight: Any = None  # one whole number per row; None: 1 each


@dataclass(frozen=True, slots=True)
class ClassCosts:
    """A leaf costs the sum over its rows of the cost of the class that it predicts."""

    cost: Any  # rows x classes


@dataclass(frozen=True, slots=True)
class Targets:
    """A leaf costs the weighted loss of its best prediction; the quantile loss has one search for all levels."""

    targets: Any  # rows x outputs
    loss: str = "squared"  # or absolute, or quantile
    levels: Sequence[Fraction] = ()  # of the quantile loss
    weight: Any = None  # one whole number per row; None: 1 each


@dataclass(frozen=True, slots=True)
class Hazards:
    """A leaf with D deaths, the sum H of hazards and the sum C of the costs of deaths costs C + D log(H / D)."""

    hazard: Any  # the cumulative hazard of each row, a positive whole number of 2^-40
    cost: Any  # for rows that died: minus the logarithm of the hazard, in the same units; 0 for the others
    died: Any  # whether the end of the row was observed


@dataclass(frozen=True, slots=True)
class Impurity:
    """A leaf costs what the mixture of its classes costs, whatever it predicts."""

    kind: str  # code length (bits), entropy (of all rows, natural) or gini (of all rows)
    labels: Any  # the class of each row, counted from 0
    classes: int
    weight: Any = None  # one whole number per row; None: 1 each
    unit: float = 1.0  # of the weights


@dataclass(frozen=True, slots=True)
class Lines:
    """A leaf costs the squares that its best linear model leaves, plus a ridge on its slopes."""

    values: Any  # rows x columns
    target: Any
    weight: Any
    ridge: float  # times the weight of the leaf, for every squared slope
    is_simple: bool = False  # has every model a slope for one column only?
    spread: Any = None  # of each column: the unit of the ridge; None: 1


@dataclass(frozen=True, slots=True)
class CostOfRows:
    """A leaf costs what a function of its row numbers returns; the function takes several leaves at once."""

    function: Callable[[list[NDArray[np.int32]]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class CostOfCounts:
    """A leaf costs what a function of its class counts returns; the function takes an array, leaves x classes."""

    function: Callable[[NDArray[np.int64]], Sequence[float]]
    labels: Any
    classes: int | None = None

    def of_rows(self) -> CostOfRows:
        labels = np.asarray(self.labels)
        width = int(labels.max()) + 1 if self.classes is None else self.classes
        return CostOfRows(
            lambda sets: self.function(np.array([np.bincount(labels[rows], minlength=width) for rows in sets]))
        )


LeafCosts = Labels | ClassCosts | Targets | Hazards | Impurity | Lines | CostOfRows | CostOfCounts


@dataclass(frozen=True, slots=True)
class Conditions:
    """What the tests and the rows are, and what every leaf must meet; None where nothing is asked."""

    columns: Any = None  # the column of each test
    count: Any = None  # how often each row occurs, for a bound on the support and for column costs
    forbidden: Any = None  # for each test: may it not be used?
    column_cost: Any = None  # for each column: what a row pays if a test on its path uses the column
    discounts: Any = ()  # column, another one, and what a row pays for the column below a test of the other
    leaf_limit: tuple[Any, int] | None = None  # rows x classes, and the most that a leaf may sum up for its class
    purity: tuple[Any, Fraction] | None = None  # rows x classes, and the least share of the class of a leaf


@dataclass(frozen=True, slots=True)
class CostRounding:
    """Losses are rounded to units, although they are whole numbers.

    That is needed if amounts up to `beside` that need not be whole, such as a price of leaves or columns, will be
    added, or if the whole numbers are too large. If only trees with a loss up to `most` are of interest, units are a
    fraction of that: the search is then slower and as exact as possible.
    """

    beside: float
    most: float = inf


NO_CONDITIONS = Conditions()
