"""small problem -> minimum value over all trees: every tree is tried, nothing is pruned."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

Rows = tuple[int, ...]
LeafCost = Callable[[Rows], Fraction | None]  # None: this leaf is not allowed


def least(bits: Any, leaf_cost: LeafCost, depth: int, *, leaves: int | None = None, **more: Any) -> Fraction | None:
    """The minimum value over all trees, or None if no tree is allowed."""
    values = by_leaves(bits, leaf_cost, depth, **more)
    allowed = [value for size, value in values.items() if leaves is None or size <= leaves]
    return min(allowed) if allowed else None


def by_leaves(
    bits: Any,
    leaf_cost: LeafCost,
    depth: int,
    *,
    price: int = 0,
    columns: Any = None,
    once: bool = False,
    column_cost: Any = None,
    count: Any = None,
    forbidden: Any = None,
) -> dict[int, Fraction]:
    """The minimum value of a tree, for every possible number of leaves."""
    tests, rows = bits.shape
    origin = range(tests) if columns is None else columns
    number = np.ones(rows, dtype=int) if count is None else count

    def best(members: Rows, levels: int, used: frozenset[int]) -> dict[int, Fraction]:
        """number of leaves -> minimum value of a tree with exactly that many leaves"""
        values: dict[int, Fraction] = {}
        alone = leaf_cost(members)
        if alone is not None:
            values[1] = alone + price
        if levels == 0:
            return values
        for test in range(tests):
            if (forbidden is not None and forbidden[test]) or (once and origin[test] in used):
                continue
            yes = tuple(row for row in members if bits[test, row])
            no = tuple(row for row in members if not bits[test, row])
            if not yes or not no:
                continue
            pay = 0
            if column_cost is not None and origin[test] not in used:
                pay = int(column_cost[origin[test]]) * int(sum(number[row] for row in members))
            below = used | {origin[test]}
            left, right = best(yes, levels - 1, below), best(no, levels - 1, below)
            for (a, first), (b, second) in product(left.items(), right.items()):
                total = first + second + pay
                if a + b not in values or total < values[a + b]:
                    values[a + b] = total
        return values

    return best(tuple(range(rows)), depth, frozenset())


def class_cost(cost: Any) -> LeafCost:
    """The cheapest class."""
    return lambda members: Fraction(int(min(cost[list(members)].sum(axis=0))))


def pinball(targets: Any, weight: Any, level: Fraction) -> LeafCost:
    """The best constant among the targets of the leaf, for each output."""

    def cost(members: Rows) -> Fraction:
        total = Fraction(0)
        for output in range(targets.shape[1]):
            values = [int(targets[row, output]) for row in members]
            total += min(
                sum(
                    (
                        int(weight[row])
                        * (level * (value - guess) if value >= guess else (1 - level) * (guess - value))
                        for row, value in zip(members, values, strict=True)
                    ),
                    Fraction(0),
                )
                for guess in set(values)
            )
        return total

    return cost


def squared(targets: Any, weight: Any) -> LeafCost:
    """The exact sum of squared distances to the mean."""

    def cost(members: Rows) -> Fraction:
        total = Fraction(0)
        for output in range(targets.shape[1]):
            heavy = sum(int(weight[row]) for row in members)
            if not heavy:
                continue
            mean = Fraction(sum(int(weight[row]) * int(targets[row, output]) for row in members), heavy)
            total += sum((int(weight[row]) * (int(targets[row, output]) - mean) ** 2 for row in members), Fraction(0))
        return total

    return cost
