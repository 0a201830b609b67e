"""New labels for the leaves of a tree, so that limited sums are within their limits."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from treeml.backends.anytime.multipliers import TURNING, _next_prices
from treeml.backends.native.coupled import relabeling
from treeml.backends.native.coupled.relabeling import Relabeling, excess
from treeml.backends.native.coupled.task import CoupledTask
from treeml.backends.native.goals import NativeObjective
from treeml.problem.evaluate import Routed
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split
from treeml.testing.problems import from_columns

LEAVES = 4


def problem_of(rows: int) -> Problem:
    """Two columns whose four pairs of answers are four leaves."""
    columns = [("binary", [row // 2 % 2 for row in range(rows)]), ("binary", [row % 2 for row in range(rows)])]
    return from_columns(columns, 2, (), ())


def four_leaves() -> Node:
    return Split(0, Split(1, Leaf(0), Leaf(0)), Split(1, Leaf(0), Leaf(0)))


def relabeling_of(
    values: list[list[list[int]]], low: tuple[int | None, ...], high: tuple[int | None, ...]
) -> Relabeling:
    """`values`: for the cost and every sum what both labels of each leaf add."""
    problem, tree = problem_of(LEAVES), four_leaves()
    routed = Routed(problem, tree)
    cells = np.zeros((len(values), LEAVES, 2), dtype=np.int64)
    for place, (_, _, rows) in enumerate(routed.leaves):
        cells[:, rows[0]] = [each[place] for each in values]
    return Relabeling(CoupledTask(NativeObjective(), cells, low, high, None, None), routed)


@pytest.fixture(autouse=True)
def by_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there were too many leaves to try all labels."""
    monkeypatch.setattr(relabeling, "MOST_TRIED", 0)


def test_two_changes_at_once_meet_what_no_single_change_helps() -> None:
    cost = [[0, 1], [0, 1], [0, 5], [0, 5]]
    # The first sum has to fall by two and the second must stay: every single change breaks as much as it mends.
    first, second = [[2, 0], [2, 2], [0, 0], [0, 0]], [[0, 2], [2, 0], [0, 0], [0, 0]]
    found = relabeling_of([cost, first, second], (None, 2), (2, 2))
    assert found.violations(found.totals(np.zeros(LEAVES, dtype=np.intp))[None])[0] > 0
    labels = list(found.repaired())
    assert [each.tolist() for each in labels] == [[1, 1, 0, 0]] * 2


def test_labels_meet_every_limit_and_are_never_below_the_best() -> None:
    random, met = np.random.default_rng(5), 0
    for _ in range(300):
        values = random.integers(-4, 5, (3, LEAVES, 2)).tolist()
        low, high = (int(random.integers(-6, 2)), None), (int(random.integers(2, 7)), int(random.integers(-4, 5)))
        found = relabeling_of(values, low, high)
        allowed = [
            found.totals(np.array(labels))[0]
            for labels in product((0, 1), repeat=LEAVES)
            if not found.violations(found.totals(np.array(labels))[None])[0]
        ]
        for labels in found.repaired():
            totals = found.totals(labels)
            assert not excess(found.task, totals[1:]).any()
            assert totals[0] >= min(allowed)
            met += 1
    assert met > 200


def test_sums_near_the_largest_are_compared_exactly() -> None:
    large = 2**55
    found = relabeling_of([[[0, 1]] * LEAVES, [[large + 1, large], [0, 0], [0, 0], [0, 0]]], (None,), (large,))
    assert [labels.tolist() for labels in found.repaired()] == [[1, 0, 0, 0]] * 2


def test_prices_follow_the_side_that_is_broken() -> None:
    first, pace = np.array([1.0, 1.0, -1.0, 1.0]), np.full(4, 2.0)
    prices = _next_prices(np.array([0.0, 0.5, -1.0, 0.01]), np.array([1.0, -1.0, -1.0, 0.0]), pace, first)
    assert prices.tolist() == [TURNING, 0.125, -4.0, 0.005]
    turned = _next_prices(prices, np.array([-1.0, -1.0, 1.0, -1.0]), pace, first)
    assert turned.tolist() == [-TURNING, 0.03125, -1.0, -TURNING]
