"""The goal depth or leaves -> the limited sum that trees are grown and cut for in its place.

Which split helps most is not seen from the size of a tree, but from a sum that a requirement limits: errors, if an
accuracy is asked for. The smaller that sum is, the fewer leaves are left when a tree is cut back as far as the limits
allow.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from treeml.backends.heuristics.pruning import Rows, goal_costs, leaf_labels, parts
from treeml.backends.heuristics.validated_pruning import smallest_cut
from treeml.problem.evaluate import meets
from treeml.problem.fans import chained, children
from treeml.problem.like_terms import CostsTooLarge, joined_terms
from treeml.problem.magnitudes import row_reach
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Depth, Leaves, Predicted, Sum, Term
from treeml.problem.tree import Leaf, Node

HEAVIER = (4, 16)  # weights of one limited sum beside the others, for which trees are cut back as well
MOST_HEAVIER = 2  # limited sums of which each gets such a weight
MOST_TRIED = 300  # parts of a tree that are tried as leaves
OF_ROWS = frozenset({"Predicted", "Loss", "Custom"})  # terms that add up something over the rows


def minimized_shape(problem: Problem) -> Depth | Leaves | None:
    """What the first goal minimizes, if it is depth or leaves alone; None if it is something else."""
    parts = problem.goals[0].sum.parts if problem.goals else ()
    if len(parts) != 1 or parts[0][0] <= 0 or not isinstance(parts[0][1], Depth | Leaves):
        return None
    return parts[0][1]


def with_limited_sum_as_goal(problem: Problem) -> Problem | None:
    """The problem with the first limited sum over rows as its goal; None if there is no such limit."""
    for limit in problem.bounds:
        if limit.sense == "=" or not limit.sum.kinds() & OF_ROWS:
            continue
        others = tuple(bound for bound in problem.bounds if bound is not limit)
        asked = problem.asking((Goal(limit.sum if limit.sense == "<=" else limit.sum.negated()),), others)
        if goal_costs(asked) is not None:
            return asked
    return None


def with_limited_sums_as_goal(problem: Problem, heavier: int = -1, factor: int = 1) -> Problem | None:
    """The same with all limited sums over the predictions together, so that splits serve every one of them.

    Each weighs as much as the others, at the rows that they disagree on most; one of them may be heavier.
    """
    limits = _limits(problem)
    if len(limits) < 2:
        return with_limited_sum_as_goal(problem)
    weighed: list[tuple[Fraction, Term]] = []
    for number, limit in enumerate(limits):
        for share, term in limit.sum.parts:
            assert isinstance(term, Predicted)
            weight = factor if number == heavier else 1
            sign = 1 if (share > 0) == (limit.sense == "<=") else -1
            weighed.append((sign * weight / (abs(term.scale) * max(1, row_reach(term.cost))), term))
    try:
        goal = Goal(Sum(joined_terms(weighed)))
    except CostsTooLarge:
        return with_limited_sum_as_goal(problem)
    if not any(row_reach(term.cost) for _, term in goal.sum.parts if isinstance(term, Predicted)):
        return with_limited_sum_as_goal(problem)  # an upper and a lower limit on one sum say nothing together
    return problem.asking((goal,), tuple(bound for bound in problem.bounds if bound not in limits))


def _limits(problem: Problem) -> list[Bound]:
    return [bound for bound in problem.bounds if bound.sense != "=" and bound.sum.kinds() == {"Predicted"}]


def growing_for(problem: Problem) -> Problem:
    """What greedy trees grow for: the problem, or its limited sums if the goal is depth or leaves."""
    return (minimized_shape(problem) and with_limited_sums_as_goal(problem)) or problem


def cut_back(tree: Node, problem: Problem) -> Node:
    """The smallest tree that this one can be cut to, if a small tree is asked for and the requirements it met stay met.

    Trees that break the same requirements as before are no worse.
    """
    if minimized_shape(problem) is None:
        return tree
    held = [bound for bound in problem.bounds if meets(bound, problem, tree)]

    def is_enough(other: Node) -> bool:
        return all(meets(bound, problem, other) for bound in held)

    asked = with_limited_sums_as_goal(problem)
    if asked is None:
        return _collapsed(tree, problem, is_enough)
    several = len(_limits(problem))
    numbers = range(min(MOST_HEAVIER, several) if several > 1 else 0)
    others = [with_limited_sums_as_goal(problem, number, factor) for factor in HEAVIER for number in numbers]
    found = [smallest_cut(tree, each, is_enough) for each in (asked, *others) if each is not None]
    return min((each for each in found if each is not None), key=_size, default=tree)


def _size(tree: Node) -> int:
    return 1 if isinstance(tree, Leaf) else _size(tree.yes) + _size(tree.no)


def _collapsed(tree: Node, problem: Problem, is_enough: Callable[[Node], bool]) -> Node:
    """The tree with leaves in the place of as large parts as possible, where requirements are on single leaves."""
    left = MOST_TRIED

    def visit(node: Node, rows: Rows, whole: Callable[[Node], Node]) -> Node:
        """The node as small as it may be; `whole` makes the tree that has another node in its place."""
        nonlocal left
        if isinstance(node, Leaf) or left == 0:
            return node
        left -= 1
        leaf = Leaf(leaf_labels(problem, [rows])[0])
        if is_enough(whole(leaf)):
            return leaf
        tests, below = children(problem, node)
        sides = list(below)

        def beside(number: int) -> Callable[[Node], Node]:
            return lambda side: whole(chained(tests, [*sides[:number], side, *sides[number + 1 :]]))

        for number, part in enumerate(parts(problem, tests, rows)):
            sides[number] = visit(sides[number], part, beside(number))
        return chained(tests, sides)

    return visit(tree, np.arange(problem.rows), lambda node: node)
