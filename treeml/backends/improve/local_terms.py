"""Goals and bounds of a whole tree, a vertex of it -> goals and bounds of a tree that may replace the vertex.

A sum over rows or leaves splits into a part inside the subtree and a part outside, which does not change. A bound on
the best or worst leaf holds for the tree if it holds inside and outside. All other terms are left to the check of the
whole tree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from treeml.backends.improve.vertices import Rows, Vertex, node_of
from treeml.backends.planning.lowerings import spread_bound
from treeml.problem.evaluate import evaluate_sum
from treeml.problem.problem import Bound, Feature, Goal, Problem
from treeml.problem.terms import Depth, Locality, Part, Sum, Term
from treeml.problem.tree import Node

ADDITIVE = (Locality.SUM, Locality.ONCE)


@dataclass(frozen=True, eq=False, slots=True)
class Local:
    """The problem of one vertex: the same tests on its rows alone."""

    problem: Problem
    is_exact: bool  # False if something is left to the check of the whole tree


@dataclass(frozen=True, eq=False, slots=True)
class Context:
    """A vertex, and what the tree around it determines."""

    problem: Problem
    vertex: Vertex
    depth: int  # of the vertex
    tree_depth: int
    above: frozenset[int]  # features tested above it, whose cost is already paid
    outside: frozenset[int]  # features tested anywhere but below it


def localize(context: Context, values: Callable[[Sum], Fraction], deepest: int) -> Local:
    """The local problem; `values` gives the value of a sum on the current tree, `deepest` bounds the depth."""
    problem, rows = context.problem, context.vertex.rows
    restrict = _Restriction(context)
    exact = True
    goals: list[Goal] = []
    for goal in problem.goals:
        kept = tuple((factor, term) for factor, term in goal.sum.parts if term.locality in ADDITIVE)
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
        levels = min(levels, context.tree_depth - context.depth)  # no deeper than the current tree
    for bound in (part for whole in problem.bounds for part in spread_bound(whole)):
        if _is_depth_limit(bound):
            factor = bound.sum.parts[0][0]
            levels = min(levels, int((bound.limit - bound.sum.constant) / factor // 1) - context.depth)
            continue
        made = _local_bound(bound, restrict, holder, node, values)
        exact = exact and made is not None
        if made is not None:
            bounds.append(made)
    bounds.append(Bound(Sum(((Fraction(1), Depth()),)), "<=", Fraction(levels), "depth"))
    return Local(replace(holder, bounds=tuple(bounds)), exact)


def _is_upper(bound: Bound) -> bool:
    return bound.sense == ("<=" if bound.sum.parts[0][0] > 0 else ">=")


def _is_depth_limit(bound: Bound) -> bool:
    return len(bound.sum.parts) == 1 and isinstance(bound.sum.parts[0][1], Depth) and _is_upper(bound)


def _local_bound(
    bound: Bound,
    restrict: _Restriction,
    holder: Problem,
    node: Node,
    values: Callable[[Sum], Fraction],
) -> Bound | None:
    localities = {term.locality for _, term in bound.sum.parts}
    alone = len(bound.sum.parts) == 1
    if localities <= {Locality.SUM} or (alone and localities == {Locality.ONCE} and _is_upper(bound)):
        inside = restrict.sum(bound.sum)
        outside = values(bound.sum) - evaluate_sum(inside, holder, node)
        return Bound(inside, bound.sense, bound.limit - outside, bound.name)
    if alone and localities == {Locality.EXTREME}:
        return Bound(restrict.sum(bound.sum), bound.sense, bound.limit, bound.name)
    return None


def _feature(feature: Feature, rows: Rows) -> Feature:
    return replace(feature, codes=None if feature.codes is None else feature.codes[rows])


class _Restriction:
    """Terms on the rows of one vertex; each is created once, so that equal terms stay identical."""

    def __init__(self, context: Context) -> None:
        self.part = Part(context.vertex.rows, context.above, context.outside)
        self.made: dict[int, Term] = {}

    def sum(self, total: Sum) -> Sum:
        return total.changed(self.term)

    def term(self, term: Term) -> Term:
        if id(term) not in self.made:
            self.made[id(term)] = term.restricted(self.part)
        return self.made[id(term)]
