"""All trees up to a cost, from C, against brute force that writes out the definitions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from treeml.native.sets import MEMORY, TIME, LeafModel, SetsStopped, TreeLimits, TreeSets

SEEDS = range(60)


class World:
    """Small random data, and every tree on it with its exact cost, one by one."""

    def __init__(self, seed: int, kind: str = "classes") -> None:
        random = self.random = np.random.default_rng(seed)
        self.rows, self.tests = int(random.integers(5, 13)), int(random.integers(3, 6))
        if seed % 8 == 0:  # the smallest cases
            self.rows, self.tests = int(random.integers(1, 3)), int(random.integers(0, 2))
        self.bits = random.random((self.tests, self.rows)) < 0.5
        self.column = np.sort(random.integers(0, 3, self.tests)).astype(np.int32)
        self.depth = int(random.choice([0, 1, 2, 3, 3, 3]))
        self.price = int(random.integers(0, 4))
        self.support = int(random.choice([1, 1, 1, 2, 3]))
        self.leaves = int(random.choice([0, 0, 2, 3]))
        self.count = random.integers(1, 3, self.rows)
        self.column_cost = random.integers(0, 3, 3) if random.random() < 0.5 else None
        self.group = self.column.copy() if random.random() < 0.3 else np.full(self.tests, -1, np.int32)
        self.kind = kind
        if kind == "classes":
            classes = int(random.choice([1, 2, 2, 3]))
            limit = (random.integers(0, 3, (self.rows, classes)), 6) if random.random() < 0.2 else None
            purity = (random.integers(0, 3, (self.rows, classes)), 2, 3) if random.random() < 0.2 else None
            cost = random.integers(0, 4, (self.rows, classes))
            self.model = LeafModel(cost=cost, limit=limit, purity=purity, last=bool(random.random() < 0.5))
        elif kind == "custom":
            self.model = LeafModel("custom", custom=lambda rows: int((rows * rows).sum()) % 7)
        else:
            outputs = int(random.integers(1, 3))
            targets, weight = random.integers(-3, 4, (self.rows, outputs)), random.integers(0, 3, self.rows)
            self.model = LeafModel(kind, targets, weight, above=1, below=int(random.integers(1, 3)), grain=20)

    def sets(self, **limits: int) -> TreeSets:
        asked = {"depth": self.depth, "leaves": self.leaves, "support": self.support, "price": self.price, **limits}
        return TreeSets(
            self.bits,
            self.model,
            TreeLimits(**asked),
            count=self.count,
            column=self.column,
            group=self.group,
            column_cost=self.column_cost,
        )

    # Brute force: a tree is ("leaf", prediction) or (test, yes, no).

    def leaf(self, rows: tuple[int, ...]):
        """Cost and prediction of a leaf, or None if it is not allowed."""
        model, here = self.model, list(rows)
        if self.count[here].sum() < self.support:
            return None
        if self.kind == "custom":
            return model.custom(np.array(here, np.int32)), None
        if self.kind != "classes":
            return self.constant_leaf(here)
        if model.purity is not None:
            weights = model.purity[0][here].sum(axis=0).tolist()
            if sum(weights) and Fraction(max(weights), sum(weights)) < Fraction(*model.purity[1:]):
                return None
        sums = model.cost[here].sum(axis=0).tolist()
        allowed = range(len(sums))
        if model.limit is not None:
            allowed = [c for c in allowed if model.limit[0][here, c].sum() <= model.limit[1]]
            if not allowed:
                return None
        best = min(sums[c] for c in allowed)
        ties = [c for c in allowed if sums[c] == best]
        return best, ties[-1 if model.last else 0]

    def constant_leaf(self, here: list[int]):
        from treeml.problem.constants import best_constant, constant_loss

        model = self.model
        level = Fraction(model.above, model.above + model.below)
        weight = model.weight[here]
        parts = model.cost[here].T
        loss = sum((constant_loss(self.kind, values, weight, level) for values in parts), Fraction(0))
        scale = 2**model.grain if self.kind == "squared" else model.above + model.below
        return loss * scale // 1, tuple(best_constant(self.kind, values, weight, level) for values in parts)

    def splits(self, rows, depth, paid, trees_of):
        """(test, what testing costs, trees of both sides) of every split; one per group of cuts that divide alike."""
        seen = set()
        for test in range(self.tests) if depth else ():
            yes = tuple(row for row in rows if self.bits[test, row])
            no = tuple(row for row in rows if not self.bits[test, row])
            if not yes or not no:
                continue
            column, group = int(self.column[test]), int(self.group[test])
            if group >= 0 and (group, frozenset({yes, no})) in seen:
                continue
            below = [trees_of(side, depth - 1, paid | {column}) for side in (yes, no)]
            if all(below):
                seen.add((group, frozenset({yes, no})))
            cost = 0
            if self.column_cost is not None and column not in paid:
                cost = int(self.column_cost[column] * self.count[list(rows)].sum())
            yield test, cost, below

    def trees(self, rows=None, depth=None, paid=frozenset()):
        """(cost, leaves, tree) of every tree."""
        rows = tuple(range(self.rows)) if rows is None else rows
        depth = self.depth if depth is None else depth
        leaf = self.leaf(rows)
        found = [] if leaf is None else [(leaf[0] + self.price, 1, ("leaf", leaf[1]))]
        for test, cost, below in self.splits(rows, depth, paid, self.trees):
            for left, right in product(*below):
                alike = left[2][0] == right[2][0] == "leaf" and left[2] == right[2] and self.kind != "custom"
                if not (alike and self.is_one_leaf(leaf, left[2])):
                    found.append((left[0] + right[0] + cost, left[1] + right[1], (test, left[2], right[2])))
        return found

    def is_one_leaf(self, leaf, side) -> bool:
        """Whether the requirements on leaves allow one leaf instead of two that predict what this side does."""
        return self.kind != "classes" or (leaf is not None and leaf[1] == side[1])

    def wanted(self):
        return [each for each in self.trees() if not self.leaves or each[1] <= self.leaves]


def written(test, yes, no, at: int = 0):
    """A tree of the kernel in the form of the brute force, without its predictions."""
    if test[at] < 0:
        return ("leaf", int(yes[at]))
    return (int(test[at]), written(test, yes, no, int(yes[at])), written(test, yes, no, int(no[at])))


def bare(tree):
    """A tree of the brute force with -1 for predictions that are no classes."""
    if tree[0] == "leaf":
        return ("leaf", tree[1] if isinstance(tree[1], int) else -1)
    return (tree[0], bare(tree[1]), bare(tree[2]))


def shared(nodes, test, yes, no):
    """A root whose sides are shared nodes, in the form of the brute force."""
    if test < 0:
        return ("leaf", int(yes))
    sides = (shared(nodes, nodes.test[n], nodes.yes[n], nodes.no[n]) for n in (int(yes), int(no)))
    return (int(test), *sides)


@pytest.mark.parametrize("kind", ["classes", "squared", "quantile", "custom"])
def test_every_tree_is_counted_and_made_once_in_order(kind: str) -> None:
    seen = 0
    for seed in SEEDS:
        world = World(seed, kind)
        every = world.wanted()
        costs = sorted({cost for cost, _, _ in every})
        for budget in {costs[-1], costs[len(costs) // 2], costs[0]} if costs else {5}:
            within = [each for each in every if each[0] <= budget]
            sets = world.sets()
            sets.build(int(budget))
            key = [(cost, leaves if world.leaves else 0) for cost, leaves, _ in within]
            assert dict(zip(zip(sets.costs, sets.leaves, strict=True), sets.counts, strict=True)) == Counter(key)
            assert sets.costs == sorted(sets.costs)
            made = [written(*sets.tree(rank)) for rank in range(sets.total)]
            assert len(set(made)) == len(made) == len(within)
            assert set(made) == {bare(tree) for _, _, tree in within}
            cost_of = {bare(tree): cost for cost, _, tree in within}
            assert [cost_of[tree] for tree in made] == sorted(cost_of.values())
            roots = sets.trees(0, sets.total)
            nodes = sets.nodes()
            assert [shared(nodes, *root) for root in zip(*roots, strict=True)] == made
            seen += len(made)
    assert seen > 1000  # the worlds are large enough to say something


def test_ranges_of_trees_and_the_least_cost() -> None:
    for seed in SEEDS:
        world = World(seed)
        world.leaves, world.model = 0, LeafModel(cost=world.model.cost)
        every = world.trees()
        if not every:
            continue
        sets = world.sets()
        assert sets.optimum() == min(cost for cost, _, _ in every)
        sets.build(max(cost for cost, _, _ in every))
        whole = sets.trees(0, sets.total)
        again = world.sets()
        again.build(max(cost for cost, _, _ in every))
        first, size = sets.total // 3, sets.total // 2
        part = again.trees(first, size)
        nodes, other = sets.nodes(), again.nodes()
        mine = [shared(other, *root) for root in zip(*part, strict=True)]
        assert mine == [shared(nodes, *root) for root in zip(*(a[first : first + size] for a in whole), strict=True)]


def test_votes_and_columns_are_those_of_the_trees() -> None:
    for seed in SEEDS:
        world = World(seed)
        every = world.wanted()
        if not every:
            continue
        budget = sorted(cost for cost, _, _ in every)[len(every) * 2 // 3]
        within = [tree for cost, _, tree in every if cost <= budget]
        sets = world.sets()
        sets.build(int(budget))
        votes = np.zeros((world.rows, sets.classes), np.int64)
        for tree, row in product(within, range(world.rows)):
            node = tree
            while node[0] != "leaf":
                node = node[1] if world.bits[node[0], row] else node[2]
            votes[row, node[1]] += 1
        assert (sets.votes() == votes).all()
        for column in range(3):
            used = sum(column in columns_of(tree, world.column) for tree in within)
            assert sets.without(column) == len(within) - used


def columns_of(tree, column) -> set[int]:
    if tree[0] == "leaf":
        return set()
    return {int(column[tree[0]])} | columns_of(tree[1], column) | columns_of(tree[2], column)


def test_counts_beyond_64_bits_are_exact() -> None:
    random = np.random.default_rng(1)
    bits, cost = random.random((12, 40)) < 0.5, random.integers(0, 3, (40, 2))
    sets = TreeSets(bits, LeafModel(cost=cost), TreeLimits(depth=5))
    sets.build(10**6)

    @cache
    def number(rows: frozenset[int], depth: int) -> int:
        found = 1
        for answers in bits if depth else ():
            yes = frozenset(row for row in rows if answers[row])
            if yes and yes != rows:
                sides = yes, rows - yes
                labels = {int(np.argmin(cost[list(side)].sum(axis=0))) for side in sides}
                found += number(sides[0], depth - 1) * number(sides[1], depth - 1) - (len(labels) == 1)
        return found

    assert sets.total == number(frozenset(range(40)), 5) > 2**64
    assert len(sets.tree(sets.total // 2)[0]) > 1
    with pytest.raises(IndexError):
        sets.tree(sets.total)
    assert (sets.votes().sum(axis=1) == sets.total).all()


def test_too_many_trees_are_refused_and_not_miscounted() -> None:
    bits = np.array([[row >> test & 1 for row in range(64)] for test in range(6)] * 40, dtype=bool)
    cost = np.random.default_rng(2).integers(0, 3, (64, 2))
    sets = TreeSets(bits, LeafModel(cost=cost), TreeLimits(depth=6))
    with pytest.raises(SetsStopped, match="2\\^126"):
        sets.build(10**6)
    assert sets.total == 0


def test_limits_hold_and_a_smaller_request_still_works() -> None:
    random = np.random.default_rng(3)
    bits, cost = random.random((40, 400)) < 0.5, random.integers(0, 2, (400, 2))
    with pytest.raises(SetsStopped) as caught:
        TreeSets(bits, LeafModel(cost=cost), TreeLimits(depth=4)).build(10**6, seconds=0.05)
    assert caught.value.code == TIME
    small = TreeSets(bits, LeafModel(cost=cost), TreeLimits(depth=4, memory=2_000_000))
    with pytest.raises(SetsStopped) as caught:
        small.build(10**6)
    assert caught.value.code == MEMORY
    assert small.statistics()["peak_memory"] <= 2_000_000


def test_every_failing_allocation_is_reported() -> None:
    world = World(3)
    world.depth, failures = 3, 0
    for number in range(1, 400):
        try:
            sets = world.sets(fail_allocation=number)
            sets.build(1000)
            sets.trees(0, sets.total)
            sets.votes()
        except SetsStopped as stopped:
            failures += stopped.code == MEMORY
        else:
            break
    assert 10 < failures == number - 1 < 398  # each failed for want of memory, until none failed


def test_a_failing_function_of_the_user_is_raised() -> None:
    def leaf(rows):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        TreeSets(np.zeros((1, 2), bool), LeafModel("custom", custom=leaf))


def test_wrong_input_is_refused() -> None:
    bits, cost = np.zeros((1, 2), bool), np.zeros((2, 2), np.int64)
    for wrong in ({"cost": cost - 1}, {"cost": cost[:1]}, {"cost": cost, "weight": [-1, 0]}):
        with pytest.raises(ValueError, match=r"cost|weight"):
            TreeSets(bits, LeafModel(**wrong))
    with pytest.raises(ValueError, match="out of range"):
        TreeSets(bits, LeafModel(cost=cost), TreeLimits(price=-1))
    with pytest.raises(ValueError, match="no trees"):
        TreeSets(bits, LeafModel(cost=cost)).votes()


@pytest.mark.parametrize("depth", [2, 3])
def test_bounds_from_neighbouring_cuts_change_nothing(depth: int) -> None:
    """Purity of which any share will do switches these bounds off."""
    counted = 0
    for seed in range(25):
        random = np.random.default_rng(seed)
        rows = int(random.integers(12, 40))
        columns = [random.integers(0, int(random.integers(3, 16)), rows) for _ in range(3)]
        cuts = [(number, cut) for number, values in enumerate(columns) for cut in np.unique(values)[:-1]]
        bits = np.array([columns[number] <= cut for number, cut in cuts])
        column = np.array([number for number, _ in cuts], np.int32)
        cost = random.integers(0, 4, (rows, 2)) if seed % 2 else np.eye(2, dtype=np.int64)[random.integers(0, 2, rows)]
        limits = TreeLimits(depth=depth, price=int(random.integers(0, 3)))
        always = (np.ones((rows, 2), np.int64), 0, 1)
        found = []
        for model in (LeafModel(cost=cost), LeafModel(cost=cost, purity=always)):
            sets = TreeSets(bits, model, limits, column=column, group=column)
            best = sets.optimum()
            sets.build(best + int(random.integers(0, 3)) if not found else found[0][1])
            found.append((best, sets.costs[-1], list(zip(sets.costs, sets.counts, strict=True))))
        assert found[0] == found[1]
        counted += sum(trees for _, trees in found[0][2])
    assert counted > 100
