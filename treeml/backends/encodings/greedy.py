"""Choices -> a first tree, grown greedily on codes as they are: a bound to start from.

Above the last level a split is chosen by the Gini impurity of the goal's costs, on the last level by the goal itself.
Subsets are taken as first parts of the codes sorted by the share of a class, which is where the best one lies if there
are two classes (Breiman and others 1984).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import Leaf, Node, Split
from treeml.backends.encodings.asked import Asked
from treeml.backends.encodings.choices import Choice, Choices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Bits = NDArray[np.bool_]


def greedy_tree(choices: Choices, asked: Asked) -> Node | None:
    """None where the goal says nothing about predictions."""
    if asked.goal.predicted is None or asked.depth < 0:
        return None
    cost = choices.summed(asked.goal.predicted)
    gain = cost.max(axis=1, keepdims=True) - cost
    support = max(1, asked.support)

    def grow(rows: Whole, depth: int) -> Node:
        here = cost[rows].sum(axis=0)
        leaf = Leaf(int(here.argmin()))
        if depth == 0 or here.min() == cost[rows].min(axis=1).sum():
            return leaf
        best: tuple[float, Choice, Bits] | None = None
        for choice in choices.choices:
            found = _best_cut(choice, rows, cost if depth == 1 else gain, choices.count, support, depth == 1)
            if found is not None and (best is None or found[0] < best[0]):
                best = (found[0], choice, found[1])
        if best is None or (depth == 1 and best[0] >= here.min()):
            return leaf
        decoded = choices.decode(best[1], best[2])
        if decoded is None:
            return leaf
        test, swapped = decoded
        yes, no = grow(rows[best[2][rows]], depth - 1), grow(rows[~best[2][rows]], depth - 1)
        return Split(test, no, yes) if swapped else Split(test, yes, no)

    return grow(np.arange(choices.groups), asked.depth)


def _best_cut(
    choice: Choice, rows: Whole, values: Whole, count: Whole, support: int, last: bool
) -> tuple[float, Bits] | None:
    """The least score of a cut, and which groups, here and elsewhere, it sends to the yes side."""
    if choice.kind == "test":
        assert choice.yes is not None
        yes = choice.yes[rows]
        if not yes.any() or yes.all() or min(count[rows][yes].sum(), count[rows][~yes].sum()) < support:
            return None
        above, below = values[rows][yes].sum(axis=0), values[rows][~yes].sum(axis=0)
        return float(_score(above[None], last)[0] + _score(below[None], last)[0]), choice.yes
    assert choice.codes is not None
    codes = choice.codes[rows]
    present, inverse = np.unique(codes, return_inverse=True)
    if len(present) < 2:
        return None
    sums = np.zeros((len(present), values.shape[1]))
    counts = np.zeros(len(present))
    np.add.at(sums, inverse, values[rows])
    np.add.at(counts, inverse, count[rows])
    order = np.arange(len(present))
    if choice.kind == "equal":
        order = np.argsort(sums[:, 0] / np.maximum(1, sums.sum(axis=1)))
    elif present[0] < 0:
        order = order[1:]  # a missing value stays on the no side
    above = np.cumsum(sums[order], axis=0)
    held = np.cumsum(counts[order])
    total, everything = sums.sum(axis=0), counts.sum()
    ends = len(order) - 1 if len(order) == len(present) else len(order)
    score = _score(above[:ends], last) + _score(total - above[:ends], last)
    score[(held[:ends] < support) | (everything - held[:ends] < support)] = np.inf
    place = int(score.argmin()) if len(score) else 0
    if not len(score) or not np.isfinite(score[place]):
        return None
    chosen = present[order[: place + 1]]
    if choice.kind == "order":
        return float(score[place]), (choice.codes >= 0) & (choice.codes <= chosen.max())
    return float(score[place]), np.isin(choice.codes, chosen)


def _score(sums: NDArray[np.float64] | Whole, last: bool) -> NDArray[np.float64]:
    if last:
        return np.asarray(sums.min(axis=1), float)
    total = sums.sum(axis=1)
    squares = (sums.astype(float) ** 2).sum(axis=1)
    return np.asarray(total - np.divide(squares, total, out=np.zeros_like(squares), where=total > 0), float)
