"""Estimator, rows -> the least loss for every number of leaves, and the prices per leaf at which the size changes."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch


def size_path(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Bunch:
    """The exact counterpart of cost-complexity pruning; `SupervisedTree.cost_complexity_pruning_path` describes it."""
    if estimator.spec is not None:
        raise ValueError("the path varies max_leaves and leaf_price: describe the tree by keywords, not by a spec")
    largest = _fitted(estimator, X, y, sample_weight, estimator.max_leaves)
    least, most = _loss(largest), largest.n_leaves_  # no tree with more leaves is better
    frontier: list[tuple[int, Fraction]] = []
    for leaves in range(1, most + 1):
        loss = least if leaves == most else _loss(_fitted(estimator, X, y, sample_weight, leaves))
        if not frontier or loss < frontier[-1][1]:
            frontier.append((leaves, loss))
        if loss <= least:
            break
    corners = _lower_hull(frontier)
    alphas = [Fraction(0)]
    for (fewer, more_loss), (more, less_loss) in reversed(list(pairwise(corners))):
        alphas.append((more_loss - less_loss) / (more - fewer))
    return Bunch(
        ccp_alphas=np.array([float(alpha) for alpha in alphas]),
        impurities=np.array([float(loss) for _, loss in reversed(corners)]),
        n_leaves=np.array([leaves for leaves, _ in reversed(corners)]),
        frontier=[(leaves, float(loss)) for leaves, loss in frontier],
    )


def _fitted(estimator: Any, X: Any, y: Any, sample_weight: Any, leaves: int | None) -> Any:
    """The best tree with at most this number of leaves."""
    return clone(estimator).set_params(max_leaves=leaves, leaf_price=0.0).fit(X, y, sample_weight=sample_weight)


def _loss(fitted: Any) -> Fraction:
    """The exact mean loss."""
    loss: Fraction = fitted.result_.exact.goals[0].value
    return loss


def _lower_hull(frontier: list[tuple[int, Fraction]]) -> list[tuple[int, Fraction]]:
    """The points that are best at some price per leaf."""
    hull: list[tuple[int, Fraction]] = []
    for point in frontier:
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) >= _slope(hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def _slope(left: tuple[int, Fraction], right: tuple[int, Fraction]) -> Fraction:
    return (right[1] - left[1]) / (right[0] - left[0])
