"""All trees up to a cost whose sums over the predictions are within limits, from C, against brute force."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from test_sets import World, columns_of, shared, written

from treeml.native.sets import MEMORY, LeafModel, LimitedSums, SetsStopped, TreeLimits, TreeSets

SEEDS = range(240)


class Limited(World):
    """A world whose leaves may predict any class, with one to three limited sums."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        random = self.random
        self.depth = min(self.depth, 2) if self.tests > 3 else self.depth
        sums = int(random.integers(1, 4))
        classes = self.model.cost.shape[1]
        self.extra = random.integers(-2, 3, (sums, self.rows, classes))
        middle = random.integers(-3, 4, sums)
        width = random.integers(0, 5, sums)
        self.low = tuple(int(m - w) if random.random() < 0.7 else None for m, w in zip(middle, width, strict=True))
        self.high = tuple(int(m + w) if random.random() < 0.7 else None for m, w in zip(middle, width, strict=True))
        self.factor = tuple(self.guide() for _ in range(int(random.integers(0, 5))))

    def guide(self) -> tuple[int, ...]:
        factors = [int(self.random.integers(0, 4))]
        for low, high in zip(self.low, self.high, strict=True):
            least, most = (-3 if low is not None else 0), (4 if high is not None else 1)
            factors.append(int(self.random.integers(least, most)))
        return tuple(factors)

    def labels(self, rows):
        """(cost, sums, class) of every leaf that is allowed."""
        here, model = list(rows), self.model
        if self.leaf(rows) is None:
            return
        for label in range(model.cost.shape[1]):
            if model.limit is None or model.limit[0][here, label].sum() <= model.limit[1]:
                yield model.cost[here, label].sum(), tuple(self.extra[:, here, label].sum(axis=1).tolist()), label

    def labelled(self, rows=None, depth=None, paid=frozenset()):
        """(cost, sums, leaves, tree) of every tree, whatever its sums."""
        rows = tuple(range(self.rows)) if rows is None else rows
        depth = self.depth if depth is None else depth
        found = [(cost + self.price, sums, 1, ("leaf", label)) for cost, sums, label in self.labels(rows)]
        leaves = {each[3] for each in found}
        for test, cost, below in self.splits(rows, depth, paid, self.labelled):
            for one, other in product(*below):
                if one[3] != other[3] or one[3] not in leaves:  # two equal leaves are one leaf, if that is allowed
                    sums = tuple(a + b for a, b in zip(one[1], other[1], strict=True))
                    found.append((one[0] + other[0] + cost, sums, one[2] + other[2], (test, one[3], other[3])))
        return found

    def met(self):
        def within(sums) -> bool:
            pairs = zip(sums, self.low, self.high, strict=True)
            return all((low is None or low <= s) and (high is None or s <= high) for s, low, high in pairs)

        every = [each for each in self.labelled() if not self.leaves or each[2] <= self.leaves]
        return [each for each in every if within(each[1])]

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
            limited=LimitedSums(self.extra, self.low, self.high, self.factor),
        )


@pytest.mark.parametrize("part", range(4))
def test_every_tree_within_the_limits_is_counted_and_made_once_in_order(part: int) -> None:
    seen = 0
    for seed in SEEDS[60 * part : 60 * part + 60]:
        world = Limited(seed)
        every = world.met()
        costs = sorted({each[0] for each in every})
        for budget in {costs[-1], costs[len(costs) // 2], costs[0]} if costs else {5}:
            within = [each for each in every if each[0] <= budget]
            sets = world.sets()
            sets.build(int(budget))
            counted: Counter = Counter()
            for cost, leaves, trees in zip(sets.costs, sets.leaves, sets.counts, strict=True):
                counted[cost, leaves] += trees
            assert counted == Counter((cost, leaves if world.leaves else 0) for cost, _, leaves, _ in within)
            assert sets.costs == sorted(sets.costs)
            made = [written(*sets.tree(rank)) for rank in range(sets.total)]
            assert len(set(made)) == len(made)
            cost_of = {tree: cost for cost, _, _, tree in within}
            assert set(made) == set(cost_of)
            assert [cost_of[tree] for tree in made] == sorted(cost_of.values())
            roots = sets.trees(0, sets.total)
            nodes = sets.nodes()
            assert [shared(nodes, *root) for root in zip(*roots, strict=True)] == made
            first, size = sets.total // 3, sets.total // 2
            again = world.sets()
            again.build(int(budget))
            part_of = again.trees(first, size)
            other = again.nodes()
            assert [shared(other, *root) for root in zip(*part_of, strict=True)] == made[first : first + size]
            seen += len(made)
    assert seen > 500


def test_votes_and_columns_within_limits_are_those_of_the_trees() -> None:
    for seed in SEEDS[:40]:
        world = Limited(seed)
        every = world.met()
        if not every:
            continue
        budget = sorted(each[0] for each in every)[len(every) * 2 // 3]
        within = [each[3] for each in every if each[0] <= budget]
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


def test_every_failing_allocation_with_limits_is_reported() -> None:
    world = next(world for world in map(Limited, SEEDS) if world.factor and world.met() and world.depth)
    failures = 0
    for number in range(1, 2000):
        try:
            sets = world.sets(fail_allocation=number)
            sets.build(1000)
            sets.trees(0, sets.total)
            sets.votes()
        except SetsStopped as stopped:
            failures += stopped.code == MEMORY
        else:
            break
    assert 10 < failures == number - 1 < 1998


def test_limits_of_other_models_are_refused() -> None:
    bits, targets = np.zeros((1, 2), bool), np.zeros((2, 1), np.int64)
    limited = LimitedSums(np.zeros((1, 2, 0), np.int64), (0,), (1,))
    with pytest.raises(ValueError, match="out of range"):
        TreeSets(bits, LeafModel("squared", targets), limited=limited)
    wrong = LimitedSums(np.zeros((1, 2, 1), np.int64), (0,), (1,), ((-1, 1),))
    with pytest.raises(ValueError, match="out of range"):
        TreeSets(bits, LeafModel(cost=targets), limited=wrong)
