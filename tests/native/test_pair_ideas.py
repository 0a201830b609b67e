"""The ideas of the search in the kernel that counts pairs, which most problems are solved by, seen in its statistics.

`test_search_ideas.py` has the same for the general kernel.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from treeml.native.solver import Found, Solver
from treeml.native.solver_input import Conditions, Labels

ROWS = 200


@cache
def problem() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(4)
    hidden = random.random((5, ROWS)) < 0.5
    noise = random.random((24, ROWS)) < 0.25
    bits = (hidden[random.integers(0, 5, 24)] ^ noise).astype(np.uint8)
    labels = ((bits[0] & bits[1]) | bits[2]) ^ (random.random(ROWS) < 0.2)
    return bits, labels.astype(np.int64)


@cache
def searched(**options: int) -> Found:
    bits, labels = problem()
    found = Solver(bits, Labels(labels, 2)).solve(depth=5, options={"deepening": 0, **options})
    assert found.status == "optimal"
    assert int(np.sum(found.predict(bits) != labels)) == found.value == 7
    assert count(found, "passes") > 0  # of the kernel that counts pairs
    return found


def count(found: Found, name: str) -> int:
    return int(found.statistics[name])


@pytest.mark.parametrize("idea", ["infeasible", "strong", "dynamic"])
def test_without_the_idea_the_search_takes_more_passes(idea: str) -> None:
    """Passes over the rows, not nodes: builds order equal tests differently, and so open other nodes."""
    assert count(searched(**{idea: 0}), "passes") > count(searched(), "passes")


def test_the_bound_that_is_handed_down_saves_passes() -> None:
    assert count(searched(), "failures") > 0 == count(searched(hierarchical=0), "failures")
    assert count(searched(), "passes") < count(searched(hierarchical=0), "passes")


def test_bounds_of_failed_searches_are_kept_and_used() -> None:
    assert count(searched(infeasible=0), "failures") > count(searched(), "failures")
    assert count(searched(infeasible=0), "entries") < count(searched(), "entries")
    assert count(searched(strong=0), "failures") > count(searched(), "failures")


def test_similar_splits_are_skipped() -> None:
    assert count(searched(), "skipped") > 0 == count(searched(similarity=0), "skipped")


def test_an_upper_bound_prunes() -> None:
    bits, labels = problem()
    solver = Solver(bits, Labels(labels, 2))
    tight = solver.solve(depth=5, options={"deepening": 0, "order": 3, "upper": 8})
    assert tight.value == 7
    assert count(tight, "passes") < count(searched(order=3), "passes")
    assert solver.solve(depth=5, options={"deepening": 0, "upper": 7}).value is None


def test_a_cache_is_asked_and_saves_work() -> None:
    for kind in (1, 2, 3, 4):
        assert count(searched(cache_kind=kind), "hits") > 0 < count(searched(cache_kind=kind), "entries")
        assert count(searched(cache_kind=kind), "passes") < count(searched(cache_kind=0), "passes")


def test_equal_row_sets_are_one_entry_and_paths_are_two() -> None:
    """Row sets and closed itemsets see that two paths have the same rows; paths do not."""
    bits, labels = problem()
    both = np.vstack([bits[:10], bits[0] & bits[1], bits[2] & bits[3]])  # among rows with test 0, tests 1 and 10 agree
    solver = Solver(both, Labels(labels, 2))
    options = {"deepening": 0, "similarity": 0}  # the similarity bound would skip tests that agree
    found = {kind: solver.solve(depth=5, options={**options, "cache_kind": kind}) for kind in (1, 2, 3, 4)}
    entries = {kind: count(each, "entries") for kind, each in found.items()}
    assert len({each.value for each in found.values()}) == 1
    assert max(entries[1], entries[4]) < entries[2] == entries[3]
    assert count(found[4], "hits") > count(found[2], "hits")


@pytest.mark.parametrize("seed", range(3))
def test_closed_itemsets_hold_the_answers_to_every_test(seed: int) -> None:
    """More tests than a machine word has bits: 64 that are alike, and then the useful ones."""
    random = np.random.default_rng(seed)
    bits = (random.random((68, ROWS)) < 0.5).astype(np.uint8)
    bits[:64] = bits[:1] ^ (random.random((64, ROWS)) < 0.1)
    labels = ((bits[64] & bits[65]) | (bits[66] & bits[67])) ^ (random.random(ROWS) < 0.15)
    solver = Solver(bits, Labels(labels.astype(np.int64), 2))
    options = {"deepening": 0, "similarity": 0}
    values = [solver.solve(depth=4, options={**options, "cache_kind": kind}).value for kind in (0, 1, 4)]
    assert values[0] == values[1] == values[2]


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("wipe", [0, 1, 2, 3])
def test_a_bounded_cache_keeps_its_bound_and_rebuilds_what_was_wiped(wipe: int, kind: int) -> None:
    found = searched(cache=40, wipe=wipe, cache_kind=kind)
    assert count(found, "wipes") > 0 < count(found, "wiped")
    assert count(found, "entries") <= 40


def test_splits_without_support_are_never_opened() -> None:
    bits, labels = problem()
    solver = Solver(bits, Labels(labels, 2), Conditions(count=np.ones(ROWS, dtype=np.int64)))
    least = [solver.solve(depth=4, support=support, options={"deepening": 0}) for support in (2, 10, 40)]
    assert count(least[0], "passes") > count(least[1], "passes") > count(least[2], "passes")


@pytest.mark.parametrize("order", [{}, {"similarity": 0}, {"similarity": 0, "order": 3}])
def test_tests_that_cannot_split_are_never_opened(order: dict[str, int]) -> None:
    """Six more tests, each true of one row only, change nothing where a leaf needs eight rows."""
    bits, labels = problem()
    rare = np.zeros((6, ROWS), dtype=np.uint8)
    rare[np.arange(6), 20 + np.arange(6)] = 1
    needed = Conditions(count=np.ones(ROWS, dtype=np.int64))
    found = [
        Solver(tests, Labels(labels, 2), needed).solve(depth=4, support=8, options={"deepening": 0, **order})
        for tests in (bits, np.vstack([bits, rare]))
    ]
    assert found[0].value == found[1].value
    assert count(found[0], "passes") > 0
    assert [count(each, "nodes") for each in found] == 2 * [count(found[0], "nodes")]
    assert [count(each, "splits") for each in found] == 2 * [count(found[0], "splits")]
