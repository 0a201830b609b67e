"""X, y -> the regression tree with the smallest loss that meets the requirements."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from treeml.estimators import asking
from treeml.estimators import rows as reading
from treeml.estimators.base import SupervisedTree, positive_weights, total_weight
from treeml.estimators.importances import number_importances
from treeml.lang import measure_formulas as measures
from treeml.lang.formula import Formula
from treeml.model import Model

LOSSES = ("squared", "absolute", "quantile")
SQUARED, ABSOLUTE = ("squared", "squared_error"), ("absolute", "absolute_error")  # the second as in scikit-learn


@dataclass(kw_only=True, repr=False, eq=False)
class OptimalTreeRegressor(RegressorMixin, SupervisedTree):  # type: ignore[misc]
    """The best decision tree for numbers, proved and verified.

    >>> from treeml.sklearn import OptimalTreeRegressor
    >>> estimator = OptimalTreeRegressor(max_depth=2, loss="absolute").fit(X, target)
    >>> estimator.predict(X[:2]).shape
    (2,)

    Losses are added up exactly in integers, so y and weights with very many digits are rounded to four to eight digits
    (more for fewer rows); `result_.notes` then says so.

    Parameters
    ----------
    loss : "squared", "absolute" or "quantile"
        The loss whose weighted mean is minimized; leaves predict the mean, the median or the quantile.
        "squared_error" and "absolute_error", as in scikit-learn, are the first two.
    quantile : float
        The level of `loss="quantile"`.
    max_depth, min_support, max_leaves
        The largest number of splits on a path, the smallest number (or share) of rows in a leaf, the largest number of
        leaves.
    leaf_price : float
        The penalty per leaf, in units of the mean loss.
    forbid, missing, spec, params, backend, time_limit, threads, random_state, verbose
        As in OptimalTreeClassifier.

    Attributes
    ----------
    tree_, result_, model_ : the tree, the complete result of the search, and the model that was solved
    objective_, bound_, gap_, status_, is_optimal_ : the value that was reached, and what is proved
    n_leaves_, depth_, n_features_in_, feature_names_in_, feature_importances_ : as in scikit-learn
    """

    loss: str = "squared"
    quantile: float = 0.5
    max_leaves: int | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X with numbers y. Rows of weight zero are left out.

        >>> estimator.fit(X, target)
        """
        name = getattr(y, "name", None)
        X, y = self._checked_training(X, y, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        X, y, weight = positive_weights(sample_weight, X, y)
        y, weight, notes = reading.fitting(y, weight, squared=self.loss in SQUARED)
        self._learn(
            X,
            lambda target, table: (self._asked(target, total_weight(weight, len(y))), table),
            lambda target: reading.numbers_column(target, y),
            name,
            weight,
            notes,
        )
        self.importances_ = number_importances(self.tree_, self.model_, self._reached(X), y, weight)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The number that each row's leaf predicts.

        >>> estimator.predict(X[:3]).shape
        (3,)
        """
        reached = self._reached(X)
        return np.array([leaf.prediction for leaf in self.tree_.leaves], dtype=np.float64)[reached]

    def _asked(self, target: str, weight: Fraction) -> Model:
        """The model that the keywords describe."""
        model = Model()
        model.predict(target)
        model.minimize(asking.priced(self._loss() / weight, self.leaf_price))
        self._limit(model, self.max_depth, self.max_leaves)
        return model

    def _loss(self) -> Formula:
        if self.loss in SQUARED:
            return measures.squared_loss
        if self.loss in ABSOLUTE:
            return measures.absolute_loss
        if self.loss != "quantile":
            raise ValueError(f"loss is one of {', '.join(LOSSES)}, not {self.loss!r}")
        if not 0 < self.quantile < 1:
            raise ValueError(f"quantile is between 0 and 1, not {self.quantile!r}")
        return measures.quantile_loss(Fraction(str(self.quantile)))
