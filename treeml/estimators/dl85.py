"""X, y and error functions -> the best tree, behind the interface of the DL8.5 library, which `treeml.dl85` exports.

Classification errors are solved like any spec. An error function written in Python goes directly to the native
back-end, because the language cannot express it.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from treeml.backends import contract
from treeml.estimators.base import coded_classes, positive_weights
from treeml.estimators.dl85_solving import DL85Limits, LeafCosts, Rows, find_tree
from treeml.estimators.dl85_steering import FOREIGN, PRINTING, STEERING, Cache_Type, Wipe_Type, not_default, steering
from treeml.estimators.dl85_writing import KeptLeaf, drawn, written
from treeml.trees.tree import Tree

NO_SHARES = "there are no shares of classes: fit was not given the classes y"


@dataclass(kw_only=True, repr=False, eq=False)
class DL85Arguments(BaseEstimator):  # type: ignore[misc]
    """The arguments that all estimators of the DL8.5 library have."""

    max_depth: int = field(default=1, kw_only=False)
    min_sup: int = field(default=1, kw_only=False)
    error_function: Any = field(default=None, kw_only=False)
    max_error: float = 0
    stop_after_better: bool = False
    time_limit: float = 0
    verbose: bool = False
    desc: Any = field(default=False, metadata=STEERING)
    asc: Any = field(default=False, metadata=STEERING)
    repeat_sort: bool = field(default=False, metadata=STEERING)
    quiet: bool = field(default=True, metadata=PRINTING)
    print_output: bool = field(default=False, metadata=PRINTING)
    cache_type: Any = field(default=Cache_Type.Cache_TrieItemset, metadata=STEERING)
    maxcachesize: int = field(default=0, metadata=STEERING)
    wipe_type: Any = field(default=Wipe_Type.Subnodes, metadata=STEERING)
    wipe_factor: float = field(default=0.5, metadata=STEERING)
    use_cache: bool = field(default=True, metadata=STEERING)
    use_ub: bool = field(default=True, metadata=STEERING)
    dynamic_branch: bool = field(default=True, metadata=STEERING)

    def _warn_of(self, *marks: dict[str, str]) -> None:
        """Warn of the arguments with these marks, which have no effect."""
        names = not_default(self, *marks)
        if names:
            text = f"{', '.join(names)}: of another solver, and without effect here"
            warnings.warn(text, UserWarning, stacklevel=4)


@dataclass(kw_only=True, repr=False, eq=False)
class DL85Search(DL85Arguments):
    """What the trees share: the search, and the fitted attributes that it sets."""

    leaf_value_function: Any = None

    classes_: NDArray[Any] = field(init=False)
    tree_: dict[str, Any] | None = field(init=False)
    base_tree_: dict[str, Any] | None = field(init=False)
    model_tree_: Tree | None = field(init=False)

    def _search(self, X: NDArray[Any], asked: LeafCosts) -> list[Rows]:
        """Find the cheapest tree that is better than `max_error`, and return the rows of each of its leaves."""
        self._warn_of(FOREIGN)
        begun = monotonic()
        answer, tree = find_tree(X, asked, self._limits(), steering(self))
        self.runtime_ = monotonic() - begun
        self.timeout_ = answer.stop is contract.Stop.TIME
        self.lattice_size_ = int(answer.statistics.get("nodes", 0))
        self.is_fitted_, self.model_tree_ = True, tree
        if tree is None or answer.objective is None:
            self.size_, self.depth_, self.error_, self.accuracy_ = 0, 0, float("inf"), 0.0
            self.tree_ = self.base_tree_ = None
            return []
        self.error_ = float(answer.objective[0])
        # What the library reports; it is a share of rows if the errors count rows.
        self.accuracy_ = 1 - self.error_ / len(X)
        self.depth_, self.size_ = tree.depth, 2 * len(tree.leaves) - 1
        reached = tree.apply(X)
        return [np.flatnonzero(reached == number) for number in range(len(tree.leaves))]

    def _limits(self) -> DL85Limits:
        return DL85Limits(
            self.max_depth, self.min_sup, self.max_error, self.stop_after_better, self.time_limit, self.verbose
        )

    def _keep(self, X: NDArray[Any], leaves: list[KeptLeaf]) -> None:
        """Store the tree as DL8.5 does: nested dicts with the number of the column, left for 1 and right for 0.

        A column with other values than 0 and 1 has a threshold: larger values go left.
        """
        tree = self.model_tree_
        assert tree is not None
        self.leaf_values_ = [leaf.value for leaf in leaves]
        self.tree_ = written(tree, X, leaves, with_shares=leaves[0].shares is not None)
        self.base_tree_ = written(tree, X, leaves, with_shares=False)
        if leaves[0].shares is not None:
            sums = np.array([leaf.shares for leaf in leaves])
            self.leaf_shares_ = sums / sums.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> NDArray[Any]:
        """The value of each row's leaf.

        >>> estimator.predict(X[:3]).shape
        (3,)
        """
        reached = self._leaves(X)
        return np.array(self.leaf_values_)[reached]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The shares of the classes in each row's leaf, if the estimator was fitted with classes.

        >>> from treeml.dl85 import DL85Classifier
        >>> DL85Classifier(max_depth=1).fit(X, y).predict_proba(X[:3]).shape
        (3, 2)
        """
        reached = self._leaves(X)
        if not hasattr(self, "leaf_shares_"):
            raise ValueError(NO_SHARES)
        shares: NDArray[np.float64] = self.leaf_shares_[reached]
        return shares

    def get_nodes_count(self) -> int:
        """The number of splits and leaves together.

        >>> estimator.get_nodes_count()
        """
        check_is_fitted(self, "is_fitted_")
        return self.size_

    @staticmethod
    def is_leaf_node(node: dict[str, Any]) -> bool:
        """Is this node of `tree_` a leaf?

        >>> estimator.is_leaf_node({"value": 1, "error": 0})
        True
        """
        return "feat" not in node

    def pred_value_on_dict(self, instance: Any, tree: dict[str, Any] | None = None) -> Any:
        """The value that one row reaches in `tree_`, or in a tree of the same form.

        >>> estimator.pred_value_on_dict(X[0])
        """
        return self._walked(instance, tree)["value"]

    def pred_proba_on_dict(self, instance: Any, tree: dict[str, Any] | None = None) -> Any:
        """The shares of the classes in the leaf of `tree_` that one row reaches.

        >>> from treeml.dl85 import DL85Classifier
        >>> len(DL85Classifier(max_depth=1).fit(X, y).pred_proba_on_dict(X[0]))
        2
        """
        leaf = self._walked(instance, tree)
        if "proba" not in leaf:
            raise ValueError(NO_SHARES)
        return leaf["proba"]

    def get_tree_without_probas(self) -> dict[str, Any]:
        """The tree without the shares of the classes; here `tree_` keeps them.

        >>> estimator.get_tree_without_probas()
        """
        self._found("write")
        assert self.base_tree_ is not None
        return deepcopy(self.base_tree_)

    def export_graphviz(self, feature_names: Any = None, class_names: Any = None) -> str:
        """The tree in the language of Graphviz, with 1 on the edges for yes.

        Columns and classes get the given names.

        >>> print(estimator.export_graphviz(feature_names=["a", "b", "c", "d"]).splitlines()[0])
        digraph Tree {
        """
        tree = self._found("draw")
        assert self.tree_ is not None
        return drawn(self.tree_, list(range(len(tree.inputs)) if feature_names is None else feature_names), class_names)

    def _fit_classes(self, X: NDArray[Any], codes: Rows, weight: NDArray[np.float64] | None) -> None:
        """Fit to classes, given as positions in `classes_`."""
        judge = ClassJudge(
            self.classes_.tolist(),
            codes,
            weight,
            (self.error_function, getattr(self, "fast_error_function", None), self.leaf_value_function),
        )
        plain = self.error_function is None and judge.functions[1] is None
        asked = LeafCosts(codes, self.classes_, weight) if plain else LeafCosts(cost=judge.error)
        leaves = self._search(X, asked)
        if self.model_tree_ is not None:
            verdicts = [(*judge(rows), judge.counts(rows)) for rows in leaves]
            self._keep(X, [KeptLeaf(value, error, counts) for error, value, counts in verdicts])
            if self.leaf_value_function is None:
                right = [
                    np.count_nonzero(self.classes_[codes[rows]] == value)
                    for rows, (_, value, _) in zip(leaves, verdicts, strict=True)
                ]
                self.accuracy_ = float(sum(right) / len(X))
        self._print()

    def _print(self) -> None:
        """What `quiet=False` and `print_output=True` ask for, once the tree is known."""
        if not self.quiet:
            outcome = "the time ended" if self.timeout_ else "the search is complete"
            found = "no tree is better than max_error" if self.tree_ is None else f"the error is {self.error_:g}"
            print(f"DL8.5: {outcome}, and {found}")
        if self.print_output:
            for name in ("tree", "size", "depth", "error", "accuracy", "lattice_size", "runtime", "timeout"):
                print(f"{name}: {getattr(self, f'{name}_')}")

    def _walked(self, instance: Any, tree: dict[str, Any] | None) -> dict[str, Any]:
        """The leaf that one row reaches in nested dicts."""
        self._found("walk through")
        node = self.tree_ if tree is None else tree
        assert node is not None
        while not self.is_leaf_node(node):
            value = instance[node["feat"]]
            node = node["left" if (value > node["threshold"] if "threshold" in node else value == 1) else "right"]
        return node

    def _leaves(self, X: Any) -> Rows:
        tree = self._found("predict with")
        return tree.apply(validate_data(self, X, reset=False))

    def _found(self, purpose: str) -> Tree:
        check_is_fitted(self, "is_fitted_")
        if self.model_tree_ is None:
            raise ValueError(f"there is no tree to {purpose}: none was found that is better than max_error")
        return self.model_tree_


