"""X, y and error functions -> the best tree, behind the interface of the DL8.5 library, which `treeml.dl85` exports.

Classification errors are solved like any spec. An error function written in Python goes directly to the native
back-end, because the language cannot express it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from fractions import Fraction
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from treeml.backends import contract
from treeml.estimators import rows as reading
from treeml.estimators.asking import limit_size
from treeml.estimators.base import positive_weights
from treeml.lang import measure_formulas as measures
from treeml.model import Model
from treeml.problem import problem as problems
from treeml.problem import terms
from treeml.trees.nodes import Branch, Node, TreeLeaf
from treeml.trees.tree import Tree

if TYPE_CHECKING:
    from treeml.data.table import Table

Rows = NDArray[np.intp]
Cost = Callable[[Rows], float]

SOLVER = "native"  # this interface is a face of the native solver, whatever the registry prefers
FOREIGN = {"steers": "the search of the DL8.5 library"}  # marks arguments that have no effect here


class Cache_Type(Enum):
    """Named as in the DL8.5 library, so that code which mentions it still runs; it has no effect here.

    >>> from treeml.dl85 import Cache_Type, DL85Classifier
    >>> DL85Classifier(cache_type=Cache_Type.Cache_TrieItemset)
    """

    Cache_TrieItemset = 1
    Cache_HashItemset = 2
    Cache_HashCover = 3


class Wipe_Type(Enum):
    """Named as in the DL8.5 library, so that code which mentions it still runs; it has no effect here.

    >>> from treeml.dl85 import DL85Classifier, Wipe_Type
    >>> DL85Classifier(wipe_type=Wipe_Type.Subnodes)
    """

    All = 1
    Subnodes = 2
    Reuses = 3


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
    desc: Any = field(default=False, metadata=FOREIGN)
    asc: Any = field(default=False, metadata=FOREIGN)
    repeat_sort: bool = field(default=False, metadata=FOREIGN)
    quiet: bool = field(default=True, metadata=FOREIGN)
    print_output: bool = field(default=False, metadata=FOREIGN)
    cache_type: Any = field(default=Cache_Type.Cache_TrieItemset, metadata=FOREIGN)
    maxcachesize: int = field(default=0, metadata=FOREIGN)
    wipe_type: Any = field(default=Wipe_Type.Subnodes, metadata=FOREIGN)
    wipe_factor: float = field(default=0.5, metadata=FOREIGN)
    use_cache: bool = field(default=True, metadata=FOREIGN)
    use_ub: bool = field(default=True, metadata=FOREIGN)
    dynamic_branch: bool = field(default=True, metadata=FOREIGN)

    def _warn_of_foreign(self) -> None:
        foreign = [
            each.name for each in fields(self) if each.metadata == FOREIGN and getattr(self, each.name) != each.default
        ]
        if foreign:
            text = f"{', '.join(foreign)}: of another solver, and without effect here"
            warnings.warn(text, UserWarning, stacklevel=4)


@dataclass(kw_only=True, repr=False, eq=False)
class DL85Search(DL85Arguments):
    """What the trees share: the search, and the fitted attributes that it sets."""

    tree_: dict[str, Any] | None = field(init=False)
    model_tree_: Tree | None = field(init=False)

    def _search(self, X: NDArray[Any], asked: LeafCosts) -> list[Rows]:
        """Find the cheapest tree that is better than `max_error`, and return the rows of each of its leaves."""
        self._warn_of_foreign()
        begun = monotonic()
        answer, tree = _solve(X, asked, self)
        self.runtime_ = monotonic() - begun
        self.timeout_ = answer.stop is contract.Stop.TIME
        self.lattice_size_ = int(answer.statistics.get("nodes", 0))
        error = float("inf") if tree is None or answer.objective is None else float(answer.objective[0])
        if tree is None or (self.max_error > 0 and error >= self.max_error):
            self.is_fitted_, self.size_, self.depth_, self.error_ = False, 0, 0, float("inf")
            self.tree_, self.model_tree_ = None, None
            return []
        self.is_fitted_, self.model_tree_, self.error_ = True, tree, error
        self.depth_, self.size_ = tree.depth, 2 * len(tree.leaves) - 1
        reached = tree.apply(X)
        return [np.flatnonzero(reached == number) for number in range(len(tree.leaves))]

    def _keep(self, tree: Tree, values: list[Any], errors: list[float]) -> None:
        """Store the tree as DL8.5 does: nested dicts with the number of the column, left for no and right for yes."""
        self.leaf_values_ = values
        number = iter(range(len(values)))

        def written(node: Node) -> dict[str, Any]:
            if isinstance(node, TreeLeaf):
                place = next(number)
                return {"value": values[place], "error": errors[place]}
            assert isinstance(node, Branch)
            place = tree.inputs.index(node.test.column)
            yes, no = written(node.yes), written(node.no)
            if node.test.kind == "at most":
                # DL8.5 asks whether a column is 1, so the small values are on the left.
                return {"feat": place, "threshold": float(node.test.values[0]), "left": yes, "right": no}
            return {"feat": place, "left": no, "right": yes}

        self.tree_ = written(tree.root)

    def predict(self, X: Any) -> NDArray[Any]:
        """The value of each row's leaf.

        >>> estimator.predict(X[:3]).shape
        (3,)
        """
        reached = self._leaves(X)
        return np.array(self.leaf_values_)[reached]

    def get_nodes_count(self) -> int:
        """The number of splits and leaves together.

        >>> estimator.get_nodes_count()
        """
        check_is_fitted(self, "is_fitted_")
        return self.size_

    def export_graphviz(self, feature_names: Any = None, class_names: Any = None) -> str:
        """The tree in the language of Graphviz, with 1 on the edges for yes.

        Columns and classes get the given names.

        >>> print(estimator.export_graphviz(feature_names=["a", "b", "c", "d"]).splitlines()[0])
        digraph Tree {
        """
        tree = self._found("draw")
        names = list(tree.inputs if feature_names is None else feature_names)
        lines: list[str] = []

        def drawn(node: dict[str, Any]) -> int:
            place = len(lines)
            lines.append("")
            if "feat" not in node:
                value = node["value"] if class_names is None else class_names[int(node["value"])]
                lines[place] = f'n{place} [label="{{{_quoted(value)}|error {node["error"]:g}}}"]'
                return place
            threshold = f" > {node['threshold']:g}" if "threshold" in node else ""
            lines[place] = f'n{place} [label="{_quoted(names[node["feat"]])}{threshold}"]'.replace(" > ", " \\> ")
            for side, answer in (("left", 0), ("right", 1)):
                below = drawn(node[side])
                lines.append(f"n{place} -> n{below} [label={answer}]")
            return place

        assert self.tree_ is not None
        drawn(self.tree_)
        return "digraph Tree {\nnode [shape=record];\n" + "".join(f"{line};\n" for line in lines) + "}"

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
    leaf_value_function: Any = None
    depth_two_special_algo: bool = field(default=True, metadata=FOREIGN)
    similar_lb: bool = field(default=True, metadata=FOREIGN)
    similar_for_branching: bool = field(default=True, metadata=FOREIGN)

    classes_: NDArray[Any] = field(init=False)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X with classes y; rows of weight zero are left out.

        >>> estimator.fit(X, y).error_
        """
        X, y = validate_data(self, X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        X, codes, weight = positive_weights(sample_weight, X, codes)
        counted = np.ones(len(codes)) if weight is None else weight
        judged = self._judged(codes, counted)
        plain = self.error_function is None and self.fast_error_function is None
        asked = LeafCosts(codes, self.classes_, weight) if plain else LeafCosts(cost=lambda rows: judged(rows)[0])
        leaves = self._search(X, asked)
        if self.model_tree_ is not None:
            verdicts = [judged(rows) for rows in leaves]
            self._keep(self.model_tree_, [value for _, value in verdicts], [error for error, _ in verdicts])
            size = len(self.classes_)
            sums = np.array([np.bincount(codes[rows], counted[rows], minlength=size) for rows in leaves])
            self.leaf_shares_ = sums / sums.sum(axis=1, keepdims=True)
            self.accuracy_ = float(np.mean(self.predict(X) == self.classes_[codes]))
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The shares of the classes in each row's leaf.

        >>> estimator.predict_proba(X[:3]).shape
        (3, 2)
        """
        reached = self._leaves(X)
        shares: NDArray[np.float64] = self.leaf_shares_[reached]
        return shares

    def _judged(self, codes: NDArray[Any], weight: NDArray[np.float64]) -> Callable[[Rows], tuple[float, Any]]:
        """A function of the rows of a leaf -> its error and its prediction."""
        size, labels = len(self.classes_), self.classes_.tolist()

        def counted(rows: Rows) -> tuple[float, Any]:
            counts = np.bincount(codes[rows], weight[rows], minlength=size)
            if self.fast_error_function is not None:
                error, place = self.fast_error_function(counts.tolist())
                return float(error), labels[int(place)]
            return float(counts.sum() - counts.max()), labels[int(counts.argmax())]

        def asked(rows: Rows) -> tuple[float, Any]:
            given = self.error_function(rows.tolist())
            if isinstance(given, tuple):
                return float(given[0]), given[1]
            if self.leaf_value_function is not None:
                return float(given), self.leaf_value_function(rows.tolist())
            return float(given), counted(rows)[1]

        return counted if self.error_function is None else asked


@dataclass(kw_only=True, repr=False, eq=False)
class DL85Predictor(DL85Search):
    """A tree for an error function of your own; its leaves hold what `leaf_value_function` returns.

    >>> from treeml.dl85 import DL85Predictor
    >>> def spread(rows):
    ...     return float(target[rows].max() - target[rows].min())
    >>> estimator = DL85Predictor(max_depth=1, error_function=spread).fit(X)
    """

    fast_error_function: Any = field(default=None, kw_only=False)
    leaf_value_function: Any = None
    predict_error_function: Any = field(default=None, metadata=FOREIGN)
    iterative: bool = field(default=False, metadata=FOREIGN)
    nps: bool = field(default=False, metadata=FOREIGN)
    depth_two_special_algo: bool = field(default=False, metadata=FOREIGN)
    similar_lb: bool = field(default=False, metadata=FOREIGN)
    similar_for_branching: bool = field(default=False, metadata=FOREIGN)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to rows X; y is accepted for pipelines and ignored.

        >>> estimator.fit(X).error_
        """
        X = validate_data(self, X)
        if self.error_function is None:
            raise ValueError("a predictor needs an error_function: rows of a leaf -> its error")
        if self.fast_error_function is not None:
            raise ValueError("a predictor has no classes to count: give error_function alone")
        self._fit_by(X, self.error_function, self.leaf_value_function)
        return self

    def _fit_by(self, X: NDArray[Any], error_function: Any, leaf_value_function: Any) -> list[Rows]:
        """Fit with these functions; without a value function, a leaf holds its position among the leaves."""

        def cost(rows: Rows) -> float:
            given = error_function(rows.tolist())
            return float(given[0] if isinstance(given, tuple) else given)

        leaves = self._search(X, LeafCosts(cost=cost))
        if self.model_tree_ is not None:
            values = [
                place if leaf_value_function is None else leaf_value_function(rows.tolist())
                for place, rows in enumerate(leaves)
            ]
            self._keep(self.model_tree_, values, [cost(rows) for rows in leaves])
        return leaves


@dataclass(kw_only=True, repr=False, eq=False)
class DL85Cluster(ClusterMixin, DL85Predictor):  # type: ignore[misc]
    """Clusters that are the leaves of a tree, with the smallest sum of distances to the centers of the leaves.

    `fit(X, X_error)` splits on X and measures distances in `X_error`, or in X if it is not given. A leaf holds the mean
    of the values that distances are measured in, unless `leaf_value_function` is given; `labels_` holds the number of
    every row's leaf.

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
            return float(np.linalg.norm(inside - inside.mean(axis=0), axis=1).sum())

        def mean(rows: list[int]) -> float:
            return float(measured[rows].mean())

        leaves = self._fit_by(X, self.error_function or distances, self.leaf_value_function or mean)
        self.labels_ = np.zeros(len(X), dtype=np.intp)
        for number, rows in enumerate(leaves):
            self.labels_[rows] = number
        return self


@dataclass(frozen=True, eq=False)
class LeafCosts:
    """What is minimized: the weight of wrong classes, or a cost of the rows of every leaf."""

    codes: NDArray[Any] | None = None
    labels: NDArray[Any] | None = None
    weight: Any = None
    cost: Cost | None = None


def _solve(X: NDArray[Any], asked: LeafCosts, search: DL85Search) -> tuple[contract.Answer, Tree | None]:
    """The answer, and the tree over the columns of X."""
    # imported here: start-up time
    from treeml.backends import registry
    from treeml.backends.planning.plan import plan
    from treeml.backends.run import run
    from treeml.data.bind import bind
    from treeml.lang.diagnostic import Diagnostic, RefusedError
    from treeml.measures.lower_dataset import lower
    from treeml.solving.checking import check
    from treeml.solving.progress import progress_shown
    from treeml.trees.raising import raise_tree

    model, table, target = _model_and_table(X, asked)
    limit_size(model, search.max_depth, search.min_sup, None)
    spec, _ = check(model, has_target=True)
    dataset = bind(spec, table)
    lowered = lower(dataset)
    problem = lowered.problem
    if asked.cost is not None:
        goal = problems.Goal(terms.Sum(((Fraction(1), terms.Custom(asked.cost)),)), text="error_function")
        problem = problem.asking((goal,), problem.bounds)
    planned = plan(problem, registry.get(SOLVER))
    if isinstance(planned, list):
        raise RefusedError(
            [
                Diagnostic("B501", each.because, helps=(each.instead,) if each.instead else (), place=each.feature)
                for each in planned
            ]
        )
    deadline = contract.Deadline.after(search.time_limit) if search.time_limit > 0 else contract.Deadline()
    limits = contract.Limits(deadline=deadline)
    if search.verbose:
        with progress_shown() as show:
            answer = run(planned, limits, None, _until_better(search, show))
    else:
        answer = run(planned, limits, None, _until_better(search, None))
    tree = None if answer.tree is None else raise_tree(answer.tree, lowered.questions, dataset)
    return answer, None if tree is None else replace(tree, target="", inputs=_inputs(table, target))


def _model_and_table(X: NDArray[Any], asked: LeafCosts) -> tuple[Model, Table, str]:
    """The model to solve, the table with target and weight, and the name of the target.

    A cost function replaces the goal later; its model predicts a constant.
    """
    table = reading.make_table(X)
    target = reading.free_name(table, "y")
    if asked.codes is not None and asked.labels is not None:
        model = Model().predict(target).minimize(measures.errors)
        column = reading.classes_column(target, asked.codes, tuple(asked.labels.tolist()))
    else:
        model = Model().predict(target).minimize(measures.squared_loss)
        column = reading.numbers_column(target, np.full(len(X), 0.5))
    table = reading.with_column(table, column, "target")
    if asked.weight is not None:
        weight = reading.numbers_column(reading.free_name(table, "weight"), asked.weight)
        table = reading.with_column(table, weight, "weight")
    return model, table, target


def _until_better(search: DL85Search, show: contract.OnProgress | None) -> contract.OnProgress | None:
    """A callback that stops the search once its error is below `max_error`, if the user asked for that."""
    if not (search.stop_after_better and search.max_error > 0):
        return show

    def better(moment: contract.Progress) -> bool:
        if show is not None:
            show(moment)
        return not moment.objective or float(moment.objective[-1]) >= search.max_error

    return better


def _inputs(table: Any, target: str) -> tuple[str, ...]:
    return tuple(name for name in table.columns if name not in (target, table.weight))


def _quoted(value: Any) -> str:
    """Text inside a record label of Graphviz."""
    return "".join(f"\\{sign}" if sign in '\\"{}|<>' else sign for sign in str(value))
