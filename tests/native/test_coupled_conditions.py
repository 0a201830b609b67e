"""Both coupled searches with fees of tests and rules for leaves, against all trees of small random data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from treeml.native.coupled import Coupled
from treeml.native.coupled_numeric import CoupledNumeric

Random = np.random.Generator
Vector = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class World:
    """Columns of codes with fees by group, values, and rules for leaves."""

    codes: Any
    groups: Any
    values: Any
    count: Any
    depth: int
    support: int
    price: int
    fees: tuple[Any, Any]  # (1 + groups) x groups, or None
    purity: Any
    cost: Any
    most_cost: int

    def is_allowed(self, rows: list[int], label: int) -> bool:
        if int(self.count[rows].sum()) < self.support:
            return False
        if self.cost is not None and int(self.cost[rows, label].sum()) > self.most_cost:
            return False
        return self.purity is None or int(self.purity[rows].sum(axis=0).max()) >= 0

    def fee(self, kind: int, group: int, used: Iterable[int]) -> int:
        below = self.fees[kind]
        if below is None:
            return 0
        return min([int(below[0, group]), *(0 if above == group else int(below[1 + above, group]) for above in used)])

    def vectors(self) -> set[Vector]:
        """Every (value, sums ..., limited fees, leaves) of a tree, by definition."""
        known: dict[tuple[tuple[int, ...], int, frozenset[int]], set[Vector]] = {}

        def below(rows: tuple[int, ...], levels: int, used: frozenset[int]) -> set[Vector]:
            if (rows, levels, used) in known:
                return known[rows, levels, used]
            found: set[Vector] = set()
            for label in range(self.values.shape[2]):
                if self.is_allowed(list(rows), label):
                    totals = [int(self.values[j, list(rows), label].sum()) for j in range(len(self.values))]
                    found.add((totals[0] + self.price, *totals[1:], 0, 1))
            for column, group in zip(self.codes, self.groups, strict=True) if levels else ():
                rest = used | {int(group)}
                paid = [self.fee(kind, int(group), used) * int(self.count[list(rows)].sum()) for kind in (0, 1)]
                for cut in sorted({int(column[row]) for row in rows})[:-1]:
                    sides = [tuple(row for row in rows if (column[row] <= cut) == side) for side in (True, False)]
                    one, two = (below(side, levels - 1, rest) for side in sides)
                    for x in one:
                        for y in two:
                            total = [a + b for a, b in zip(x, y, strict=True)]
                            total[0] += paid[0]
                            total[-2] += paid[1]
                            found.add(tuple(total))
            known[rows, levels, used] = found
            return found

        return below(tuple(range(self.values.shape[1])), self.depth, frozenset())


def table_of_fees(random: Random, groups: int, size: int) -> Any:
    plain = random.integers(0, 4, groups) * size
    below = np.tile(plain, (1 + groups, 1))
    if random.integers(2):
        below = np.vstack([plain, np.minimum(plain, random.integers(0, 4, (groups, groups)) * size)])
    below[1 + np.arange(groups), np.arange(groups)] = 0
    return below


def world_of(random: Random) -> World:
    depth, classes = int(random.choice([1, 2, 2, 3, 3])), int(random.choice([2, 2, 3]))
    columns, rows = int(random.integers(1, 4)), int(random.integers(2, 7 if depth > 2 else 9))
    sums, size = int(random.choice([0, 1, 1, 2])), int(random.choice([1, 1, 10**9]))
    codes = np.stack([random.integers(0, random.choice([2, 4, 8]), rows) for _ in range(columns)]).astype(np.int32)
    groups = random.integers(0, columns, columns)
    values = random.integers(-2 if random.integers(3) == 0 else 0, 4, (1 + sums, rows, classes)) * size
    count = random.integers(0, 4, rows) if random.integers(3) == 0 else np.ones(rows, dtype=np.int64)
    has = random.integers(0, 3, 4) > 0
    purity = random.integers(-2, 3, (rows, classes)) if has[2] else None
    cost = random.integers(0, 2, (rows, classes)) if has[3] else None
    fees = tuple(table_of_fees(random, columns, size) if each else None for each in has[:2])
    return World(
        codes, groups, values, count, depth, int(random.choice([1, 1, 2])), int(random.choice([0, 0, 1])) * size,
        (fees[0], fees[1]), purity, cost, int(random.integers(0, 4)),
    )  # fmt: skip


def on_tests(world: World, most: int) -> Coupled:
    cuts = [(place, cut) for place, column in enumerate(world.codes) for cut in sorted(set(column.tolist()))[:-1]]
    bits = np.array([world.codes[place] <= cut for place, cut in cuts], dtype=np.uint8)
    bits = bits.reshape(len(cuts), world.codes.shape[1])
    columns = [int(world.groups[place]) for place, _ in cuts]
    solver = Coupled(bits, world.values, count=world.count, columns=columns)
    solver.set_fees(*world.fees, most)
    solver.set_rules(world.purity, world.cost, world.most_cost)
    return solver


def on_columns(world: World, most: int) -> CoupledNumeric:
    solver = CoupledNumeric(world.codes, world.values, count=world.count)
    solver.set_fees(world.groups, *world.fees, most)
    solver.set_rules(world.purity, world.cost, world.most_cost)
    return solver


def case(seed: int) -> None:
    random = np.random.default_rng(seed)
    world = world_of(random)
    vectors = sorted(world.vectors())
    near = vectors[random.integers(len(vectors))] if vectors else (0,) * (len(world.values) + 2)
    most = near[-2] + int(random.integers(-1, 2))
    low = [near[1 + j] if random.integers(2) else None for j in range(len(world.values) - 1)]
    high = [near[1 + j] + int(random.integers(0, 2)) for j in range(len(world.values) - 1)]
    leaves = int(random.integers(1, 6)) if random.integers(3) == 0 else None
    wanted = min(
        (
            vector[0]
            for vector in vectors
            if (world.fees[1] is None or vector[-2] <= most)
            and (leaves is None or vector[-1] <= leaves)
            and all(a is None or total >= a for total, a in zip(vector[1:-2], low, strict=True))
            and all(total <= b for total, b in zip(vector[1:-2], high, strict=True))
        ),
        default=None,
    )
    for solver in (on_tests(world, most), on_columns(world, most)):
        found = solver.solve(
            low, high, depth=world.depth, support=world.support, leaves=leaves, leaf_price=world.price,
            threads=int(random.choice([1, 1, 2])), options={"kernel": int(random.integers(0, 2))},
        )  # fmt: skip
        assert found.stop == "proved"
        assert (found.status, found.value) == ("infeasible" if wanted is None else "optimal", wanted), (seed, solver)
        assert wanted is None or found.bound == wanted
        solver.close()


@pytest.mark.parametrize("block", range(4))
def test_random_data_against_all_trees(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        case(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_much_random_data_against_all_trees(block: int) -> None:
    for seed in range(1000 + 500 * block, 1500 + 500 * block):
        case(seed)


def small() -> tuple[Any, Any]:
    bits = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint8)
    return bits, np.array([[[0, 1], [0, 1], [1, 0], [1, 0]]])


def test_a_fee_is_paid_by_every_row_once() -> None:
    bits, values = small()
    solver = Coupled(bits, values, count=[1, 2, 3, 4], columns=[0, 1])
    solver.set_fees([[2, 9], [0, 9], [2, 0]], None)
    assert solver.solve([], [], depth=1, upper=100).value == 2  # a leaf with two errors beats 20 for the split
    solver.set_fees(None, [[1, 9], [0, 9], [1, 0]], 9)
    assert solver.solve([], [], depth=1).value == 2
    solver.set_fees(None, [[1, 9], [0, 9], [1, 0]], 10)
    assert solver.solve([], [], depth=1).value == 0


def test_two_leaves_of_one_class_may_keep_a_rule_that_one_leaf_breaks() -> None:
    bits, values = small()
    solver = Coupled(bits, np.zeros_like(values))
    solver.set_rules(None, [[1, 9]] * 4, 2)
    found = solver.solve([], [], depth=1)
    assert (found.status, found.label[found.test < 0].tolist()) == ("optimal", [0, 0])


def test_wrong_conditions_are_refused() -> None:
    bits, values = small()
    solver = Coupled(bits, values, columns=[0, 5])
    with pytest.raises(ValueError, match="test 1 has no column with a fee"):
        solver.set_fees([[1], [0]], None)
    with pytest.raises(OverflowError, match="fees are negative"):
        Coupled(bits, values).set_fees([[1, -1], [0, 0], [0, 0]], None)
    with pytest.raises(OverflowError, match="add up to more than"):
        Coupled(bits, values).set_rules([[2**57, 0]] * 4, None)
    numeric = CoupledNumeric(bits.astype(np.int32), values)
    with pytest.raises(ValueError, match="column 1 has no group"):
        numeric.set_fees([0, 1], [[1], [0]], None)
    with pytest.raises(OverflowError, match="fees are negative"):
        numeric.set_fees([0, 0], [[2**60], [0]], None)
    with pytest.raises(OverflowError, match="add up to more than"):
        numeric.set_rules(None, [[2**58, 2]] * 4)
