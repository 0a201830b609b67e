"""A tree over the tests of a Problem -> the exact value of every term, sum, goal and bound.

For back-ends that check themselves, for plans that mend trees, and for tests. It reads the terms as the contract
defines them and knows no measure, while `verify` knows the measures and no term.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treeml.data.table import Whole
from treeml.problem.constants import exact_sum, group_losses
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import (
    Custom,
    Depth,
    Largest,
    LeafErrors,
    Leaves,
    Loss,
    Monotone,
    Predicted,
    Purity,
    Ratio,
    Sum,
    Support,
    Term,
    TestCost,
    Used,
)
from treeml.problem.tree import Leaf, Node, Split


@dataclass(frozen=True, eq=False)
class Routed:
    """A tree with the rows of the problem in its leaves, in the order yes before no."""

    problem: Problem
    tree: Node

    @cached_property
    def leaves(self) -> tuple[tuple[Leaf, tuple[tuple[int, bool], ...], NDArray[np.intp]], ...]:
        """Every leaf with the tests and answers above it, and its rows."""
        return tuple(self._routed())

    @cached_property
    def labels(self) -> NDArray[np.intp]:
        """The class predicted for every row."""
        labels = np.zeros(self.problem.rows, dtype=np.intp)
        for leaf, _, rows in self.leaves:
            labels[rows] = leaf.label
        return labels

    def _routed(self) -> Iterator[tuple[Leaf, tuple[tuple[int, bool], ...], NDArray[np.intp]]]:
        todo: list[tuple[Node, tuple[tuple[int, bool], ...], NDArray[np.intp]]]
        todo = [(self.tree, (), np.arange(self.problem.rows))]
        while todo:
            node, path, rows = todo.pop()
            if isinstance(node, Leaf):
                yield node, path, rows
                continue
            yes = answers(self.problem, node.test, rows)
            todo.append((node.no, (*path, (node.test, False)), rows[~yes]))
            todo.append((node.yes, (*path, (node.test, True)), rows[yes]))


def evaluate_sum(total: Sum, problem: Problem, tree: Node, routed: Routed | None = None) -> Fraction:
    """The exact value of a sum. A ratio with nothing below counts as 0."""
    value = _sum(total, routed or Routed(problem, tree), Fraction(0))
    assert value is not None
    return value


def evaluate_term(term: Term, problem: Problem, tree: Node, routed: Routed | None = None) -> Fraction:
    """The exact value of a term. A ratio with nothing below counts as 0."""
    return evaluate_sum(Sum(((Fraction(1), term),)), problem, tree, routed)


def evaluate_goals(problem: Problem, tree: Node, goals: tuple[Goal, ...] | None = None) -> tuple[Fraction, ...]:
    """The value of every goal of the problem, as it is minimized."""
    routed = Routed(problem, tree)
    return tuple(evaluate_sum(goal.sum, problem, tree, routed) for goal in (problem.goals if goals is None else goals))


def meets(bound: Bound, problem: Problem, tree: Node, routed: Routed | None = None) -> bool:
    """Does the tree keep the bound? A ratio with nothing below is no obstacle to it."""
    value = _sum(bound.sum, routed or Routed(problem, tree), None)
    if value is None:
        return True
    match bound.sense:
        case "<=":
            return value <= bound.limit
        case ">=":
            return value >= bound.limit
    return value == bound.limit


def meets_all(problem: Problem, tree: Node) -> bool:
    """Does the tree keep every bound of the problem?"""
    routed = Routed(problem, tree)
    return all(meets(bound, problem, tree, routed) for bound in problem.bounds)


def answers(problem: Problem, test: int, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which of these rows answer yes: from the bits, or from the codes where there are none yet."""
    asked = problem.tests[test]
    codes = problem.features[asked.feature].codes
    if codes is None or problem.given_bits is not None:
        return np.asarray(problem.bits[test, rows])
    return np.asarray(_passing(problem, test)[codes[rows]])


def _passing(problem: Problem, test: int) -> NDArray[np.bool_]:
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
        case "level" | "among":
            passing[list(asked.values)] = True
    passing[levels] = asked.missing_yes or asked.kind == "missing"
    return passing


def _sum(total: Sum, routed: Routed, undefined: Fraction | None) -> Fraction | None:
    value = total.constant
    for factor, term in total.parts:
        part = _term(term, routed, undefined)
        if part is None:
            return None
        value += part if factor == 1 else factor * part
    return value


