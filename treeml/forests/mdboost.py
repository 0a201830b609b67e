"""The mean of the margins minus half their variance, times the number of rows (Shen and Li 2010).

With margins rho and weights that add up to D: max sum rho - 1/2 rho' A rho, A = M/(M-1) (I - 11'/M). A is singular, so
the dual in the paper, which uses its inverse, does not exist. The pseudo-inverse with prices that add up to M gives the
correct dual: min D * edge + 1/2 (u-1)' A+ (u-1). The prices u = 1 - A rho follow from the margins and may be negative.

The master is a quadratic program in the weights alone (`quadratic.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeml.forests.column_generation import Restricted
from treeml.forests.criterion import CriterionBase, Grown
from treeml.forests.examples import Examples, Signs, Whole
from treeml.forests.quadratic import Simplex
from treeml.lang.diagnostic import DataError, Diagnostic

DEFAULT_PENALTY = Fraction(1)
NEARLY = 1e-9  # weights that may be better by this share are as good as optimal


class MDBoost(CriterionBase):
    """Option: `penalty` (D), the sum of the weights: the larger it is, the more the variance counts."""

    name: ClassVar[str] = "mdboost"
    many_classes: ClassVar[bool] = False

    def __init__(self, examples: Examples, options: Mapping[str, Any]) -> None:
        self.examples = examples
        self.total = Fraction(options.get("penalty", DEFAULT_PENALTY))
        if self.total <= 0:
            raise DataError(_no_penalty())
        if examples.total <= 1:
            raise DataError(_too_light(examples.total))
        self.weight = examples.weight
        self.mass = float(examples.total)
        self.factor = self.mass / (self.mass - 1)
        self.signs = np.zeros((0, examples.margins))
        self.centered = self.signs  # minus their means
        self.program = Simplex(float(self.total))
        self.edge = 0.0  # of the forest, at the latest prices

    def solve(self, seconds: float) -> Restricted | None:
        if not len(self.signs):
            return Restricted(-inf, np.zeros(0), self.weight.copy())
        if not self.program.solve(seconds):
            return None
        margins = self.program.weights @ self.signs
        mean = float(self.weight @ margins) / self.mass
        value = self.mass * mean - self.factor / 2 * float(self.weight @ (margins - mean) ** 2)
        prices = self.weight * (1 - self.factor * (margins - mean))
        self.edge = float(prices @ margins)
        return Restricted(value, self.program.weights.copy(), prices)

    def reduced_cost(self, column: Grown, restricted: Restricted) -> float:
        return float(self.total) * float(column.signs @ restricted.prices) - self.edge

    def add(self, columns: Sequence[Grown]) -> None:
        new = np.array([column.signs for column in columns], dtype=np.float64)
        sums = new @ self.weight
        centered = new - sums[:, None] / self.mass
        self.signs = np.vstack([self.signs, new])
        self.centered = np.vstack([self.centered, centered])
        self.program.add(sums, self.factor * ((centered * self.weight) @ self.centered.T))

    def forget(self, columns: NDArray[np.bool_]) -> None:
        self.signs, self.centered = self.signs[~columns], self.centered[~columns]
        self.program.drop(columns)

    def value(self, margins: Whole, unit: Fraction) -> Fraction:
        counts, each = self.examples.count.tolist(), margins.tolist()
        first: int = sum(count * margin for count, margin in zip(counts, each, strict=True))
        second: int = sum(count * margin * margin for count, margin in zip(counts, each, strict=True))
        share, mass = self.examples.unit, self.examples.total
        total = first * share * unit
        variation = second * share * unit**2 - total**2 / mass
        return total - mass / (mass - 1) / 2 * variation

    def bound(self, prices: Whole, edge: int) -> Fraction | None:
        """Any prices, scaled to add up to M, bound the value: D * edge + 1/2 (u-1)' A+ (u-1)."""
        paid = int(prices.sum())
        if paid <= 0:
            return None
        mass, scale = self.examples.total, self.examples.total / paid
        # (u-1)' A+ (u-1), with u / weight for what one row pays, is (M-1)/M (sum u^2 / weight - M).
        squares = Fraction(0)
        for count in np.unique(self.examples.count).tolist():
            alike = prices[self.examples.count == count].tolist()
            squares += Fraction(sum(price * price for price in alike), count)
        spread = scale**2 * squares / self.examples.unit - mass
        return self.total * edge * scale + (mass - 1) / mass / 2 * spread

    def again(self, signs: Signs) -> float | None:
        """The same program, solved by the quadratic solver of HiGHS."""
        import highspy

        # The terms are computed by a formula other than that of `add`, so that the check is independent.
        trees, votes = len(signs), signs.astype(np.float64)
        linear = votes @ self.weight
        quadratic = self.factor * ((votes * self.weight) @ votes.T - np.outer(linear, linear) / self.mass)
        model = highspy.HighsModel()
        model.lp_.num_col_, model.lp_.num_row_ = trees, 1
        model.lp_.col_cost_ = -linear
        model.lp_.col_lower_, model.lp_.col_upper_ = np.zeros(trees), np.full(trees, highspy.kHighsInf)
        model.lp_.row_lower_ = model.lp_.row_upper_ = np.array([float(self.total)])
        model.lp_.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.lp_.a_matrix_.start_ = np.arange(trees + 1)
        model.lp_.a_matrix_.index_ = np.zeros(trees, dtype=np.int32)
        model.lp_.a_matrix_.value_ = np.ones(trees)
        model.hessian_.dim_ = trees
        model.hessian_.format_ = highspy.HessianFormat.kTriangular
        model.hessian_.start_ = np.append(0, np.cumsum(np.arange(trees, 0, -1)))
        model.hessian_.index_ = np.concatenate([np.arange(place, trees) for place in range(trees)])
        model.hessian_.value_ = np.concatenate([quadratic[place:, place] for place in range(trees)])
        highs = highspy.Highs()
        highs.silent()
        highs.setOptionValue("threads", 1)
        # Its active-set method can cycle forever at the optimum, so the number of its steps is bounded.
        highs.setOptionValue("qp_iteration_limit", 1000 + 100 * trees)
        highs.passModel(model)
        highs.run()
        if highs.getModelStatus() == highspy.HighsModelStatus.kOptimal:
            return -float(highs.getObjectiveValue())
        if highs.getModelStatus() == highspy.HighsModelStatus.kIterationLimit:
            return _best_nearby(linear, quadratic, float(self.total), np.array(highs.getSolution().col_value))
        return None


