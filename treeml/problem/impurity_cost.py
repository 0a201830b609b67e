"""The classes of the rows of a leaf -> what their mixture costs, whatever the leaf predicts, as a cost that is data.

With the weights c of the classes, n in all, among K classes:

    code length   log2 (G (n + K/2) / G (K/2)) - sum over k of log2 (G (c_k + 1/2) / G (1/2)), with the gamma function G
    entropy       n log n - sum over k of c_k log c_k
    gini          n - sum over k of c_k^2 / n

The code length is the number of bits that the classes of the rows take one by one, each coded with its frequency so far
plus one half (Krichevsky and Trofimov 1981), so that no frequencies need to be sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lgamma, log, log2
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treeml.problem.constants import exact_sum
from treeml.problem.terms import StoredCost

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treeml.problem.arrays import Rows, Whole

ROUNDING = 2.0**-46  # of terms as large as those of all rows


def code_length(weights: Sequence[float]) -> float:
    """The bits that rows of classes with these weights take."""
    classes = len(weights)
    chance = sum(lgamma(weight + 0.5) - lgamma(0.5) for weight in weights)
    chance -= lgamma(sum(weights) + classes / 2) - lgamma(classes / 2)
    return max(0.0, -chance / log(2))


def bits_of_split(tests: int) -> float:
    """The bits of a split: one that says that it is no leaf, and the number of its test among all."""
    return 1 + log2(max(1, tests))


def entropy(weights: Sequence[float]) -> float:
    """The weight of the rows times the entropy of their classes, with natural logarithms."""
    whole = sum(weights)
    return max(0.0, sum(weight * log(whole / weight) for weight in weights if weight > 0))


def gini(weights: Sequence[float]) -> float:
    """The weight of the rows times the Gini impurity of their classes."""
    whole = sum(weights)
    return max(0.0, whole - sum(weight * weight for weight in weights) / whole) if whole > 0 else 0.0


KINDS: Mapping[str, Callable[[Sequence[float]], float]] = {"code length": code_length, "entropy": entropy, "gini": gini}


@dataclass(frozen=True, eq=False, slots=True)
class ImpurityCost(StoredCost):
    """The cost of the mixture of classes of a leaf."""

    is_never_negative: ClassVar[bool] = True

    kind: str  # of KINDS
    labels: NDArray[np.int32]  # the class of every row
    classes: int
    weight: Whole
    scale: Fraction  # of the weights

    def __call__(self, rows: Rows) -> float:
        labels, weight = self.labels[rows], self.weight[rows]
        sums = [exact_sum(weight[labels == number]) for number in range(self.classes)]
        return KINDS[self.kind]([float(each * self.scale) for each in sums])

    def class_weights(self) -> NDArray[np.float64]:
        """rows x classes: what every row counts for its class."""
        weights = np.zeros((len(self.labels), self.classes))
        weights[np.arange(len(self.labels)), self.labels] = self.weight
        return weights

    def errors(self) -> Whole:
        """rows x classes: the weight of a row where another class than its own is predicted."""
        costs = np.repeat(self.weight[:, None], self.classes, axis=1)
        costs[np.arange(len(self.labels)), self.labels] = 0
        return costs

    @property
    def has_unit_weights(self) -> bool:
        return self.scale == 1 and bool((self.weight == 1).all())

    @property
    def rounding(self) -> float:
        """Terms up to n log n are subtracted from each other, and constants for every leaf and class."""
        whole = float(exact_sum(self.weight) * self.scale)
        return ROUNDING * ((whole + 2) * log2(whole + 2) + 4 * len(self.labels) * self.classes)

    def restricted(self, rows: Rows) -> ImpurityCost:
        return ImpurityCost(self.kind, self.labels[rows], self.classes, self.weight[rows], self.scale)

    def to_json(self) -> dict[str, Any]:
        scale = [self.scale.numerator, self.scale.denominator]
        arrays = {"labels": self.labels.tolist(), "weight": self.weight.tolist()}
        return {"kind": self.kind, "classes": self.classes, "scale": scale, **arrays}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> ImpurityCost:
        labels, weight = np.array(fields["labels"], dtype=np.int32), np.array(fields["weight"], dtype=np.int64)
        return cls(fields["kind"], labels, fields["classes"], weight, Fraction(*fields["scale"]))
