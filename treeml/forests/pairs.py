"""Prices -> good trees by counting pairs of tests; up to depth three, the best tree under every root.

The value of a tree is what its leaves gain at the prices, and sums over all pairs of tests give the best subtree of
depth two (Demirovic et al. 2022; `treeml/native/roots/`). The numbers are whole and small enough for doubles to be
exact. Finding the best tree under every root costs no more than finding the best tree, and several columns in each
round save many rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from treeml.forests.examples import Making, votes_of
from treeml.native.roots import DEEPEST, RootedTrees, best_under_roots
from treeml.problem.tree import Leaf, Node, Split

Gains = NDArray[np.float64]  # classes x examples, whole numbers: what predicting each class for an example gains
Votes = NDArray[np.intp]

MOST = 2**48  # the absolute values of all prices add up to less; doubles are exact up to four times as much
BUDGET = 1e8  # additions in each round; beyond that only the most promising roots are tried
MOST_ADDITIONS = 1e9  # for a single root, which no clock interrupts: about a second, and 2 GB of sums


@dataclass(frozen=True, eq=False, slots=True)
class PairTrees:
    trees: tuple[tuple[Making, Votes], ...]  # over all tests, with their votes on the examples, the best first
    best: int | None  # the largest gain of any tree of this depth; None if not every root was tried


class Pairs:
    """The answers of the examples to every test; `find` is called with new gains in every round."""

    def __init__(self, bits: NDArray[np.bool_], depth: int) -> None:
        self.bits = bits  # tests x examples
        self.depth = min(depth, DEEPEST + 1)

    @property
    def exhaustive(self) -> bool:
        """Does `find` find the best tree of this depth?"""
        return self.depth <= DEEPEST

    def is_affordable(self, classes: int) -> bool:
        """Can pairs be counted for a root at all? With every cut of long columns there are too many."""
        return _additions(self.bits, classes - 1) <= MOST_ADDITIONS

    def find(self, gains: Gains, columns: int, is_over: Callable[[], bool] = lambda: False) -> PairTrees:
        """The best trees for the gains of the examples, each with another root; few deeper ones if time is over."""
        if self.depth == 0 or not self.bits.size:
            best = int(np.argmax(gains.sum(axis=1)))
            return PairTrees(((Leaf(best), np.full(self.bits.shape[1], best)),), int(gains[best].sum()))
        priced = np.flatnonzero(gains.any(axis=0))
        part = _Part(self.bits[:, priced], gains[:, priced])
        trees, all_roots = part.best(min(self.depth, DEEPEST), columns)
        votes = trees.votes(self.bits).astype(np.intp)
        complete = [(partial(_tree, trees, place), votes[place]) for place in range(len(votes))]
        if self.exhaustive:
            return PairTrees(tuple(complete), int(trees.worth[0] + gains[0].sum()) if all_roots else None)
        deeper: list[Node] = []
        for test in trees.tests[: max(1, columns // 2), 0]:
            if is_over():
                break
            deeper.append(part.below(int(test)))
        return PairTrees((*((tree, votes_of(tree, self.bits)) for tree in deeper), *complete), None)


class _Part:
    """Some examples: their answers, and their gains."""

    def __init__(self, bits: NDArray[np.bool_], gains: Gains) -> None:
        self.bits, self.gains = np.ascontiguousarray(bits), gains

    def best(self, depth: int, columns: int) -> tuple[RootedTrees, bool]:
        """Trees, the best first; and whether every root was tried."""
        tests = len(self.bits)
        more = self.gains[1:] - self.gains[0]
        additions = max(1.0, _additions(self.bits, len(more)))
        affordable = max(1, int(BUDGET / additions), min(columns, int(MOST_ADDITIONS / additions)))
        roots = np.arange(tests, dtype=np.int32)
        bits = self.bits.view(np.uint8)
        if depth == DEEPEST and affordable < tests:
            stumps = best_under_roots(bits, more, 1, roots)
            roots = np.argsort(-stumps.worth, kind="stable")[:affordable].astype(np.int32)
        found = best_under_roots(bits, more, depth, roots)
        return found.take(np.argsort(-found.worth, kind="stable")[:columns]), len(roots) == tests

    def below(self, root: int) -> Node:
        """A tree that is one level deeper: the best of depth three on both sides of a root."""
        yes = self.bits[root]
        sides: list[Node] = []
        for side in (yes, ~yes):
            if side.any():
                trees, _ = _Part(self.bits[:, side], self.gains[:, side]).best(DEEPEST, 1)
                sides.append(_tree(trees, 0))
            else:
                sides.append(Leaf(0))
        return Split(root, sides[0], sides[1])


def _additions(bits: NDArray[np.bool_], planes: int) -> float:
    """How many additions the best tree of depth three under a root takes."""
    passed = float(np.square(bits.sum(axis=0, dtype=np.int64)).sum()) / 4
    return planes * (passed + 4.0 * len(bits) ** 2)


def _tree(trees: RootedTrees, place: int) -> Node:
    tests, labels = trees.tests[place].tolist(), trees.labels[place].tolist()

    def node(at: int) -> Node:
        if at >= len(tests):
            return Leaf(labels[at - len(tests)])
        yes, no = node(2 * at + 1), node(2 * at + 2)
        # The trees are complete; a split whose sides agree is left out.
        return yes if isinstance(yes, Leaf) and yes == no else Split(tests[at], yes, no)

    return node(0)
