"""The fit and predict of the DL8.5 library, solved by TreeML: switch by changing the import.

    from treeml.dl85 import DL85Classifier        # was: from pydl85 import DL85Classifier

What describes the tree means what it means there (Aglin, Nijssen and Schaus 2020): `max_depth`, `min_sup`, `max_error`,
`stop_after_better`, `time_limit`, `error_function`, `fast_error_function`, `leaf_value_function`. What steers the
search of that library has no meaning here, and saying it is answered with a warning. Columns need not be binary.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from time import monotonic
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from treeml.backends import contract
from treeml.tree import Branch, Leaf, Node, Tree

Cost = Callable[[NDArray[np.intp]], float]


class _Search(BaseEstimator):  # type: ignore[misc]
    """What both interfaces share: arguments, the search, and the attributes that it leaves."""

    tree_: dict[str, Any] | None
    model_tree_: Tree | None

    def __init__(
        self,
        max_depth: int = 1,
        min_sup: int = 1,
        error_function: Any = None,
        fast_error_function: Any = None,
        max_error: float = 0,
        stop_after_better: bool = False,
        time_limit: float = 0,
        leaf_value_function: Any = None,
        verbose: bool = False,
        desc: bool = False,
        asc: bool = False,
        repeat_sort: bool = False,
        print_output: bool = False,
    ) -> None:
        self.max_depth = max_depth
        self.min_sup = min_sup
        self.error_function = error_function
        self.fast_error_function = fast_error_function
        self.max_error = max_error
        self.stop_after_better = stop_after_better
        self.time_limit = time_limit
        self.leaf_value_function = leaf_value_function
        self.verbose = verbose
        self.desc = desc
        self.asc = asc
        self.repeat_sort = repeat_sort
        self.print_output = print_output

    def _search(self, X: NDArray[Any], cost: Cost) -> list[NDArray[np.intp]]:
        """Find the tree of least cost that is better than `max_error`; the rows of each of its leaves."""
        foreign = [
            name for name in ("verbose", "desc", "asc", "repeat_sort", "print_output") if getattr(self, name) is True
        ]
        if foreign:
            warnings.warn(
                f"{', '.join(foreign)}: of another solver, and without effect here", UserWarning, stacklevel=3
            )
        begun = monotonic()
        answer, tree = _solve(X, cost, self)
        self.runtime_ = monotonic() - begun
        self.timeout_ = answer.stop is contract.Stop.TIME
        self.lattice_size_ = int(answer.statistics.get("nodes", 0))
        found = tree is not None and answer.objective is not None
        error = float(answer.objective[0]) if found and answer.objective is not None else float("inf")
        if not found or (self.max_error > 0 and error >= self.max_error):
            self.is_fitted_, self.size_, self.depth_, self.error_ = False, 0, 0, float("inf")
            self.tree_, self.model_tree_ = None, None
            return []
        assert tree is not None
        self.is_fitted_, self.model_tree_, self.error_ = True, tree, error
        self.depth_, self.size_ = tree.depth, 2 * len(tree.leaves) - 1
        reached = tree.apply(X)
        return [np.flatnonzero(reached == number) for number in range(len(tree.leaves))]

    def _keep(self, tree: Tree, values: list[Any], errors: list[float]) -> None:
        """The tree as DL8.5 writes it: nested dicts with the number of the column, left for no and right for yes."""
        self.leaf_values_ = values
        number = iter(range(len(values)))

        def written(node: Node) -> dict[str, Any]:
            if isinstance(node, Leaf):
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

    def _leaves(self, X: Any) -> NDArray[np.intp]:
        check_is_fitted(self, "is_fitted_")
        if self.model_tree_ is None:
            raise ValueError("there is no tree to predict with: none was found that is better than max_error")
        return self.model_tree_.apply(validate_data(self, X, reset=False))

    def export_graphviz(self) -> str:
        """The tree for Graphviz."""
        check_is_fitted(self, "is_fitted_")
        if self.model_tree_ is None:
            raise ValueError("there is no tree to draw: none was found that is better than max_error")
        return str(self.model_tree_.to_dot())


class DL85Classifier(ClassifierMixin, _Search):  # type: ignore[misc]
    """The most accurate tree, or the one that is best for an error function of one's own.

    `error_function(rows)` gets the numbers of the rows of a leaf and returns an error, or a pair of the error and the
    class to predict. `fast_error_function(counts)` gets the numbers of rows of every class and returns such a pair.
    """

    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any) -> Self:
        X, y = validate_data(self, X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        judged = self._judged(codes)
        leaves = self._search(X, lambda rows: judged(rows)[0])
        if self.model_tree_ is not None:
            verdicts = [judged(rows) for rows in leaves]
            self._keep(self.model_tree_, [value for _, value in verdicts], [error for error, _ in verdicts])
            size = len(self.classes_)
            self.leaf_shares_ = np.array([np.bincount(codes[rows], minlength=size) / len(rows) for rows in leaves])
            self.accuracy_ = float(np.mean(self.predict(X) == y))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        reached = self._leaves(X)
        return np.array(self.leaf_values_)[reached]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The shares of the classes in each row's leaf."""
        reached = self._leaves(X)
        shares: NDArray[np.float64] = self.leaf_shares_[reached]
        return shares

    def _judged(self, codes: NDArray[Any]) -> Callable[[NDArray[np.intp]], tuple[float, Any]]:
        """For the rows of a leaf, its error and what it predicts."""
        size, labels = len(self.classes_), self.classes_.tolist()

        def counted(rows: NDArray[np.intp]) -> tuple[float, Any]:
            counts = np.bincount(codes[rows], minlength=size)
            if self.fast_error_function is not None:
                error, place = self.fast_error_function(counts.tolist())
                return float(error), labels[int(place)]
            return float(counts.sum() - counts.max()), labels[int(counts.argmax())]

        def asked(rows: NDArray[np.intp]) -> tuple[float, Any]:
            given = self.error_function(rows.tolist())
            if isinstance(given, tuple):
                return float(given[0]), given[1]
            return float(given), self._value(rows) if self.leaf_value_function is not None else counted(rows)[1]

        return counted if self.error_function is None else asked

    def _value(self, rows: NDArray[np.intp]) -> Any:
        return self.leaf_value_function(rows.tolist())


