"""Survival times in C: against all trees in Python, with pair sums and without, and between thresholds of a column."""

from __future__ import annotations

from itertools import product
from math import inf, log
from typing import Any

import numpy as np
import pytest

from treeml.data.hazards import UNITS, death_costs, hazards
from treeml.native.solver import Solver
from treeml.native.solver_input import Conditions, Hazards

OPTIONS = (
    {},
    {"kernel": 1},
    {"pairs": 0},
    {"similarity": 0},
    {"reversible": 1},
    {"cache_kind": 0},
    {"order": 0, "dynamic": 0},
)


class World:
    """Random rows with thresholds of two columns and free tests."""

    def __init__(self, seed: int, rows: int = 26) -> None:
        random = np.random.default_rng(seed)
        numbers = random.integers(0, 6, (2, rows))
        self.bits = np.array(
            [numbers[place] <= cut for place in range(2) for cut in (1, 2, 4)] + [random.random(rows) < 0.4]
        )
        self.columns = [0, 0, 0, 1, 1, 1, 2]
        times = random.choice((1.0, 2.0, 2.5, 3.0, 5.0), rows) * (1 + (numbers[0] <= 2))
        self.values = hazards(times, random.random(rows) < 0.6)
        self.count = random.integers(1, 3, rows)

    @property
    def costs(self) -> Hazards:
        return Hazards(self.values >> 1, death_costs(self.values), self.values & 1)

    def leaf(self, rows: Any) -> float:
        own = self.values[rows]
        deaths, hazard = own[own & 1 == 1] >> 1, (own >> 1) / UNITS
        if not len(deaths):
            return 0.0
        return float(-np.log(deaths / UNITS).sum()) + len(deaths) * log(hazard.sum() / len(deaths))

    def best(self, rows: Any, depth: int, leaves: float, price: float, support: int, count: Any) -> float:
        """The least cost of a tree, by trying all of them."""
        found = self.leaf(rows) + price if count[rows].sum() >= support else inf
        if depth and leaves > 1:
            for test in self.bits:
                yes, no = rows[test[rows]], rows[~test[rows]]
                if len(yes) and len(no):
                    shares = range(1, int(leaves)) if leaves < inf else (inf,)
                    found = min(
                        found,
                        *(
                            self.best(yes, depth - 1, share, price, support, count)
                            + self.best(no, depth - 1, leaves - share if leaves < inf else inf, price, support, count)
                            for share in shares
                        ),
                    )
        return found


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_the_least_loss_over_all_trees(seed: int, options: dict[str, int]) -> None:
    world = World(seed)
    every = np.arange(26)
    plain = np.ones(26, dtype=np.int64)
    for depth, (leaves, price, support) in product((0, 1, 2), ((None, 0, 1), (3, 0, 1), (None, 1, 4))):
        solver = Solver(world.bits, world.costs, Conditions(columns=world.columns))
        found = solver.solve(depth=depth, leaves=leaves, leaf_price=price, support=support, options=options)
        best = world.best(every, depth, leaves or inf, price, support, plain)
        assert found.status == "optimal"
        assert float(found.value) == pytest.approx(best, abs=1e-8)
        reached = found.apply(world.bits)
        own = sum(world.leaf(np.flatnonzero(reached == leaf)) + price for leaf in np.unique(reached))
        assert own == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_depth_three_with_and_without_each_idea(seed: int) -> None:
    world = World(seed + 20, 40)
    values = set()
    for options in OPTIONS:
        solver = Solver(world.bits, world.costs, Conditions(columns=world.columns))
        found = solver.solve(depth=3, options=options)
        assert found.status == "optimal"
        values.add(found.value)
    assert len(values) == 1  # the units of the search are the same, so the values are equal, not close
    assert float(values.pop()) == pytest.approx(world.best(np.arange(40), 3, inf, 0, 1, np.ones(40)), abs=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_pair_sums_of_larger_sides(seed: int) -> None:
    """Sums that come from subtraction, at every depth, beside the search without pairs."""
    random = np.random.default_rng(seed + 60)
    rows, tests = 150 + 40 * seed, 11
    bits = random.random((tests, rows)) < random.uniform(0.05, 0.95, (tests, 1))
    times = random.exponential(np.where(bits[0] & bits[1], 0.3, 2.0)).round(2) + 0.01
    values = hazards(times, random.random(rows) < 0.7)
    costs = Hazards(values >> 1, death_costs(values), values & 1)
    for depth, price, support in product((3, 4), (0, 2), (1, 7)):
        found = [
            Solver(bits, costs).solve(depth=depth, leaf_price=price, support=support, options=options)
            for options in ({}, {"kernel": 1}, {"pairs": 0})
        ]
        assert {each.status for each in found} == {"optimal"}
        assert [float(each.value) for each in found[1:]] == pytest.approx([float(found[0].value)] * 2, abs=1e-8)


@pytest.mark.parametrize("magnitude", [1e-9, 1.0, 1e3])
def test_sums_of_any_magnitude(magnitude: float) -> None:
    """A few rows among many with hazards that differ by orders of magnitude."""
    random = np.random.default_rng(8)
    bits = random.random((9, 400)) < 0.3
    hazard = np.maximum(1, (UNITS * magnitude * random.exponential(1.0, 400) ** 6 / 10**4)).astype(np.int64)
    died = (random.random(400) < 0.5).astype(np.int64)
    costs = Hazards(hazard, death_costs(2 * hazard + died), died)
    values = [float(Solver(bits, costs).solve(depth=3, options=each).value) for each in ({}, {"pairs": 0})]
    assert values[0] == pytest.approx(values[1], rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_stand_for_several(seed: int) -> None:
    world = World(seed + 40)
    for depth in (1, 2):
        solver = Solver(world.bits, world.costs, Conditions(columns=world.columns, count=world.count))
        found = solver.solve(depth=depth, support=9)
        assert float(found.value) == pytest.approx(world.best(np.arange(26), depth, inf, 0, 9, world.count), abs=1e-8)


def test_thresholds_are_eliminated_by_their_neighbours() -> None:
    """One column, many thresholds: solved ones bound those between them, so that fewer are tried."""
    random = np.random.default_rng(5)
    numbers = random.permutation(160)
    bits = np.array([numbers < cut for cut in range(4, 160, 4)])
    values = hazards(random.exponential(np.where(numbers < 80, 1.0, 3.0)).round(2) + 0.01, random.random(160) < 0.8)
    costs = Hazards(values >> 1, death_costs(values), values & 1)
    found = {}
    for similarity in (0, 1):
        solver = Solver(bits, costs, Conditions(columns=np.zeros(len(bits), np.int32)))
        found[similarity] = solver.solve(depth=4, options={"similarity": similarity, "order": 0})
    assert found[0].value == found[1].value
    assert found[1].statistics["skipped"] > found[0].statistics["skipped"]
    assert found[1].statistics["splits"] < found[0].statistics["splits"]


@pytest.mark.parametrize(
    ("hazard", "cost", "died", "words"),
    [
        ([0, 1], [0, 0], [0, 0], "must be positive"),
        ([1, 1], [0, 5], [0, 0], "only deaths cost"),
        ([2**62, 2**62], [0, 0], [0, 0], "too large"),
        ([1, 1], [-(2**63), 0], [1, 0], "too large"),
    ],
)
def test_what_is_refused(hazard: list[int], cost: list[int], died: list[int], words: str) -> None:
    with pytest.raises((ValueError, OverflowError), match=words):
        Solver(np.array([[0, 1]], dtype=np.uint8), Hazards(hazard, cost, died))


def test_no_deaths_cost_nothing() -> None:
    found = Solver(np.array([[0, 1, 1]], dtype=np.uint8), Hazards([5, 6, 7], [0, 0, 0], [0, 0, 0])).solve(depth=2)
    assert (found.status, found.value, found.leaves) == ("optimal", 0, 1)


def test_times_limits_leave_a_tree_and_a_valid_bound() -> None:
    random = np.random.default_rng(9)
    bits = random.random((60, 400)) < 0.4
    values = hazards(random.exponential(1.0, 400).round(3) + 0.001, random.random(400) < 0.7)
    solver = Solver(bits, Hazards(values >> 1, death_costs(values), values & 1))
    found = solver.solve(depth=9, seconds=0.02)
    assert found.stop == "time"
    assert found.bound <= found.value
