"""A forest of LPBoost -> a statement about its margin: dual prices are costs of rows, and the best tree bounds it.

The dual prices come from a second run of the column generation. Any prices within their limits prove a bound, so they
need not be trusted: the checkers test the limits exactly, and the claims bound the edge of every tree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, lcm
from time import monotonic
from typing import Any

import numpy as np

from treeml.data.table import Dataset
from treeml.forests.boost import ForestTask, dual_prices
from treeml.forests.criterion import criterion
from treeml.forests.examples import Examples
from treeml.forests.lpboost import LPBoost
from treeml.problem.problem import Problem
from treeml.problem.tree import Node
from treeml.solving.certificates.cells import Cells, refuse
from treeml.solving.certificates.describe import row_weights
from treeml.solving.certificates.statement import Statement, leaf_numbers, quoted
from treeml.solving.choice import lower, plan
from treeml.solving.request import Request
from treeml.trees.forest import Forest

MOST = 2**31  # of the penalty's numerator and denominator, and of the sum of the weights
MOST_VOTES, FINE = 2**41, 2**40
PRICES = 2**40  # what the dual prices add up to, about


@dataclass(frozen=True, slots=True, eq=False)
class PricedForest:
    """A statement without its claim, the costs that the prices make, and what is needed for the claim."""

    statement: Statement
    matrix: Any  # rows x classes
    paid: int  # the sum of all prices
    total: int  # of the weights of the trees
    value: int  # in parts of the total
    best_margin: int  # the margin up to which rows pay

    def claimed(self, least: int) -> tuple[Statement, Fraction]:
        """The statement if no tree costs less than `least`, and the bound."""
        bound = -(-(self.paid - least) * self.total // self.paid)
        claim = f"margin {self.value} {bound} {self.best_margin}"
        return replace(self.statement, claim=claim), Fraction(bound, self.total)


def priced_forest(
    statement: Statement, problem: Problem, dataset: Dataset, request: Request, forest: Forest, nodes: list[Node],
    cells: Cells,
) -> PricedForest:  # fmt: skip
    """The statement about a forest whose trees over the tests of the problem are `nodes`."""
    assert dataset.spec.ensemble is not None
    if not issubclass(criterion(dataset.spec.ensemble.name), LPBoost):
        raise refuse(f"forests of `{dataset.spec.ensemble.name}` are not covered; those of lpboost and hardmargin are")
    weight, weights = row_weights(dataset, cells)
    boosted, of_rows = dual_prices(_task(dataset, request))
    assert isinstance(boosted, LPBoost)
    by_row = LPBoost(_rows(boosted.examples, weights, dataset), {"penalty": boosted.penalty or MOST})
    prices = by_row.in_whole_numbers(of_rows, PRICES)
    penalty = None if boosted.penalty is None else boosted.penalty / (weight[1] if weight else 1)
    over, under = (1, 0) if penalty is None else (penalty.numerator, penalty.denominator)
    if max(over, under, int(weights.sum())) >= MOST:
        raise refuse("the penalty or the weights of the rows are too large for the checkers")
    shares = [Fraction(weight) / forest.total for weight in forest.weights]
    total = lcm(*(share.denominator for share in shares))
    if total > MOST_VOTES:
        raise refuse("the weights of the trees are too fine for the checkers")
    total *= max(1, FINE // total)  # the value and the bound are stated in parts of the total
    votes = [int(share * total) for share in shares]
    value, best = _value(_margins(problem, dataset, nodes, votes)[weights > 0], penalty, weights[weights > 0])
    rivals = len(statement.classes) - 1
    grid = np.zeros((dataset.rows, rivals), dtype=np.int64)
    grid[by_row.examples.row] = prices.reshape(-1, rivals)
    named = f" weight {quoted(weight[0])} {weight[1]}" if weight else ""
    lines = [
        f"forest {over} {under}{named}",
        f"prices {' '.join(map(str, grid.ravel().tolist()))}",
        *(f"tree {vote} {statement.nodes(node)}" for vote, node in zip(votes, nodes, strict=True)),
    ]
    matrix = np.zeros((dataset.rows, rivals + 1), dtype=np.int64)
    matrix[np.arange(rivals + 1) != dataset.actual[:, None]] = (grid + grid.sum(axis=1)[:, None]).ravel()
    stated = replace(statement, goals=(), forest=tuple(lines))
    return PricedForest(stated, matrix, int(grid.sum()), total, value, best)


def _rows(merged: Examples, weights: Any, dataset: Dataset) -> Examples:
    """Every row with weight as an example of its own, because certificates have a price for every row."""
    row = np.flatnonzero(weights > 0)
    own = dataset.actual[row].astype(np.intp)
    rivals = [np.flatnonzero(np.arange(merged.classes) != label) for label in range(merged.classes)]
    example = np.repeat(np.arange(len(row)), merged.classes - 1)
    unit = merged.total / int(weights[row].sum())
    rival = np.concatenate([rivals[label] for label in own])
    return Examples(row, own, weights[row].astype(np.int64), unit, merged.classes, example, rival)


def _task(dataset: Dataset, request: Request) -> ForestTask:
    chosen = plan(lower(dataset, request), request)
    begun = monotonic()
    return ForestTask(dataset, request.spec, chosen.lowered, chosen.plan, request.limits(begun, chosen.method), begun)


def _margins(problem: Problem, dataset: Dataset, nodes: list[Node], votes: list[int]) -> Any:
    """For every row the votes for its class, less those for the strongest other class."""
    given = np.zeros((dataset.rows, len(dataset.classes)), dtype=np.int64)
    rows = np.arange(dataset.rows)
    for vote, node in zip(votes, nodes, strict=True):
        leaf, labels = leaf_numbers(problem, node)
        given[rows, np.array(labels)[leaf]] += vote
    own = given[rows, dataset.actual]
    given[rows, dataset.actual] = 0
    return own - given.max(axis=1)


def _value(margins: Any, penalty: Fraction | None, weights: Any) -> tuple[int, int]:
    """The value of these margins, rounded down, and the margin up to which rows pay."""
    if penalty is None:
        return int(margins.min()), int(margins.min())
    order = np.argsort(margins, kind="stable")
    spent, missing = Fraction(0), Fraction(0)
    for margin, weight in zip(margins[order].tolist(), weights[order].tolist(), strict=True):
        if spent + penalty * weight >= 1:
            return floor(margin - (spent * margin - missing)), margin
        spent, missing = spent + penalty * weight, missing + penalty * weight * margin
    raise AssertionError("the penalties add up to less than 1")
