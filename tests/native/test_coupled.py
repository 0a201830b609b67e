"""The search for coupled requirements against all trees of small random data."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from treeml.native.coupled import Coupled, CoupledFound

Random = np.random.Generator
Limits = Sequence[int | None]


def all_vectors(bits: Any, values: Any, count: Any, depth: int, support: int, price: int) -> Any:
    """Every (value, sums ..., leaves) of a tree, by definition: all tests, all classes, all splits."""
    tests, rows = bits.shape
    known: dict[tuple[int, int], Any] = {}
    sets = [sum(1 << int(row) for row in np.flatnonzero(test)) for test in bits]

    def below(members: int, levels: int) -> Any:
        if (members, levels) in known:
            return known[members, levels]
        inside = [row for row in range(rows) if members >> row & 1]
        found = []
        if sum(int(count[row]) for row in inside) >= support:
            totals = values[:, inside, :].sum(axis=1)
            for label in range(values.shape[2]):
                found.append([[*(int(total) for total in totals[:, label]), 1]])
                found[-1][0][0] += price
        for yes in sets if levels else []:
            first, second = below(members & yes, levels - 1), below(members & ~yes, levels - 1)
            if len(first) and len(second):
                found.append((first[:, None, :] + second[None, :, :]).reshape(-1, first.shape[1]))
        width = len(values) + 1
        result = np.unique(np.vstack(found), axis=0) if found else np.zeros((0, width), dtype=np.int64)
        known[members, levels] = result.astype(np.int64)
        return known[members, levels]

    return below((1 << rows) - 1, depth)


def best_of(vectors: Any, low: Limits, high: Limits, leaves: int | None, upper: int | None = None) -> int | None:
    good = np.ones(len(vectors), dtype=bool)
    for place, (least, most) in enumerate(zip(low, high, strict=True)):
        if least is not None:
            good &= vectors[:, 1 + place] >= least
        if most is not None:
            good &= vectors[:, 1 + place] <= most
    if leaves is not None:
        good &= vectors[:, -1] <= leaves
    if upper is not None:
        good &= vectors[:, 0] <= upper
    return int(vectors[good, 0].min()) if good.any() else None


def check(found: CoupledFound, bits: Any, values: Any, count: Any, limits: dict[str, Any]) -> None:
    """The tree keeps all limits and has the value and the sums that are claimed."""
    rows = bits.shape[1]
    node = np.zeros(rows, dtype=np.int64)
    level = np.zeros(len(found.test), dtype=np.int64)
    for at in range(len(found.test)):
        here = node == at
        if found.test[at] >= 0:
            node[here] = np.where(bits[found.test[at], here], found.left[at], found.right[at])
            level[found.left[at]] = level[found.right[at]] = level[at] + 1
        else:
            assert count[here].sum() >= limits["support"]
    leaves = int(np.count_nonzero(found.test < 0))
    assert level.max() <= limits["depth"]
    assert limits["leaves"] is None or leaves <= limits["leaves"]
    label = found.label[node]
    totals = [int(sum(int(values[j, row, label[row]]) for row in range(rows))) for j in range(len(values))]
    assert found.value == totals[0] + limits["price"] * leaves
    assert found.sums == tuple(totals[1:])
    for total, least, most in zip(totals[1:], limits["low"], limits["high"], strict=True):
        assert least is None or total >= least
        assert most is None or total <= most


def numbers(random: Random, shape: Any) -> Any:
    kind = int(random.integers(5))
    if kind == 0:
        return random.integers(0, 2, shape)
    if kind == 1:
        return random.integers(-3, 4, shape)
    if kind == 2:
        return random.integers(-(10**12), 10**12, shape)
    if kind == 3:
        return random.integers(-2, 3, shape) * 10**12
    return random.integers(-1, 2, shape) * random.integers(1, 40)


def limits_of(random: Random, vectors: Any, sums: int) -> tuple[list[int | None], list[int | None]]:
    """Limits near sums that exist, so that they matter and can often be kept."""
    low: list[int | None] = []
    high: list[int | None] = []
    for place in range(sums):
        column = vectors[:, 1 + place]
        middle = int(column[random.integers(len(column))])
        width = int(random.choice([0, 0, 1, 2, max(1, int(np.ptp(column)) // 8)]))
        kind = int(random.integers(5))
        low.append(middle - width if kind != 0 else None)
        high.append(middle + int(random.integers(0, 2)) * width if kind != 1 else None)
        if kind == 2:
            low[-1] = high[-1] = middle + int(random.integers(-1, 2))
    return low, high


def case(seed: int) -> None:
    random = np.random.default_rng(seed)
    tests, rows = int(random.integers(0, 5)), int(random.integers(1, 9))
    depth, classes = int(random.choice([0, 1, 2, 2, 3, 3])), int(random.choice([1, 2, 2, 2, 3]))
    sums = int(random.choice([0, 1, 1, 1, 2, 2, 3]))
    if depth == 3:
        tests, rows = min(tests, 3), min(rows, 7)
    bits = random.integers(0, 2, (tests, rows)).astype(np.uint8)
    values = np.stack([numbers(random, (rows, classes)) for _ in range(1 + sums)]).astype(np.int64)
    count = random.integers(0, 3, rows) if random.integers(3) == 0 else np.ones(rows, dtype=np.int64)
    support = int(random.choice([1, 1, 1, 2, 3]))
    price = int(random.choice([0, 0, 1, 3]))
    vectors = all_vectors(bits, values, count, depth, support, price)
    solver = Coupled(bits, values, count=count)
    for _ in range(3):
        low, high = limits_of(random, vectors, sums) if len(vectors) else ([0] * sums, [0] * sums)
        leaves = int(random.integers(1, 6)) if random.integers(3) == 0 else None
        wanted = best_of(vectors, low, high, leaves)
        upper = None
        if random.integers(4) == 0 and wanted is not None:
            upper = wanted + int(random.integers(-1, 2))
            wanted = best_of(vectors, low, high, leaves, upper)
        found = solver.solve(low, high, depth=depth, support=support, leaves=leaves, leaf_price=price, upper=upper)
        assert found.stop == "proved"
        if wanted is None:
            assert found.status == "infeasible", (found.value, low, high)
            assert found.value is None
            assert len(found.test) == 0
            continue
        assert found.status == "optimal"
        assert found.value == found.bound == wanted
        limits = {"depth": depth, "support": support, "leaves": leaves, "price": price, "low": low, "high": high}
        check(found, bits, values, count, limits)


@pytest.mark.parametrize("block", range(8))
def test_random_data_against_all_trees(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        case(seed)
