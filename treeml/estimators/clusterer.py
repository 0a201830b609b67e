"""X -> the best clusters that are the leaves of a small tree."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin

from treeml.estimators import asking
from treeml.estimators import rows as reading
from treeml.estimators.base import TreeEstimator, positive_weights, total_weight
from treeml.lang.measure_formulas import cluster_loss
from treeml.model import Model

if TYPE_CHECKING:
    from treeml.data.table import Table


@dataclass(kw_only=True, repr=False, eq=False)
class TreeClusterer(ClusterMixin, TreeEstimator):  # type: ignore[misc]
    """Clusters that are the leaves of a tree, so that every cluster is described by the tests that lead to it.

    >>> from treeml.sklearn import TreeClusterer
    >>> estimator = TreeClusterer(n_clusters=3).fit(X)
    >>> len(set(estimator.labels_))
    3

    Parameters
    ----------
    n_clusters : int or None
        The largest number of leaves.
    max_depth : int or None
        The largest number of splits on a path; by default the smallest that allows `n_clusters` leaves.
    min_support : int or float
        The smallest number of rows in a leaf, or their smallest share of all rows.
    leaf_price : float
        The penalty per leaf, in units of the mean loss.
    distance : "squared" or "absolute"
        The distance of a row to the center of its leaf; centers are means or medians.
    columns : list of str
        The columns that distances are measured in; by default all numeric columns. All columns of X may be tested.
    forbid, missing, spec, params, backend, time_limit, threads, random_state, verbose
        As in OptimalTreeClassifier.

    Attributes
    ----------
    labels_ : the cluster of every row, from 0
    cluster_centers_ : the center of every cluster in the columns that distances are measured in
    tree_, result_, model_ : the tree, the complete result of the search, and the model that was solved
    objective_, bound_, gap_, status_, is_optimal_ : the value that was reached, and what is proved
    n_leaves_, depth_, n_features_in_, feature_names_in_ : as in scikit-learn
    """

    n_clusters: int | None = field(default=4, kw_only=False)
    max_depth: int | None = None
    distance: Literal["squared", "absolute"] = "squared"
    columns: Any = None

    labels_: NDArray[np.intp] = field(init=False)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows X; y is accepted for pipelines and ignored.

        >>> estimator.fit(X)
        """
        X, _ = self._checked_training(X, None)
        rows, _, weight = positive_weights(sample_weight, X, None)
        if weight is not None:
            _, weight, _ = reading.fitting(weight, weight, squared=True)
        self._learn(rows, lambda _, table: self._asked(table, weight), weight=weight)
        self.labels_ = self.tree_.apply(self._checked_rows(X))
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The cluster of each row.

        >>> estimator.predict(X[:3]).shape
        (3,)
        """
        return self._reached(X)

    @property
    def cluster_centers_(self) -> NDArray[np.float64]:
        """The center of every cluster, in the columns that distances are measured in.

        >>> estimator.cluster_centers_.shape
        (3, 4)
        """
        self._solved()
        return np.array([leaf.prediction for leaf in self.tree_.leaves], dtype=np.float64)

    def _asked(self, table: Table, weight: Any) -> tuple[Model, Table]:
        """The model that the keywords describe, and the table with the columns that distances are measured in."""
        if self.distance not in ("squared", "absolute"):
            raise ValueError(f"distance is squared or absolute, not {self.distance!r}")
        given = [self.columns] if isinstance(self.columns, str) else self.columns
        alike = list(given or [name for name, column in table.columns.items() if column.is_number])
        if not alike:
            raise ValueError("X has no column of numbers, so rows have no distances")
        depth = self.max_depth
        if depth is None:
            if self.n_clusters is None:
                raise ValueError("give n_clusters or max_depth, otherwise every row is a cluster of its own")
            depth = (asking.whole("n_clusters", self.n_clusters, least=1) - 1).bit_length()
        model = Model()
        model.features(*table.columns)
        measured, table = _measurable(table, alike, weight, self.distance == "squared")
        distance = cluster_loss(*measured, distance=self.distance) / total_weight(weight, table.rows)
        model.minimize(asking.priced(distance, self.leaf_price))
        self._limit(model, depth, self.n_clusters)
        return model, table


def _measurable(table: Table, names: list[str], weight: Any, squared: bool) -> tuple[list[str], Table]:
    """The columns that distances are measured in; those with too many digits for exact sums get rounded copies."""
    measured = []
    for name in names:
        column = table.columns.get(name)
        measured.append(name)
        if column is None or not column.is_number or column.missing is not None:
            continue  # binding the model to the data reports what is wrong with it
        values, _, notes = reading.fitting(column.values.astype(np.float64), weight, squared)
        if notes:
            measured[-1] = f"{name}{reading.ROUNDED}"
            copied = {**table.columns, measured[-1]: reading.numbers_column(measured[-1], values)}
            note = f"distances along `{name}` are measured in rounded numbers"
            table = replace(table, columns=copied, notes=(*table.notes, note))
    return measured, table
