"""Grown tree -> a smaller one that generalizes better, or that is better by its own goal.

goal: a subtree is cut if the first goal is no worse without it. complexity: the same with a given price per leaf
(Breiman and others 1984). pessimistic: errors are first raised to the upper limit of their confidence interval
(Quinlan 1993). A cut is made only if every requirement that was met is still met.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from treeml.problem.evaluate import meets
from treeml.problem.problem import Problem
from treeml.problem.terms import Leaves, Loss, Predicted, Sum
from treeml.problem.tree import Leaf, Node, Split

Rows = NDArray[np.int64]
Cost = Callable[[Rows, int], Fraction]  # the cost of a leaf with these rows and this label


def pruned(tree: Node, problem: Problem, how: str, price: float = 0, confidence: float = 0.25) -> Node:
    cost = _leaf_cost(problem, how, price, confidence)
    if how == "none" or cost is None:
        return tree
    smaller = _cut(tree, np.arange(problem.rows), problem, cost)[0]
    held = [bound for bound in problem.bounds if meets(bound, problem, tree)]
    return smaller if all(meets(bound, problem, smaller) for bound in held) else tree


def leaf_labels(problem: Problem, leaves: Sequence[Rows]) -> list[int]:
    """For each set of rows the best class by the first goal (or else the first bound) on predictions."""
    if not problem.classes:
        return [-1] * len(leaves)
    found = _predicted([goal.sum for goal in problem.goals] + [bound.sum for bound in problem.bounds])
    if found is None:
        return [0] * len(leaves)
    factor, term = found
    sign = 1 if factor * term.scale >= 0 else -1
    return [int(np.argmin(sign * term.cost[rows].sum(axis=0))) for rows in leaves]


def _cut(node: Node, rows: Rows, problem: Problem, cost: Cost) -> tuple[Node, Fraction]:
    """The best tree that cutting can produce, and its cost: bottom up, each subtree is compared with a leaf."""
    if isinstance(node, Leaf):
        return node, cost(rows, node.label)
    answers = problem.bits[node.test][rows]
    yes, cost_yes = _cut(node.yes, rows[answers], problem, cost)
    no, cost_no = _cut(node.no, rows[~answers], problem, cost)
    label = leaf_labels(problem, [rows])[0]
    alone = cost(rows, label)
    if alone <= cost_yes + cost_no:
        return Leaf(label), alone
    return Split(node.test, yes, no), cost_yes + cost_no


def _leaf_cost(problem: Problem, how: str, price: float, confidence: float) -> Cost | None:
    """The cost of a leaf by the first goal; None if that goal is not a supported sum over leaves."""
    if not problem.goals:
        return None
    first = problem.goals[0].sum
    if how == "pessimistic":
        found = _predicted([first])
        return None if found is None else _pessimistic(*found, problem, confidence)
    if any(not isinstance(term, Predicted | Loss | Leaves) for _, term in first.parts):
        return None
    own_price = sum((factor for factor, term in first.parts if isinstance(term, Leaves)), Fraction(0))
    if how == "complexity":
        own_price = Fraction(repr(float(price))) * int(problem.count.sum())

    def cost(rows: Rows, label: int) -> Fraction:
        total = own_price
        for factor, term in first.parts:
            if isinstance(term, Predicted):
                total += factor * term.scale * int(term.cost[rows, label].sum())
            elif isinstance(term, Loss):
                total += factor * term.scale * _loss(term, rows)
        return total

    return cost


def _pessimistic(factor: Fraction, term: Predicted, problem: Problem, confidence: float) -> Cost:
    """Errors at the upper limit of the confidence interval of the error rate, by the normal approximation."""
    deviate = NormalDist().inv_cdf(1 - confidence)
    signed = term.cost if factor * term.scale >= 0 else -term.cost
    excess = (signed - signed.min(axis=1, keepdims=True)).astype(np.float64)  # above the best class of the row

    def cost(rows: Rows, label: int) -> Fraction:
        total = float(excess[rows].max(axis=1).sum())
        if total <= 0:
            return Fraction(0)
        rate = min(1.0, float(excess[rows, label].sum()) / total)
        square = deviate * deviate
        upper = rate + square / (2 * total) + deviate * sqrt(rate * (1 - rate) / total + square / (4 * total * total))
        return Fraction(upper / (1 + square / total) * total)

    return cost


def _loss(term: Loss, rows: Rows) -> Fraction:
    """The exact loss of the rows to their best constant, output by output."""
    weight = [int(share) for share in term.weight[rows]]
    return sum(
        (_loss_of_one(term, term.targets[rows, output].tolist(), weight) for output in range(term.targets.shape[1])),
        Fraction(0),
    )


def _loss_of_one(term: Loss, values: list[int], weight: list[int]) -> Fraction:
    total = sum(weight)
    if total == 0:
        return Fraction(0)
    pairs = sorted(zip(values, weight, strict=True))
    if term.kind == "squared":
        first = sum(value * share for value, share in pairs)
        return sum(value * value * share for value, share in pairs) - Fraction(first * first, total)
    level = Fraction(1, 2) if term.kind == "absolute" else term.level
    reached, guess = 0, pairs[-1][0]
    for value, share in pairs:
        reached += share
        if reached >= level * total:
            guess = value
            break
    under = sum(share * (guess - value) for value, share in pairs if value < guess)
    over = sum(share * (value - guess) for value, share in pairs if value > guess)
    return Fraction(under + over) if term.kind == "absolute" else (1 - level) * under + level * over


def _predicted(sums: Sequence[Sum]) -> tuple[Fraction, Predicted] | None:
    return next(((factor, term) for total in sums for factor, term in total.parts if isinstance(term, Predicted)), None)
