"""The terms: everything that can be summed in a goal or a bound. They hold arrays, so they are compared by identity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, get_args

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Predicted:
    """scale * sum over rows of cost[row, class predicted for the row]."""

    cost: Whole  # rows x classes
    scale: Fraction = Fraction(1)


@dataclass(frozen=True, eq=False, slots=True)
class Leaves:
    """The number of leaves."""


@dataclass(frozen=True, eq=False, slots=True)
class Depth:
    """The number of splits on the longest path."""


@dataclass(frozen=True, eq=False, slots=True)
class TestCost:
    """scale * sum over rows of count[row] * the costs of the distinct features tested on the row's path."""

    costs: tuple[int, ...]  # one per feature
    scale: Fraction = Fraction(1)


@dataclass(frozen=True, eq=False, slots=True)
class Used:
    """How many of these features the tree tests."""

    features: frozenset[int]


@dataclass(frozen=True, eq=False, slots=True)
class Loss:
    """scale * the loss of every leaf's best constant, summed over leaves.

    squared: sum of weight * |target - mean|^2; absolute: to the median; quantile: the pinball loss at `level`, to the
    quantile. With several outputs (clustering) the losses of the outputs add up, each with its own constant.
    """

    kind: str  # squared, absolute or quantile
    targets: Whole  # rows x outputs
    weight: Whole  # rows
    scale: Fraction = Fraction(1)
    level: Fraction = Fraction(1, 2)


@dataclass(frozen=True, eq=False, slots=True)
class Support:
    """The fewest of the user's rows (sum of count) in a leaf."""


@dataclass(frozen=True, eq=False, slots=True)
class Purity:
    """The smallest share, over leaves with weight, of the leaf's heaviest class."""

    weight: Whole  # rows x classes: the weight of each class at the row


@dataclass(frozen=True, eq=False, slots=True)
class LeafErrors:
    """The largest, over leaves, of scale * sum over its rows of cost[row, label of the leaf]."""

    cost: Whole
    scale: Fraction = Fraction(1)


@dataclass(frozen=True, eq=False, slots=True)
class Monotone:
    """1 if raising the feature alone (if not increasing: lowering it) never turns `positive` to another class, else 0.

    Judged on the leaves as regions: of two leaves that some two inputs reach which agree on every other feature, the
    one with the higher value of the feature must be positive if the other is.
    """

    feature: int
    increasing: bool
    positive: int


@dataclass(frozen=True, eq=False, slots=True)
class Largest:
    """The largest of several sums of terms: a gap over groups is the largest difference between two of them."""

    parts: tuple[Sum, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Ratio:
    """A quotient of two sums (precision); undefined, and no obstacle to any bound, where the denominator is 0."""

    numerator: Sum
    denominator: Sum


@dataclass(frozen=True, eq=False, slots=True)
class Custom:
    """A user's additive cost of a leaf, a function of the numbers of the user's rows in it."""

    function: Callable[[Any], float]


Term = (
    Predicted
    | Leaves
    | Depth
    | TestCost
    | Used
    | Loss
    | Support
    | Purity
    | LeafErrors
    | Monotone
    | Largest
    | Ratio
    | Custom
)
"""A term's kind, as capabilities name it, is the name of its class."""
EVERY_TERM = frozenset(kind.__name__ for kind in get_args(Term))


@dataclass(frozen=True, slots=True)
class Sum:
    """An exact weighted sum of terms plus a constant. At most one part is a Predicted: `lower` adds them up."""

    parts: tuple[tuple[Fraction, Term], ...]
    constant: Fraction = Fraction(0)

    def kinds(self) -> frozenset[str]:
        return frozenset(type(term).__name__ for _, term in self.parts)
