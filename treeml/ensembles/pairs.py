"""Prices -> good trees, of depth three at most the best under every root, by counting pairs of tests.

For two classes a row has one signed number, its price with the sign of its class, and a leaf is worth the size of the
sum of its rows. With X the answers and v the signed numbers, X diag(v) X' holds the sums of all pairs of tests, from
which the best subtree of depth two follows (Demirovic et al. 2022). Numbers are whole and small enough for doubles to
be exact. One tree for every root comes for the price of the best, and several columns a round save many rounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeml.backends.contract import Leaf, Node, Split

Signed = NDArray[np.float64]  # whole numbers
Chosen = tuple[int, int, int]  # the test of a subtree, and those of its yes and its no side

DEEPEST = 3
MOST = 2**51  # of a sum: doubles are exact up to 2**53
BUDGET = 4e8  # multiplications a round; beyond it only the more promising roots are tried


@dataclass(frozen=True, eq=False, slots=True)
class Found:
    trees: tuple[Node, ...]  # over all tests, the best first
    best: int | None  # the most that any tree of this depth is worth; None if not every root was tried


class Pairs:
    """The answers of the examples, asked again and again with other prices."""

    def __init__(self, bits: NDArray[np.bool_], positive: NDArray[np.bool_], depth: int) -> None:
        self.bits, self.positive = bits, positive  # tests x examples; is the example of class 1?
        self.answers = bits.astype(np.float64)
        self.depth = min(depth, DEEPEST + 1)

    @property
    def exhaustive(self) -> bool:
        """Is the best tree found that is worth most among all of this depth?"""
        return self.depth <= DEEPEST

    def find(self, prices: NDArray[np.int64], columns: int) -> Found:
        """The best trees for signed prices of the examples, each with another root."""
        signed = np.where(self.positive, prices, -prices).astype(np.float64)
        priced = np.flatnonzero(signed)
        part = _Part(self.bits[:, priced], self.answers[:, priced], signed[priced])
        if self.exhaustive:
            return part.best(self.depth, columns)
        return part.below_roots(columns)


class _Part:
    """Some examples: their answers, and their signed prices."""

    def __init__(self, bits: NDArray[np.bool_], answers: Signed, values: Signed) -> None:
        self.bits, self.answers, self.values = bits, answers, values
        self.total = float(values.sum())

    def best(self, depth: int, columns: int) -> Found:
        if not self.bits.size or depth == 0:
            return Found((_leaf(self.total),), int(abs(self.total)))
        sums = self.answers @ self.values
        if depth == 1:
            return self.stumps(sums, columns)
        weighed = self.answers * self.values
        if depth == 2:
            return self.twos(weighed @ self.answers.T, sums, columns)
        return self.threes(weighed, sums, columns)

    def stumps(self, sums: Signed, columns: int) -> Found:
        total = self.total
        worth = np.abs(sums) + np.abs(total - sums)
        order = np.argsort(-worth, kind="stable")[:columns]
        trees = [Split(int(test), _leaf(sums[test]), _leaf(total - sums[test])) for test in order]
        best, alone = int(worth.max()), int(abs(total))
        return Found(tuple(trees) if best > alone else (_leaf(total), *trees), max(best, alone))

    def twos(self, pairs: Signed, sums: Signed, columns: int) -> Found:
        worth, yes, no = _subtrees(pairs, sums, self.total)
        order = np.argsort(-worth, kind="stable")[:columns]
        trees = [_two((int(test), int(yes[test]), int(no[test])), pairs, sums, self.total) for test in order]
        return Found(tuple(trees), int(worth.max()))

    def threes(self, weighed: Signed, sums: Signed, columns: int) -> Found:
        tests, rows = self.answers.shape
        whole = weighed @ self.answers.T
        roots = np.arange(tests)
        affordable = max(columns, int(BUDGET / (tests * tests * rows)))
        if affordable < tests:
            roots = np.argsort(-(np.abs(sums) + np.abs(self.total - sums)), kind="stable")[:affordable]
        worth = np.zeros(len(roots))
        chosen: list[Node] = []
        for place, root in enumerate(roots.tolist()):
            yes = self.bits[root]
            smaller = yes if 2 * int(yes.sum()) <= rows else ~yes
            pairs = weighed[:, smaller] @ self.answers[:, smaller].T
            own, mine = np.diagonal(pairs).copy(), float(self.values[smaller].sum())
            sides = []
            for part in ((pairs, own, mine), (whole - pairs, sums - own, self.total - mine)):
                each, under_yes, under_no = _subtrees(*part)
                test = int(np.argmax(each))
                worth[place] += each[test]
                sides.append(_two((test, int(under_yes[test]), int(under_no[test])), *part))
            first, second = sides if smaller is yes else sides[::-1]
            chosen.append(Split(root, first, second))
        order = np.argsort(-worth, kind="stable")[:columns]
        best = int(worth.max()) if len(roots) == tests else None
        return Found(tuple(chosen[place] for place in order), best)

    def below_roots(self, columns: int) -> Found:
        """Trees one deeper: the best of depth three on both sides of a few roots, those that do best at depth three."""
        shallow = self.best(DEEPEST, columns)
        deeper: list[Node] = []
        for tree in shallow.trees[: max(1, columns // 2)]:
            if isinstance(tree, Split):
                yes = self.bits[tree.test]
                sides = [
                    _Part(self.bits[:, side], self.answers[:, side], self.values[side]).best(DEEPEST, 1).trees[0]
                    for side in (yes, ~yes)
                ]
                deeper.append(Split(tree.test, sides[0], sides[1]))
        return Found((*deeper, *shallow.trees), None)


def _subtrees(pairs: Signed, sums: Signed, total: float) -> tuple[Signed, NDArray[np.intp], NDArray[np.intp]]:
    """For every test at the root of a subtree of depth two its worth, and the best tests of its sides."""
    # |a| + |b| is the larger of |a + b| and |a - b|; a + b does not depend on the second test.
    doubled = pairs + pairs
    under_yes = np.abs(doubled - sums[:, None])
    under_no = np.abs(doubled - sums[None, :] - sums[None, :] + (total - sums)[:, None])
    yes, no = under_yes.argmax(axis=1), under_no.argmax(axis=1)
    everyone = np.arange(len(sums))
    worth = np.maximum(under_yes[everyone, yes], np.abs(sums)) + np.maximum(
        under_no[everyone, no], np.abs(total - sums)
    )
    return worth, yes, no


def _two(chosen: Chosen, pairs: Signed, sums: Signed, total: float) -> Node:
    test, yes, no = chosen
    both, only = pairs[test, yes], sums[test] - pairs[test, yes]
    other = sums[no] - pairs[test, no]
    neither = total - sums[test] - other
    return Split(test, Split(yes, _leaf(both), _leaf(only)), Split(no, _leaf(other), _leaf(neither)))


def _leaf(worth: float) -> Leaf:
    return Leaf(int(worth > 0))
