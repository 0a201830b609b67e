"""X, y -> the classification tree that makes fewest mistakes, or the cheapest ones, within what is required."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from treeml.estimators import asking
from treeml.estimators import rows as reading
from treeml.estimators.base import Estimator, TreeEstimator, positive_weights, total_weight
from treeml.lang import measure_formulas as measures
from treeml.model import Model
from treeml.trees.nodes import class_shares


class ClassEstimator(ClassifierMixin, Estimator):  # type: ignore[misc]
    """What classifiers share: labels of any kind, and weights."""

    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the best one. Rows of weight zero are left out."""
        name = getattr(y, "name", None)
        X, y = self._checked_training(X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
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
        """The model that the keywords describe; `present` are the classes that occur, with their weights."""
        raise AssertionError("a classifier says what it asks for")


@dataclass(kw_only=True, repr=False, eq=False)
class OptimalTreeClassifier(ClassEstimator, TreeEstimator):
    """The best decision tree for classes, proved and verified.

    Parameters
    ----------
    max_depth : int or None
        The most splits on a path.
    min_support : int or float
        The fewest rows in a leaf, as a number or as a share of all rows.
    leaf_price : float
        What a leaf has to earn: the share of the weight (or of the mean cost) that it must gain. 0 asks for the most
        accurate tree and no more.
    max_leaves : int or None
        The most leaves.
    min_weight_fraction_leaf : float
        The least share of all weight, of rows times classes, that a leaf may have.
    class_weight : None, "balanced" or dict
        Factors of the weights of classes; `balanced` lets every class weigh the same.
    cost_matrix : None, dict or square array
        What mistakes cost: {(predicted, actual): cost}, or an array laid out like `confusion_matrix`.
    fairness : None or dict
        Bounds on gaps between groups: {"parity_gap(sex)": 0.05}. Needs `positive` unless classes are 0/1 or no/yes.
    positive : label
        The class that counts as positive.
    forbid : list of str
        Columns that may not be split on; they may still name groups.
    missing : None, "separate" or "median"
        What gaps in X mean; without it they are an error.
    spec : str, Path or Model
        A specification instead of all of the above; `params` gives its params their values.
    params : dict
        Values for the params of `spec`.
    backend : str
        Who solves: `native`, `cpsat`, `mip`, ...; the best capable one unless given.
    time_limit : float or str
        Seconds, or text such as "5 min"; the best tree found until then is kept, with a warning.
    threads, random_state : int
        Threads that the back-end may use, and the seed of what it does at random.
    verbose : bool
        Show a bar while it is solved: in a notebook, in a terminal, or as lines of a log.

    Attributes
    ----------
    tree_, result_, model_ : the tree, all that is known of the search, and the model that was solved
    objective_, bound_, gap_, status_, is_optimal_ : what was reached, and what is proved
    n_leaves_, depth_, classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    """

    max_leaves: int | None = None
    min_weight_fraction_leaf: float = 0.0
    class_weight: Any = None
    cost_matrix: Any = None
    fairness: Mapping[str, float] | None = None
    positive: Any = None

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row's leaf."""
        reached = self._reached(X)
        place = {label: number for number, label in enumerate(self.classes_.tolist())}
        codes = np.array([place[leaf.prediction] for leaf in self.tree_.leaves])
        found: NDArray[Any] = self.classes_[codes[reached]]
        return found

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The shares, by weight, of the classes in each row's leaf, in the order of `classes_`."""
        reached = self._reached(X)
        place = {label: number for number, label in enumerate(self.classes_.tolist())}
        shares = np.zeros((len(self.tree_.leaves), len(place)))
        for number, leaf in enumerate(self.tree_.leaves):
            for label, share in zip(self.tree_.classes, class_shares(leaf, self.tree_.classes), strict=True):
                shares[number, place[label]] = float(share)
        return shares[reached]

    def _asked(self, target: str, labels: tuple[Any, ...], present: Mapping[Any, Fraction]) -> Model:
        """The model that the keywords describe; `present` are the classes that occur, with their weights."""
        model = Model()
        positive = self.positive.item() if isinstance(self.positive, np.generic) else self.positive
        if positive is not None and positive not in labels:
            raise ValueError(f"positive={positive!r} is none of the classes {list(labels)}")
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
    """The weight of every class that occurs, exactly."""
    found = {}
    for code in np.unique(codes).tolist():
        rows = codes == code
        found[labels[code]] = total_weight(None if weight is None else weight[rows], int(rows.sum()))
    return found
