"""Cover states from C equal those counted row by row."""

from __future__ import annotations

import numpy as np
import pytest

from treeml.native import cover


def make(seed: int, rows: int = 70, tests: int = 6) -> tuple[np.ndarray, np.random.Generator]:
    generator = np.random.default_rng(seed)
    return generator.random((tests, rows)) < 0.5, generator


def sets_of(states: cover.States) -> list[frozenset[int]]:
    return [frozenset(np.flatnonzero(cover.unpack_set(key, states.rows)).tolist()) for key in states.keys]


@pytest.mark.parametrize("support", [1, 9])
def test_states_are_the_sets_of_paths(support: int) -> None:
    bits, _ = make(1)
    rows = bits.shape[1]
    states = cover.enumerate_states(cover.pack_bits(bits), np.ones(rows, np.int64), 3, support=support)
    level = {frozenset(range(rows))}
    for number in range(3):
        first, last = states.level_start[number : number + 2]
        assert set(sets_of(states)[first:last]) == level
        assert last - first == len(level)
        following = set()
        for rows_here in level:
            for answers in bits:
                yes = frozenset(row for row in rows_here if answers[row])
                if yes and len(yes) >= support and len(rows_here - yes) >= max(1, support):
                    following |= {yes, rows_here - yes}
        level = following


def test_arcs_split_their_parents() -> None:
    bits, _ = make(2)
    states = cover.enumerate_states(cover.pack_bits(bits), np.ones(bits.shape[1], np.int64), 3)
    sets = sets_of(states)
    for parent, test, yes, no in zip(states.parent, states.test, states.yes, states.no, strict=True):
        assert sets[yes] == {row for row in sets[parent] if bits[test, row]}
        assert sets[no] == sets[parent] - sets[yes]


def test_equal_splits_are_one_arc_unless_features_are_distinguished() -> None:
    bits = np.array([[True, False, True], [False, True, False], [True, True, False]])
    packed, count = cover.pack_bits(bits), np.ones(3, np.int64)
    assert len(cover.enumerate_states(packed, count, 2).parent) == 2
    apart = cover.enumerate_states(packed, count, 2, group=np.array([1, 2, 0], np.int32))
    assert len(apart.parent) == 3


def test_sums() -> None:
    bits, generator = make(3)
    rows = bits.shape[1]
    values = generator.integers(-5, 9, (rows, 3))
    states = cover.enumerate_states(cover.pack_bits(bits), np.ones(rows, np.int64), 3)
    members = [sorted(rows_here) for rows_here in sets_of(states)]
    expected = np.array([values[here].sum(axis=0) for here in members])
    assert np.array_equal(cover.sums(states.keys, rows, values), expected)
    for threads in (1, 2):
        below = cover.split_sums(cover.pack_bits(bits), states.keys, rows, values, threads)
        for state, here in enumerate(members):
            for test, answers in enumerate(bits):
                yes = [row for row in here if answers[row]]
                assert np.array_equal(below[state, test], values[yes].sum(axis=0))


def best_depth_two(
    bits: np.ndarray, rows: list[int], cost: np.ndarray, support: int, price: int, depth: int = 2
) -> int:
    best = int(cost[rows].sum(axis=0).min()) + price
    for answers in bits if depth else ():
        yes = [row for row in rows if answers[row]]
        no = [row for row in rows if not answers[row]]
        if len(yes) >= support and len(no) >= support:
            sides = (best_depth_two(bits, side, cost, support, price, depth - 1) for side in (yes, no))
            best = min(best, sum(sides))
    return best


@pytest.mark.parametrize(("support", "price"), [(1, 0), (1, 2), (4, 0), (4, 3)])
def test_pairs(support: int, price: int) -> None:
    bits, generator = make(4, rows=40, tests=5)
    cost = generator.integers(0, 6, (40, 3))
    count = np.ones(40, np.int64)
    states = cover.enumerate_states(cover.pack_bits(bits), count, 2, support=support)
    best, _ = cover.best_pairs(cover.pack_bits(bits), states.keys, 40, cost, count, support, price)
    for value, rows in zip(best, sets_of(states), strict=True):
        assert value == best_depth_two(bits, sorted(rows), cost, support, price)


def test_quantile_losses() -> None:
    bits, generator = make(5, rows=30, tests=4)
    target, weight = generator.integers(-9, 9, 30), generator.integers(0, 4, 30)
    states = cover.enumerate_states(cover.pack_bits(bits), np.ones(30, np.int64), 2)
    whole, sides = cover.quantile_losses(cover.pack_bits(bits), states.keys, 30, target, weight, 3, 7)

    def least(rows: list[int]) -> int:
        def loss(guess: int) -> int:
            distance = target[rows] - guess
            return int((weight[rows] * np.where(distance > 0, 3 * distance, -7 * distance)).sum())

        return min((loss(int(guess)) for guess in target[rows]), default=0)

    for state, rows in enumerate(sets_of(states)):
        assert whole[state] == least(sorted(rows))
        for test, answers in enumerate(bits):
            assert sides[state, test, 0] == least([row for row in sorted(rows) if answers[row]])
            assert sides[state, test, 1] == least([row for row in sorted(rows) if not answers[row]])


def test_a_limit_in_bytes_and_one_in_seconds_stop_it() -> None:
    bits, _ = make(6, rows=200, tests=40)
    packed, count = cover.pack_bits(bits), np.ones(200, np.int64)
    with pytest.raises(cover.CoverStopped) as stopped:
        cover.enumerate_states(packed, count, 4, max_bytes=10_000)
    assert stopped.value.code == cover.MEMORY
    with pytest.raises(cover.CoverStopped) as stopped:
        cover.enumerate_states(packed, count, 4, seconds=0.0)
    assert stopped.value.code == cover.TIME
