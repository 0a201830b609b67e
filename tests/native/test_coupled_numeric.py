"""The search for coupled requirements over columns of numbers, against all trees of small random data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from treeml.native.coupled_numeric import CoupledNumeric, CoupledNumericFound

Random = np.random.Generator
Limits = Sequence[int | None]
Vector = tuple[int, ...]


def all_vectors(codes: Any, values: Any, count: Any, depth: int, support: int, price: int) -> set[Vector]:
    """Every (value, sums ..., leaves) of a tree, by definition: all columns, all cuts, all classes."""
    known: dict[tuple[tuple[int, ...], int], set[Vector]] = {}

    def below(rows: tuple[int, ...], levels: int) -> set[Vector]:
        if (rows, levels) in known:
            return known[rows, levels]
        found: set[Vector] = set()
        if sum(int(count[row]) for row in rows) >= support:
            for label in range(values.shape[2]):
                totals = [int(values[j, list(rows), label].sum()) for j in range(len(values))]
                found.add((totals[0] + price, *totals[1:], 1))
        for column in codes if levels else ():
            for cut in sorted({int(column[row]) for row in rows})[:-1]:
                sides = [tuple(row for row in rows if (column[row] <= cut) == side) for side in (True, False)]
                one, two = (below(side, levels - 1) for side in sides)
                found |= {tuple(a + b for a, b in zip(x, y, strict=True)) for x in one for y in two}
        known[rows, levels] = found
        return found

    return below(tuple(range(values.shape[1])), depth)


def best_of(vectors: set[Vector], low: Limits, high: Limits, leaves: int | None) -> int | None:
    values = [
        vector[0]
        for vector in vectors
        if (leaves is None or vector[-1] <= leaves)
        and all(
            (least is None or total >= least) and (most is None or total <= most)
            for total, least, most in zip(vector[1:-1], low, high, strict=True)
        )
    ]
    return min(values, default=None)


def check(found: CoupledNumericFound, codes: Any, values: Any, count: Any, limits: dict[str, Any]) -> None:
    """The tree keeps all limits and has the value and the sums that are claimed."""
    rows = values.shape[1]
    node = np.zeros(rows, dtype=np.int64)
    level = np.zeros(len(found.feature), dtype=np.int64)
    for at, feature in enumerate(found.feature):
        here = node == at
        if feature >= 0:
            node[here] = np.where(codes[feature, here] <= found.cut[at], found.left[at], found.right[at])
            level[found.left[at]] = level[found.right[at]] = level[at] + 1
        else:
            assert count[here].sum() >= limits["support"]
    leaves = int(np.count_nonzero(found.feature < 0))
    assert level.max() <= limits["depth"]
    assert limits["leaves"] is None or leaves <= limits["leaves"]
    label = found.label[node]
    totals = values[:, np.arange(rows), label].sum(axis=1).tolist()
    assert found.value == totals[0] + limits["price"] * leaves
    assert found.sums == tuple(totals[1:])


def limits_of(random: Random, vectors: list[Vector], sums: int) -> tuple[list[int | None], list[int | None]]:
    """Limits near sums that exist, so that they matter and can often be kept."""
    low: list[int | None] = []
    high: list[int | None] = []
    for place in range(sums):
        middle = vectors[random.integers(len(vectors))][1 + place]
        width = int(random.choice([0, 0, 1, 2, 7]))
        kind = int(random.integers(4))
        low.append(None if kind == 0 else middle - width)
        high.append(None if kind == 1 else middle + int(random.integers(0, 2)) * width)
        if kind == 2:
            low[-1] = high[-1] = middle + int(random.integers(-1, 2))
    return low, high


def case(seed: int) -> None:
    random = np.random.default_rng(seed)
    depth, classes = int(random.choice([0, 1, 2, 2, 3, 3, 4, 5])), int(random.choice([1, 2, 2, 2, 3]))
    columns, rows = int(random.integers(0, 4)), int(random.integers(1, 8 if depth > 2 else 12))
    sums, spread = int(random.choice([0, 1, 1, 1, 2, 3])), int(random.choice([1, 1, 3, 40, 10**8]))
    codes = np.stack([random.integers(0, random.choice([2, 4, 12]), rows) for _ in range(columns)] or [[]])
    codes = codes.reshape(columns, rows).astype(np.int32)
    least = -spread if random.integers(3) == 0 else 0
    values = random.integers(least, spread + 1, (1 + sums, rows, classes))
    count = random.integers(0, 4, rows) if random.integers(3) == 0 else np.ones(rows, dtype=np.int64)
    support, price = int(random.choice([1, 1, 2, 3])), int(random.choice([0, 0, 1, 3]))
    vectors = all_vectors(codes, values, count, depth, support, price)
    solver = CoupledNumeric(codes, values, count=count)
    for _ in range(2):
        low, high = limits_of(random, sorted(vectors), sums) if vectors else ([0] * sums, [0] * sums)
        leaves = int(random.integers(1, 6)) if random.integers(3) == 0 else None
        wanted, upper = best_of(vectors, low, high, leaves), None
        if random.integers(4) == 0 and wanted is not None:
            upper = wanted + int(random.integers(-1, 2))
            wanted = wanted if wanted <= upper else None
        options = {"kernel": int(random.integers(0, 2))}  # the best one of this processor, or the portable one
        settings: dict[str, Any] = {"depth": depth, "support": support, "leaves": leaves, "leaf_price": price}
        threads = int(random.choice([1, 1, 2, 3]))
        found = solver.solve(low, high, **settings, upper=upper, threads=threads, options=options)
        assert found.stop == "proved"
        assert (found.status, found.value) == ("infeasible" if wanted is None else "optimal", wanted), (low, high)
        if wanted is None:
            assert len(found.feature) == 0
            continue
        assert found.bound == wanted
        check(found, codes, values, count, {**settings, "price": price})


@pytest.mark.parametrize("block", range(6))
def test_random_data_against_all_trees(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        case(seed)


@pytest.mark.slow
def test_much_random_data_against_all_trees() -> None:
    for seed in range(1000, 6000):
        case(seed)


def ward(rows: int = 300) -> tuple[Any, Any, list[int]]:
    """Codes, values (false alarms, hits) and the least number of hits."""
    random = np.random.default_rng(5)
    columns = [random.integers(0, size, rows) for size in (70, 120, 200, 2, 3)]
    sick = columns[0] + 0.4 * columns[1] + 20 * (columns[4] == 1) + random.normal(0, 20, rows) > 75
    values = np.zeros((2, rows, 2), dtype=np.int64)
    values[0, ~sick, 1] = values[1, sick, 1] = 1
    return np.stack(columns).astype(np.int32), values, [int(0.95 * sick.sum())]


def test_more_depth_and_more_leaves_never_cost_more() -> None:
    codes, values, low = ward()
    solver = CoupledNumeric(codes, values)
    found = [solver.solve(low, [None], depth=depth, support=10) for depth in range(4)]
    assert [each.status for each in found] == ["optimal"] * 4
    costs = [each.value for each in found]
    assert costs == sorted(costs, reverse=True)  # type: ignore[type-var]
    assert costs[3] < costs[1]  # type: ignore[operator]
    by_leaves = [solver.solve(low, [None], depth=3, leaves=leaves, support=10).value for leaves in (1, 2, 3, 5, 8)]
    assert by_leaves == sorted(by_leaves, reverse=True)  # type: ignore[type-var]
    assert by_leaves[0] == costs[0]
    assert by_leaves[-1] == costs[3]


def test_kernels_of_all_instruction_sets_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, values, low = ward(120)
    solver = CoupledNumeric(codes, values)
    best = solver.solve(low, [None], depth=3, support=4)
    names = set()
    for name in ("portable", "avx2", "avx512"):
        monkeypatch.setenv("TREEML_KERNEL", name)
        try:
            found = solver.solve(low, [None], depth=3, support=4)
        except ValueError:
            continue  # this processor cannot run it
        names.add(found.kernel)
        assert (found.value, found.statistics["lists"]) == (best.value, best.statistics["lists"])
    assert "portable" in names


def test_a_search_without_a_depth_finds_trees_and_can_be_stopped() -> None:
    codes, values, low = ward()
    solver = CoupledNumeric(codes, values)
    three = solver.solve(low, [None], leaves=3, support=10)
    assert three.status == "optimal"
    wanted = three.value or 0
    seen: list[tuple[int | None, int | None]] = []

    def better(_seconds: float, value: int | None, bound: int | None) -> bool:
        seen.append((value, bound))
        return value is None or value >= wanted

    found = solver.solve(low, [None], leaves=6, support=10, on_progress=better, options={"poll_milliseconds": 1})
    assert (found.status, found.stop) == ("feasible", "interrupted")
    assert found.value is not None
    assert found.value < wanted
    assert found.bound is not None
    assert found.bound <= found.value
    assert seen


def test_a_start_counts_even_without_time_and_an_unfit_one_does_not() -> None:
    codes, values, low = ward()
    solver = CoupledNumeric(codes, values)
    best = solver.solve(low, [None], depth=2, support=10)
    start = (best.feature, best.cut, best.left, best.right, best.label)
    again = solver.solve(low, [None], depth=2, support=10, seconds=0, start=start)
    assert (again.status, again.stop, again.value) == ("feasible", "time", best.value)
    unfit = solver.solve([10**6], [None], depth=2, support=10, start=start)
    assert unfit.status == "infeasible"
    assert solver.solve(low, [None], depth=1, support=10, seconds=0, start=start).status == "unknown"
    proved = solver.solve(low, [None], depth=2, support=10, start=start, lower=best.value)
    assert (proved.status, proved.value) == ("optimal", best.value)


def test_enough_ends_the_search() -> None:
    codes, values, low = ward()
    found = CoupledNumeric(codes, values).solve(low, [None], depth=3, support=10, options={"enough": 10**6})
    assert (found.status, found.stop) == ("feasible", "enough")


@pytest.mark.parametrize("threads", [2, 5])
def test_several_threads_find_the_same_value(threads: int) -> None:
    codes, values, low = ward(80)
    solver = CoupledNumeric(codes, values)
    for limits in ({"depth": 3, "support": 5}, {"leaves": 5, "depth": 4, "support": 12}):
        alone, together = (solver.solve(low, [None], **limits, threads=number) for number in (1, threads))
        assert (together.status, together.value, together.bound) == (alone.status, alone.value, alone.bound)
        check(together, codes, values, np.ones(80, dtype=np.int64), {"leaves": None, **limits, "price": 0})


def test_memory_is_limited_and_every_allocation_may_fail() -> None:
    codes, values, low = ward(40)
    solver = CoupledNumeric(codes, values)
    best = solver.solve(low, [None], depth=3, support=3)
    short = solver.solve(low, [None], depth=3, support=3, memory=2**16)
    assert (short.status, short.stop) == ("feasible", "memory")  # a single leaf needs hardly any
    assert solver.solve(low, [None], depth=3, support=3, memory=2**17, threads=4).stop == "memory"
    ends = set()
    for allocation in [*range(1, 60), *range(60, 4000, 97)]:
        try:
            settings = {"depth": 3, "support": 3, "threads": 1 + allocation % 2}
            found = solver.solve(low, [None], **settings, options={"fail_allocation": allocation})
        except MemoryError:
            ends.add("refused")
            continue
        ends.add(found.stop)
        assert found.stop in ("memory", "proved")
        assert found.stop == "memory" or found.value == best.value
    assert ends == {"refused", "memory", "proved"}


@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_in_the_listener_comes_out(threads: int) -> None:
    codes, values, low = ward()

    def fails(*_: Any) -> bool:
        raise KeyError("listener")

    with pytest.raises(KeyError, match="listener"):
        CoupledNumeric(codes, values).solve(
            low, [None], depth=4, threads=threads, on_progress=fails, options={"poll_milliseconds": 1}
        )


def test_wrong_input_is_refused() -> None:
    codes, values = np.zeros((1, 4), dtype=np.int32), np.zeros((2, 4, 2), dtype=np.int64)
    with pytest.raises(ValueError, match="codes must be features x rows"):
        CoupledNumeric(codes[0], values)
    with pytest.raises(ValueError, match="negative"):
        CoupledNumeric(codes - 1, values)
    with pytest.raises(ValueError, match="counts"):
        CoupledNumeric(codes, values, count=[1, 1, 1, -1])
    with pytest.raises(ValueError, match="classes"):
        CoupledNumeric(codes, np.zeros((2, 4, 13), dtype=np.int64))
    with pytest.raises(OverflowError, match="2\\^50"):
        CoupledNumeric(codes, values + 2**49)
    solver = CoupledNumeric(codes, values)
    with pytest.raises(ValueError, match="need 1 limits"):
        solver.solve([], [], depth=1)
    with pytest.raises(ValueError, match="no option"):
        solver.solve([None], [None], depth=1, options={"nonsense": 1})
    with pytest.raises(ValueError, match="node 0 of the start tree is invalid"):
        solver.solve([None], [None], depth=1, start=([0], [0], [0], [0], [-1]))
    for mark in (-2, -(2**31)):  # only -1 marks a leaf; anything else came back as the column of the answer
        with pytest.raises(ValueError, match="node 0 of the start tree is invalid"):
            solver.solve([None], [None], depth=1, seconds=0, start=([mark], [0], [-1], [-1], [0]))
    solver.close()
    with pytest.raises(ValueError, match="closed"):
        solver.solve([None], [None], depth=1)
