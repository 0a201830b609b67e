"""Grown tree -> a smaller one that generalizes better, or that is better by its own goal.

goal: a subtree is cut if the first goal is no worse without it. complexity: the same with a given price per leaf
(Breiman and others 1984). pessimistic: errors are first raised to the upper limit of their binomial confidence interval
(Quinlan 1993). description: the tree and the classes of the rows, given the tree, are written in as few bits as cutting
allows (Quinlan and Rivest 1989; Volf and Willems 1994). `validated_pruning.py` chooses the price by cross-validation. A
cut is made only if every requirement that was met is still met.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, lgamma, log, log1p

import numpy as np
from numpy.typing import NDArray

from treeml.backends.heuristics.impurity import evidence, sums_to_keep_small
from treeml.problem.evaluate import answers, meets
from treeml.problem.fans import chained, children
from treeml.problem.impurity_cost import ImpurityCost, bits_of_split, code_length
from treeml.problem.problem import Problem
from treeml.problem.terms import Custom, Leaves, Loss, Predicted, Sum, Term
from treeml.problem.tree import Leaf, Node

HALVINGS = 60  # of an interval of rates
MOST_TERMS = 500  # of a continued fraction
CLOSE = 1e-14
Rows = NDArray[np.int64]
Cost = Callable[[Rows, int], Fraction]  # the cost of a leaf with these rows and this label


def pruned(tree: Node, problem: Problem, how: str, price: float = 0, confidence: float = 0.25) -> Node:
    costs = _costs(problem, how, price, confidence)
    if how == "none" or costs is None:
        return tree
    smaller = cut(tree, np.arange(problem.rows), problem, costs)[0]
    return keeping_bounds(tree, smaller, problem)


def keeping_bounds(tree: Node, smaller: Node, problem: Problem) -> Node:
    """The smaller tree, unless it breaks a bound that the other one keeps."""
    held = [bound for bound in problem.bounds if meets(bound, problem, tree)]
    return smaller if all(meets(bound, problem, smaller) for bound in held) else tree


def leaf_labels(problem: Problem, leaves: Sequence[Rows]) -> list[int]:
    """For each set of rows the best class by the first goal (or else the first bound) on predictions.

    Without one, it is the class that most of them have, as far as other goals and bounds know their classes.
    """
    if not problem.classes:
        return [-1] * len(leaves)
    found = _predicted(sums_to_keep_small(problem))
    if found is None:
        known = evidence(problem)
        if known is None or known.classes is None:
            return [0] * len(leaves)
        return [int(np.argmax(known.classes[rows].sum(axis=0))) for rows in leaves]
    factor, term = found
    sign = 1 if factor * term.scale >= 0 else -1
    return [int(np.argmin(sign * term.cost[rows].sum(axis=0))) for rows in leaves]


@dataclass(frozen=True, eq=False, slots=True)
class Costs:
    """What the nodes of a tree cost."""

    leaf: Cost
    split: Fraction = Fraction(0)


def cut(node: Node, rows: Rows, problem: Problem, costs: Costs) -> tuple[Node, Fraction]:
    """The best tree that cutting can produce, and its cost: bottom up, each subtree is compared with a leaf."""
    if isinstance(node, Leaf):
        return node, costs.leaf(rows, node.label)
    tests, sides = children(problem, node)
    kept = [cut(side, part, problem, costs) for side, part in zip(sides, parts(problem, tests, rows), strict=True)]
    label = leaf_labels(problem, [rows])[0]
    alone, together = costs.leaf(rows, label), sum((cost for _, cost in kept), costs.split)
    if alone <= together:
        return Leaf(label), alone
    return chained(tests, [side for side, _ in kept]), together


def parts(problem: Problem, tests: Sequence[int], rows: Rows) -> list[Rows]:
    """The rows that pass each of the tests of a node first, and the rows that pass none."""
    found = []
    for test in tests:
        passes = answers(problem, test, rows)
        found.append(rows[passes])
        rows = rows[~passes]
    return [*found, rows]


def _costs(problem: Problem, how: str, price: float, confidence: float) -> Costs | None:
    """The costs by the first goal; None if that goal is not a supported sum over leaves."""
    if not problem.goals:
        return None
    first = problem.goals[0].sum
    if how in ("pessimistic", "description"):
        found = _predicted([first])
        if found is None:
            return None
        return _pessimistic(*found, problem, confidence) if how == "pessimistic" else _description(*found, problem)
    own_price = None
    if how == "complexity":
        own_price = Fraction(repr(float(price))) * int(problem.count.sum())
    return goal_costs(problem, own_price)


def goal_costs(problem: Problem, price: Fraction | None = None) -> Costs | None:
    """The first goal, with its own price of a leaf or with this one; None if it is not a supported sum over leaves."""
    first = problem.goals[0].sum
    if any(not isinstance(term, Predicted | Loss | Leaves) and not _is_impurity(term) for _, term in first.parts):
        return None
    own_price = sum((factor for factor, term in first.parts if isinstance(term, Leaves)), Fraction(0))
    own_price = own_price if price is None else price

    def cost(rows: Rows, label: int) -> Fraction:
        total = own_price
        for factor, term in first.parts:
            if isinstance(term, Predicted):
                total += factor * term.scale * int(term.cost[rows, label].sum())
            elif isinstance(term, Loss):
                total += factor * term.scale * _loss(term, rows)
            elif isinstance(term, Custom):  # an impurity
                total += factor * Fraction(term.function(rows))
        return total

    return Costs(cost)


def _is_impurity(term: Term) -> bool:
    return isinstance(term, Custom) and isinstance(term.function, ImpurityCost)


def _pessimistic(factor: Fraction, term: Predicted, problem: Problem, confidence: float) -> Costs:
    """Errors at the upper limit of the confidence interval of the error rate of a leaf.

    The limit is the rate at which so few errors have only the probability `confidence`. A leaf of one row without
    errors counts 0.75 errors at 25 %, a large one 1.39, so splits that save few errors are cut.
    """
    excess = _excess(factor, term, problem)

    def cost(rows: Rows, label: int) -> Fraction:
        total = float(excess[rows].max(axis=1).sum())
        errors = float(excess[rows, label].sum())
        return Fraction(most_likely_errors(errors, total, confidence))

    return Costs(cost)


def _description(factor: Fraction, term: Predicted, problem: Problem) -> Costs:
    """Bits: one per node for its kind, the number of the test per split, and the classes of the rows per leaf.

    This is `description_length`, for goals that count something else: a row counts 1 on average, for its best class.
    """
    excess = _excess(factor, term, problem)
    best, mass, classes = excess.argmin(axis=1), excess.max(axis=1), excess.shape[1]

    def cost(rows: Rows, label: int) -> Fraction:
        return Fraction(1 + code_length(np.bincount(best[rows], mass[rows], minlength=classes).tolist()))

    return Costs(cost, Fraction(bits_of_split(len(problem.tests))))


def _excess(factor: Fraction, term: Predicted, problem: Problem) -> NDArray[np.float64]:
    """How much worse each class is than the best one of the row, in units in which a row counts 1 on average."""
    signed = term.cost if factor * term.scale >= 0 else -term.cost
    excess: NDArray[np.float64] = (signed - signed.min(axis=1, keepdims=True)).astype(np.float64)
    total = float(excess.max(axis=1).sum())
    if total > 0:
        excess *= float(problem.count.sum()) / total
    return excess


def most_likely_errors(errors: float, total: float, confidence: float) -> float:
    """The binomial upper confidence limit: `total` times the rate at which so few errors have this probability.

    Numbers need not be whole: the probability of at most e errors among n at the rate p is 1 - I_p(e + 1, n - e), with
    the regularized incomplete beta function.
    """
    if total <= 0 or errors >= total:
        return max(0.0, total)
    if errors <= 0:
        return total * -expm1(log(confidence) / total)
    low, high = errors / total, 1.0
    for _ in range(HALVINGS):
        rate = (low + high) / 2
        if 1 - _incomplete_beta(rate, errors + 1, total - errors) > confidence:
            low = rate
        else:
            high = rate
    return total * high


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function, by its continued fraction (Lentz's method)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    ratio, below = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = below
    for m in range(1, MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            below = 1 / (1 + step * below)
            ratio = 1 + step / ratio
            fraction *= below * ratio
        if abs(below * ratio - 1) < CLOSE:
            break
    return front * fraction


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
