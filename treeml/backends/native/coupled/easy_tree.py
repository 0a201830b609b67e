"""Problem with coupled requirements -> the best tree of at most one split that meets them, without a search.

A search that is stopped early may not have met a tree that keeps all requirements, although a leaf that predicts one
class for everybody keeps many of them: two groups that are treated alike have no gap. This is what such a run offers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.native.coupled.task import CoupledTask, cost_of
from treeml.problem.evaluate import is_answer
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXACT = 2**53  # whole numbers up to here are exact as floats
MOST_PRODUCTS = 50_000_000  # tests x rows x sums x classes: some ten milliseconds
MOST_TRIED = 16  # splits: limits on size or columns may refuse the cheapest ones


def easy_tree(problem: Problem, task: CoupledTask) -> Node | None:
    """The cheapest leaf or single split that meets every bound of the problem; None if none is found."""
    if not problem.rows:
        return None
    totals = task.values.sum(axis=1)
    leaves = [Leaf(label) for label in np.argsort(totals[0], kind="stable").tolist()]
    leaf = next((each for each in leaves if is_answer(problem, each)), None)
    most = None if leaf is None else int(totals[0, leaf.label])
    split = _easy_split(problem, task, most) if _is_small(problem, task) else None
    if split is None or leaf is None or not task.fees:
        return leaf if split is None else split
    return min(leaf, split, key=lambda tree: cost_of(problem, task, tree))


def _is_small(problem: Problem, task: CoupledTask) -> bool:
    """Are there tests already, and few enough of them, with sums that are exact as floats?"""
    if problem.given_bits is None and "bits" not in vars(problem):
        return False
    size = task.values.size
    if problem.max_depth == 0 or size * len(problem.tests) > MOST_PRODUCTS:
        return False
    return int(np.abs(task.values).max(initial=0)) * problem.rows < EXACT


def _easy_split(problem: Problem, task: CoupledTask, most: int | None) -> Node | None:
    """The cheapest split with two labels; None if none costs less than `most`."""
    sums, _, classes = task.values.shape
    entries = task.values.transpose(1, 0, 2).reshape(problem.rows, sums * classes).astype(np.float64)
    yes = (problem.bits.astype(np.float64) @ entries).reshape(-1, sums, classes)
    no = entries.sum(axis=0).reshape(sums, classes) - yes
    pairs = yes[:, :, :, None] + no[:, :, None, :]  # tests x sums x label of the yes side x label of the no side
    allowed = _within(pairs[:, 1:], task) if most is None else _within(pairs[:, 1:], task) & (pairs[:, 0] < most)
    places = np.flatnonzero(allowed)
    for place in places[np.argsort(pairs[:, 0].ravel()[places], kind="stable")[:MOST_TRIED]].tolist():
        test, labels = divmod(place, classes * classes)
        tree = Split(test, Leaf(labels // classes), Leaf(labels % classes))
        if is_answer(problem, tree):
            return tree
    return None


def _within(sums: NDArray[np.float64], task: CoupledTask) -> NDArray[np.bool_]:
    """Which splits keep the limits of all sums."""
    allowed = np.ones((sums.shape[0], *sums.shape[2:]), dtype=np.bool_)
    for number, (low, high) in enumerate(zip(task.low, task.high, strict=True)):
        if low is not None:
            allowed &= sums[:, number] >= low
        if high is not None:
            allowed &= sums[:, number] <= high
    return allowed