def _best_nearby(
    linear: NDArray[np.float64], quadratic: NDArray[np.float64], total: float, weights: NDArray[np.float64]
) -> float | None:
    """An upper bound on the program's value from its tangent at these weights, if they are as good as optimal.

    The program is concave, so the tangent lies above it everywhere. None if the tangent allows noticeably more than the
    value at the weights, or if the weights do not add up to the total.
    """
    weights = np.maximum(weights, 0)
    if abs(float(weights.sum()) - total) > NEARLY * total:
        return None
    value = float(linear @ weights - weights @ quadratic @ weights / 2)
    slope = linear - quadratic @ weights
    allowed = total * float(slope.max()) - float(slope @ weights)
    return value + max(allowed, 0.0) if allowed <= NEARLY * max(1.0, abs(value)) else None


def _no_penalty() -> Diagnostic:
    return Diagnostic(
        "D434",
        "the penalty of `mdboost` is what the weights of its trees add up to, and has to be above 0",
        helps=("write `mdboost(penalty = 12)`",),
    )


def _too_light(total: Fraction) -> Diagnostic:
    return Diagnostic(
        "D435",
        f"rows of weight {float(total):.6g} in all have no variance",
        notes=("a row of weight 2 counts as two rows, and the variance needs more than one",),
        helps=("multiply the weights, or remove `weight by`",),
    )