class DL85Predictor(_Search):
    """A tree for an error function of one's own, whose leaves hold what `leaf_value_function` returns."""

    def fit(self, X: Any, y: Any = None) -> Self:
        X = validate_data(self, X)
        if self.error_function is None:
            raise ValueError("a predictor needs an error_function: rows of a leaf -> its error")
        error_function = self.error_function

        def cost(rows: NDArray[np.intp]) -> float:
            given = error_function(rows.tolist())
            return float(given[0] if isinstance(given, tuple) else given)

        leaves = self._search(X, cost)
        if self.model_tree_ is not None:
            values = [self._value(rows, place) for place, rows in enumerate(leaves)]
            self._keep(self.model_tree_, values, [cost(rows) for rows in leaves])
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        reached = self._leaves(X)
        return np.array(self.leaf_values_)[reached]

    def _value(self, rows: NDArray[np.intp], place: int) -> Any:
        """What the leaf holds; its place among the leaves unless the user says what."""
        return place if self.leaf_value_function is None else self.leaf_value_function(rows.tolist())


def _solve(X: NDArray[Any], cost: Cost, asked: _Search) -> tuple[contract.Answer, Tree | None]:
    """The tree whose leaves have the least sum of costs: over the contract, since the language has no Python in it."""
    from treeml.asked import checked
    from treeml.backends import registry
    from treeml.backends.plan import plan
    from treeml.backends.run import run
    from treeml.data.bind import bind
    from treeml.data.problem import lower
    from treeml.data.read import load_arrays
    from treeml.estimators.asking import limit_size, named
    from treeml.lang.diagnostic import RefusedError
    from treeml.model import Model
    from treeml.tree import raise_tree

    model = Model().predict("y").minimize(named("squared_loss"))
    limit_size(model, asked.max_depth, asked.min_sup, None)
    spec, _ = checked(model, has_target=True)
    dataset = bind(spec, load_arrays(X, np.zeros(len(X)) + 0.5))
    lowered = lower(dataset)
    goal = contract.Goal(contract.Sum(((Fraction(1), contract.Custom(cost)),)), text="error_function")
    problem = lowered.problem.asking((goal,), lowered.problem.bounds)
    backend = registry.get("native")
    planned = plan(problem, backend)
    if isinstance(planned, list):
        raise RefusedError([contract_refusal(refusal) for refusal in planned])
    deadline = contract.Deadline(monotonic() + asked.time_limit) if asked.time_limit > 0 else contract.Deadline()

    def better(moment: contract.Progress) -> bool:
        return not moment.objective or float(moment.objective[-1]) >= asked.max_error

    watched = better if asked.stop_after_better and asked.max_error > 0 else None
    answer = run(planned, contract.Limits(deadline=deadline), None, watched)
    tree = None if answer.tree is None else raise_tree(answer.tree, lowered.questions, dataset)
    return answer, None if tree is None else replace(tree, target="")


def contract_refusal(refusal: contract.Refusal) -> Any:
    """Why the search cannot be made, as a diagnostic."""
    from treeml.lang.diagnostic import Diagnostic

    helps = (refusal.instead,) if refusal.instead else ()
    return Diagnostic("B501", refusal.because, helps=helps, place=refusal.feature)
