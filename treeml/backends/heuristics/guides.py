"""A goal that is a quotient or a root -> sums over the predictions that lead greedy trees towards it.

Splits and labels of a greedy tree are judged by a sum. A tree that has less of the numerator minus q times the
denominator than nothing has a quotient below q (Dinkelbach 1967), so every better tree gives the next sum. mcc and
gmean rise with the share of true positives and fall with the share of false positives: their difference is the sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from treeml.problem.evaluate import evaluate_sum
from treeml.problem.like_terms import CostsTooLarge, joined_terms
from treeml.problem.problem import Goal, Problem
from treeml.problem.quotient import quotient_of
from treeml.problem.terms import Contingency, Ratio, Sum
from treeml.problem.tree import Leaf, Node

MOST_ROUNDS = 5


def guided_tree(problem: Problem, grow: Callable[[Problem], Node]) -> Node:
    """The best tree that grows for such sums by the first goal; for any other goal, what grows for the problem."""
    alone = _quotient_or_root(problem)
    if alone is None:
        return grow(problem)
    leaves = [evaluate_sum(alone, problem, Leaf(label)) for label in range(problem.classes)]
    best: tuple[Fraction, Node] | None = None
    reached = min(leaves)
    for _ in range(MOST_ROUNDS):
        total = _guide(alone, reached)
        if total is None:
            break
        goals = (replace(problem.goals[0], sum=total), *problem.goals[1:])
        tree = grow(problem.asking(goals, problem.bounds))
        value = evaluate_sum(problem.goals[0].sum, problem, tree)
        if best is not None and value >= best[0]:
            break
        best, reached = (value, tree), min(reached, evaluate_sum(alone, problem, tree))
    return grow(problem) if best is None else best[1]


def guided(problem: Problem, beside: Node | None = None) -> Problem:
    """The problem with a sum over the predictions as its first goal, in the place of a quotient or a root.

    The sum leads to trees that are better than the one `beside`, or than the best leaf.
    """
    alone = _quotient_or_root(problem)
    if alone is None:
        return problem
    trees = [Leaf(label) for label in range(problem.classes)] if beside is None else [beside]
    total = _guide(alone, min(evaluate_sum(alone, problem, tree) for tree in trees))
    return problem if total is None else problem.asking((Goal(total),), problem.bounds)


def _quotient_or_root(problem: Problem) -> Sum | None:
    """The part of the first goal that is a quotient or a root of counts; None if there is none."""
    parts = problem.goals[0].sum.parts if problem.goals and problem.classes else ()
    part = next((each for each in parts if isinstance(each[1], Contingency | Ratio)), None)
    return None if part is None else Sum((part,))


def _guide(alone: Sum, reached: Fraction) -> Sum | None:
    """The sum that is negative for trees that are better than this value, or that falls where they tend to be."""
    factor, term = alone.parts[0]
    if isinstance(term, Contingency):
        right = [(factor * term.negatives * each, part) for each, part in term.right.parts]
        wrong = [(-factor * term.positives * each, part) for each, part in term.wrong.parts]
        try:
            return Sum(joined_terms([*right, *wrong]))
        except CostsTooLarge:
            return None
    quotient = quotient_of(Goal(alone))
    try:
        return None if quotient is None else quotient.against(quotient.quotient(reached))
    except OverflowError:
        return None
