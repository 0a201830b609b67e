"""The best tree over columns of codes by enumerating all trees, and random small tables to test with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import numpy as np

from treeml.native.numeric import FlatThresholdTree, NumericSolver, Outcome

LeafCost = Callable[[tuple[int, ...]], Fraction]


@dataclass(frozen=True)
class Case:
    codes: list[list[int]]  # columns x rows
    count: list[int]
    goal: str  # labels, costs, squared or quantile
    classes: int
    labels: list[int]
    weight: list[int]
    cost: list[list[int]]
    targets: list[list[int]]
    depth: int
    support: int
    leaves: int
    price: int
    up: int = 1  # of a quantile loss: the cost per unit above and below the constant of a leaf
    down: int = 1
    fees: tuple[int, ...] = ()  # of every column, or none
    groups: tuple[int, ...] = ()  # columns of one group are paid for once on a path

    def fee(self, column: int, paid: frozenset[int]) -> int:
        return 0 if not self.fees or self.groups[column] in paid else self.fees[column]

    def paid(self, column: int, before: frozenset[int]) -> frozenset[int]:
        return before | {self.groups[column]} if self.fees else before

    @property
    def rows(self) -> int:
        return len(self.count)

    def leaf(self, rows: tuple[int, ...]) -> Fraction:
        if self.goal == "labels":
            return Fraction(min(sum(self.weight[r] for r in rows if self.labels[r] != k) for k in range(self.classes)))
        if self.goal == "costs":
            return Fraction(min(sum(self.cost[r][k] for r in rows) for k in range(self.classes)))
        zero = Fraction(0)
        if self.goal == "quantile":
            return sum((self.to_quantile([self.targets[r][o] for r in rows], rows) for o in range(self.outputs)), zero)
        size = sum(self.weight[r] for r in rows)
        total = zero
        for output in range(self.outputs):
            first = sum(self.weight[r] * self.targets[r][output] for r in rows)
            second = sum(self.weight[r] * self.targets[r][output] ** 2 for r in rows)
            total += second - (Fraction(first * first, size) if size else 0)
        return total

    @property
    def outputs(self) -> int:
        return len(self.targets[0])

    def to_quantile(self, values: list[int], rows: tuple[int, ...]) -> Fraction:
        """The least loss of a constant for one output: one of the values has it."""
        weight = [self.weight[r] for r in rows]

        def loss(guess: int) -> int:
            away = [value - guess for value in values]
            return sum(w * (self.up * d if d > 0 else -self.down * d) for w, d in zip(weight, away, strict=True))

        return Fraction(min(loss(guess) for guess in values))

    def solver(self) -> NumericSolver:
        codes = np.array(self.codes, dtype=np.int32).reshape(len(self.codes), self.rows)
        solver = NumericSolver(codes, np.array(self.count))
        if self.goal == "labels":
            solver.labels(np.array(self.labels), self.classes, np.array(self.weight))
        elif self.goal == "costs":
            solver.costs(np.array(self.cost, dtype=np.int64))
        elif self.goal == "quantile":
            solver.quantile(np.array(self.targets, dtype=np.int64), np.array(self.weight), self.up, self.down)
        else:
            solver.targets(np.array(self.targets, dtype=np.int64), np.array(self.weight))
        if self.fees:
            solver.fees(np.array(self.groups), np.array([int(fee * solver.unit) for fee in self.fees]))
        price = int(self.price * solver.unit)
        solver.set(depth=self.depth, support=self.support, leaves=self.leaves, leaf_price=price)
        return solver


def best(case: Case) -> Fraction | None:
    """The minimum value of a tree, or None if no tree satisfies the support bound."""
    count = case.count

    @cache
    def over(rows: tuple[int, ...], depth: int, leaves: int, paid: frozenset[int]) -> Fraction | None:
        if sum(count[r] for r in rows) < case.support:
            return None
        value: Fraction = case.leaf(rows) + case.price
        if depth == 0 or leaves < 2:
            return value
        for number, column in enumerate(case.codes):
            fee, below = case.fee(number, paid) * sum(count[r] for r in rows), case.paid(number, paid)
            for cut in sorted({column[r] for r in rows})[:-1]:
                yes = tuple(r for r in rows if column[r] <= cut)
                no = tuple(r for r in rows if column[r] > cut)
                for share in range(1, leaves):
                    left, right = over(yes, depth - 1, share, below), over(no, depth - 1, leaves - share, below)
                    if left is not None and right is not None and left + right + fee < value:
                        value = left + right + fee
        return value

    most = min(case.leaves, case.rows)
    return over(tuple(range(case.rows)), case.depth, most, frozenset())


def value_of(case: Case, tree: FlatThresholdTree) -> Fraction:
    """The value of a tree, with every bound checked."""
    leaves = 0

    def walk(node: int, rows: tuple[int, ...], depth: int, paid: frozenset[int]) -> Fraction:
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
        fee = case.fee(tree.column[node], paid) * sum(case.count[r] for r in rows)
        below = case.paid(tree.column[node], paid)
        return walk(tree.yes[node], yes, depth + 1, below) + walk(tree.no[node], no, depth + 1, below) + fee

    value = walk(0, tuple(range(case.rows)), 0, frozenset())
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
    goal = random.choice(("labels", "labels", "costs", "squared", "quantile", "quantile"))
    classes = random.choice((1, 2, 2, 2, 3, 4, 6))
    weights = random.choice(((1,), (1,), (0, 1, 2, 5), (1, 40000), (1, 10**9, 3 * 10**12)))
    if goal == "squared":
        weights = random.choice(((1,), (0, 1, 2, 5)))
    if goal == "quantile":
        weights = random.choice(((1,), (1,), (0, 1, 2, 5), (1, 10**9)))
    outputs = random.choice((1, 1, 2))
    scale = random.choice((1, 1, 1000))
    bounded = random.random()
    groups = tuple(random.randrange(width) for _ in range(width))
    fee = [random.choice((0, 0, 1, 2, 7)) for _ in range(width)]
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
        up=(up := random.choice((1, 1, 3, 0, 9))),
        down=1 if up == 1 else random.choice((1, 2, 0)),
        fees=tuple(fee[group] for group in groups) if random.random() < 0.3 else (),
        groups=groups,
    )


def deep_case(random: Random, **changes: Any) -> Case:
    """Every goal and every limit, unless changed, at depth four or five."""
    return replace(random_case(random, rows=13, columns=3), depth=random.choice((4, 4, 5)), **changes)


def assert_best(case: Case, solver: NumericSolver, outcome: Outcome) -> None:
    """The outcome is what brute force says: the best tree with its value as the bound, or that there is none."""
    wanted = best(case)
    if wanted is None:
        assert outcome.status == "infeasible"
        return
    assert outcome.status == "optimal"
    assert outcome.tree is not None
    assert abs(outcome.bound - wanted * solver.unit) <= solver.slack
    assert abs(value_of(case, outcome.tree) - wanted) * solver.unit <= solver.slack
