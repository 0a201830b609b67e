"""X, y -> Table -> Model -> Result -> fitted attributes; rows -> leaves: what all estimators share.

An estimator keeps its arguments as given, as scikit-learn requires, and reads them in `fit`. Arguments are fields of
dataclasses, so that each is named once and estimators inherit the ones they share.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from treeml.estimators import rows as reading
from treeml.estimators.asking import limit_columns, limit_size, read_spec
from treeml.lang.diagnostic import DataError
from treeml.model import Model
from treeml.trees.nodes import Branch
from treeml.trees.tree import Tree

if TYPE_CHECKING:
    from treeml.data.table import Column, Table
    from treeml.lang.spec import Spec
    from treeml.solving.result import Result

RUN = ("spec", "params", "backend", "time_limit", "threads", "random_state", "verbose")  # allowed together with `spec`


@dataclass(kw_only=True, repr=False, eq=False)
class Estimator(BaseEstimator):  # type: ignore[misc]
    """An estimator that a back-end of TreeML fits: a tree or a forest."""

    max_depth: int | None = 3
    min_support: int | float = 1
    forbid: Any = None
    missing: str | None = None
    spec: str | Path | Model | None = None
    params: Mapping[str, Any] | None = None
    backend: str | None = None
    time_limit: float | str | None = None
    threads: int | None = None
    random_state: Any = None
    verbose: bool = False

    result_: Result = field(init=False)
    model_: Model = field(init=False)
    n_features_in_: int = field(init=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing is not None
        tags.non_deterministic = False
        return tags

    @property
    def objective_(self) -> Any:
        """The verified value of the goal; a tuple if there are several goals.

        >>> estimator.objective_
        """
        return self._solved().objective

    @property
    def bound_(self) -> float | None:
        """The proved bound that no tree can beat; None if the back-end has none.

        >>> estimator.bound_
        """
        return self._solved().bound

    @property
    def gap_(self) -> float | None:
        """The distance between objective and bound, as a share of the objective.

        >>> estimator.gap_
        """
        return self._solved().gap

    @property
    def status_(self) -> str:
        """What is known about the answer: `optimal`, `local` or `feasible`.

        >>> estimator.status_
        'optimal'
        """
        return self._solved().status.value

    @property
    def is_optimal_(self) -> bool:
        """Whether the answer is proved to be optimal.

        >>> estimator.is_optimal_
        True
        """
        return self._solved().is_optimal

    def to_json(self) -> dict[str, Any]:
        """The arguments and the fitted tree or forest as plain JSON values, which `from_json` reads.

        >>> import json
        >>> text = json.dumps(estimator.to_json())
        """
        from treeml.estimators.stored import write_estimator

        return write_estimator(self)

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """The estimator that `to_json` wrote, from its values or their text. Reading runs no code.

        >>> again = type(estimator).from_json(estimator.to_json())
        >>> bool((again.predict(X) == estimator.predict(X)).all())
        True
        """
        from treeml.estimators.stored import read_estimator

        read: Self = read_estimator(cls, value)
        return read

    def _solved(self) -> Result:
        check_is_fitted(self)
        return self.result_

    def _checked_rows(self, X: Any) -> Any:
        """Rows to predict, with named columns if the estimator was fitted with names."""
        if reading.is_frame(X) and getattr(self, "from_frame_", False):
            validate_data(self, X, reset=False, skip_check_array=True)
            return reading.plain_names(X)
        dtype = None if getattr(self, "from_frame_", False) else "numeric"
        finite = "allow-nan" if dtype is None or self.__sklearn_tags__().input_tags.allow_nan else True
        with self._missing_values(X):
            return validate_data(self, X, reset=False, dtype=dtype, ensure_all_finite=finite)

    def _checked_training(self, X: Any, y: Any, **y_checks: Any) -> tuple[Any, Any]:
        """X and y as scikit-learn requires them: arrays of finite numbers, or an unchanged frame; y if it is needed."""
        self.from_frame_ = reading.is_frame(X)
        given = {"y": y} if self.__sklearn_tags__().target_tags.required else {}
        if self.from_frame_:
            validate_data(self, X, **given, skip_check_array=True)
            if not given:
                return X, None
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
            return X, y
        finite = "allow-nan" if self.__sklearn_tags__().input_tags.allow_nan else True
        with self._missing_values(X):
            checked = validate_data(self, X, **given, ensure_all_finite=finite, dtype="numeric", **y_checks)
        return checked if given else (checked, None)

    @contextmanager
    def _missing_values(self, X: Any) -> Iterator[None]:
        """Missing values in X are an error that names this estimator's own keyword."""
        try:
            yield
        except DataError as error:
            helps = {"D404": self._missing_help(), "D451": "name it: `positive=` is the class that counts as positive"}
            if self.spec is not None or not any(each.code in helps for each in error.diagnostics):
                raise
            raise DataError(
                [replace(each, helps=(helps[each.code],)) if each.code in helps else each for each in error.diagnostics]
            ) from None
        except ValueError as error:
            if "Input X contains NaN" not in str(error):
                raise
            raise ValueError(f"Input X contains NaN: {_count_missing(X)}. {self._missing_help()}") from error

    def _missing_help(self) -> str:
        name = type(self).__name__
        return (
            f"use {name}(missing='separate'), whose tests can ask whether a value is missing, or "
            f"{name}(missing='median'), or leave these rows out"
        )

    def _learn(
        self,
        X: Any,
        asked: Callable[[str, Table], tuple[Model, Table]],
        target_column: Callable[[str], Column] | None = None,
        target_name: Any = None,
        weight: Any = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        """Join X with its target and weights, make the model from `spec` or else from the keywords, and solve it."""
        table = reading.make_table(X)
        table = replace(table, notes=(*table.notes, *notes))
        own = self._own_spec()
        target = reading.free_name(table, target_name, "y")
        inputs = tuple(table.columns)
        if own is None:
            model, table = asked(target, table)
            self._declare_missing(model, table)
        else:
            model, spec = own
            target = spec.target or target
            if target in table.columns:
                raise ValueError(f"X holds the column {target!r} that is to be predicted; leave it out")
            if spec.target is None and target_column is not None:
                model.predict(target)
            if weight is not None and spec.weight_column is not None:
                raise ValueError(f"the spec weighs rows by {spec.weight_column!r}; give no sample_weight as well")
        if target_column is not None:
            table = reading.with_column(table, target_column(target), "target")
        if weight is not None:
            name = reading.free_name(table, "weight")
            table = reading.with_column(table, reading.numbers_column(name, weight), "weight")
        if own is not None:
            self._solve(model, table, inputs)
            return
        with self._missing_values(X):
            self._solve(model, table, inputs)

    def _own_spec(self) -> tuple[Model, Spec] | None:
        """The model in `spec` and its meaning, if there is one; no keyword may then describe the tree as well."""
        given = self.get_params(deep=False)
        if self.spec is None:
            if self.params is not None:
                raise ValueError("params are those of a spec: give spec=... as well")
            return None
        defaults = inspect.signature(type(self)).parameters
        also = [name for name in given if name not in RUN and not _same(given[name], defaults[name].default)]
        if also:
            raise ValueError(f"with spec=..., say it there and leave out {', '.join(also)}")
        from treeml.solving.checking import check

        model = read_spec(self.spec)
        if self.params:
            model.bind(**self.params)
        return model, check(model, has_target=True)[0]

    def _solve(self, model: Model, table: Table, inputs: tuple[str, ...]) -> None:
        """Solve the model and keep what was found, or raise the reason why nothing was."""
        result = model.solve(
            table,
            backend=self.backend,
            within=self.time_limit,
            threads=self.threads,
            seed=_seed(self.random_state),
            progress=bool(self.verbose),
        )
        if result.tree is None and result.forest is None:
            from treeml.solving.failure import as_error

            raise as_error(result)
        if not result.is_optimal:
            what = "tree" if result.forest is None else "forest"
            text = f"the {what} is {result.status.value}, not proved optimal: {result.stop.value}"
            warnings.warn(text, ConvergenceWarning, stacklevel=4)
        self.result_ = self._keep(result, inputs)
        self.model_ = model

    def _keep(self, result: Result, inputs: tuple[str, ...]) -> Result:
        """The result with the columns of X as inputs, in their original order."""
        raise NotImplementedError

    def _limit(self, model: Model, max_depth: int | None, max_leaves: int | None) -> None:
        """The requirements that every estimator has keywords for: the size of a tree, and columns it must not test."""
        limit_size(model, max_depth, self.min_support, max_leaves)
        limit_columns(model, self.forbid)

    def _declare_missing(self, model: Model, table: Table) -> None:
        """Declare how missing values are handled, for the columns that have some."""
        if self.missing is None:
            return
        if self.missing not in ("separate", "median"):
            raise ValueError(f"missing is None, 'separate' or 'median', not {self.missing!r}")
        for name, column in table.columns.items():
            if column.missing is not None and column.missing.any():
                model.column(name, column.type, missing=self.missing)


@dataclass(kw_only=True, repr=False, eq=False)
class TreeEstimator(Estimator):
    """An estimator that fits one tree."""

    leaf_price: float = 0.0

    tree_: Tree = field(init=False)

    @property
    def n_leaves_(self) -> int:
        """The number of leaves.

        >>> estimator.n_leaves_
        """
        check_is_fitted(self)
        return len(self.tree_.leaves)

    @property
    def depth_(self) -> int:
        """The number of splits on the longest path.

        >>> estimator.depth_
        """
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """The number of leaves, under the name that scikit-learn uses.

        >>> estimator.get_n_leaves() == estimator.n_leaves_
        True
        """
        return self.n_leaves_

    def get_depth(self) -> int:
        """The depth, under the name that scikit-learn uses.

        >>> estimator.get_depth() == estimator.depth_
        True
        """
        return self.depth_

    def apply(self, X: Any) -> NDArray[np.intp]:
        """For each row the number of its leaf among all nodes; parents come before children, the yes side first.

        >>> estimator.apply(X[:3]).shape
        (3,)
        """
        numbers = [number for number, node in enumerate(self._nodes()) if not isinstance(node, Branch)]
        return np.array(numbers, dtype=np.intp)[self._reached(X)]

    def decision_path(self, X: Any) -> Any:
        """A sparse matrix (rows x nodes) with 1 where a row passes a node.

        >>> estimator.decision_path(X[:3]).shape[0]
        3
        """
        from scipy.sparse import csr_array  # type: ignore[import-untyped]

        passed = self._ancestors()
        reached = self._reached(X)
        indices = [passed[leaf] for leaf in reached.tolist()]
        pointers = np.cumsum([0, *map(len, indices)])
        flat = np.array([number for path in indices for number in path], dtype=np.int64)
        return csr_array((np.ones(len(flat), dtype=np.int64), flat, pointers), shape=(len(reached), self._count()))

    def _nodes(self) -> Iterable[Any]:
        check_is_fitted(self)
        return self.tree_.nodes()

    def _count(self) -> int:
        return 2 * len(self.tree_.leaves) - 1

    def _ancestors(self) -> list[tuple[int, ...]]:
        """For every leaf, in order, the numbers of the nodes from the root to it."""
        check_is_fitted(self)
        found, number = [], 0
        todo: list[tuple[Any, tuple[int, ...]]] = [(self.tree_.root, ())]
        while todo:
            node, above = todo.pop()
            path = (*above, number)
            number += 1
            if isinstance(node, Branch):
                todo += [(node.no, path), (node.yes, path)]
            else:
                found.append(path)
        return found

    def _reached(self, X: Any) -> NDArray[np.intp]:
        """The position of each row's leaf among the leaves."""
        check_is_fitted(self)
        return self.tree_.apply(self._checked_rows(X))

    def _keep(self, result: Result, inputs: tuple[str, ...]) -> Result:
        if result.tree is None:
            raise ValueError("the spec asks for a forest: OptimalForestClassifier fits it")
        outputs = tuple(name.removesuffix(reading.ROUNDED) for name in result.tree.outputs)
        self.tree_ = replace(result.tree, inputs=inputs, outputs=outputs)
        return replace(result, tree=self.tree_)


class SupervisedTree(TreeEstimator):
    """What trees with a target share: importances of columns, and the trees of every size."""

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The share of each column of X in the loss that the tree avoids; they add up to 1, or are all 0 for a leaf.

        A split avoids the loss of its node as a leaf minus that of its two sides as leaves, exactly as the goal counts
        it (errors, costs of mistakes, squared or other losses). `sklearn.inspection.permutation_importance` measures
        the columns on other rows.

        >>> estimator.feature_importances_.sum()
        np.float64(1.0)
        """
        check_is_fitted(self)
        known = getattr(self, "importances_", None)
        if known is None:
            raise AttributeError("importances are measured by fit; this estimator was stored by an earlier version")
        return np.array(known)

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """The least loss of a tree for every number of leaves, each proved, and the prices at which it changes.

        scikit-learn prunes one greedy tree; here each size has the best tree of its own. As there, `ccp_alphas` (prices
        per leaf, rising) and `impurities` (mean losses) describe the trees that some price asks for, with `n_leaves`;
        `frontier` lists (leaves, mean loss) for every number of leaves that lowers the loss. Other keywords of the
        estimator, such as `max_depth`, apply to every tree.

        >>> path = estimator.cost_complexity_pruning_path(X, estimator.predict(X))
        >>> int(path.n_leaves[-1])
        1
        """
        from treeml.estimators.size_path import size_path  # imported here: start-up time

        return size_path(self, X, y, sample_weight)


def _count_missing(X: Any) -> str:
    count = int(np.isnan(np.asarray(X, dtype=np.float64)).sum())
    return f"{count} value{' is' if count == 1 else 's are'} missing"


def positive_weights(sample_weight: Any, X: Any, y: Any) -> tuple[Any, Any, Any]:
    """X, y and weights without the rows of weight zero; the weights are None if none are given."""
    if sample_weight is None:
        return X, y, None
    weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    kept = weight > 0
    if not kept.any():
        raise ValueError("all sample weights are zero")
    if kept.all():
        return X, y, weight
    return reading.take_rows(X, kept), None if y is None else y[kept], weight[kept]


def coded_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes of y and the place of each among them; ValueError if scikit-learn takes the numbers for a regression.

    Its check takes longer than a small search, and whole numbers always pass it; it warns where most are different.
    """
    if y.dtype.kind not in "biuf":
        check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if 2 * len(classes) > len(y) or (y.dtype.kind == "f" and (classes != np.rint(classes)).any()):
        check_classification_targets(y)
    return classes, codes


def total_weight(weight: Any, rows: int) -> Fraction:
    """The exact sum of the weights, read as decimals."""
    if weight is None:
        return Fraction(rows)
    return sum((Fraction(str(each)) for each in weight.tolist()), Fraction(0))


def _same(given: Any, default: Any) -> bool:
    return given is default or (type(given) is type(default) and bool(given == default))


def _seed(random_state: Any) -> int | None:
    if random_state is None:
        return None
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