@dataclass(kw_only=True, repr=False, eq=False)
class DL85Classifier(ClassifierMixin, DL85Search):  # type: ignore[misc]
    """The most accurate tree, or the best tree for an error function of your own.

    >>> from treeml.dl85 import DL85Classifier
    >>> DL85Classifier(max_depth=2, min_sup=5).fit(X, y).accuracy_
    1.0

    `error_function(rows)` gets the numbers of the rows of a leaf and returns an error, or a pair of the error and the
    class to predict. `fast_error_function(counts)` gets the weights of the rows of every class and returns such a pair.
    """

    fast_error_function: Any = field(default=None, kw_only=False)
    iterative: bool = False  # of older versions; smaller depths are solved first anyway
    depth_two_special_algo: bool = field(default=True, metadata=STEERING)
    similar_lb: bool = field(default=True, metadata=STEERING)
    similar_for_branching: bool = field(default=True, metadata=FOREIGN)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X with classes y; rows of weight zero are left out.

        >>> estimator.fit(X, y).error_
        """
        X, y = validate_data(self, X, y)
        self.classes_, codes = coded_classes(y)
        X, codes, weight = positive_weights(sample_weight, X, codes)
        self._fit_classes(X, codes, weight)
        return self


@dataclass(kw_only=True, repr=False, eq=False)
class DL85Predictor(DL85Search):
    """A tree for an error function of your own.

    >>> from treeml.dl85 import DL85Predictor
    >>> def spread(rows):
    ...     return float(target[rows].max() - target[rows].min())
    >>> estimator = DL85Predictor(max_depth=1, error_function=spread).fit(X)

    `error_function(rows)` returns an error, or a pair of the error and what the leaf predicts. Without such a pair, a
    leaf predicts what `leaf_value_function(rows)` returns, or else its own position among the leaves. With classes y,
    it is the classifier. `accuracy_` is 1 - error / rows, which is an accuracy if the errors count rows.
    """

    fast_error_function: Any = field(default=None, kw_only=False)
    predict_error_function: Any = field(default=None, metadata=FOREIGN)
    iterative: bool = False  # smaller depths are solved first anyway
    nps: bool = field(default=False, metadata=FOREIGN)
    depth_two_special_algo: bool = field(default=False, metadata=STEERING)
    similar_lb: bool = field(default=False, metadata=STEERING)
    similar_for_branching: bool = field(default=False, metadata=FOREIGN)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to rows X; classes y are needed if there is no error function, and give `predict_proba`.

        >>> estimator.fit(X).error_
        """
        if y is not None and type_of_target(y) in ("binary", "multiclass"):
            X, y = validate_data(self, X, y)
            self.classes_, codes = np.unique(y, return_inverse=True)
            self._fit_classes(X, codes, None)
            return self
        X = validate_data(self, X)
        if self.error_function is None:
            raise ValueError("a predictor needs an error_function (rows of a leaf -> its error), or classes y")
        if self.fast_error_function is not None:
            raise ValueError("fast_error_function counts classes, and there are no classes y")
        self._fit_by(X, self.error_function, self.leaf_value_function)
        return self

    def _fit_by(self, X: NDArray[Any], error_function: Any, leaf_value_function: Any) -> list[Rows]:
        """Fit with these functions."""

        def judged(rows: Rows) -> tuple[float, Any]:
            given = error_function(rows.tolist())
            error, value = given if isinstance(given, tuple) else (given, None)
            return float(error), value

        leaves = self._search(X, LeafCosts(cost=lambda rows: judged(rows)[0]))
        kept = []
        for place, rows in enumerate(leaves):
            error, value = judged(rows)
            if leaf_value_function is not None:
                value = leaf_value_function(rows.tolist())
            kept.append(KeptLeaf(place if value is None else value, error))
        if kept:
            self._keep(X, kept)
        self._print()
        return leaves


