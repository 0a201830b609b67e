"""A set of trees, rows that they were not found for -> the smallest tree within one standard error of the best.

That is the 1-SE rule of Breiman, Friedman, Olshen and Stone (1984). On rows of another file every tree of the set is
measured. Folds and rows held out of the data need trees that have not seen them: trees are listed for the other rows,
the first tree with at most that many leaves stands for a size, and the rule chooses a size. The tree is then the first
one of that size in the list for all rows. Of long lists the first MOST_CANDIDATES trees are candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.subset import held_out, take
from treeml.data.table import Dataset, label_text
from treeml.lang.measures import chosen_loss
from treeml.lang.spec import Method
from treeml.measures.lower import lower_goal
from treeml.problem.terms import Predicted
from treeml.solving.request import Request
from treeml.solving.validation import method_text, other_file, splits
from treeml.trees.routing import dataset_inputs
from treeml.trees.tree import Tree

if TYPE_CHECKING:
    from treeml.studies.tree_sets.tree_set import TreeSet

    ListPart = Callable[[Dataset, Request], TreeSet]

Losses = NDArray[np.float64]
MOST_CANDIDATES = 10_000  # the first trees of a set, which are measured


@dataclass(frozen=True, slots=True)
class Choice:
    """The tree that the 1-SE rule chooses, and the losses of a row that decided."""

    rank: int  # of the tree in the set
    tree: Tree
    loss: float  # the mean loss of a row of the tree, or of trees of its size
    least: float  # the least mean loss
    error: float  # the standard error of that mean
    rows: int  # that were measured
    method: str  # folds(5), holdout(20%), or the name of a file

    def text(self) -> str:
        """The choice in a sentence.

        >>> print(trees.choice.text())
        """
        leaves = len(self.tree.leaves)
        return (
            f"tree {self.rank} is chosen by the 1-SE rule, validated by {self.method}: with {leaves} "
            f"{'leaf' if leaves == 1 else 'leaves'} it is the smallest whose mean loss, {self.loss:.4g}, is within one "
            f"standard error, {self.error:.4g}, of the least one, {self.least:.4g} ({self.rows:,} rows)"
        )

    def to_json(self) -> dict[str, Any]:
        """The choice as plain values for JSON.

        >>> trees.choice.to_json()["rank"]
        """
        names = ("rank", "loss", "least", "error", "rows", "method")
        return {**{name: getattr(self, name) for name in names}, "tree": self.tree.to_json()}


def validated_choice(trees: TreeSet, dataset: Dataset, request: Request, list_part: ListPart) -> Choice | None:
    """The choice that the `validate` statement of a specification asks for; None if no tree can be chosen."""
    asked = request.spec.validate
    if asked is None or not trees.count:
        return None
    if isinstance(asked, Method):
        return _by_size(trees, dataset, asked, request, list_part)
    return choose(trees, other_file(dataset, asked, request), asked)


def choose(trees: TreeSet, other: Dataset, method: str) -> Choice:
    """The choice by other rows."""
    trees = trees[:MOST_CANDIDATES]
    means = np.array([losses.mean() for losses in (row_losses(tree, other) for tree in trees)])
    best = int(np.argmin(means))
    error = _error(row_losses(trees[best], other))
    near = np.flatnonzero(means <= means[best] + error).tolist()
    rank = min(near, key=lambda place: (_leaves(trees[place]), place))
    return Choice(rank, trees[rank], float(means[rank]), float(means[best]), error, other.rows, method)


def _by_size(trees: TreeSet, dataset: Dataset, method: Method, request: Request, list_part: ListPart) -> Choice | None:
    """The choice by rows held out, for which trees are listed again."""
    again = replace(request, spec=replace(request.spec, validate=None, start=None), start=None)
    parts = []
    for train, test in splits(dataset, method, request):
        firsts = dict(_first_of_sizes(list_part(take(dataset, train), again)))
        rows = held_out(dataset, test)
        parts.append({size: row_losses(tree, rows) for size, (_, tree) in firsts.items()})
    own = dict(_first_of_sizes(trees))
    pooled = {size: _pooled(parts, size) for size in own}
    known = {size: losses for size, losses in pooled.items() if losses is not None}
    if not known:
        return None
    best = min(known, key=lambda size: (float(known[size].mean()), size))
    least, error = float(known[best].mean()), _error(known[best])
    size = min(size for size in known if float(known[size].mean()) <= least + error)
    rank, tree = own[size]
    return Choice(rank, tree, float(known[size].mean()), least, error, len(known[size]), method_text(method))


def _pooled(parts: list[dict[int, Losses]], size: int) -> Losses | None:
    """The losses of all rows held out, with trees of up to this size; None if a part has no such tree."""
    found = []
    for part in parts:
        fitting = [each for each in part if each <= size]
        if not fitting:
            return None
        found.append(part[max(fitting)])
    return np.concatenate(found)


def _first_of_sizes(trees: TreeSet) -> Iterator[tuple[int, tuple[int, Tree]]]:
    """For every number of leaves the first tree of a set that has no more, where a smaller number has a later one."""
    trees = trees[:MOST_CANDIDATES]
    leaves = [int(number or 0) for number in trees.measure("leaves")]
    first: dict[int, int] = {}
    for rank, size in enumerate(leaves):
        first.setdefault(size, rank)
    best = len(leaves)
    for size in sorted(first):
        if first[size] < best:
            best = first[size]
            yield size, (best, trees[best])


def _leaves(tree: Tree) -> int:
    return len(tree.leaves)


def _error(losses: Losses) -> float:
    """The standard error of a mean."""
    return float(losses.std(ddof=1)) / sqrt(len(losses)) if len(losses) > 1 else 0.0


def row_losses(tree: Tree, dataset: Dataset) -> Losses:
    """What the goal counts for the prediction of every row, per unit of its weight on average."""
    weight = dataset.weight.astype(np.float64)
    share = weight / (weight.mean() or 1.0)
    predicted = tree.predict(dataset_inputs(tree.fields, dataset, unseen=True))
    if dataset.classes:
        place = {label_text(label): number for number, label in enumerate(dataset.classes)}
        codes = np.array([place.get(label_text(label), -1) for label in predicted], dtype=np.intp)
        cost = _goal_cost(dataset)
        if cost is None:
            return np.asarray(np.where(codes == dataset.actual, 0.0, share))
        # A class that these rows do not have costs what the worst class does.
        return np.asarray(np.where(codes < 0, cost.max(axis=1), cost[np.arange(len(cost)), codes]))
    difference = dataset.targets * float(dataset.target_scale)
    difference = difference - np.asarray(predicted, dtype=np.float64).reshape(difference.shape)
    return np.asarray(share * _number_loss(dataset, difference).sum(axis=1))


def _goal_cost(dataset: Dataset) -> Losses | None:
    """rows x classes: what the first goal counts for predictions; None if it counts none."""
    for goal in dataset.spec.goals[:1]:
        for factor, term in lower_goal(goal, dataset, ()).sum.parts:
            if isinstance(term, Predicted):
                cost = term.cost.astype(np.float64) * float(factor * term.scale)
                return np.asarray(cost - cost.min(axis=1, keepdims=True)) * _row_scale(goal, dataset)
    return None


def _row_scale(goal: Any, dataset: Dataset) -> float:
    """A share of all rows becomes a loss of one row."""
    from treeml.lang.measures import MEASURES  # imported here: start-up time

    units = {MEASURES[use.measure].unit for _, use in goal.expression.parts}
    return float(dataset.rows) if "share" in units else 1.0


def _number_loss(dataset: Dataset, difference: Losses) -> Losses:
    for goal in dataset.spec.goals:
        for _, use in goal.expression.parts:
            loss = chosen_loss(use)
            if loss is not None and loss.kind == "quantile":
                level = float(loss.level)
                return np.where(difference >= 0, level * difference, (level - 1) * difference)
            if loss is not None and loss.kind == "absolute":
                return np.abs(difference)
    return difference**2
