"""Bad input gives an error with a message; failing allocations, raising callbacks and limits do no damage."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from treeml.native import loader
from treeml.native.solver import NativeError, Solver, library, options
from treeml.native.solver_input import ClassCosts, CostOfRows, Labels, LeafCosts, Targets

FOLDER = Path(loader.__file__).parent
BITS = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint8)
LABELS = np.array([0, 1, 1, 0])


def wide(rows: int = 300, tests: int = 40) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(7)
    bits = (random.random((tests, rows)) < 0.5).astype(np.uint8)
    return bits, random.integers(0, 2, rows)


def test_null_pointers() -> None:
    native = library()
    for name in ("treeml_solve", "treeml_status", "treeml_value", "treeml_nodes", "treeml_destroy", "treeml_interrupt"):
        getattr(native, name)(None)
    handle = native.treeml_create()
    try:
        assert native.treeml_tests(handle, None, 2, 4, None) == 1
        assert native.treeml_solve(handle) == 5
        assert native.treeml_message(handle) == b"treeml_tests must come first"
        assert native.treeml_labels(handle, None, 2, None) == 5
        assert native.treeml_packed_tests(handle, None, 2, 4, None) == 1
        assert native.treeml_packed_tests(handle, np.array([3, 16], dtype=np.uint64), 2, 4, None) == 1
        assert native.treeml_message(handle) == b"test 1 has a bit beyond the last row"
        assert native.treeml_tests(handle, BITS, 2, 4, None) == 0
        assert native.treeml_labels(handle, None, 2, None) == 1
        assert native.treeml_solve(handle) == 5
        assert native.treeml_set(handle, None, 1) == 1
        assert native.treeml_tree(handle, None, None, None, None) == 1
    finally:
        native.treeml_destroy(handle)


def test_shapes_and_values_are_checked() -> None:
    with pytest.raises(ValueError, match="at least one row"):
        Solver(np.zeros((2, 0), dtype=np.uint8), Labels(np.zeros(0, dtype=int), 2))
    with pytest.raises(ValueError, match="other than 0 and 1"):
        Solver(2 * BITS, Labels(LABELS, 2))
    with pytest.raises(ValueError, match="not one of 2 classes"):
        Solver(BITS, Labels(LABELS + 1, 2))
    with pytest.raises(ValueError, match="negative weight"):
        Solver(BITS, Labels(LABELS, 2, [1, 1, -1, 1]))
    with pytest.raises(TypeError, match="costs must be one of the kinds of LeafCosts"):
        Solver(BITS, LABELS)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="whole numbers"):
        Solver(BITS, ClassCosts(np.ones((4, 2))))
    with pytest.raises(ValueError, match="no option 'speed'"):
        Solver(BITS, Labels(LABELS, 2)).solve(depth=2, options={"speed": 9})
    with pytest.raises(ValueError, match="takes values from"):
        Solver(BITS, Labels(LABELS, 2)).solve(depth=-1)
    with pytest.raises(ValueError, match="start tree"):
        Solver(BITS, Labels(LABELS, 2)).solve(depth=2, start=([0], [0], [0]))


def test_sums_that_overflow() -> None:
    with pytest.raises(OverflowError, match="too large"):
        Solver(BITS, Labels(LABELS, 2, np.full(4, 2**61)))
    with pytest.raises(OverflowError, match="too large"):
        Solver(BITS, ClassCosts(np.full((4, 2), 2**60)))
    with pytest.raises(OverflowError, match="too large"):
        Solver(BITS, Targets(np.full((4, 1), 2**59), "absolute"))


def test_one_class_constant_tests_and_one_row() -> None:
    assert Solver(BITS, Labels([0, 0, 0, 0], 1)).solve(depth=3).leaves == 1
    assert Solver(np.ones((3, 4), dtype=np.uint8), Labels(LABELS, 2)).solve(depth=3).value == 2
    assert Solver(np.ones((1, 1), dtype=np.uint8), Labels([1], 2)).solve(depth=3).predict(np.ones((1, 1)))[0] == 1
    assert Solver(np.zeros((0, 4), dtype=np.uint8), Labels(LABELS, 2)).solve(depth=3).value == 2


def test_a_hundred_thousand_features() -> None:
    random = np.random.default_rng(0)
    bits = (random.random((100_000, 40)) < 0.5).astype(np.uint8)
    found = Solver(bits, Labels(bits[77_777], 2)).solve(depth=1)
    assert (found.status, found.value) == ("optimal", 0)
    found = Solver(bits, Labels(random.integers(0, 2, 40), 2)).solve(depth=3, seconds=0.2)
    assert found.value is not None


def test_a_callback_that_raises_or_returns_nan() -> None:
    def raises(sets: list[np.ndarray]) -> list[float]:
        if len(sets) > 1:
            raise KeyError("mine")
        return [1.0]

    with pytest.raises(KeyError, match="mine"):
        Solver(BITS, CostOfRows(raises)).solve(depth=2)
    with pytest.raises(NativeError, match="NaN"):
        Solver(BITS, CostOfRows(lambda sets: [float("nan")] * len(sets))).solve(depth=2)
    with pytest.raises(NativeError, match="not a usable number"):
        Solver(BITS, CostOfRows(lambda sets: [1.0 if len(rows) == 4 else float("nan") for rows in sets])).solve(depth=2)
    with pytest.raises(NativeError, match="negative"):
        Solver(BITS, CostOfRows(lambda sets: [len(rows) - 3.0 for rows in sets])).solve(
            depth=2, options={"nonnegative": 1}
        )
    solver = Solver(BITS, Labels(LABELS, 2))
    with pytest.raises(ZeroDivisionError):
        solver.solve(depth=2, on_progress=lambda *_: 1 / 0 > 0)
    assert solver.solve(depth=2).value == 0


def test_progress_can_stop_the_search() -> None:
    bits, labels = wide()
    seen = []

    def watch(seconds: float, value: object, bound: object) -> bool:
        seen.append((value, bound))
        return False

    found = Solver(bits, Labels(labels, 2)).solve(depth=5, on_progress=watch)
    assert (found.status, found.stop) == ("feasible", "interrupted")
    assert seen
    assert found.value is not None
    assert found.bound is not None
    assert found.bound <= found.value
    assert int((found.predict(bits) != labels).sum()) == found.value


@pytest.mark.parametrize("options", [{}, {"general": 1}, {"cache_kind": 0}, {"threads": 2}, {"cache_kind": 3}], ids=str)
def test_a_stopped_search_has_a_tree_and_a_bound(options: dict[str, int]) -> None:
    bits, labels = wide()
    solver = Solver(bits, Labels(labels, 2))
    for seconds in (0, 0.001, 0.02):
        found = solver.solve(depth=6, seconds=seconds, options=options)
        assert (found.status, found.stop) == ("feasible", "time")
        assert found.value is not None
        assert found.bound is not None
        assert 0 <= found.bound <= found.value == int((found.predict(bits) != labels).sum())
        assert found.depth <= 6


def goal_of_each_kind(rows: int, labels: np.ndarray) -> list[LeafCosts]:
    random = np.random.default_rng(3)
    targets = random.integers(0, 9, (rows, 1))
    return [
        Labels(labels, 2),
        Labels(labels, 3, random.integers(1, 9, rows)),
        Targets(targets, "squared"),
        Targets(targets, "quantile", [Fraction(1, 4), Fraction(1, 2)]),
        CostOfRows(lambda sets: [float(len(members) % 7) for members in sets]),
    ]


@pytest.mark.parametrize(
    "extra", [{}, {"general": 1, "cache_kind": 3}, {"reversible": 1, "general": 1}, {"threads": 2}], ids=str
)
def test_every_allocation_may_fail(extra: dict[str, int]) -> None:
    bits, labels = wide(40, 6)
    native = library()
    for given in goal_of_each_kind(40, labels):
        solver = Solver(bits, given)
        whole = solver.solve(depth=4, options=extra)
        failures = 0
        for number in range(1, 400):
            try:
                found = solver.solve(depth=4, options={**extra, "fail_allocation": number})
            except MemoryError:
                failures += 1
                continue
            assert found.value is None or found.value >= whole.value
            if found.status == "optimal":
                assert found.value == whole.value
            if number > 50 and found.statistics["wipes"] == 0 and found.stop == "proved":
                break
        assert failures > 3
        assert solver.solve(depth=4, options=extra).value == whole.value
    handle = native.treeml_create()
    for number in range(1, 12):
        native.treeml_set(handle, b"fail_allocation", number)
        codes = [
            native.treeml_tests(handle, bits, 6, 40, None),
            native.treeml_labels(handle, labels.astype(np.int32), 2, None),
        ]
        assert all(code in (0, 2, 5) for code in codes)
    native.treeml_destroy(handle)


def test_memory_stays_within_its_limit() -> None:
    bits, labels = wide(200, 30)
    solver = Solver(bits, Labels(labels, 2))
    free = solver.solve(depth=5)
    bare = solver.solve(depth=4, options={"cache_kind": 0}).statistics["peak_memory"]
    for wipe in (0, 1, 2):
        for cache in (1, 2, 3):
            limit = int(bare) + 90_000
            found = solver.solve(depth=5, memory=limit, options={"wipe": wipe, "cache_kind": cache})
            assert found.value == free.value
            assert found.status == "optimal"
            assert found.statistics["peak_memory"] <= limit
            assert found.statistics["wipes"] > 0
    with pytest.raises(MemoryError):
        solver.solve(depth=4, memory=1 << 16)


def test_the_option_table_is_complete() -> None:
    table = options()
    assert {"depth", "support", "similarity", "cache", "threads"} <= set(table)
    assert all(low <= initial <= high and text for low, high, initial, text in table.values())
    value = ctypes.c_int64()
    handle = library().treeml_create()
    for name, (_, _, initial, _) in table.items():
        assert library().treeml_get(handle, name.encode(), ctypes.byref(value)) == 0
        assert value.value == initial
    library().treeml_destroy(handle)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_example_of_the_header_runs(tmp_path: Path) -> None:
    header = (FOLDER / "treeml.h").read_text()
    example = header.split("<example>")[1].split("</example>")[0]
    source = tmp_path / "example.c"
    source.write_text(f'#include "treeml.h"\n#include <stdio.h>\nint main (void) {{{example} return 0; }}\n')
    program = tmp_path / "example"
    found = loader.path()
    assert found is not None
    subprocess.run(
        ["cc", "-std=c11", f"-I{FOLDER}", str(source), str(found), f"-Wl,-rpath,{found.parent}", "-o", str(program)],
        check=True,
    )
    answer = subprocess.run([str(program)], check=True, capture_output=True, text=True)
    assert answer.stdout == "0 errors, bound 0, 7 nodes\n"
