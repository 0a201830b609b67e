"""The best tree over columns of codes by enumerating all trees, and random small tables to test with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from random import Random

import numpy as np

from treeml.native.numeric import FlatThresholdTree, NumericSolver

LeafCost = Callable[[tuple[int, ...]], Fraction]


@dataclass(frozen=True)
class Case:
    codes: list[list[int]]  # columns x rows
    count: list[int]
    goal: str  # labels, costs or squared
    classes: int
    labels: list[int]
    weight: list[int]
    cost: list[list[int]]
    targets: list[list[int]]
    depth: int
    support: int
    leaves: int
    price: int

    @property
    def rows(self) -> int:
        return len(self.count)

    def leaf(self, rows: tuple[int, ...]) -> Fraction:
        if self.goal == "labels":
            return Fraction(min(sum(self.weight[r] for r in rows if self.labels[r] != k) for k in range(self.classes)))
        if self.goal == "costs":
            return Fraction(min(sum(self.cost[r][k] for r in rows) for k in range(self.classes)))
        size = sum(self.weight[r] for r in rows)
        total = Fraction(0)
        for output in range(len(self.targets[0])):
            first = sum(self.weight[r] * self.targets[r][output] for r in rows)
            second = sum(self.weight[r] * self.targets[r][output] ** 2 for r in rows)
            total += second - (Fraction(first * first, size) if size else 0)
        return total

    def solver(self) -> NumericSolver:
        codes = np.array(self.codes, dtype=np.int32).reshape(len(self.codes), self.rows)
        solver = NumericSolver(codes, np.array(self.count))
        if self.goal == "labels":
            solver.labels(np.array(self.labels), self.classes, np.array(self.weight))
        elif self.goal == "costs":
            solver.costs(np.array(self.cost, dtype=np.int64))
        else:
            solver.targets(np.array(self.targets, dtype=np.int64), np.array(self.weight))
        price = int(self.price * solver.unit)
        solver.set(depth=self.depth, support=self.support, leaves=self.leaves, leaf_price=price)
        return solver


def best(case: Case) -> Fraction | None:
    """The minimum value of a tree, or None if no tree satisfies the support bound."""
    count = case.count

    @cache
    def over(rows: tuple[int, ...], depth: int, leaves: int) -> Fraction | None:
        if sum(count[r] for r in rows) < case.support:
            return None
        value: Fraction = case.leaf(rows) + case.price
        if depth == 0 or leaves < 2:
            return value
        for column in case.codes:
            for cut in sorted({column[r] for r in rows})[:-1]:
                yes = tuple(r for r in rows if column[r] <= cut)
                no = tuple(r for r in rows if column[r] > cut)
                for share in range(1, leaves):
                    left, right = over(yes, depth - 1, share), over(no, depth - 1, leaves - share)
                    if left is not None and right is not None and left + right < value:
                        value = left + right
        return value

    most = min(case.leaves, case.rows)
    return over(tuple(range(case.rows)), case.depth, most)


def value_of(case: Case, tree: FlatThresholdTree) -> Fraction:
    """The value of a tree, with every bound checked."""
    leaves = 0

    def walk(node: int, rows: tuple[int, ...], depth: int) -> Fraction:
        nonlocal leaves
        assert rows, "an empty leaf"
        assert depth <= case.depth
        if tree.column[node] < 0:
            leaves += 1
            assert sum(case.count[r] for r in rows) >= case.support
            if case.goal == "labels":
                wrong = sum(case.weight[r] for r in rows if case.labels[r] != tree.label[node])
                return Fraction(wrong + case.price)
            if case.goal == "costs":
                return Fraction(sum(case.cost[r][tree.label[node]] for r in rows) + case.price)
            return case.leaf(rows) + case.price
        column, cut = case.codes[tree.column[node]], tree.cut[node]
        yes, no = (tuple(r for r in rows if (column[r] <= cut) is side) for side in (True, False))
        return walk(tree.yes[node], yes, depth + 1) + walk(tree.no[node], no, depth + 1)

    value = walk(0, tuple(range(case.rows)), 0)
    assert leaves <= case.leaves
    return value


def random_case(random: Random, rows: int = 12, columns: int = 3, depth: int = 3) -> Case:
    """Ties, duplicates, constant columns, zero weights, several classes, and sometimes each of the bounds."""
    n = random.randint(1, rows)
    width = random.randint(1, columns)
    spread = [random.choice((0, 1, 2, 4, n, 3 * n)) for _ in range(width)]
    codes = [[random.randint(0, top) for _ in range(n)] for top in spread]
    if width > 1 and random.random() < 0.2:
        codes[-1] = [2 * code + 1 for code in codes[0]]
    goal = random.choice(("labels", "labels", "costs", "squared"))
    classes = random.choice((1, 2, 2, 2, 3, 4, 6))
    weights = random.choice(((1,), (1,), (0, 1, 2, 5), (1, 40000), (1, 10**9, 3 * 10**12)))
    if goal == "squared":
        weights = random.choice(((1,), (0, 1, 2, 5)))
    outputs = random.choice((1, 1, 2))
    scale = random.choice((1, 1, 1000))
    bounded = random.random()
    return Case(
        codes=codes,
        count=[random.choice((1, 1, 1, 2, 3)) if bounded < 0.3 else 1 for _ in range(n)],
        goal=goal,
        classes=classes,
        labels=[random.randrange(classes) for _ in range(n)],
        weight=[random.choice(weights) for _ in range(n)],
        cost=[[random.choice((-3, 0, 0, 1, 2, 7, 50)) * scale for _ in range(classes)] for _ in range(n)],
        targets=[[random.randint(-9, 9) * scale for _ in range(outputs)] for _ in range(n)],
        depth=random.randint(0, depth),
        support=random.choice((1, 1, 1, 2, 3)),
        leaves=random.choice((10**6, 10**6, 10**6, 2, 3, 4, 5)),
        price=random.choice((0, 0, 0, 1, 3)),
    )
