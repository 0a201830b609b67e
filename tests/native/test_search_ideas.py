"""Every idea of the search and every kind of cache has its effect, seen in the statistics of one fixed problem.

That the values stay right is tested elsewhere, against all trees. These tests fail if an idea is silently lost: an
option that changes nothing, a cache that is never asked, a bound that is never kept.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from treeml.native.solver import Found, SearchLimits, Solver
from treeml.native.solver_input import Conditions, CostOfRows, Labels, Targets

DEPTH = 4
ROWS = 300
KINDS_OF_CACHE = {1: "row sets", 2: "paths", 3: "paths in a trie", 4: "closed itemsets"}


@cache
def problem() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    hidden = random.random((4, ROWS)) < 0.5
    noise = random.random((14, ROWS)) < 0.25
    bits = (hidden[random.integers(0, 4, 14)] ^ noise).astype(np.uint8)
    labels = ((bits[0] & bits[1]) | bits[2]) ^ (random.random(ROWS) < 0.15)
    return bits, labels.astype(np.int64)


@cache
def searched(**options: int) -> Found:
    """The general search, node by node, in which every idea can be counted."""
    bits, labels = problem()
    found = Solver(bits, Labels(labels, 2)).solve(depth=DEPTH, options={"general": 1, **options})
    assert found.status == "optimal"
    assert int(np.sum(found.predict(bits) != labels)) == found.value == 42
    return found


def count(found: Found, name: str) -> int:
    return int(found.statistics[name])


@pytest.mark.parametrize("idea", ["hierarchical", "infeasible", "strong", "dynamic"])
def test_without_the_idea_more_nodes_are_opened(idea: str) -> None:
    assert count(searched(**{idea: 0}), "nodes") > count(searched(), "nodes")


def test_failures_come_from_the_bound_that_is_handed_down() -> None:
    assert count(searched(), "failures") > 0
    assert count(searched(hierarchical=0), "failures") == 0


def test_bounds_of_failed_searches_are_kept_and_used() -> None:
    assert count(searched(infeasible=0), "failures") > count(searched(), "failures")
    assert count(searched(strong=0), "failures") > count(searched(), "failures")


def test_similar_splits_are_skipped() -> None:
    assert count(searched(), "skipped") > count(searched(similarity=0), "skipped") == 0


def test_depth_two_comes_from_pair_counts() -> None:
    bits, labels = problem()
    paired = Solver(bits, Labels(labels, 2)).solve(depth=DEPTH)
    single = Solver(bits, Labels(labels, 2)).solve(depth=DEPTH, options={"pairs": 0})
    assert paired.value == single.value
    assert count(paired, "leaf_costs") == 0 < count(paired, "passes")
    assert count(single, "passes") == 0 < count(single, "leaf_costs")


def test_every_order_of_the_tests_is_another_search() -> None:
    orders = [searched(order=order) for order in range(4)]
    assert len({count(found, "nodes") for found in orders}) == 4
    assert count(orders[3], "nodes") > count(orders[2], "nodes")  # the worst first, and the best first
    assert count(searched(order_everywhere=0), "nodes") != count(searched(), "nodes")


def test_reversible_sets_are_searched_in_the_same_way() -> None:
    plain, reversible = searched(), searched(reversible=1)
    for name in ("nodes", "failures", "splits", "leaf_costs", "hits"):
        assert count(plain, name) == count(reversible, name)


def test_a_function_is_asked_about_few_sets_of_rows_twice() -> None:
    bits, labels = problem()
    asked: list[bytes] = []

    def errors(sets: list[np.ndarray]) -> list[float]:
        asked.extend(rows.tobytes() for rows in sets)
        return [float(min(labels[rows].sum(), len(rows) - labels[rows].sum())) for rows in sets]

    solver = Solver(bits, CostOfRows(errors))
    every = solver.solve(depth=3, options={"cache_kind": 0})
    without = len(asked)
    asked.clear()
    found = solver.solve(depth=3)
    assert found.value == every.value
    assert len(asked) < 1.1 * len(set(asked))  # only tests that are equal on the rows of a node ask again
    assert len(asked) < without / 4


def test_the_search_ends_when_the_bound_is_met() -> None:
    bits, _ = problem()
    found = Solver(bits, Labels(bits[7].astype(np.int64), 2)).solve(depth=DEPTH, options={"general": 1})
    assert found.value == 0
    assert count(found, "nodes") < count(searched(), "nodes") / 100


def test_an_upper_bound_prunes() -> None:
    bits, labels = problem()
    solver = Solver(bits, Labels(labels, 2))
    tight = solver.solve(depth=DEPTH, options={"general": 1, "upper": 43, "deepening": 0})
    assert tight.value == 42
    assert count(tight, "nodes") < count(searched(deepening=0), "nodes")
    none = solver.solve(depth=DEPTH, options={"general": 1, "upper": 42, "deepening": 0})
    assert none.value is None


def test_a_start_prunes() -> None:
    bits, labels = problem()
    best = searched(deepening=0, order=3)  # the worst tests first: the best tree is found late
    options = {"general": 1, "deepening": 0, "order": 3}
    solver = Solver(bits, Labels(labels, 2))
    again = solver.solve(depth=DEPTH, start=(best.test, best.left, best.right), options=options)
    assert again.value == best.value
    assert count(again, "nodes") < count(best, "nodes")
    assert count(again, "leaf_costs") < count(best, "leaf_costs")


def test_many_quantiles_share_one_search() -> None:
    """A node is opened once for all levels, and left only when none of them can improve there."""
    bits, labels = problem()
    targets = (10 * labels + np.arange(ROWS) % 7)[:, None]
    levels = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
    together = Solver(bits[:8], Targets(targets, "quantile", levels)).solve_levels(SearchLimits(depth=3))
    alone = [Solver(bits[:8], Targets(targets, "quantile", [level])).solve(depth=3) for level in levels]
    assert [found.value for found in together] == [found.value for found in alone]
    opened = [count(found, "nodes") for found in alone]
    assert max(opened) <= count(together[0], "nodes") < sum(opened)


@pytest.mark.parametrize("seed", range(30))
def test_every_quantile_of_one_search_is_the_best(seed: int) -> None:
    """A side is searched as long as one of the levels needs it, whichever that is."""
    random = np.random.default_rng(seed)
    bits = (random.random((6, 30)) < 0.5).astype(np.uint8)
    high = 20 * (random.random(30) < 0.1)
    targets = (3 * bits[0] + 5 * (bits[1] & bits[2]) + random.integers(0, 4, 30) + high)[:, None].astype(np.int64)
    levels = [Fraction(1, 20), Fraction(1, 2), Fraction(19, 20)]
    together = Solver(bits, Targets(targets, "quantile", levels)).solve_levels(SearchLimits(depth=3))
    alone = [Solver(bits, Targets(targets, "quantile", [level])).solve(depth=3) for level in levels]
    assert [found.value for found in together] == [found.value for found in alone]


def test_splits_without_support_are_never_opened() -> None:
    bits, labels = problem()
    solver = Solver(bits, Labels(labels, 2), Conditions(count=np.ones(ROWS, dtype=np.int64)))
    effort = [solver.solve(depth=DEPTH, support=least, options={"general": 1}) for least in (1, 20, 60)]
    nodes = [count(found, "nodes") for found in effort]
    assert nodes[0] > nodes[1] > nodes[2]


@pytest.mark.parametrize("kind", KINDS_OF_CACHE, ids=KINDS_OF_CACHE.get)
def test_a_cache_is_asked_and_saves_work(kind: int) -> None:
    kept, none = searched(cache_kind=kind), searched(cache_kind=0)
    assert count(kept, "hits") > 0 < count(kept, "entries")
    assert count(none, "hits") == count(none, "entries") == 0
    assert count(kept, "nodes") < count(none, "nodes")
    assert count(none, "rebuilt") > 0 == count(kept, "rebuilt")  # without a cache, the tree is searched again


def test_equal_row_sets_are_one_entry_and_paths_are_two() -> None:
    bits, labels = problem()
    both = np.vstack([bits, bits[0] & bits[1]])  # among rows with test 0, tests 1 and 14 ask the same
    solver = Solver(both, Labels(labels, 2))
    found = {kind: solver.solve(depth=3, options={"general": 1, "cache_kind": kind}) for kind in KINDS_OF_CACHE}
    entries = {kind: count(each, "entries") for kind, each in found.items()}
    assert entries[1] < entries[2]
    assert entries[4] < entries[2]
    assert entries[2] == entries[3]


@pytest.mark.parametrize("kind", KINDS_OF_CACHE, ids=KINDS_OF_CACHE.get)
@pytest.mark.parametrize("wipe", [0, 1, 2, 3])
def test_a_bounded_cache_keeps_its_bound_and_rebuilds_what_was_wiped(wipe: int, kind: int) -> None:
    found = searched(cache=60, wipe=wipe, cache_kind=kind)
    assert count(found, "wipes") > 0 < count(found, "wiped")
    assert count(found, "entries") <= 60
    assert count(found, "rebuilt") > 0
    assert count(found, "peak_memory") < count(searched(cache_kind=kind), "peak_memory")
    assert count(searched(), "nodes") < count(found, "nodes") < count(searched(cache_kind=0), "nodes")


def test_every_way_of_wiping_keeps_other_entries() -> None:
    ways = [searched(cache=600, wipe=wipe) for wipe in range(4)]
    assert len({(count(found, "hits"), count(found, "wiped")) for found in ways}) == 4


def test_a_smaller_share_is_wiped_more_often() -> None:
    assert count(searched(cache=60, wipe_share=10), "wipes") > count(searched(cache=60, wipe_share=80), "wipes")


def test_what_the_search_needs_is_never_wiped() -> None:
    """With room for a single entry, the path and the best tree so far still lead to a complete tree."""
    for wipe in range(4):
        assert count(searched(cache=1, wipe=wipe), "wipes") > 0