@dataclass(kw_only=True, repr=False, eq=False)
class DL85Cluster(ClusterMixin, DL85Predictor):  # type: ignore[misc]
    """Clusters that are the leaves of a tree, with the smallest sum of distances to the centers of the leaves.

    `fit(X, X_error)` splits on X and measures distances in `X_error`, or in X if it is not given. `labels_` holds the
    number of every row's leaf. As in the library, the error of a leaf is rounded to two digits, and without a
    `leaf_value_function` its value is the mean of those entries of the table, counted row by row from the first, whose
    numbers are the numbers of its rows: it tells leaves apart, and means little else.

    >>> from treeml.dl85 import DL85Cluster
    >>> len(set(DL85Cluster(max_depth=1).fit(X).labels_))
    2
    """

    labels_: NDArray[np.intp] = field(init=False)

    def fit(self, X: Any, X_error: Any = None) -> Self:
        """Fit to rows X; distances are measured in `X_error`, or in X if it is not given.

        >>> estimator.fit(X).labels_.shape
        (40,)
        """
        X = validate_data(self, X)
        measured = X if X_error is None else check_array(X_error)
        if len(measured) != len(X):
            raise ValueError(f"X_error has {len(measured)} rows and X has {len(X)}")
        measured = measured.astype(np.float64)

        def distances(rows: list[int]) -> float:
            inside = measured[rows]
            return round(float(np.linalg.norm(inside - inside.mean(axis=0), axis=1).sum()), 2)

        def value(rows: list[int]) -> float:
            return round(float(measured.take(rows).mean()), 2)

        leaves = self._fit_by(X, self.error_function or distances, self.leaf_value_function or value)
        self.labels_ = np.zeros(len(X), dtype=np.intp)
        for number, rows in enumerate(leaves):
            self.labels_[rows] = number
        return self


