"""Grown tree -> the smallest one within one standard error of the best price of a leaf, by cross-validation.

Error-complexity pruning (Breiman and others 1984): as the price of a leaf rises, the cheapest tree that cutting can
produce shrinks in finitely many steps. Trees grown without one part of the rows, and cut at the same prices, are judged
on that part. Of the prices whose mean loss is within some standard errors of the smallest, the largest is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from treeml.backends.heuristics.pruning import Rows, cut, goal_costs, keeping_bounds, leaf_labels, parts
from treeml.problem.fans import children
from treeml.problem.problem import Problem
from treeml.problem.terms import Loss, Predicted
from treeml.problem.tree import Leaf, Node, Split

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PruningValidation:
    folds: int = 10
    standard_errors: float = 1.0  # 0: the price with the smallest mean loss
    seed: int = 0


def validated(tree: Node, problem: Problem, grow: Callable[[Rows], Node], how: PruningValidation) -> Node | None:
    """The pruned tree; `grow` makes the tree of some rows. None if the goal has no loss of single rows."""
    if not problem.goals or goal_costs(problem) is None or not _is_judged(problem):
        return None
    everything = np.arange(problem.rows)
    prices = critical_prices(tree, problem, everything)
    # Between two critical prices the tree stays the same, so the folds are cut at prices in between.
    between = [Fraction(sqrt(low * high)) for low, high in pairwise(prices)] + [None]
    folds = min(how.folds, problem.rows)
    if folds < 2:
        return None
    part = np.empty(problem.rows, dtype=np.int64)
    part[np.random.default_rng(how.seed).permutation(problem.rows)] = np.arange(problem.rows) % folds
    losses = np.zeros((len(prices), problem.rows))
    for fold in range(folds):
        kept, held = everything[part != fold], everything[part == fold]
        grown = grow(kept)
        for place, price in enumerate(between):
            smaller = _cut_at(grown, kept, problem, price)
            losses[place, held] = _losses(smaller, problem, kept, held)
    mean = losses.mean(axis=1)
    best = int(np.argmin(mean))
    most = mean[best] + how.standard_errors * losses[best].std() / sqrt(problem.rows)
    chosen = max(place for place in range(len(prices)) if mean[place] <= most)
    return keeping_bounds(tree, _cut_at(tree, everything, problem, prices[chosen]), problem)


def critical_prices(tree: Node, problem: Problem, rows: Rows) -> list[Fraction]:
    """The prices of a leaf, per row, at which the cheapest cut tree becomes smaller; 0 is the first.

    They are exact: a price that is rounded down cuts one step less.
    """
    prices = [Fraction(0)]
    current = _cut_at(tree, rows, problem, prices[0])
    while isinstance(current, Split):
        prices.append(_weakest(current, problem, rows))
        current = _cut_at(current, rows, problem, prices[-1])
    return prices


def _weakest(tree: Split, problem: Problem, rows: Rows) -> Fraction:
    """The smallest loss per row and leaf that a split saves."""
    costs = goal_costs(problem, Fraction(0))
    assert costs is not None
    saved: list[Fraction] = []

    def visit(node: Node, inside: Rows) -> tuple[Fraction, int]:
        if isinstance(node, Leaf):
            return costs.leaf(inside, node.label), 1
        tests, sides = children(problem, node)
        below = [visit(side, part) for side, part in zip(sides, parts(problem, tests, inside), strict=True)]
        together, leaves = sum((cost for cost, _ in below), Fraction(0)), sum(leaves for _, leaves in below)
        alone = cut(Leaf(_label(problem, inside)), inside, problem, costs)[1]
        saved.append((alone - together) / (leaves - 1))
        return together, leaves

    visit(tree, rows)
    return min(saved) / len(rows)


def _label(problem: Problem, rows: Rows) -> int:
    return leaf_labels(problem, [rows])[0]


def _cut_at(tree: Node, rows: Rows, problem: Problem, price: Fraction | None) -> Node:
    """The cheapest cut tree at this price per row of a leaf; None: a price that no split is worth."""
    if price is None:
        return Leaf(_label(problem, rows))
    costs = goal_costs(problem, price * len(rows))
    assert costs is not None
    return cut(tree, rows, problem, costs)[0]


def _is_judged(problem: Problem) -> bool:
    main = [term for _, term in problem.goals[0].sum.parts if isinstance(term, Predicted | Loss)]
    return len(main) == 1 and (isinstance(main[0], Predicted) or main[0].kind in ("squared", "absolute"))


def _losses(tree: Node, problem: Problem, kept: Rows, held: Rows) -> Numbers:
    """The loss of every row held out, by what the rows kept predict in its leaf."""
    factor, term = next(part for part in problem.goals[0].sum.parts if isinstance(part[1], Predicted | Loss))
    found = np.zeros(problem.rows)
    waiting = [(tree, kept, held)]
    while waiting:
        node, known, asked = waiting.pop()
        if isinstance(node, Split):
            of_known, of_asked = problem.bits[node.test][known], problem.bits[node.test][asked]
            waiting += [(node.yes, known[of_known], asked[of_asked]), (node.no, known[~of_known], asked[~of_asked])]
        elif isinstance(term, Predicted):
            found[asked] = term.cost[asked, node.label] * float(factor * term.scale)
        elif isinstance(term, Loss):
            off = term.targets[asked] - _center(term, known)
            each = off**2 if term.kind == "squared" else np.abs(off)
            found[asked] = each.sum(axis=1) * term.weight[asked] * float(factor * term.scale)
    return found[held]


def _center(term: Loss, rows: Rows) -> Numbers:
    if term.kind == "absolute":
        return np.asarray(np.median(term.targets[rows], axis=0), dtype=np.float64)
    return np.asarray(np.average(term.targets[rows], axis=0, weights=term.weight[rows]), dtype=np.float64)
