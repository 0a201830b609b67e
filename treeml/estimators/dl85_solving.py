"""X and the cost of a leaf -> the answer of the native solver and its tree, for the interface of the DL8.5 library.

`max_error` and `stop_after_better` become the options `upper` and `enough` of the solver, so they prune the search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeml.backends import contract
from treeml.estimators import rows as reading
from treeml.estimators.asking import limit_size
from treeml.lang import measure_formulas as measures
from treeml.lang.diagnostic import BackendError
from treeml.model import Model
from treeml.problem import problem as problems
from treeml.problem import terms
from treeml.trees.tree import Tree

if TYPE_CHECKING:
    from treeml.data.table import Table

Rows = NDArray[np.intp]
Cost = Callable[[Rows], float]

SOLVER = "native"  # this interface is a face of the native solver, whatever the registry prefers


@dataclass(frozen=True, slots=True)
class DL85Limits:
    """What the user wants of the search."""

    max_depth: int
    min_sup: int
    max_error: float  # only trees of a smaller error are wanted; 0 for no such limit
    stop_after_better: bool
    time_limit: float  # in seconds; 0 for no limit
    verbose: bool

    def options(self) -> dict[str, Fraction]:
        if not (self.max_error > 0 and isfinite(self.max_error)):
            return {}
        error = Fraction(self.max_error)
        return {"upper": error, "enough": error} if self.stop_after_better else {"upper": error}


@dataclass(frozen=True, eq=False)
class LeafCosts:
    """What is minimized: the weight of wrong classes, or a cost of the rows of every leaf."""

    codes: NDArray[Any] | None = None
    labels: NDArray[Any] | None = None
    weight: Any = None
    cost: Cost | None = None


def find_tree(
    X: NDArray[Any], asked: LeafCosts, search: DL85Limits, steering: Mapping[str, Fraction]
) -> tuple[contract.Answer, Tree | None]:
    """The answer, and the tree over the columns of X; an exception of the user's own function is passed on."""
    raised: list[Exception] = []

    def cost(rows: Rows) -> float:
        assert asked.cost is not None
        try:
            return asked.cost(rows)
        except Exception as error:
            raised.append(error)
            raise

    guarded = asked if asked.cost is None else replace(asked, cost=cost)
    try:
        return _find_tree(X, guarded, search, steering)
    except BackendError:
        if raised:
            raise raised[0] from None
        raise


def _find_tree(
    X: NDArray[Any], asked: LeafCosts, search: DL85Limits, steering: Mapping[str, Fraction]
) -> tuple[contract.Answer, Tree | None]:
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
    options = {**steering, **search.options()}
    planned = plan(problem, registry.get(SOLVER), options)
    if isinstance(planned, list):
        raise RefusedError(
            [
                Diagnostic("B501", each.because, helps=(each.instead,) if each.instead else (), place=each.feature)
                for each in planned
            ]
        )
    deadline = contract.Deadline.after(search.time_limit) if search.time_limit > 0 else contract.Deadline()
    limits = contract.Limits(deadline=deadline, options=options)
    if search.verbose:
        with progress_shown() as show:
            answer = run(planned, limits, None, show)
    else:
        answer = run(planned, limits, None, None)
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


def _inputs(table: Any, target: str) -> tuple[str, ...]:
    return tuple(name for name in table.columns if name not in (target, table.weight))
