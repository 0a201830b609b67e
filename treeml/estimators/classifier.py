"""X, y -> the classification tree that makes fewest mistakes, or the cheapest ones, within what is required."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from treeml.estimators import asking
from treeml.estimators import rows as reading
from treeml.estimators.base import TreeEstimator
from treeml.formula import Formula, measure
from treeml.model import Model
from treeml.tree import class_shares


class OptimalTreeClassifier(ClassifierMixin, TreeEstimator):  # type: ignore[misc]
    """The best decision tree for classes, proved and verified.

    Parameters
    ----------
    max_depth : int or None
        The most splits on a path.
    min_support : int or float
        The fewest rows in a leaf, as a number or as a share of all rows.
    leaf_price : float
        What a leaf has to earn: the share of the weight (or of the mean cost) that it must gain. The default only
        keeps leaves away that earn next to nothing; 0 asks for the most accurate tree and no more.
    max_leaves : int or None
        The most leaves.
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

    Attributes
    ----------
    tree_, result_, model_ : the tree, all that is known of the search, and the model that was solved
    objective_, bound_, gap_, status_, is_optimal_ : what was reached, and what is proved
    n_leaves_, depth_, classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    """

    def __init__(
        self,
        *,
        max_depth: int | None = 3,
        min_support: int | float = 1,
        leaf_price: float = 0.0001,
        max_leaves: int | None = None,
        class_weight: Any = None,
        cost_matrix: Any = None,
        fairness: Mapping[str, float] | None = None,
        positive: Any = None,
        forbid: Any = None,
        missing: str | None = None,
        spec: str | Path | Model | None = None,
        params: Mapping[str, Any] | None = None,
        backend: str | None = None,
        time_limit: float | str | None = None,
        threads: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_support = min_support
        self.leaf_price = leaf_price
        self.max_leaves = max_leaves
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.fairness = fairness
        self.positive = positive
        self.forbid = forbid
        self.missing = missing
        self.spec = spec
        self.params = params
        self.backend = backend
        self.time_limit = time_limit
        self.threads = threads
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the best tree. Rows of weight zero are left out."""
        name = getattr(y, "name", None)
        X, y = self._checked_training(X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        if weight is not None and not weight.all():
            kept = weight > 0
            if not kept.any():
                raise ValueError("all sample weights are zero")
            X, codes, weight = reading.take_rows(X, kept), codes[kept], weight[kept]
        own = self._own_spec()
        table = reading.make_table(X)
        labels = tuple(self.classes_.tolist())
        if own is not None:
            model, spec = own
            target = spec.target or reading.free_name(table, name, "y")
            if target in table.columns:
                raise ValueError(f"X holds the column {target!r} that is to be predicted; leave it out")
            if spec.target is None:
                model.predict(target)
            if weight is not None and spec.weight_column is not None:
                raise ValueError(f"the spec weighs rows by {spec.weight_column!r}; give no sample_weight as well")
        else:
            target = reading.free_name(table, name, "y")
            model = self._asked(target, labels, codes, weight)
            self._declare_missing(model, table)
        table = reading.with_column(table, reading.classes_column(target, codes, labels), "target")
        if weight is not None:
            column = reading.numbers_column(reading.free_name(table, "weight"), weight)
            table = reading.with_column(table, column, "weight")
        self._solve(model, table)
        return self

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

    def _asked(self, target: str, labels: tuple[Any, ...], codes: NDArray[Any], weight: Any) -> Model:
        """The model that the keywords describe."""
        present = _class_weights(labels, codes, weight)
        model = Model()
        positive = self.positive.item() if isinstance(self.positive, np.generic) else self.positive
        if positive is not None and positive not in labels:
            raise ValueError(f"positive={positive!r} is none of the classes {list(labels)}")
        model.predict(target, positive=positive if positive in present else None)
        if self.cost_matrix is None:
            goal = measure("error_rate")
        else:
            asking.add_mistake_costs(model, self.cost_matrix, labels, present)
            goal = measure("mistake_cost")
            assert isinstance(goal, Formula)
            goal = goal / sum(present.values(), Fraction(0))
        assert isinstance(goal, Formula)
        model.minimize(asking.priced(goal, self.leaf_price))
        asking.limit_size(model, self.max_depth, self.min_support, self.max_leaves)
        asking.add_class_weights(model, self.class_weight, present)
        asking.add_fairness(model, self.fairness)
        if self.forbid is not None:
            model.forbid(*([self.forbid] if isinstance(self.forbid, str) else self.forbid))
        return model


def _class_weights(labels: tuple[Any, ...], codes: NDArray[Any], weight: Any) -> dict[Any, Fraction]:
    """The weight of every class that occurs, exactly."""
    found = {}
    for code in np.unique(codes).tolist():
        if weight is None:
            found[labels[code]] = Fraction(int((codes == code).sum()))
        else:
            found[labels[code]] = sum((Fraction(str(each)) for each in weight[codes == code].tolist()), Fraction(0))
    return found
