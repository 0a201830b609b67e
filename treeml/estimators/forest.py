"""X, y -> the forest of small trees with the best margin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from treeml.estimators.classifier import ClassEstimator
from treeml.lang import measure_formulas as measures
from treeml.model import Model

if TYPE_CHECKING:
    from treeml.solving.result import Result
    from treeml.trees.forest import Forest


@dataclass(kw_only=True, repr=False, eq=False)
class OptimalForestClassifier(ClassEstimator):
    """Trees with weights whose margin is the best that trees of this size can have.

    >>> from treeml.sklearn import OptimalForestClassifier
    >>> estimator = OptimalForestClassifier(max_depth=1).fit(X, y)
    >>> estimator.is_optimal_
    True

    Parameters
    ----------
    criterion : "lpboost", "hardmargin" or "mdboost"
        The soft minimum margin, the minimum margin, or the mean margin minus half its variance (two classes only).
    nu : float
        For lpboost: the share of the weight whose margins may fall short. A larger value tolerates more noise.
    penalty : float or None
        For lpboost, instead of `nu`, the cost of a row's shortfall; for mdboost, the sum of the weights of the trees.
    max_depth, min_support, max_leaves
        Of every tree: the largest number of splits on a path, the smallest number (or share) of rows in a leaf, the
        largest number of leaves.
    max_trees : int or None
        The largest number of trees; with such a limit, the forest is not proved optimal.
    forbid, missing, spec, params, backend, time_limit, threads, random_state, verbose
        As in OptimalTreeClassifier.

    Attributes
    ----------
    forest_, result_, model_ : the forest, the complete result of the search, and the model that was solved
    estimators_, estimator_weights_ : its trees and their weights
    objective_, bound_, gap_, status_, is_optimal_ : the value that was reached, and what is proved
    n_leaves_, depth_ : leaves of all trees together, and the depth of the deepest
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    """

    criterion: str = "lpboost"
    nu: float = 0.1
    penalty: float | Fraction | None = None
    max_depth: int | None = 1
    max_leaves: int | None = None
    max_trees: int | None = None

    forest_: Forest = field(init=False)

    @property
    def estimators_(self) -> list[Any]:
        """The trees, the heaviest first.

        >>> estimator.estimators_[0].depth
        1
        """
        check_is_fitted(self)
        return list(self.forest_.trees)

    @property
    def estimator_weights_(self) -> NDArray[np.float64]:
        """The weights of the trees.

        >>> float(estimator.estimator_weights_.sum())
        1.0
        """
        check_is_fitted(self)
        return np.array([float(weight) for weight in self.forest_.weights])

    @property
    def n_leaves_(self) -> int:
        """The number of leaves of all trees together.

        >>> estimator.n_leaves_
        """
        check_is_fitted(self)
        return sum(len(tree.leaves) for tree in self.forest_.trees)

    @property
    def depth_(self) -> int:
        """The depth of the deepest tree.

        >>> estimator.depth_
        1
        """
        check_is_fitted(self)
        return max(tree.depth for tree in self.forest_.trees)

    def apply(self, X: Any) -> NDArray[np.intp]:
        """For each row and each tree, the position of the row's leaf among the leaves of the tree.

        >>> estimator.apply(X[:3]).shape == (3, len(estimator.estimators_))
        True
        """
        check_is_fitted(self)
        rows = self._checked_rows(X)
        return np.column_stack([tree.apply(rows) for tree in self.forest_.trees])

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the most votes; of classes with equal votes the first.

        >>> estimator.predict(X[:3]).shape
        (3,)
        """
        votes = self.predict_proba(X)
        found: NDArray[Any] = self.classes_[np.argmax(votes, axis=1)]
        return found

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The share of the weight that votes for each class, in the order of `classes_`.

        >>> estimator.predict_proba(X[:3]).shape
        (3, 2)
        """
        check_is_fitted(self)
        votes = self.forest_.votes(self._checked_rows(X))
        place = {label: number for number, label in enumerate(self.classes_.tolist())}
        shares = np.zeros((len(votes), len(place)))
        shares[:, [place[label] for label in self.forest_.classes]] = votes
        return shares

    def _asked(self, target: str, labels: tuple[Any, ...], present: Mapping[Any, Fraction]) -> Model:
        if len(present) < 2:
            raise ValueError(f"a forest compares the votes for classes, and here there is {len(present)} class")
        options = {}
        if self.penalty is not None:
            options["penalty"] = Fraction(str(self.penalty))
        elif self.criterion == "lpboost":
            options["nu"] = Fraction(str(self.nu))
        model = Model()
        model.predict(target)
        model.ensemble(self.criterion, trees=self.max_trees, **options)
        model.maximize(measures.margin)
        self._limit(model, self.max_depth, self.max_leaves)
        return model

    def _keep(self, result: Result, inputs: tuple[str, ...]) -> Result:
        if result.forest is None:
            raise ValueError("the spec asks for one tree: OptimalTreeClassifier fits it")
        trees = tuple(replace(tree, inputs=inputs) for tree in result.forest.trees)
        self.forest_ = replace(result.forest, trees=trees)
        return replace(result, forest=self.forest_)
