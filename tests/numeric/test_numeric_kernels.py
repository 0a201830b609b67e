"""On tables too large for brute force, every instruction set, every cell width and every option agree."""

from __future__ import annotations

import numpy as np
import pytest

from treeml.native.numeric import NumericSolver, Outcome


def table(seed: int, rows: int = 700, columns: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Columns with different numbers of distinct values, and classes that depend on two of them, with some noise."""
    random = np.random.default_rng(seed)
    codes = np.array([random.integers(0, top, rows) for top in (rows * 2, rows // 3, 12, 2, rows)][:columns])
    edge = (codes[0] > rows) ^ (codes[1] * 3 > rows // 2)
    classes = edge.astype(np.int64) + 2 * (codes[2] > 8)
    noise = random.random(rows) < 0.15
    classes[noise] = random.integers(0, 4, noise.sum())
    return codes.astype(np.int32), classes.astype(np.int32)


def solve(
    codes: np.ndarray, labels: np.ndarray, classes: int, weight: np.ndarray | None = None, **options: int
) -> Outcome:
    solver = NumericSolver(codes)
    solver.labels(labels, classes, weight)
    solver.set(**options)
    return solver.solve()


VARIANTS = [
    {"kernel": 1},
    {"kernel": 2},
    {"cell": 32},
    {"cell": 64},
    {"threads": 2},
    {"lazy": 0},
    {"cross": 0},
    {"slack": 0},
    {"near": 0},
]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("classes", [2, 4])
def test_same_value(classes: int, options: dict[str, int]) -> None:
    codes, labels = table(classes)
    labels = labels % classes
    plain = solve(codes, labels, classes, depth=3)
    if options == {"kernel": 2} and "avx" not in plain.kernel:
        pytest.skip("this processor has no AVX2")
    other = solve(codes, labels, classes, depth=3, **options)
    assert plain.status == other.status == "optimal"
    assert plain.value == other.value == other.bound


@pytest.mark.parametrize("options", [{"near": 0}, {"threads": 3}, {"deepen": 0}, {"greedy": 0}, {"deepen": 1}], ids=str)
@pytest.mark.parametrize("classes", [2, 4])
def test_same_value_of_deep_trees(classes: int, options: dict[str, int]) -> None:
    """Deep enough for neighbor bounds, and for an initial search with a smaller depth."""
    codes, labels = table(classes + 10, rows=90, columns=4)
    weight = None if classes == 2 else np.random.default_rng(4).integers(1, 4, 90)
    plain = solve(codes, labels % classes, classes, weight, depth=4)
    other = solve(codes, labels % classes, classes, weight, depth=4, **options)
    assert plain.status == other.status == "optimal"
    assert plain.value == other.value == other.bound


@pytest.mark.parametrize("seed", range(24))
def test_what_was_learned_from_fewer_rows_changes_no_optimum(seed: int) -> None:
    """Depth three solves many sides that differ in few rows; without the memory of them, each begins anew."""
    random = np.random.default_rng(seed)
    rows, classes = int(random.integers(60, 260)), int(random.integers(2, 5))
    codes, labels = table(seed + 100, rows=rows, columns=int(random.integers(3, 6)))
    weight = random.integers(0, 6, rows) if seed % 3 == 0 else None
    options = {
        "depth": 3,
        "leaves": int(random.choice([4, 5, 7, 8])),
        "leaf_price": int(random.choice([0, 0, 1, 4])),
        "support": int(random.choice([1, 1, 2, 7])),
        "slack": int(random.choice([0, 50, 200])),
    }
    plain = solve(codes, labels % classes, classes, weight, **options)
    forgetful = solve(codes, labels % classes, classes, weight, **options, near=0)
    slow = solve(codes, labels % classes, classes, weight, **{**options, "slack": 0}, near=0, lazy=0, cross=0, greedy=0)
    together = solve(codes, labels % classes, classes, weight, **options, threads=2)
    assert plain.status == "optimal"
    assert plain.value == plain.bound == forgetful.value == slow.value == together.value


def test_weights_count_as_copies() -> None:
    codes, labels = table(7, rows=200)
    weight = np.random.default_rng(1).integers(0, 4, 200)
    copies = np.repeat(np.arange(200), weight)
    weighted = solve(codes, labels, 4, weight, depth=2)
    copied = solve(codes[:, copies], labels[copies], 4, depth=2)
    assert weighted.value == copied.value


@pytest.mark.parametrize("scale", [1, 10**5, 10**12])
def test_weights_of_any_size(scale: int) -> None:
    codes, labels = table(9, rows=300)
    weight = np.random.default_rng(2).integers(1, 5, 300)
    small = solve(codes, labels % 2, 2, weight, depth=3)
    large = solve(codes, labels % 2, 2, weight * scale, depth=3)
    assert small.value is not None
    assert large.value == small.value * scale


def test_columns_of_a_million_rows() -> None:
    random = np.random.default_rng(3)
    codes = random.permutation(1_000_000).astype(np.int32)[None, :]
    labels = (codes[0] > 654_321).astype(np.int32)
    outcome = solve(codes, labels, 2, depth=1)
    assert outcome.value == 0
    assert outcome.tree is not None
    assert outcome.tree.cut[0] == 654_321
