"""X, y -> the classification tree with the fewest or the cheapest mistakes that meets the requirements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from treeml.estimators import asking
from treeml.estimators import rows as reading
from treeml.estimators.base import Estimator, SupervisedTree, coded_classes, positive_weights, total_weight
from treeml.estimators.importances import class_importances
from treeml.lang import measure_formulas as measures
from treeml.model import Model
from treeml.trees.nodes import class_shares


class ClassEstimator(ClassifierMixin, Estimator):  # type: ignore[misc]
    """What all classifiers share: labels of any type, and weights."""

    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X with labels y. Rows of weight zero are left out.

        >>> estimator.fit(X, y, sample_weight=[1, 2] * 20)
        """
        name = getattr(y, "name", None)
        X, y = self._checked_training(X, y)
        self.classes_, codes = coded_classes(y)
        labels = tuple(self.classes_.tolist())
        X, codes, weight = positive_weights(sample_weight, X, codes)
        X, codes, weight = reading.in_order(X, codes, weight)
        present = _class_weights(labels, codes, weight)
        self._learn(
            X,
            lambda target, table: (self._asked(target, labels, present), table),
            lambda target: reading.classes_column(target, codes, labels),
            name,
            weight,
        )
        return self

    def _asked(self, target: str, labels: tuple[Any, ...], present: Mapping[Any, Fraction]) -> Model:
        """The model that the keywords describe; `present` holds the classes that occur, with their weights."""
        raise NotImplementedError


@dataclass(kw_only=True, repr=False, eq=False)
class OptimalTreeClassifier(ClassEstimator, SupervisedTree):
    """The best decision tree for classes, proved and verified.

    >>> from treeml.sklearn import OptimalTreeClassifier
    >>> estimator = OptimalTreeClassifier(max_depth=2, min_support=5).fit(X, y)
    >>> estimator.is_optimal_, estimator.score(X, y)
    (True, 1.0)

    Parameters
    ----------
    max_depth : int or None
        The largest number of splits on a path.
    min_support : int or float
        The smallest number of rows in a leaf, or their smallest share of all rows.
    leaf_price : float
        The penalty per leaf: the share of the weight (or of the mean cost) that it must gain. 0 asks only for the
        most accurate tree.
    max_leaves : int or None
        The largest number of leaves.
    min_weight_fraction_leaf : float
        The smallest share of the total weight (of rows times classes) that a leaf may have.
    class_weight : None, "balanced" or dict
        Factors of the weights of classes; `balanced` lets every class weigh the same.
    cost_matrix : None, dict or square array
        The costs of mistakes: {(predicted, actual): cost}, or an array laid out like `confusion_matrix`.
    fairness : None or dict
        Bounds on gaps between groups: {"parity_gap(sex)": 0.05}. Needs `positive` unless classes are 0/1 or no/yes.
    positive : label
        The class that counts as positive.
    forbid : list of str
        Columns that may not be split on; they may still name groups.
    missing : None, "separate" or "median"
        How missing values in X are handled; None makes them an error.
    spec : str, Path or Model
        A specification instead of all of the above; `params` gives its params their values.
    params : dict
        Values for the params of `spec`.
    backend : str
        The back-end: `native`, `cpsat`, `mip`, ...; by default the best capable one.
    time_limit : float or str
        Seconds, or text such as "5 min"; the best tree found by then is kept, with a warning.
    threads, random_state : int
        The number of threads of the back-end, and the seed of its random choices.
    verbose : bool
        Show progress while solving: a bar in a notebook or a terminal, else lines of a log.

    Attributes
    ----------
    tree_, result_, model_ : the tree, the complete result of the search, and the model that was solved
    objective_, bound_, gap_, status_, is_optimal_ : the value that was reached, and what is proved
    n_leaves_, depth_, classes_, n_features_in_, feature_names_in_, feature_importances_ : as in scikit-learn
    """

    max_leaves: int | None = None
    min_weight_fraction_leaf: float = 0.0
    class_weight: Any = None
    cost_matrix: Any = None
    fairness: Mapping[str, float] | None = None
    positive: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X with labels y. Rows of weight zero are left out.

        >>> estimator.fit(X, y, sample_weight=[1, 2] * 20)
        """
        super().fit(X, y, sample_weight)
        self.importances_ = class_importances(self.tree_, self.model_)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row's leaf.

        >>> estimator.predict(X[:3]).shape
        (3,)
        """
        reached = self._reached(X)
        place = {label: number for number, label in enumerate(self.classes_.tolist())}
        codes = np.array([place[leaf.prediction] for leaf in self.tree_.leaves])
        found: NDArray[Any] = self.classes_[codes[reached]]
        return found

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The shares, by weight, of the classes in each row's leaf, in the order of `classes_`.

        >>> estimator.predict_proba(X[:3]).shape
        (3, 2)
        """
        reached = self._reached(X)
        place = {label: number for number, label in enumerate(self.classes_.tolist())}
        shares = np.zeros((len(self.tree_.leaves), len(place)))
        for number, leaf in enumerate(self.tree_.leaves):
            for label, share in zip(self.tree_.classes, class_shares(leaf, self.tree_.classes), strict=True):
                shares[number, place[label]] = float(share)
        return shares[reached]

    def _asked(self, target: str, labels: tuple[Any, ...], present: Mapping[Any, Fraction]) -> Model:
        """The model that the keywords describe; `present` holds the classes that occur, with their weights."""
        model = Model()
        positive = self.positive.item() if isinstance(self.positive, np.generic) else self.positive
        if positive is not None and positive not in labels:
            raise ValueError(f"positive={positive!r} is not one of the classes {list(labels)}")
        model.predict(target, positive=positive if positive in present else None)
        goal = measures.error_rate
        if self.cost_matrix is not None:
            asking.add_mistake_costs(model, self.cost_matrix, labels, present)
            goal = measures.mistake_cost / sum(present.values(), Fraction(0))
        model.minimize(asking.priced(goal, self.leaf_price))
        total = asking.add_class_weights(model, self.class_weight, present)
        asking.limit_leaf_weight(model, self.min_weight_fraction_leaf, total)
        asking.add_fairness(model, self.fairness)
        self._limit(model, self.max_depth, self.max_leaves)
        return model


def _class_weights(labels: tuple[Any, ...], codes: NDArray[Any], weight: Any) -> dict[Any, Fraction]:
    """The exact weight of every class that occurs."""
    found = {}
    for code in np.unique(codes).tolist():
        rows = codes == code
        found[labels[code]] = total_weight(None if weight is None else weight[rows], int(rows.sum()))
    return found