def _term(term: Term, routed: Routed, undefined: Fraction | None) -> Fraction | None:
    match term:
        case Ratio():
            above, below = _sum(term.numerator, routed, None), _sum(term.denominator, routed, None)
            return undefined if above is None or not below else above / below
        case Largest():
            values = [_sum(part, routed, undefined) for part in term.parts]
            return max((value for value in values if value is not None), default=undefined)
        case Predicted():
            costs = term.cost[np.arange(routed.problem.rows), routed.labels]
            return term.scale * exact_sum(costs)
        case Leaves():
            return Fraction(len(routed.leaves))
        case Depth():
            return Fraction(max(len(path) for _, path, _ in routed.leaves))
        case Support():
            return Fraction(min(exact_sum(routed.problem.count[rows]) for _, _, rows in routed.leaves))
        case Used():
            return Fraction(len(term.features & _features(routed)))
        case TestCost():
            return _test_cost(term, routed)
        case Loss():
            return _loss(term, routed)
        case Purity():
            return _purity(term, routed)
        case LeafErrors():
            return max(term.scale * exact_sum(term.cost[rows, leaf.label]) for leaf, _, rows in routed.leaves)
        case Monotone():
            return Fraction(int(_is_monotone(term, routed)))
        case Custom():
            return sum((Fraction(term.function(rows)) for _, _, rows in routed.leaves), Fraction(0))


def _features(routed: Routed) -> frozenset[int]:
    tests, todo = set(), [routed.tree]
    while todo:
        node = todo.pop()
        if isinstance(node, Split):
            tests.add(routed.problem.tests[node.test].feature)
            todo += [node.yes, node.no]
    return frozenset(tests)


def _test_cost(term: TestCost, routed: Routed) -> Fraction:
    total = 0
    for _, path, rows in routed.leaves:
        features = {routed.problem.tests[test].feature for test, _ in path}
        total += exact_sum(routed.problem.count[rows]) * sum(term.costs[feature] for feature in features)
    return term.scale * total


def _loss(term: Loss, routed: Routed) -> Fraction:
    reached = np.empty(routed.problem.rows, dtype=np.intp)
    for number, (_, _, rows) in enumerate(routed.leaves):
        reached[rows] = number
    leaves = len(routed.leaves)
    losses = [group_losses(term.kind, values, term.weight, reached, leaves, term.level) for values in term.targets.T]
    return term.scale * sum(losses, Fraction(0))


def _purity(term: Purity, routed: Routed) -> Fraction:
    shares = []
    for _, _, rows in routed.leaves:
        weights = [exact_sum(column) for column in _columns(term.weight[rows])]
        if any(weights):
            shares.append(Fraction(max(weights), sum(weights)))
    return min(shares, default=Fraction(1))


def _columns(matrix: Whole) -> Iterator[Whole]:
    yield from matrix.T


def _is_monotone(term: Monotone, routed: Routed) -> bool:
    """No positive leaf and no other leaf such that an input moves from one to the other the wrong way."""
    tested = sorted(_features(routed))
    if term.feature not in tested:
        return True
    regions = [_region(path, tested, routed.problem) for _, path, _ in routed.leaves]
    positive = [leaf.label == term.positive for leaf, _, _ in routed.leaves]
    for low, low_positive in zip(regions, positive, strict=True):
        for high, high_positive in zip(regions, positive, strict=True):
            breaks = low_positive and not high_positive if term.increasing else high_positive and not low_positive
            if breaks and _can_rise(low, high, term.feature):
                return False
    return True


def _region(path: tuple[tuple[int, bool], ...], tested: list[int], problem: Problem) -> dict[int, NDArray[np.bool_]]:
    """For every tested feature the codes, and at the end missing, that lead to a leaf."""
    region = {}
    for number in tested:
        feature = problem.features[number]
        region[number] = np.ones((2 if feature.kind == "binary" else feature.levels) + 1, dtype=np.bool_)
        region[number][-1] = feature.has_missing
    for test, answer in path:
        passing = _passing(problem, test)
        region[problem.tests[test].feature] &= passing if answer else ~passing
    return region


def _can_rise(low: dict[int, NDArray[np.bool_]], high: dict[int, NDArray[np.bool_]], feature: int) -> bool:
    for number, here in low.items():
        if number != feature:
            if not (here & high[number]).any():
                return False
            continue
        below, above = np.flatnonzero(here[:-1]), np.flatnonzero(high[number][:-1])
        if not len(below) or not len(above) or below[0] >= above[-1]:
            return False
    return True
