"""Bounds by targets alone, where the best groups begin and end inside of the buckets that the targets are put into."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from treeml.native.numeric import NumericSolver

BUCKETS = 128


@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize("seed", range(20))
def test_groups_that_share_buckets_cost_no_more_than_a_tree(loss: str, seed: int) -> None:
    """Every second group is so small that it shares its two buckets with its neighbours and has none of its own."""
    random = np.random.default_rng(seed)
    rows = 4000
    width = (rows - 1) // BUCKETS + 1
    middles = np.sort(random.choice(np.arange(2, BUCKETS - 6, 3), int(random.integers(1, 4)), replace=False)) * width
    ends = [0, *(int(at + side * random.integers(1, width)) for at in middles for side in (-1, 1)), rows]
    groups = len(ends) - 1
    group = np.repeat(np.arange(groups), [after - before for before, after in pairwise(ends)])
    targets = group * 10**6 + np.arange(rows)
    order = random.permutation(rows)
    solver = NumericSolver(np.stack([group[order].astype(float), *random.normal(size=(5, rows)).round(1)]))
    if loss == "squared":
        solver.targets(targets[order, None])
    else:
        solver.quantile(targets[order, None], None, 1, 1)
    solver.set(poll_milliseconds=1, depth=3)
    priced = seed % 2 == 1
    planted = planted_cost(solver, targets, ends, loss)
    solver.set(**({"leaf_price": max(1, planted // groups)} if priced else {"leaves": groups}))
    bounds = []
    found = solver.solve(lambda _seconds, _value, bound: bounds.append(bound) is None and len(bounds) < 20)
    value = planted + (groups * max(1, planted // groups) if priced else 0)
    assert max([found.bound, *bounds]) <= value + solver.slack


def planted_cost(solver: NumericSolver, targets: np.ndarray, ends: list[int], loss: str) -> int:
    """What the tree with a leaf for each of the groups costs, in units of the solver."""
    parts = [targets[before:after].astype(float) for before, after in pairwise(ends)]
    if loss == "squared":
        return round(sum(float(((part - part.mean()) ** 2).sum()) for part in parts) * solver.unit)
    return round(sum(float(np.abs(part - np.median(part)).sum()) for part in parts))
