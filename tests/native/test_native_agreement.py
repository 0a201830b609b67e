"""On problems too large for brute force, all searches, kernels, caches and thread counts find the same value."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from native_brute import by_leaves, class_cost

from treeml.native.solver import Found, SearchLimits, Solver, library
from treeml.native.solver_input import ClassCosts, Conditions, Labels, LeafCosts, Targets

VARIANTS: tuple[dict[str, int], ...] = (
    {"general": 1},
    {"kernel": 1},
    {"kernel": 2},
    {"kernel": 3},
    {"kernel": 4},
    {"threads": 4},
    {"threads": 2, "cache_kind": 0},
    {"cache_kind": 0},
    {"cache_kind": 2},
    {"cache": 20},
    {"cache": 50, "cache_kind": 3, "wipe": 1},
    {"cache": 1, "threads": 2},
    {"cache": 20, "wipe": 3, "wipe_share": 10},
    {"cache_kind": 3},
    {"cache_kind": 4},
    {"cache_kind": 4, "general": 1},
    {"cache_kind": 4, "threads": 2, "cache": 50},
    {"similarity": 0},
    {"small_side": 0, "dynamic": 0},
    {"unavoidable": 0},
    {"archive": 16},
    {"deepening": 0},
    {"neighbours": 0},
    {"neighbours": 1},
    {"climb": 0},
    {"climb": 1},
    {"climb": 1, "threads": 2},
    {"climb": 1, "cache_kind": 0},
    {"memory": 1 << 21},
    {"memory": 1 << 21, "cache_kind": 3, "wipe": 1},
    {"memory": 1 << 21, "wipe": 2},
)


def data(seed: int, tests: int, rows: int) -> tuple[np.random.Generator, np.ndarray]:
    random = np.random.default_rng(seed)
    hidden = random.random((4, rows)) < 0.5
    noise = random.random((tests, rows)) < 0.25
    return random, (hidden[random.integers(0, 4, tests)] ^ noise).astype(np.uint8)


def goals(random: np.random.Generator, bits: np.ndarray) -> dict[str, LeafCosts]:
    rows = bits.shape[1]
    labels = ((bits[0] & bits[1]) | bits[2]) ^ (random.random(rows) < 0.15)
    three = (bits[0].astype(int) + bits[3] + (random.random(rows) < 0.2)) % 3
    return {
        "two classes": Labels(labels, 2),
        "small weights": Labels(labels, 2, random.integers(0, 7, rows)),
        "large weights": Labels(labels, 2, random.integers(0, 10**6, rows)),
        "huge weights": Labels(labels, 2, random.integers(0, 10**13, rows)),
        "three classes": Labels(three, 3),
        "weighted classes": Labels(three, 3, random.integers(1, 50, rows)),
        "costs": ClassCosts(random.integers(0, 20, (rows, 3))),
        "squared": Targets((10 * labels + random.integers(0, 9, rows))[:, None], "squared"),
        "clusters": Targets(random.integers(0, 30, (rows, 2)) + 9 * three[:, None], "squared"),
    }


KINDS = tuple(goals(*data(0, 6, 10)))


def kernel_is_there(options: dict[str, int]) -> bool:
    probe = Solver(np.array([[0, 1]], dtype=np.uint8), Labels([0, 1], 2))
    try:
        probe.solve(depth=1, options=options)
    except ValueError:
        return False
    return True


def close(one: Found, other: Found) -> bool:
    assert one.value is not None
    assert other.value is not None
    return abs(one.value - other.value) <= one.tolerance + other.tolerance


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_variants_agree(kind: str, options: dict[str, int]) -> None:
    if "kernel" in options and not kernel_is_there(options):
        pytest.skip("this processor lacks the kernel")
    for seed, (tests, rows, depth) in enumerate([(9, 150, 3), (40, 90, 3), (9, 700, 4)]):
        if "general" in options and tests > 9:
            continue
        random, bits = data(100 + seed, tests, rows)
        solver = Solver(bits, goals(random, bits)[kind])
        plain = solver.solve(depth=depth)
        other = solver.solve(depth=depth, options=options)
        assert plain.status == other.status == "optimal"
        assert close(plain, other)


@pytest.mark.parametrize("kernel", [1, 2, 3, 4])
@pytest.mark.parametrize("largest", [10**6, 10**8, 2**40], ids=str)
def test_heavy_rows_agree_with_the_general_search(kernel: int, largest: int) -> None:
    """Lanes of 32 and 64 bits and the switch between them, several chunks of rows, unused lanes."""
    if not kernel_is_there({"kernel": kernel}):
        pytest.skip("this processor lacks the kernel")
    for seed, (tests, rows, depth) in enumerate([(5, 40, 4), (19, 300, 3), (70, 150, 2), (33, 1100, 2)]):
        random, bits = data(700 + seed, tests, rows)
        weight = random.integers(1, largest, rows)
        solver = Solver(bits, Labels(random.integers(0, 2, rows), 2, weight))
        found = solver.solve(depth=depth, options={"kernel": kernel})
        assert found.status == "optimal"
        assert found.value == solver.solve(depth=depth, options={"general": 1}).value


@pytest.mark.parametrize("kernel", [1, 2, 3, 4])
@pytest.mark.parametrize("share", [0.5, 0.999, 1.001, 1.999, 2.001], ids=str)
def test_sums_about_the_widths_of_lanes(kernel: int, share: float) -> None:
    """Twice a sum may overflow a lane; the final result must still be correct."""
    if not kernel_is_there({"kernel": kernel}):
        pytest.skip("this processor lacks the kernel")
    for seed in range(8):
        random, bits = data(200 + seed, 7, 40)
        weight = random.integers(900, 1000, 40)
        weight = weight * int(share * 2**30) // int(weight.sum())
        labels = random.integers(0, 2, 40)
        solver = Solver(bits, Labels(labels, 2, weight))
        found = solver.solve(depth=3, options={"kernel": kernel})
        assert found.value == solver.solve(depth=3, options={"general": 1}).value


@pytest.mark.parametrize("kind", ["two classes", "small weights", "three classes", "squared"])
def test_support_and_price_agree_with_the_general_search(kind: str) -> None:
    for seed in range(3):
        random, bits = data(200 + seed, 8, 120)
        for price, support in ((0, 15), (3, 1), (2, 10)):
            solver = Solver(bits, goals(random, bits)[kind])
            plain = solver.solve(depth=3, leaf_price=price, support=support)
            general = solver.solve(depth=3, leaf_price=price, support=support, options={"general": 1})
            assert close(plain, general)


@pytest.mark.parametrize("kernel", [1, 2, 3])
@pytest.mark.parametrize("largest", [1, 100, 2**17, 2**18, 2**19, 2**40], ids=str)
def test_squared_loss_about_the_sizes_that_fit_in_one_number(kernel: int, largest: int) -> None:
    if not kernel_is_there({"kernel": kernel}):
        pytest.skip("this processor has no such kernel")
    for seed, heaviest in ((0, 1), (1, 2), (2, 40), (3, 10**6)):
        random, bits = data(600 + seed, 19, 150)  # tests beyond one vector, rows beyond two chunks
        targets = largest * (bits[0] ^ bits[17]).astype(np.int64) - random.integers(0, largest + 1, 150)
        weight = None if heaviest == 1 else random.integers(0, heaviest, 150)
        solver = Solver(bits, Targets(targets[:, None], "squared", weight=weight))
        for price in (0, 1, largest):
            general = solver.solve(depth=3, leaf_price=price, options={"general": 1})
            found = solver.solve(depth=3, leaf_price=price, options={"kernel": kernel})
            assert found.status == general.status == "optimal"
            assert close(found, general), (seed, price)


@pytest.mark.parametrize("kernel", [1, 2, 3])
@pytest.mark.parametrize("tests", [9, 34])
@pytest.mark.parametrize("largest", [1, 50, 2**12, 2**14, 2**15, 2**16, 2**19], ids=str)
def test_squared_loss_from_sums_that_passes_share(kernel: int, tests: int, largest: int) -> None:
    """Sides of 64 rows and more, with sums that fit in one number for all rows, for 64 of them, or for none."""
    if not kernel_is_there({"kernel": kernel}):
        pytest.skip("this processor has no such kernel")
    for seed, heaviest in ((0, 1), (1, 3), (2, 40)):
        random, bits = data(700 + seed, tests, 420)
        targets = largest * (bits[0] & bits[tests - 1]).astype(np.int64) - random.integers(0, largest + 1, 420)
        weight = None if heaviest == 1 else random.integers(0, heaviest, 420)
        solver = Solver(bits, Targets(targets[:, None], "squared", weight=weight))
        general = solver.solve(depth=3, options={"general": 1})
        for options in ({}, {"small_side": 0}, {"order": 0}, {"similarity": 0}, {"memory": 1 << 20}):
            found = solver.solve(depth=3, options={"kernel": kernel, **options})
            assert found.status == general.status == "optimal"
            assert close(found, general), (seed, options)
    if tests == 9:
        assert close(solver.solve(depth=4, options={"kernel": kernel}), solver.solve(depth=4, options={"general": 1}))


@pytest.mark.parametrize("kernel", [1, 2, 3])
@pytest.mark.parametrize(("rows", "supports"), [(150, (2, 7, 30, 76, 151)), (33_000, (40, 12_000, 33_001))], ids=str)
def test_support_in_all_kernels(kernel: int, rows: int, supports: tuple[int, ...]) -> None:
    """Lanes of 16 and of 32 bits; bounds that allow several leaves, one leaf and no leaf."""
    if not kernel_is_there({"kernel": kernel}):
        pytest.skip("this processor lacks the kernel")
    random, bits = data(70, 9, rows)
    labels = (bits[0] & bits[1]) ^ (random.random(rows) < 0.2)
    solver = Solver(bits, Labels(labels, 2), Conditions(count=np.ones(rows, dtype=np.int64)))
    for support in supports:
        for price in (0, 2):
            general = solver.solve(depth=3, support=support, leaf_price=price, options={"general": 1})
            found = solver.solve(depth=3, support=support, leaf_price=price, options={"kernel": kernel})
            assert (found.status, found.value) == (general.status, general.value)


def test_leaves_on_more_rows() -> None:
    for seed in range(3):
        random, bits = data(600 + seed, 6, 70)
        given = goals(random, bits)["three classes" if seed % 2 else "small weights"]
        assert isinstance(given, Labels)
        cost = (given.labels[:, None] != np.arange(given.classes)[None, :]).astype(np.int64)
        cost = cost * (np.ones(70, dtype=np.int64) if given.weight is None else given.weight)[:, None]
        expected = by_leaves(bits, class_cost(cost), 4)
        solver = Solver(bits, given)
        for options in ({}, {"cache_kind": 0}, {"cache_kind": 3}, {"similarity": 0, "deepening": 0}):
            for leaves in (2, 3, 5, 7, 9, 12):
                found = solver.solve(depth=4, leaves=leaves, options=options)
                assert found.status == "optimal"
                assert found.leaves <= leaves
                assert found.depth <= 4
                assert found.value == min(value for size, value in expected.items() if size <= leaves)


def test_no_depth_limit() -> None:
    random, bits = data(300, 7, 60)
    for support in (1, 9):
        for given in goals(random, bits).values():
            solver = Solver(bits, given)
            free, deep = solver.solve(support=support), solver.solve(support=support, depth=7)
            assert free.status == "optimal"
            assert close(free, deep)


@pytest.mark.parametrize("heaviest", [1, 3, 1000, 30_000, 10**6, 10**12], ids=str)
@pytest.mark.parametrize("kernel", [1, 2, 3, 4])
def test_prices_without_a_depth(kernel: int, heaviest: int) -> None:
    # Prices from nothing to more than the data are worth, with weights about the widths of the lanes.
    for seed in range(8):
        random, bits = data(seed, 7, 60)
        noise = random.random(60) < 0.2
        weight = random.integers(1, heaviest + 1, 60)
        solver = Solver(bits, Labels((bits[0] ^ bits[1]) ^ noise, 2, weight))
        whole = int(weight.sum())
        for price in sorted({0, 1, *(max(1, whole // part) for part in (300, 60, 25, 10, 4, 1))}):
            general = solver.solve(leaf_price=price, options={"general": 1})
            for options in ({"kernel": kernel}, {"kernel": kernel, "cache_kind": 2}, {"kernel": kernel, "cache": 9}):
                if kernel_is_there(options):
                    found = solver.solve(leaf_price=price, options=options)
                    assert (found.status, found.value) == ("optimal", general.value), (seed, price, options)


def test_prices_without_a_depth_agree_with_all_trees() -> None:
    for seed in range(12):
        random, bits = data(seed, 4, 14)
        cost = random.integers(0, 9, (14, 2))
        solver = Solver(bits, ClassCosts(cost))
        for price in (1, 2, 3, 5, 8):
            truth = min(by_leaves(bits, class_cost(cost), 4, price=price).values())
            assert solver.solve(leaf_price=price).value == truth


def test_levels_are_those_of_single_searches() -> None:
    random, bits = data(400, 7, 80)
    targets = random.integers(0, 100, (80, 1))
    levels = [Fraction(i, 10) for i in range(1, 10)]
    together = Solver(bits, Targets(targets, "quantile", levels)).solve_levels(SearchLimits(depth=2))
    alone = [Solver(bits, Targets(targets, "quantile", [level])).solve(depth=2) for level in levels]
    assert [found.value for found in together] == [found.value for found in alone]
    assert all(found.status == "optimal" for found in together)


def test_environment_forces_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    _, bits = data(500, 6, 40)
    solver = Solver(bits, Labels(bits[0] ^ bits[1], 2))
    monkeypatch.setenv("TREEML_KERNEL", "portable")
    assert solver.solve(depth=2).kernel == "portable"
    monkeypatch.setenv("TREEML_KERNEL", "nonsense")
    with pytest.raises(ValueError, match="cannot run the kernel"):
        solver.solve(depth=2)


def test_the_library_says_its_version() -> None:
    assert library().treeml_version().decode().count(".") == 2
