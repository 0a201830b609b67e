"""Goals and bounds of a whole tree, a vertex of it -> goals and bounds of a tree that may take the vertex's place.

What is summed over rows or leaves splits into a part inside the subtree and a part outside, which stays as it is. What
is the least or largest over leaves holds for all of them if it holds inside and outside. What does neither is left to
the check of the whole tree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from treeml.backends.improve.growth import Rows, Vertex, node_of
from treeml.backends.planning.lowerings import spread_bound
from treeml.problem.evaluate import evaluate_sum
from treeml.problem.problem import Bound, Feature, Goal, Problem
from treeml.problem.terms import (
    Custom,
    Depth,
    LeafErrors,
    Leaves,
    Loss,
    Predicted,
    Purity,
    Sum,
    Support,
    Term,
    TestCost,
    Used,
)
from treeml.problem.tree import Node

ADDED_UP = (Predicted, Leaves, Loss, TestCost, Custom)
EXTREME = (Support, Purity, LeafErrors)


@dataclass(frozen=True, eq=False, slots=True)
class Local:
    """The problem of one vertex: the same tests on its rows alone."""

    problem: Problem
    is_exact: bool  # nothing was left to the check of the whole tree


@dataclass(frozen=True, eq=False, slots=True)
class Context:
    """What the tree around a vertex fixes."""

    problem: Problem
    vertex: Vertex
    depth: int  # of the vertex
    tree_depth: int
    above: frozenset[int]  # features tested above it, whose cost is paid
    outside: frozenset[int]  # features tested anywhere but below it


def localize(context: Context, values: Callable[[Sum], Fraction], deepest: int) -> Local:
    """The local problem; `values` gives the value of a sum on the whole tree as it is, `deepest` bounds its trees."""
    problem, rows = context.problem, context.vertex.rows
    restrict = _Restriction(context)
    exact = True
    goals: list[Goal] = []
    for goal in problem.goals:
        kept = tuple((factor, term) for factor, term in goal.sum.parts if isinstance(term, (*ADDED_UP, Used)))
        exact = exact and len(kept) == len(goal.sum.parts)
        if kept:
            goals.append(Goal(restrict.sum(Sum(kept)), goal.negated, goal.text))
    holder = Problem(
        tuple(_feature(feature, rows) for feature in problem.features),
        problem.tests,
        problem.count[rows],
        problem.classes,
        tuple(goals),
        (),
        None if problem.given_bits is None else problem.given_bits[:, rows],
    )
    node = node_of(context.vertex)
    bounds: list[Bound] = []
    levels = deepest
    if any("Depth" in goal.sum.kinds() for goal in problem.goals):
        levels = min(levels, context.tree_depth - context.depth)  # no deeper than the tree is
    for bound in (part for whole in problem.bounds for part in spread_bound(whole)):
        kinds = {type(term) for _, term in bound.sum.parts}
        if kinds == {Depth} and len(bound.sum.parts) == 1 and _upper(bound):
            factor = bound.sum.parts[0][0]
            levels = min(levels, int((bound.limit - bound.sum.constant) / factor // 1) - context.depth)
            continue
        made = _local_bound(bound, kinds, restrict, holder, node, values)
        exact = exact and made is not None
        if made is not None:
            bounds.append(made)
    bounds.append(Bound(Sum(((Fraction(1), Depth()),)), "<=", Fraction(levels), "depth"))
    return Local(replace(holder, bounds=tuple(bounds)), exact)


def _upper(bound: Bound) -> bool:
    return bound.sense == ("<=" if bound.sum.parts[0][0] > 0 else ">=")


def _local_bound(
    bound: Bound,
    kinds: set[type],
    restrict: _Restriction,
    holder: Problem,
    node: Node,
    values: Callable[[Sum], Fraction],
) -> Bound | None:
    if kinds <= set(ADDED_UP):
        inside = restrict.sum(bound.sum)
        outside = values(bound.sum) - evaluate_sum(inside, holder, node)
        return Bound(inside, bound.sense, bound.limit - outside, bound.name)
    if len(bound.sum.parts) == 1 and kinds <= {*EXTREME}:
        return Bound(restrict.sum(bound.sum), bound.sense, bound.limit, bound.name)
    if len(bound.sum.parts) == 1 and kinds == {Used} and _upper(bound):
        factor, term = bound.sum.parts[0]
        assert isinstance(term, Used)
        paid = len(term.features & restrict.context.outside)
        return Bound(restrict.sum(bound.sum), bound.sense, bound.limit - factor * paid, bound.name)
    return None


def _feature(feature: Feature, rows: Rows) -> Feature:
    return replace(feature, codes=None if feature.codes is None else feature.codes[rows])


class _Restriction:
    """Terms on the rows of one vertex; each is made once, so that the same term stays the same."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.made: dict[int, Term] = {}

    def sum(self, total: Sum) -> Sum:
        return Sum(tuple((factor, self.term(term)) for factor, term in total.parts), total.constant)

    def term(self, term: Term) -> Term:
        if id(term) not in self.made:
            self.made[id(term)] = self._restricted(term)
        return self.made[id(term)]

    def _restricted(self, term: Term) -> Term:
        rows = self.context.vertex.rows
        match term:
            case Predicted() | LeafErrors():
                return replace(term, cost=term.cost[rows])
            case Loss():
                return replace(term, targets=term.targets[rows], weight=term.weight[rows])
            case Purity():
                return replace(term, weight=term.weight[rows])
            case Custom():
                function = term.function
                return Custom(lambda numbers: function(rows[np.asarray(numbers, dtype=np.intp)]))
            case TestCost():
                paid = self.context.above
                return replace(term, costs=tuple(0 if f in paid else cost for f, cost in enumerate(term.costs)))
            case Used():
                return Used(term.features - self.context.outside)
        return term
