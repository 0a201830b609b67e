"""Numbers of functions from C: equal exactly for trees that predict the same for all values of the columns."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from test_sets import shared

from treeml.native.sets import MEMORY, Domain, LeafModel, SetsStopped, TreeLimits, TreeSets


class Columns:
    """Columns of a few values each, with random yes-or-no tests on the values."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.values = random.integers(2, 5, int(random.integers(1, 4)))
        self.rows = int(random.integers(4, 12))
        self.codes = [random.integers(0, size, self.rows) for size in self.values]
        self.column, self.answers = [], []
        for number, size in enumerate(self.values):
            for _ in range(int(random.integers(1, 4))):
                self.column.append(number)
                self.answers.append(random.random(size) < 0.5)
        bits = np.array([a[self.codes[c]] for c, a in zip(self.column, self.answers, strict=True)])
        kind = ("classes", "squared", "quantile")[seed % 3]
        targets = random.integers(0, 3, (self.rows, 2 if kind == "classes" else 1))
        self.model = LeafModel(kind, targets, random.integers(1, 3, self.rows), grain=10)
        self.sets = TreeSets(bits, self.model, TreeLimits(depth=3), column=self.column)
        self.bits = bits

    @property
    def domain(self) -> Domain:
        changes = [np.flatnonzero(np.diff(each.astype(int))) + 1 for each in self.answers]
        return Domain(
            self.values.astype(np.int64),
            np.array([each[0] for each in self.answers], np.uint8),
            np.cumsum([0, *map(len, changes)]),
            np.concatenate(changes),
        )

    def predictions(self, tree) -> tuple:
        """What a tree predicts for every combination of values."""
        return tuple(self.predict(tree, values) for values in product(*map(range, self.values)))

    def predict(self, tree, values):
        rows = np.arange(self.rows)
        while tree[0] != "leaf":
            test = tree[0]
            rows = rows[self.bits[test][rows] == self.answers[test][values[self.column[test]]]]
            tree = tree[1] if self.answers[test][values[self.column[test]]] else tree[2]
        return tree[1] if self.model.kind == "classes" else self.constant(rows)

    def constant(self, rows):
        from fractions import Fraction

        from treeml.problem.constants import best_constant

        return best_constant(self.model.kind, self.model.cost[rows, 0], self.model.weight[rows], Fraction(1, 2))


@pytest.mark.parametrize("part", range(3))
def test_trees_have_one_number_if_and_only_if_they_are_one_function(part: int) -> None:
    trees = merged = 0
    for seed in range(part, 90, 3):
        world = Columns(seed)
        world.sets.build(int(world.sets.optimum()) + (3 << (10 if world.model.kind == "squared" else 0)))
        if world.sets.total > 1500:
            continue
        half = world.sets.total // 2
        numbers, made = [], []
        for first, size in ((0, half), (half, world.sets.total - half)):  # nodes are made in two calls
            roots = world.sets.trees(first, size)
            functions, leaves = world.sets.functions(world.domain, roots)
            numbers += functions.tolist()
            nodes = world.sets.nodes()
            made += [shared(nodes, *root) for root in zip(*roots, strict=True)]
            assert leaves.tolist() == [str(tree).count("leaf") for tree in made[first:]]
        known: dict[tuple, int] = {}
        for tree, number in zip(made, numbers, strict=True):
            assert known.setdefault(world.predictions(tree), number) == number
        assert len(set(known.values())) == len(known)
        trees, merged = trees + len(made), merged + len(made) - len(known)
    assert merged > 20
    assert trees > 500


def test_leaves_of_own_costs_are_equal_if_their_rows_are() -> None:
    bits = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], bool)
    sets = TreeSets(bits, LeafModel("custom", custom=lambda rows: 1), TreeLimits(depth=2))
    sets.build(4)
    domain = Domain(np.array([2, 2]), np.array([0, 0], np.uint8), np.array([0, 1, 2]), np.array([1, 1]))
    numbers, _ = sets.functions(domain, sets.trees(0, sets.total))
    assert sets.total == 9  # a leaf; two stumps; each with one or both sides divided
    assert len(set(numbers.tolist())) == 8  # both stumps with both sides divided part the rows alike


def test_functions_need_trees() -> None:
    world = Columns(0)
    with pytest.raises(ValueError, match="no trees"):
        world.sets.functions(world.domain, (np.zeros(0, np.int32),) * 3)


def test_every_failing_allocation_of_functions_is_reported() -> None:
    world, failures = Columns(9), 0
    for number in range(1, 1000):
        try:
            sets = TreeSets(world.bits, world.model, TreeLimits(depth=3, fail_allocation=number), column=world.column)
            sets.build(1000)
            sets.functions(world.domain, sets.trees(0, sets.total))
        except SetsStopped as stopped:
            failures += stopped.code == MEMORY
        else:
            break
    assert 10 < failures == number - 1 < 998
