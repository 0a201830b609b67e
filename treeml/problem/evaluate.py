"""A tree over the tests of a Problem -> the exact value of every term, sum, goal and bound.

For back-ends that check themselves, for plans that repair trees, and for tests. It knows terms and no measure, while
`verify` knows measures and no term: the two check each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treeml.problem.arrays import Bits, Rows, Whole, all_rows
from treeml.problem.magnitudes import SAFE, added
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import Sum
from treeml.problem.tree import Leaf, Node, Split

_VALUES = f"{__name__}.values"  # under which a problem keeps the values of its goals for one tree


@dataclass(frozen=True, eq=False)
class Routed:
    """A tree with the rows of the problem in its leaves, the yes side first."""

    problem: Problem
    tree: Node

    @cached_property
    def leaves(self) -> tuple[tuple[Leaf, tuple[tuple[int, bool], ...], Rows], ...]:
        """Every leaf with the tests and answers above it, and its rows."""
        return tuple(self._routed())

    @cached_property
    def labels(self) -> NDArray[np.intp]:
        """The class predicted for every row."""
        labels = np.zeros(self.problem.rows, dtype=np.intp)
        for leaf, _, rows in self.leaves:
            labels[rows] = leaf.label
        return labels

    def at_labels(self, cost: Whole) -> Whole:
        """The entry of every row, in a matrix of rows x classes, at the class predicted for it."""
        # One index into the entries in a row is several times as fast as a row and a column.
        places = np.arange(0, cost.size, cost.shape[1])
        places += self.labels
        return np.asarray(cost.reshape(-1)[places])

    def total_at_labels(self, cost: Whole, most: int) -> int:
        """The exact sum of these entries, added up once for terms that share a matrix; none is larger than `most`."""
        known = self._totals.get(id(cost))
        if known is None:
            entries = self.at_labels(cost)
            total = int(entries.sum()) if most * len(entries) < SAFE else added(entries)
            known = self._totals[id(cost)] = cost, total
        return known[1]

    @cached_property
    def _totals(self) -> dict[int, tuple[Whole, int]]:
        return {}  # by the identity of the matrix, which is kept beside its sum

    @cached_property
    def leaf_numbers(self) -> NDArray[np.intp]:
        """The number of the leaf that every row is in."""
        numbers = np.empty(self.problem.rows, dtype=np.intp)
        for number, (_, _, rows) in enumerate(self.leaves):
            numbers[rows] = number
        return numbers

    @cached_property
    def features(self) -> frozenset[int]:
        """The features that the tree tests."""
        tested, todo = set(), [self.tree]
        while todo:
            node = todo.pop()
            if isinstance(node, Split):
                tested.add(self.problem.tests[node.test].feature)
                todo += [node.yes, node.no]
        return frozenset(tested)

    def passing_codes(self, test: int) -> Bits:
        """For every code of the test's feature, and at the end for missing: is the answer yes?"""
        return _passing(self.problem, test)

    def _routed(self) -> Iterator[tuple[Leaf, tuple[tuple[int, bool], ...], Rows]]:
        todo: list[tuple[Node, tuple[tuple[int, bool], ...], Rows]]
        todo = [(self.tree, (), all_rows(self.problem.rows))]
        while todo:
            node, path, rows = todo.pop()
            if isinstance(node, Leaf):
                yield node, path, rows
                continue
            yes = answers(self.problem, node.test, rows)
            todo.append((node.no, (*path, (node.test, False)), rows.compress(~yes)))
            todo.append((node.yes, (*path, (node.test, True)), rows.compress(yes)))


def evaluate_sum(total: Sum, problem: Problem, tree: Node, routed: Routed | None = None) -> Fraction:
    """The exact value of a sum. A quotient by zero counts as 0."""
    value = total.evaluate(routed or Routed(problem, tree), Fraction(0))
    assert value is not None
    return value


def evaluate_goals(problem: Problem, tree: Node, routed: Routed | None = None) -> tuple[Fraction, ...]:
    """The value of every goal, as it is minimized.

    Those of the last tree are kept with the problem: who computes them and who checks them ask for the same tree.
    """
    known: tuple[Node, tuple[Fraction, ...]] | None = vars(problem).get(_VALUES)
    if known is None or known[0] is not tree:
        routed = routed or Routed(problem, tree)
        known = tree, tuple(evaluate_sum(goal.sum, problem, tree, routed) for goal in problem.goals)
        vars(problem)[_VALUES] = known
    return known[1]


def meets(bound: Bound, problem: Problem, tree: Node, routed: Routed | None = None) -> bool:
    """Does the tree meet the bound? A bound on a quotient by zero holds."""
    return bound.holds(bound.sum.evaluate(routed or Routed(problem, tree), None))


def meets_all(problem: Problem, tree: Node) -> bool:
    """Does the tree meet every bound of the problem?"""
    routed = Routed(problem, tree)
    return all(meets(bound, problem, tree, routed) for bound in problem.bounds)


def is_answer(problem: Problem, tree: Node) -> bool:
    """Does a tree over the tests of the problem meet every bound, with a row in every leaf?"""
    routed = Routed(problem, tree)
    if problem.rows and not all(len(rows) for _, _, rows in routed.leaves):
        return False
    return all(meets(bound, problem, tree, routed) for bound in problem.bounds)


def answers(problem: Problem, test: int, rows: Rows) -> Bits:
    """Which of these rows answer yes: from the bits, or from the codes if the bits are not made yet."""
    asked = problem.tests[test]
    codes = problem.features[asked.feature].codes
    if codes is None or problem.given_bits is not None:
        return np.asarray(problem.bits[test].take(rows))
    return np.asarray(_passing(problem, test)[codes[rows]])


def _passing(problem: Problem, test: int) -> Bits:
    """For every code of the test's feature, and at the end for missing: is the answer yes?"""
    asked = problem.tests[test]
    feature = problem.features[asked.feature]
    levels = 2 if feature.kind == "binary" else feature.levels
    passing = np.zeros(levels + 1, dtype=np.bool_)
    match asked.kind:
        case "true":
            passing[1] = True
        case "at most":
            passing[: asked.values[0] + 1] = True
        case "level" | "among" | "branch":
            passing[list(asked.values)] = True
    passing[levels] = asked.missing_yes or asked.kind == "missing"
    return passing
