"""The search for coupled requirements against all trees of small random data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from treeml.native.coupled import Coupled, CoupledFound

Random = np.random.Generator
Limits = Sequence[int | None]


def all_vectors(
    bits: Any, values: Any, count: Any, depth: int, support: int, price: int, columns: Sequence[int] | None = None
) -> Any:
    """Every (value, sums ..., leaves) of a tree, by definition: all tests, all classes, all splits.

    With columns, no path tests a column twice.
    """
    rows = bits.shape[1]
    known: dict[tuple[int, int, frozenset[int]], Any] = {}
    sets = [sum(1 << int(row) for row in np.flatnonzero(test)) for test in bits]

    def below(members: int, levels: int, used: frozenset[int] = frozenset()) -> Any:
        if (members, levels, used) in known:
            return known[members, levels, used]
        inside = [row for row in range(rows) if members >> row & 1]
        found = []
        if sum(int(count[row]) for row in inside) >= support:
            totals = values[:, inside, :].sum(axis=1)
            for label in range(values.shape[2]):
                found.append([[*(int(total) for total in totals[:, label]), 1]])
                found[-1][0][0] += price
        for place, yes in enumerate(sets if levels else []):
            if columns is not None and columns[place] in used:
                continue
            path = used if columns is None else used | {columns[place]}
            first, second = below(members & yes, levels - 1, path), below(members & ~yes, levels - 1, path)
            if len(first) and len(second):
                found.append((first[:, None, :] + second[None, :, :]).reshape(-1, first.shape[1]))
        width = len(values) + 1
        result = np.unique(np.vstack(found), axis=0) if found else np.zeros((0, width), dtype=np.int64)
        known[members, levels, used] = result.astype(np.int64)
        return known[members, levels, used]

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
    columns = random.integers(-1, 2, tests).tolist() if random.integers(5) == 0 else None
    vectors = all_vectors(bits, values, count, depth, support, price, columns)
    solver = Coupled(bits, values, count=count, columns=columns)
    for _ in range(3):
        low, high = limits_of(random, vectors, sums) if len(vectors) else ([0] * sums, [0] * sums)
        leaves = int(random.integers(1, 6)) if random.integers(3) == 0 else None
        wanted = best_of(vectors, low, high, leaves)
        upper = None
        if random.integers(4) == 0 and wanted is not None:
            upper = wanted + int(random.integers(-1, 2))
            wanted = best_of(vectors, low, high, leaves, upper)
        found = solver.solve(
            low, high, depth=depth, support=support, leaves=leaves, leaf_price=price, upper=upper,
            threads=int(random.choice([1, 1, 2])),
            options={
                "kernel": int(random.choice([0, 1])), "table_memory": int(random.choice([0, 2**20])),
                "once": int(columns is not None),
                "early": int(random.integers(2)),
            },
        )  # fmt: skip
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


def narrow_case(seed: int) -> None:
    """More rows and tests, and narrow windows: most vectors of the lists are nearly, but not quite, dominated."""
    random = np.random.default_rng(seed)
    depth = int(random.choice([2, 3]))
    tests, rows = (int(random.integers(4, 9)), 24) if depth == 2 else (int(random.integers(3, 5)), 12)
    sums = int(random.choice([1, 1, 2]))
    bits = (random.random((tests, rows)) < 0.5).astype(np.uint8)
    values = random.integers(-4, 5, (1 + sums, rows, 2)).astype(np.int64)
    if random.integers(2):
        values[1:] *= random.integers(1, 3, (sums, rows, 2))
    count = np.ones(rows, dtype=np.int64)
    vectors = all_vectors(bits, values, count, depth, 1, 0)
    solver = Coupled(bits, values)
    for _ in range(4):
        middle = vectors[random.integers(len(vectors))]
        if random.integers(2):  # far out, where few trees are
            middle = vectors[np.argsort(vectors[:, 1])[-1 - int(random.integers(min(40, len(vectors))))]]
        low: list[int | None] = [int(middle[1 + j]) - int(random.integers(0, 4)) for j in range(sums)]
        high: list[int | None] = [int(middle[1 + j]) + int(random.integers(0, 4)) for j in range(sums)]
        if random.integers(4) == 0:
            high[-1] = None
        # Without early trees, the answer comes from the lists alone.
        found = solver.solve(low, high, depth=depth, options={"early": int(random.integers(4) == 0)})
        assert found.value == best_of(vectors, low, high, None)
        limits = {"depth": depth, "support": 1, "leaves": None, "price": 0, "low": low, "high": high}
        check(found, bits, values, count, limits)


def fair_data(seed: int = 3, tests: int = 12, rows: int = 200) -> tuple[Any, Any]:
    """Errors, and the difference of positive predictions between two groups that the label depends on."""
    random = np.random.default_rng(seed)
    bits = (random.random((tests, rows)) < 0.4).astype(np.uint8)
    group = (random.random(rows) < 0.4).astype(np.int64)
    label = ((bits[0] + bits[1] + 2 * group + random.random(rows)) > 1.6).astype(np.int64)
    values = np.zeros((2, rows, 2), dtype=np.int64)
    values[0, :, 0], values[0, :, 1] = label, 1 - label
    values[1, :, 1] = np.where(group == 1, rows - group.sum(), -group.sum())
    return bits, values


@pytest.mark.parametrize("block", range(8))
def test_random_data_against_all_trees(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        case(seed)


@pytest.mark.parametrize("block", range(4))
def test_narrow_windows_against_all_trees(block: int) -> None:
    for seed in range(25 * block, 25 * block + 25):
        narrow_case(seed)


def test_a_handle_is_solved_many_times_with_other_limits_and_values() -> None:
    bits, values = fair_data()
    solver = Coupled(bits, values)
    wide = solver.solve([-(10**9)], [10**9], depth=3)
    tight = solver.solve([-200], [200], depth=3)
    assert wide.status == tight.status == "optimal"
    assert wide.value is not None
    assert tight.value is not None
    assert wide.value < tight.value
    other = values.copy()
    other[0] *= 7
    solver.set_values(other)
    assert solver.solve([-200], [200], depth=3).value == 7 * tight.value
    solver.set_values(values)
    again = solver.solve([-200], [200], depth=3)
    fresh = Coupled(bits, values).solve([-200], [200], depth=3)
    assert (again.value, again.sums) == (fresh.value, fresh.sums)
    assert again.statistics["tables"] <= fresh.statistics["tables"]


def test_tables_are_kept_between_solves() -> None:
    bits, values = fair_data()
    solver = Coupled(bits, values)
    assert solver.solve([-200], [200], depth=3).statistics["tables"] > 0
    assert solver.solve([-300], [300], depth=3).statistics["tables"] == 0


def test_a_table_is_passed_over_once_for_every_multiplier() -> None:
    bits, values = fair_data()
    found = Coupled(bits, values).solve([-40], [40], depth=2)
    assert found.statistics["targets"] > 1
    most_multipliers = 24  # beside those of the dual bound, each of which is evaluated once
    assert found.statistics["passes"] <= found.statistics["evaluations"] + most_multipliers


def test_statistics_have_their_names() -> None:
    bits, values = fair_data()
    found = Coupled(bits, values).solve([-200], [200], depth=2)
    assert found.statistics["tests"] == len(bits)
    assert found.statistics["rows"] > 0
    assert found.statistics["solve_microseconds"] >= 0


def test_bounds_from_elsewhere_and_a_start_tree() -> None:
    bits, values = fair_data()
    solver = Coupled(bits, values)
    best = solver.solve([-200], [200], depth=3)
    assert best.value is not None
    tree = (best.test, best.left, best.right, best.label)
    done = solver.solve([-200], [200], depth=3, start=tree, lower=best.value)
    assert done.status == "optimal"
    assert done.statistics["evaluations"] == 0
    assert solver.solve([-200], [200], depth=3, upper=best.value - 1).status == "infeasible"
    started = solver.solve([-200], [200], depth=3, start=tree, seconds=0)
    assert (started.status, started.stop, started.value) == ("feasible", "time", best.value)
    enough = solver.solve([-200], [200], depth=3, start=tree, options={"enough": best.value + 1})
    assert (enough.status, enough.stop) == ("feasible", "enough")


def test_data_that_take_all_of_the_time_are_not_merged_to_the_end() -> None:
    bits, values = fair_data()
    solver = Coupled(bits, values)
    late = solver.solve([-200], [200], depth=3, seconds=0)
    assert (late.status, late.stop, late.value, late.bound) == ("unknown", "time", None, None)
    assert late.statistics["tests"] == 0
    solver.interrupt()
    stopped = solver.solve([-200], [200], depth=3)
    assert (stopped.status, stopped.stop) == ("unknown", "interrupted")
    assert solver.solve([-200], [200], depth=3).value == Coupled(bits, values).solve([-200], [200], depth=3).value


def test_forbidden_tests_are_not_used() -> None:
    bits, values = fair_data()
    forbidden = np.zeros(len(bits), dtype=np.uint8)
    used = set(Coupled(bits, values).solve([-200], [200], depth=3).test.tolist()) - {-1}
    forbidden[list(used)] = 1
    found = Coupled(bits, values, forbidden=forbidden).solve([-200], [200], depth=3)
    assert found.status == "optimal"
    assert not used & set(found.test.tolist())


def test_contradictory_limits_are_proved_infeasible() -> None:
    bits, values = fair_data()
    both = np.concatenate([values, -values[1:], values[1:] * 2])
    found = Coupled(bits, both).solve([50, None, None], [None, None, 99], depth=3)
    assert (found.status, found.stop, found.value, found.bound) == ("infeasible", "proved", None, None)
    assert Coupled(bits, both).solve([5, None, None], [4, None, None], depth=3).status == "infeasible"


def test_a_stopped_search_reports_a_tree_and_a_bound() -> None:
    bits, values = fair_data(tests=30, rows=400)
    best = Coupled(bits, values).solve([0], [0], depth=3).value
    seen: list[tuple[int | None, int | None]] = []

    def watch(seconds: float, value: int | None, bound: int | None) -> bool:
        seen.append((value, bound))
        return value is None  # the first tree is enough

    solver = Coupled(bits, values)
    found = solver.solve([0], [0], depth=3, on_progress=watch, options={"poll_milliseconds": 1})
    assert found.stop == "interrupted"
    assert found.status == "feasible"
    assert best is not None
    assert found.value is not None
    assert found.bound is not None
    assert found.bound <= best <= found.value
    with pytest.raises(ZeroDivisionError):
        solver.solve([0], [0], depth=3, on_progress=lambda *_: 1 // 0 == 0)


def test_memory_limits_and_failing_allocations_give_honest_answers() -> None:
    bits, values = fair_data(tests=10, rows=120)
    wanted = Coupled(bits, values).solve([-50], [50], depth=3)
    assert wanted.value is not None
    for number in range(1, 140, 3):
        solver = Coupled(bits, values)
        try:
            found = solver.solve([-50], [50], depth=3, options={"fail_allocation": number})
        except MemoryError:
            continue
        assert found.stop in ("proved", "memory")
        if found.stop == "proved":
            assert found.value == wanted.value
        assert found.value is None or found.value >= wanted.value
        assert found.bound is None or found.bound <= wanted.value
    small = Coupled(bits, values).solve([-50], [50], depth=3, memory=2**18)
    assert small.bound is None or small.bound <= wanted.value
    assert small.statistics["peak_memory"] <= 2**18


def test_tables_of_an_earlier_solve_make_way_for_a_memory_limit() -> None:
    bits, values = fair_data(tests=30, rows=300)
    solver = Coupled(bits, values)
    free = solver.solve([-200], [200], depth=4)
    limit = int(free.statistics["peak_memory"]) // 2
    tight = solver.solve([-200], [200], depth=4, memory=limit)
    assert (tight.status, tight.value) == (free.status, free.value)
    assert tight.statistics["peak_memory"] <= limit


def test_wrong_input_is_refused() -> None:
    bits, values = fair_data(tests=3, rows=20)
    with pytest.raises(OverflowError, match="2\\^58"):
        Coupled(bits, values * 2**57)
    with pytest.raises(ValueError, match="values must be"):
        Coupled(bits, values[0])
    with pytest.raises(ValueError, match="60 bounded sums and 32 classes"):
        Coupled(bits, np.zeros((62, 20, 2), dtype=np.int64))
    solver = Coupled(bits, values)
    with pytest.raises(ValueError, match="1 limits each"):
        solver.solve([], [], depth=2)
    with pytest.raises(ValueError, match="start tree"):
        solver.solve([None], [None], depth=2, start=([0], [0], [0], [0]))
    with pytest.raises(ValueError, match="no option"):
        solver.solve([None], [None], depth=2, options={"nonsense": 1})
    with pytest.raises(OverflowError, match="price"):
        solver.solve([None], [None], depth=2, leaf_price=2**57)
    solver.close()
    with pytest.raises(ValueError, match="closed"):
        solver.solve([None], [None], depth=2)
