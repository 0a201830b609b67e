"""X, y -> weighted trees, behind the interface of the DL8.5 library; `treeml.dl85` is its public face.

The models are boosting criteria of TreeML under other names. Demiriz, Bennett and Shawe-Taylor (2002) minimize
sum w + C sum xi with margins of at least 1 - xi, where Ratsch and others maximize r - D sum xi with weights that add up
to 1. Divided by the sum of the dual prices, the dual of the first is that of the second with D = C * r, so the first is
solved by searching for the D at which this equation holds. Aglin's model, kernels and other base estimators are solved
round by round (`dl85_rounds`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from time import monotonic
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from treeml.estimators.dl85 import DL85Arguments, DL85Classifier
from treeml.estimators.dl85_rounds import (
    Ending,
    Fit,
    Weigh,
    kernel_of,
    rounds,
    variance,
    weigh_aglin,
    weigh_by_variance,
    weigh_demiriz,
    weigh_ratsch,
)
from treeml.estimators.dl85_steering import FOREIGN, PRINTING, STEERING
from treeml.estimators.forest import OptimalForestClassifier

MODEL_LP_RATSCH, MODEL_LP_DEMIRIZ, MODEL_LP_AGLIN, MODEL_QP_MDBOOST = 1, 2, 3, 4
DIGITS = 10**9  # of a penalty, as a denominator
MOST_STEPS = 60  # of the search for D; halving alone meets any gap before


@dataclass(kw_only=True, repr=False, eq=False)
class DL85Booster(ClassifierMixin, DL85Arguments):  # type: ignore[misc]
    """The forest with the best margin among all forests of such trees, by one of four models.

    >>> from treeml.dl85 import MODEL_LP_RATSCH, DL85Booster
    >>> DL85Booster(max_depth=1, model=MODEL_LP_RATSCH, regulator=0.1).fit(X, y).optimal_
    True

    `model` is MODEL_LP_RATSCH (`regulator` is the cost of a row's shortfall; if it is not above 0, no row may fall
    short), MODEL_LP_DEMIRIZ (the same cost, relative to the sum of the weights; solved to within `opti_gap`),
    MODEL_LP_AGLIN (the sum of the margins plus `regulator` times the smallest), or MODEL_QP_MDBOOST (`regulator` is the
    weight of the variance of the margins; `gamma` puts a kernel of the rows in its place: a number, "auto", "scale" or
    "nscale"). `max_iterations` limits the number of trees, unless it is 0.

    With `base_estimator`, a classifier that takes `sample_weight`, the learners are copies of it, and `optimal_` is
    False: nothing proves that another learner would not be better.
    """

    max_iterations: int = 0
    model: int = MODEL_LP_DEMIRIZ
    regulator: float = -1
    opti_gap: float = 0.01
    base_estimator: Any = None
    gamma: Any = None
    fast_error_function: Any = None
    min_trans_cost: float = 0

    classes_: NDArray[Any] = field(init=False)
    estimators_: list[Any] = field(init=False)  # trees, or copies of the base estimator
    forest_: OptimalForestClassifier | None = field(init=False)

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows X with classes y.

        >>> estimator.fit(X, y).n_estimators_
        """
        self._refuse_what_is_not_here()
        self._warn_of(FOREIGN, STEERING, PRINTING)
        begun = monotonic()
        if self.base_estimator is not None or self.gamma is not None or self.model == MODEL_LP_AGLIN:
            self._fit_by_rounds(X, y)
            self.duration_ = monotonic() - begun
            return self
        if self.model == MODEL_LP_DEMIRIZ:
            forest = self._demiriz(X, y)
        elif self.model == MODEL_QP_MDBOOST:
            forest = self._forest("mdboost", self._positive_regulator()).fit(X, y)
        elif self.regulator > 0:
            forest = self._forest("lpboost", self.regulator).fit(X, y)
        else:
            forest = self._forest("hardmargin", None).fit(X, y)
        self.duration_ = monotonic() - begun
        self.forest_, self.classes_, self.n_features_in_ = forest, forest.classes_, forest.n_features_in_
        self.estimators_ = forest.estimators_
        self.n_estimators_ = self.n_iterations_ = len(self.estimators_)
        self.optimal_ = forest.is_optimal_
        votes = forest.predict_proba(X)
        margins = 2 * votes[np.arange(len(votes)), np.searchsorted(self.classes_, np.asarray(y))] - 1
        scale = _best_sum(margins, float(self.regulator)) if self.model == MODEL_LP_DEMIRIZ else 1.0
        weights = forest.estimator_weights_
        self.estimator_weights_ = scale * weights / weights.sum()
        self.margins_norm_, self.margins_ = margins.tolist(), (scale * margins).tolist()
        self.accuracy_ = float(np.mean(forest.predict(X) == np.asarray(y)))
        self.objective_ = float(forest.objective_)
        if self.model == MODEL_LP_DEMIRIZ:
            self.objective_ = scale + self.regulator * float(np.maximum(0, 1 - scale * margins).sum())
        return self

    def _fit_by_rounds(self, X: Any, y: Any) -> None:
        """Fit learners to the prices of the rows, one after another."""
        X, y = validate_data(self, X, y)
        self.forest_ = None
        self.classes_ = np.unique(y)
        ending = Ending(self.opti_gap, self.max_iterations, self.time_limit or float("inf"))
        voters = rounds(X, y, self._learner(), self._weigh(X), ending)
        self.estimators_ = voters.learners
        self.n_estimators_, self.n_iterations_ = len(voters.learners), voters.rounds
        self.optimal_ = voters.finished and self.base_estimator is None
        self.estimator_weights_, self.objective_ = voters.weights, voters.value
        margins = voters.weights @ voters.signs
        self.margins_, self.margins_norm_ = margins.tolist(), (margins / voters.weights.sum()).tolist()
        self.accuracy_ = float(np.mean(self.predict(X) == y))

    def _learner(self) -> Fit:
        """A function of rows, classes and weights that fits one learner."""
        learner: Any = self.base_estimator
        if learner is None:
            learner = DL85Classifier(max_depth=self.max_depth, min_sup=self.min_sup)

        def fit(rows: NDArray[Any], classes: NDArray[Any], weight: NDArray[np.float64]) -> Any:
            return clone(learner).fit(rows, classes, sample_weight=weight)

        return fit

    def _weigh(self, X: NDArray[Any]) -> Weigh:
        """How the known learners are weighed, by the model."""
        if self.model == MODEL_LP_RATSCH:
            return weigh_ratsch(self.regulator)
        if self.model == MODEL_LP_DEMIRIZ:
            return weigh_demiriz(self._positive_regulator())
        if self.model == MODEL_LP_AGLIN:
            if self.regulator < 0:
                raise ValueError(f"this model needs a regulator of at least 0, not {self.regulator!r}")
            return weigh_aglin(float(self.regulator))
        kernel = variance(len(X)) if self.gamma is None else kernel_of(X, self.gamma)
        return weigh_by_variance(self._positive_regulator(), kernel)

    def _votes(self, X: Any) -> NDArray[np.float64]:
        """The share of the weight of the learners that vote for each class."""
        if self.forest_ is not None:
            return self.forest_.predict_proba(X)
        X = validate_data(self, X, reset=False)
        votes = np.zeros((len(X), len(self.classes_)))
        for learner, weight in zip(self.estimators_, self.estimator_weights_, strict=True):
            votes[np.arange(len(X)), np.searchsorted(self.classes_, learner.predict(X))] += weight
        found: NDArray[np.float64] = votes / self.estimator_weights_.sum()
        return found

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the most votes.

        >>> estimator.predict(X[:3]).shape
        (3,)
        """
        check_is_fitted(self)
        if self.forest_ is not None:
            return self.forest_.predict(X)
        found: NDArray[Any] = self.classes_[np.argmax(self._votes(X), axis=1)]
        return found

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The share of the votes for each class.

        >>> estimator.predict_proba(X[:3]).shape
        (3, 2)
        """
        check_is_fitted(self)
        return self._votes(X)

    def get_nodes_count(self) -> int:
        """The number of splits and leaves of all trees.

        >>> estimator.get_nodes_count()
        """
        check_is_fitted(self)
        if self.forest_ is not None:
            return sum(2 * len(tree.leaves) - 1 for tree in self.estimators_)
        return sum(tree.get_nodes_count() for tree in self.estimators_)

    def _forest(self, criterion: str, penalty: float | Fraction | None) -> OptimalForestClassifier:
        return OptimalForestClassifier(
            criterion=criterion,
            penalty=penalty,
            max_depth=self.max_depth,
            min_support=self.min_sup,
            max_trees=self.max_iterations or None,
            time_limit=self.time_limit or None,
            verbose=self.verbose,
        )

    def _demiriz(self, X: Any, y: Any) -> OptimalForestClassifier:
        """The forest for the D that equals C * r, found by bisection because r falls as D rises."""
        cost = self._positive_regulator()
        least = Fraction(1, len(y))  # below this, every row falls short
        low, high, penalty = least, Fraction(cost), least
        for _ in range(MOST_STEPS):
            forest = self._forest("lpboost", penalty).fit(X, y)
            margin = float(forest.objective_)
            wanted = Fraction(cost * margin).limit_denominator(DIGITS)
            if abs(wanted - penalty) <= self.opti_gap * penalty:
                break
            if wanted > penalty:
                low = penalty
            elif penalty == least:
                raise ValueError("no forest is worth its weights: all rows fall short at this regulator; raise it")
            else:
                high = penalty
            # What would be right if r did not change, where that is inside the bracket.
            halfway = Fraction(float(low * high) ** 0.5).limit_denominator(DIGITS)
            penalty = wanted if low < wanted < high else halfway
        return forest

    def _positive_regulator(self) -> float:
        if not self.regulator > 0:
            raise ValueError(f"this model needs a regulator above 0, not {self.regulator!r}")
        return float(self.regulator)

    def _refuse_what_is_not_here(self) -> None:
        if hasattr(self.max_depth, "fit"):  # the first argument of the library
            raise ValueError("max_depth is an estimator: give it by name, base_estimator=...")
        if self.model not in (MODEL_LP_RATSCH, MODEL_LP_DEMIRIZ, MODEL_LP_AGLIN, MODEL_QP_MDBOOST):
            raise ValueError(
                f"model={self.model!r} is not here: there are MODEL_LP_RATSCH, MODEL_LP_DEMIRIZ, MODEL_LP_AGLIN and "
                "MODEL_QP_MDBOOST"
            )
        if self.gamma is not None and self.model != MODEL_QP_MDBOOST:
            raise ValueError("gamma: a kernel takes the place of the variance, so it needs model=MODEL_QP_MDBOOST")
        if isinstance(self.gamma, str) and self.gamma not in ("auto", "scale", "nscale"):
            raise ValueError(f'gamma={self.gamma!r} is not here: it is a number, "auto", "scale" or "nscale"')
        if self.base_estimator is not None and (self.max_depth, self.min_sup) != (1, 1):
            raise ValueError("max_depth and min_sup are those of the booster's own trees: give them to base_estimator")
        given = [
            name
            for name, none in (
                ("error_function", None),
                ("fast_error_function", None),
                ("min_trans_cost", 0),
                ("max_error", 0),
                ("stop_after_better", False),
            )
            if getattr(self, name) != none
        ]
        if given:
            raise ValueError(f"{', '.join(given)}: not here; the trees of a forest are those that its margin asks for")


def _best_sum(margins: NDArray[np.float64], cost: float) -> float:
    """The sum of the weights for which this sum plus the cost of margins below 1 is smallest."""
    sums = 1 / np.unique(margins[margins > 0])
    worth = sums + cost * np.maximum(0, 1 - sums[:, None] * margins).sum(axis=1)
    return float(sums[np.argmin(worth)])