@dataclass(frozen=True, eq=False)
class ClassJudge:
    """The rows of a leaf -> its error and the class that it predicts, by the user's functions or by counting."""

    labels: list[Any]
    codes: Rows
    weight: NDArray[np.float64] | None
    functions: tuple[Any, Any, Any]  # of the rows, of the counts, and for the value of a leaf

    def counts(self, rows: Rows) -> NDArray[np.float64]:
        """The weight of every class."""
        weight = None if self.weight is None else self.weight[rows]
        counts = np.bincount(self.codes[rows], weight, minlength=len(self.labels))
        return counts.astype(np.float64, copy=False)

    def error(self, rows: Rows) -> float:
        """The error alone, which a search asks for very many leaves."""
        by_rows, by_counts, _ = self.functions
        if by_rows is not None:
            given = by_rows(rows.tolist())
            return float(given[0] if isinstance(given, tuple) else given)
        error, _ = by_counts(self.counts(rows).tolist())
        return float(error)

    def __call__(self, rows: Rows) -> tuple[float, Any]:
        by_rows, by_counts, valued = self.functions
        counts = self.counts(rows)
        value, error = self.labels[int(counts.argmax())], float(counts.sum() - counts.max())
        if by_rows is not None:
            given = by_rows(rows.tolist())
            error, value = given if isinstance(given, tuple) else (given, value)
        elif by_counts is not None:
            error, place = by_counts(counts.tolist())
            value = self.labels[int(place)]
        return float(error), value if valued is None else valued(rows.tolist())
