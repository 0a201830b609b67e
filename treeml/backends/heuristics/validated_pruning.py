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

from treeml.backends.heuristics.pruning import Rows, goal_costs, keeping_bounds, leaf_labels, parts
from treeml.problem.fans import chained, children
from treeml.problem.problem import Problem
from treeml.problem.terms import Loss, Predicted
from treeml.problem.tree import Leaf, Node

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
    priced = _priced(tree, problem, everything)
    prices = _critical_prices(priced, problem.rows)
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
        judged = _judged(_priced(grow(kept), problem, kept), problem, kept, held)
        for place, price in enumerate(between):
            _write_losses(judged, None if price is None else price * len(kept), losses[place])
    mean = losses.mean(axis=1)
    best = int(np.argmin(mean))
    most = mean[best] + how.standard_errors * losses[best].std() / sqrt(problem.rows)
    chosen = max(place for place in range(len(prices)) if mean[place] <= most)
    return keeping_bounds(tree, _cut_at(priced, prices[chosen] * problem.rows), problem)


def critical_prices(tree: Node, problem: Problem, rows: Rows) -> list[Fraction]:
    """The prices of a leaf, per row, at which the cheapest cut tree becomes smaller; 0 is the first.

    They are exact: a price that is rounded down cuts one step less.
    """
    return _critical_prices(_priced(tree, problem, rows), len(rows))


def smallest_cut(tree: Node, problem: Problem, is_enough: Callable[[Node], bool]) -> Node | None:
    """The smallest tree that is enough, of those that rising prices cut this one to; None if none is found.

    It is found by halving, as if every larger one were enough, too.
    """
    priced = _priced(tree, problem, np.arange(problem.rows))
    prices = [Fraction(0), *sorted({price for price, _, _ in priced.changes})]
    best: Node | None = None
    low, high = 0, len(prices) - 1
    while low <= high:
        middle = (low + high) // 2
        smaller = _cut_at(priced, prices[middle])
        if is_enough(smaller):
            best, low = smaller, middle + 1
        else:
            high = middle - 1
    return best


@dataclass(frozen=True, slots=True)
class _Priced:
    """A node with what the cheapest cut of its subtree costs, as a function of the price of a leaf.

    The function is the loss plus the price times the leaves, of as many leaves as there are at the price 0. Each change
    is a price with what is added there to the loss and to the number of leaves, when a split below becomes a leaf.
    """

    leaf: Leaf  # in place of the subtree
    tests: tuple[int, ...]
    sides: tuple[_Priced, ...]
    price: Fraction  # from which the leaf is as good as the subtree
    loss: Fraction
    leaves: int
    changes: tuple[tuple[Fraction, Fraction, int], ...]  # by price


def _priced(tree: Node, problem: Problem, rows: Rows) -> _Priced:
    """Every loss is computed once, however many prices are asked for."""
    costs = goal_costs(problem, Fraction(0))
    assert costs is not None

    def visit(node: Node, inside: Rows) -> _Priced:
        if isinstance(node, Leaf):
            return _Priced(node, (), (), Fraction(0), costs.leaf(inside, node.label), 1, ())
        tests, below = children(problem, node)
        sides = tuple(visit(side, part) for side, part in zip(below, parts(problem, tests, inside), strict=True))
        leaf = Leaf(leaf_labels(problem, [inside])[0])
        return _with_leaf(leaf, costs.leaf(inside, leaf.label), tests, sides)

    return visit(tree, rows)


def _with_leaf(leaf: Leaf, alone: Fraction, tests: tuple[int, ...], sides: tuple[_Priced, ...]) -> _Priced:
    """The node above these, and the price at which it becomes a leaf: there the leaf costs what the sides do."""
    loss, leaves = sum((side.loss for side in sides), Fraction(0)), sum(side.leaves for side in sides)
    changes = sorted(change for side in sides for change in side.changes)
    low, now, many, kept = Fraction(0), loss, leaves, 0
    while True:
        # A leaf costs `alone` plus the price, and the sides `now` plus `many` times the price, up to the next change.
        price = max(low, (alone - now) / (many - 1))
        if kept == len(changes) or price <= changes[kept][0]:
            break
        low, more, fewer = changes[kept]
        now, many, kept = now + more, many + fewer, kept + 1
    if price == 0:
        return _Priced(leaf, tests, sides, price, alone, 1, ())
    last = (price, alone - now, 1 - many)
    return _Priced(leaf, tests, sides, price, loss, leaves, (*changes[:kept], last))


def _critical_prices(tree: _Priced, rows: int) -> list[Fraction]:
    return [Fraction(0), *(price / rows for price in sorted({price for price, _, _ in tree.changes}))]


def _cut_at(tree: _Priced, price: Fraction) -> Node:
    """The cheapest cut tree at this price of a leaf."""
    if tree.price <= price:
        return tree.leaf
    return chained(tree.tests, [_cut_at(side, price) for side in tree.sides])


@dataclass(frozen=True, slots=True)
class _Judged:
    """A node with the rows held out that reach it, and their losses if it is a leaf."""

    held: Rows
    losses: Numbers
    price: Fraction
    sides: tuple[_Judged, ...]


def _judged(tree: _Priced, problem: Problem, kept: Rows, held: Rows) -> _Judged:
    sides: tuple[_Judged, ...] = ()
    if tree.price > 0:  # otherwise it is a leaf at every price
        of_kept, of_held = parts(problem, tree.tests, kept), parts(problem, tree.tests, held)
        below = zip(tree.sides, of_kept, of_held, strict=True)
        sides = tuple(_judged(side, problem, known, asked) for side, known, asked in below)
    return _Judged(held, _losses(tree.leaf, problem, kept, held), tree.price, sides)


def _write_losses(tree: _Judged, price: Fraction | None, losses: Numbers) -> None:
    """The losses of the tree that is cut at this price of a leaf; None: a price that no split is worth."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if price is not None and price < node.price:
            waiting += node.sides
        else:
            losses[node.held] = node.losses


def _is_judged(problem: Problem) -> bool:
    main = [term for _, term in problem.goals[0].sum.parts if isinstance(term, Predicted | Loss)]
    return len(main) == 1 and (isinstance(main[0], Predicted) or main[0].kind in ("squared", "absolute"))


def _losses(leaf: Leaf, problem: Problem, kept: Rows, held: Rows) -> Numbers:
    """The loss of every row held out, by what the rows kept predict in the leaf."""
    factor, term = next(part for part in problem.goals[0].sum.parts if isinstance(part[1], Predicted | Loss))
    if isinstance(term, Predicted):
        return np.asarray(term.cost[held, leaf.label] * float(factor * term.scale), dtype=np.float64)
    assert isinstance(term, Loss)
    off = term.targets[held] - _center(term, kept)
    each = off**2 if term.kind == "squared" else np.abs(off)
    return np.asarray(each.sum(axis=1) * term.weight[held] * float(factor * term.scale), dtype=np.float64)


def _center(term: Loss, rows: Rows) -> Numbers:
    if term.kind == "absolute":
        return np.asarray(np.median(term.targets[rows], axis=0), dtype=np.float64)
    return np.asarray(np.average(term.targets[rows], axis=0, weights=term.weight[rows]), dtype=np.float64)
