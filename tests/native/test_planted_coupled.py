"""Planted trees whose sums and leaves keep the limits exactly: both coupled kernels find the best tree within them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
import pytest

from treeml.native.coupled import Coupled
from treeml.native.coupled_numeric import CoupledNumeric
from treeml.testing.exhaustive import ExhaustiveSums, threshold_tests
from treeml.testing.planted import PlantedRows, planted_rows

Limit = int | None


@dataclass(frozen=True, slots=True)
class CoupledCase:
    rows: PlantedRows
    values: np.ndarray  # sums x rows x classes
    count: list[int]
    support: int
    leaves: int | None
    price: int
    low: list[Limit]
    high: list[Limit]


def values_of(random: Random, rows: PlantedRows, sums: int) -> np.ndarray:
    """Errors, and sums as they come from recall, gaps between groups, rates and counts."""
    classes = range(rows.classes)
    weight = [random.choice((1, 1, 1, 2, 5)) for _ in range(rows.rows)]
    group = [random.randrange(2) for _ in range(rows.rows)]
    values = np.zeros((1 + sums, rows.rows, rows.classes), dtype=np.int64)
    for row, label in enumerate(rows.label):
        values[0, row] = [0 if own == label else weight[row] for own in classes]
        if random.random() < 0.1:
            values[0, row, random.randrange(rows.classes)] += random.choice((-2, 1, 3))
    for number in range(1, 1 + sums):
        kind = random.choice(("recall", "gap", "rate", "count", "any"))
        for row, label in enumerate(rows.label):
            for own in classes:
                values[number, row, own] = {
                    "recall": label == own == 0,
                    "gap": (own == 0) * (3 if group[row] else -2),
                    "rate": (own == 0) * weight[row],
                    "count": own == 1 and label == 0,
                    "any": random.choice((0, 0, 1, -1, 2)),
                }[kind]
    return values


def coupled_case(random: Random) -> CoupledCase:
    depth, support = random.choice((1, 2, 2, 3, 3)), random.choice((1, 2, 2, 3))
    classes, most = random.choice((2, 2, 3)), random.choice((8, 10, 12))
    rows = planted_rows(random, depth, support, random.choice((3, 4, 5)), classes, most)
    sums = random.choice((1, 1, 2, 2, 3))
    values = values_of(random, rows, sums)
    totals = np.zeros(1 + sums, dtype=np.int64)
    for leaf in range(rows.leaves):
        costs = values[:, list(rows.members(leaf))].sum(axis=1)
        totals += costs[:, int(costs[0].argmin()) if random.random() < 0.75 else random.randrange(rows.classes)]
    low: list[Limit] = []
    high: list[Limit] = []
    for total in totals[1:].tolist():
        sense, wide = random.choice(("<=", ">=", "=", "window")), random.choice((0, 0, 1, 2))
        low.append(None if sense == "<=" else total if sense == "=" else total - wide)
        high.append(None if sense == ">=" else total if sense == "=" else total + wide)
    count = [random.choice(random.choice(((1,), (1,), (1, 2, 3)))) for _ in range(rows.rows)]
    smallest = min(sum(count[row] for row in rows.members(leaf)) for leaf in range(rows.leaves))
    leaves = random.choice((None, None, rows.leaves))
    return CoupledCase(
        rows, values, count, random.choice((smallest, smallest, 1)), leaves, random.choice((0, 0, 1, 2)), low, high
    )


def check_seeds(seeds: range) -> None:
    examined = 0
    for seed in seeds:
        random = Random(seed)
        case = coupled_case(random)
        tests = [passing for passing, _ in threshold_tests(case.rows.columns)]
        every = ExhaustiveSums(tests, case.values.tolist(), case.count, case.support, case.price)
        is_known, best = every.best(case.rows.depth, case.leaves, case.low, case.high)
        if not is_known or not tests:
            continue
        examined += 1
        bits = np.array([[row in passing for row in range(case.rows.rows)] for passing in tests], dtype=np.uint8)
        codes = np.array(case.rows.columns, dtype=np.int32)
        for solver in (
            Coupled(bits, case.values, count=case.count),
            CoupledNumeric(codes, case.values, count=case.count),
        ):
            for options in ({}, {"early": 0, "table_memory": 0, "kernel": 1}):
                found = solver.solve(
                    case.low,
                    case.high,
                    depth=case.rows.depth,
                    support=case.support,
                    leaves=case.leaves,
                    leaf_price=case.price,
                    threads=random.choice((1, 1, 2)),
                    options=options,
                )
                status = "infeasible" if best is None else "optimal"
                assert (found.status, found.value) == (status, best), (seed, type(solver), options)
            solver.close()
    assert examined > len(seeds) // 2


@pytest.mark.parametrize("part", range(3))
def test_both_kernels_find_the_best_tree_within_tight_limits(part: int) -> None:
    check_seeds(range(20 * part, 20 * part + 20))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_both_kernels_on_many_seeds(part: int) -> None:
    check_seeds(range(1000 + 100 * part, 1100 + 100 * part))
