"""Arrays passed to C: type and layout do not change the answer; values that do not fit are refused, not truncated."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from ctypes import ArgumentError
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from treeml.native import border, cover
from treeml.native.numeric import FlatThresholdTree, NumericSolver
from treeml.native.roots import best_under_roots
from treeml.native.shallow import FlatShallowTree, Shallow
from treeml.native.solver import Solver
from treeml.native.solver_input import ClassCosts, Conditions, Labels, LeafCosts, Targets

RANDOM = np.random.default_rng(3)
ROWS, TESTS = 40, 6
BITS = RANDOM.random((TESTS, ROWS)) < 0.5
LABELS = RANDOM.integers(0, 3, ROWS)
COUNT = RANDOM.integers(1, 4, ROWS)
WEIGHT = RANDOM.integers(1, 6, ROWS)
COST = RANDOM.integers(0, 7, (ROWS, 3))
TARGETS = RANDOM.integers(0, 50, (ROWS, 2))
CODES = RANDOM.integers(0, 9, (4, ROWS))


def layouts(values: Any) -> Iterator[tuple[str, Any]]:
    """The same numbers in other types and layouts."""
    array = np.asarray(values)
    for kind in ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", ">i4", ">i8"):
        if array.min() >= 0 or not kind.startswith("u"):
            yield kind, array.astype(kind)
    yield "list", array.tolist()
    yield "Fortran", np.asfortranarray(array)
    yield "strided", np.repeat(array, 2, axis=-1)[..., ::2]
    yield "backwards", array[::-1].copy()[::-1]
    padded = np.zeros((*array.shape[:-1], array.shape[-1] + 3), dtype=array.dtype)
    padded[..., 1:-2] = array
    yield "part of another", padded[..., 1:-2]
    fixed = array.copy()
    fixed.flags.writeable = False
    yield "read-only", fixed
    yield "read-only, 32 bits", _read_only(array.astype(np.int32))
    odd = np.frombuffer(b"\0" + array.astype(np.int64).tobytes(), dtype=np.uint8)[1:].view(np.int64)
    yield "misaligned", odd.reshape(array.shape)


def _read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


def same(ask: Any, values: Any) -> None:
    """The answer does not depend on the layout, even with garbage collection in between."""
    expected = ask(np.ascontiguousarray(values))
    for name, given in layouts(values):
        gc.collect()
        found = ask(given)
        assert np.array_equal(found, expected), name


@pytest.mark.parametrize("argument", ["labels", "weight", "count", "cost", "targets", "columns", "column_cost"])
def test_solver(argument: str) -> None:
    values = {
        "labels": LABELS, "weight": WEIGHT, "count": COUNT, "cost": COST, "targets": TARGETS,
        "columns": np.arange(TESTS), "column_cost": np.arange(TESTS) + 1,
    }[argument]  # fmt: skip

    def ask(given: Any) -> Any:
        costs: LeafCosts = Labels(LABELS)
        conditions = Conditions()
        if argument == "cost":
            costs = ClassCosts(given)
        elif argument == "targets":
            costs = Targets(given)
        elif argument in ("labels", "weight"):
            costs = replace(Labels(LABELS), **{argument: given})
        elif argument == "column_cost":
            conditions = Conditions(columns=np.arange(TESTS), column_cost=given)
        else:
            conditions = replace(conditions, **{argument: given})
        found = Solver(BITS, costs, conditions).solve(depth=2, support=5)
        return [found.value, *found.test]

    same(ask, values)


def test_solver_matrices_and_starts() -> None:
    def limited(given: Any) -> Any:
        return Solver(BITS, ClassCosts(COST), Conditions(leaf_limit=(given, 60))).solve(depth=2).value

    def pure(given: Any) -> Any:
        return Solver(BITS, ClassCosts(COST), Conditions(purity=(given, Fraction(1, 4)))).solve(depth=2).value

    same(limited, COST)
    same(pure, np.eye(3, dtype=np.int64)[LABELS])

    solver = Solver(BITS, Labels(LABELS))

    def begun(given: Any) -> Any:
        return solver.solve(depth=2, start=(given, [1, 0, 1], [2, 0, 0]), options={"milliseconds": 0}).test

    same(begun, np.array([2, -1, -1]))


@pytest.mark.parametrize("kind", [np.bool_, np.uint8])
def test_bits(kind: Any) -> None:
    expected = Solver(BITS, Labels(LABELS)).solve(depth=2).value
    for given in (
        BITS.astype(kind),
        np.asfortranarray(BITS.astype(kind)),
        np.repeat(BITS.astype(kind), 2, axis=1)[:, ::2],
        _read_only(BITS.astype(kind)),
        BITS.astype(kind)[::-1][::-1],
    ):
        assert Solver(given, Labels(LABELS)).solve(depth=2).value == expected
        forbidden = np.zeros(2 * TESTS, dtype=kind)[::2]
        assert Solver(BITS, Labels(LABELS), Conditions(forbidden=forbidden)).solve(depth=2).value == expected


def test_a_converted_count_array_stays_alive() -> None:
    """The arrays are so large that the memory of a freed copy returns to the system at once."""
    rows = 300_000
    bits = RANDOM.random((2, rows)) < 0.5
    labels = RANDOM.integers(0, 2, rows)
    for count in (np.full(rows, 2, np.int64), np.full(rows, 2, np.int32), np.full(2 * rows, 2, np.int16)[::2]):
        found = Solver(bits, Labels(labels), Conditions(count=count)).solve(depth=1, support=2 * rows)
        assert found.leaves == 1
        solver = NumericSolver(bits.astype(np.int32), count)
        solver.labels(labels, 2)
        solver.set(depth=1, support=2 * rows)
        outcome = solver.solve()
        assert outcome.tree is not None
        assert len(outcome.tree.column) == 1


@pytest.mark.parametrize("argument", ["columns", "count", "labels", "weight", "costs", "targets"])
def test_numeric(argument: str) -> None:
    values = {
        "columns": CODES, "count": COUNT, "labels": LABELS, "weight": WEIGHT, "costs": COST, "targets": TARGETS
    }[argument]  # fmt: skip

    def ask(given: Any) -> Any:
        solver = NumericSolver(given if argument == "columns" else CODES, given if argument == "count" else None)
        if argument == "costs":
            solver.costs(given)
        elif argument == "targets":
            solver.targets(given)
        else:
            labels = given if argument == "labels" else LABELS
            solver.labels(labels, 3, given if argument == "weight" else None)
        solver.set(depth=2, support=5)
        outcome = solver.solve()
        assert outcome.tree is not None
        return [outcome.value, *outcome.tree.column, *outcome.tree.cut]

    same(ask, values)


def test_numeric_values_of_every_float() -> None:
    values = CODES.astype(np.float64) / 4

    def ask(given: Any) -> Any:
        solver = NumericSolver(given)
        solver.labels(LABELS, 3)
        solver.set(depth=2)
        return solver.solve().value

    expected = ask(values)
    kinds = (values.astype(kind) for kind in ("f2", "f4", ">f8", np.longdouble))
    for given in (*kinds, np.asfortranarray(values), np.repeat(values, 2, axis=1)[:, ::2], _read_only(values.copy())):
        assert ask(given) == expected


def test_cover() -> None:
    bits = cover.pack_bits(BITS)
    states = cover.enumerate_states(bits, COUNT, 3)
    same(lambda given: cover.enumerate_states(bits, given, 3, support=4).keys, COUNT)
    same(lambda given: cover.enumerate_states(bits, COUNT, 3, group=given).test, np.zeros(TESTS, dtype=np.int64))
    same(lambda given: cover.enumerate_states(bits, COUNT, 3, cost=given).keys, COST)
    same(lambda given: cover.sums(states.keys, ROWS, given), COST)
    same(lambda given: cover.split_sums(bits, states.keys, ROWS, given, 2), COST)
    same(lambda given: cover.best_pairs(bits, states.keys, ROWS, given, COUNT, 2, 1)[0], COST)
    same(lambda given: cover.quantile_losses(bits, states.keys, ROWS, given, WEIGHT, 1, 2)[0], TARGETS[:, 0])
    for keys in (
        np.asfortranarray(states.keys),
        np.repeat(states.keys, 2, axis=0)[::2],
        _read_only(states.keys.copy()),
    ):
        assert np.array_equal(cover.sums(keys, ROWS, COST), cover.sums(states.keys, ROWS, COST))


def test_shallow_and_rooted() -> None:
    labels = (BITS[0] ^ BITS[1]).astype(np.int64)

    def depth_two(given: Any) -> Any:
        with Shallow(BITS, given, [0, 0]) as search:
            return [search.search(2), *search.tree().test]

    same(depth_two, labels)
    gain = RANDOM.integers(-9, 9, (2, ROWS)).astype(np.float64)
    expected = best_under_roots(BITS.astype(np.uint8), gain, 3, np.arange(TESTS, dtype=np.int32))
    same(lambda given: best_under_roots(BITS, gain, 3, given).worth, np.arange(TESTS))
    for given in (
        np.asfortranarray(gain),
        gain.astype(np.float32),
        np.repeat(gain, 2, axis=1)[:, ::2],
        _read_only(gain),
    ):
        assert np.array_equal(best_under_roots(BITS, given, 3, np.arange(TESTS)).worth, expected.worth)


LARGE = 2**32  # 0 if truncated to 32 bits


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Solver(BITS, Labels(LABELS + LARGE)), OverflowError, "labels must fit in 32 bits"),
        (lambda: Solver(BITS, Labels(LABELS, LARGE + 3)), OverflowError, "classes must fit in 32 bits"),
        (
            lambda: Solver(BITS, Labels(LABELS), Conditions(columns=np.arange(TESTS) + LARGE)),
            OverflowError,
            "columns must fit",
        ),
        (lambda: Solver(BITS, Labels(LABELS.astype(float))), ValueError, "labels must be whole numbers"),
        (
            lambda: Solver(BITS, Labels(LABELS), Conditions(count=COUNT + 0.5)),
            ValueError,
            "count must be whole numbers",
        ),
        (lambda: Solver(BITS, Labels(LABELS), Conditions(count=COUNT[1:])), ValueError, "count must have shape"),
        (lambda: Solver(BITS, Labels(LABELS), Conditions(count=-COUNT)), ValueError, "negative"),
        (
            lambda: Solver(BITS, Labels(LABELS, weight=np.full(ROWS, 2**64 - 1, np.uint64))),
            OverflowError,
            "weight must",
        ),
        (lambda: Solver(BITS, Labels(LABELS, weight=np.full(ROWS, 2**60))), OverflowError, "sum of the weights"),
        (
            lambda: Solver(BITS, Labels(LABELS), Conditions(forbidden=np.full(TESTS, 2))),
            ValueError,
            "truth values, or 0 and 1",
        ),
        (lambda: Solver(BITS, Labels(LABELS)).solve(depth=2**64 + 1), OverflowError, "depth must fit in 64 bits"),
        (lambda: Solver(BITS, Labels(LABELS)).solve(leaf_price=2**64 + 1), OverflowError, "leaf_price is too large"),
        (
            lambda: Solver(BITS, Labels(LABELS)).solve(leaf_price=2**60),
            OverflowError,
            "price of a leaf times the leaves",
        ),
        (lambda: Solver(BITS, Labels(LABELS)).solve(start=([LARGE], [0], [0])), OverflowError, "start tree must fit"),
        (lambda: Solver(BITS, Labels(LABELS)).solve(start=([-1], [0, 0], [0])), ValueError, "must have shape"),
        (lambda: Solver(BITS, Labels(LABELS, 2**31 - 1)), ValueError, "2147483647 classes are too many"),
        (lambda: NumericSolver(CODES + LARGE), OverflowError, "columns must fit in 32 bits"),
        (lambda: NumericSolver(CODES[0]), ValueError, "two-dimensional"),
        (lambda: NumericSolver(CODES, COUNT[:-1]), ValueError, "count must have shape"),
        (lambda: NumericSolver(CODES).labels(LABELS + LARGE, 3), OverflowError, "labels must fit in 32 bits"),
        (lambda: NumericSolver(CODES).labels(LABELS, LARGE + 3), OverflowError, "classes must fit in 32 bits"),
        (lambda: NumericSolver(CODES).labels(LABELS, 2**31 - 1), ValueError, "2147483647 classes are too many"),
        (lambda: NumericSolver(CODES).costs(COST.astype(float)), ValueError, "cost must be whole numbers"),
        (lambda: NumericSolver(CODES).targets(TARGETS[1:]), ValueError, "targets must have shape"),
        (lambda: NumericSolver(CODES).set(depth=2**64), OverflowError, "depth must fit in 64 bits"),
        (lambda: NumericSolver(CODES).ranks(LARGE), OverflowError, "column must fit in 32 bits"),
        (
            lambda: NumericSolver(CODES).start(FlatThresholdTree([LARGE], [0], [0], [0], [0])),
            OverflowError,
            "start tree must fit",
        ),
        (lambda: Shallow(BITS, LABELS[1:], [0, 0, 0]), ValueError, "labels must have shape"),
        (lambda: Shallow(BITS[0], LABELS, [0, 0, 0]), ValueError, "two-dimensional"),
        (lambda: Shallow(BITS, LABELS, [LARGE, 0, 0]), OverflowError, "weights must fit in 32 bits"),
        (
            lambda: Shallow(BITS, LABELS, [0] * 3, FlatShallowTree(*[np.zeros(2)] * 4)),
            ValueError,
            "guide must be whole numbers",
        ),
        (lambda: Shallow(BITS, LABELS, [0, 0, 0]).search(LARGE), ArgumentError, "fit in 32 bits"),
        (lambda: best_under_roots(BITS, np.zeros((1, ROWS - 1)), 2, np.arange(2)), ValueError, "gain must have shape"),
        (lambda: best_under_roots(BITS, np.zeros((1, ROWS)), 2, np.arange(2) + LARGE), OverflowError, "roots must fit"),
        (lambda: best_under_roots(BITS, np.zeros((1, ROWS)), 4, np.arange(2)), ValueError, "depth is 1 to 3"),
        (lambda: cover.sums(np.zeros((2, 1), np.int64), ROWS, COST), ValueError, "in words of 64 bits"),
        (lambda: cover.sums(np.zeros((2, 1), np.uint64), 65, COST), ValueError, "must have shape"),
        (lambda: cover.sums(np.full((2, 1), 2**63, np.uint64), ROWS, COST), ValueError, "rows that do not exist"),
        (lambda: cover.sums(np.zeros((2, 1), np.uint64), ROWS, COST + 2**60), OverflowError, "do not fit in 64 bits"),
        (
            lambda: cover.enumerate_states(cover.pack_bits(BITS), COUNT + 2**62, 2),
            OverflowError,
            "do not fit in 64 bits",
        ),
        (
            lambda: cover.best_pairs(cover.pack_bits(BITS), np.ones((1, 1), np.uint64), ROWS, COST, COUNT, 1, 2**62),
            OverflowError,
            "do not fit in 64 bits",
        ),
        (
            lambda: cover.quantile_losses(
                cover.pack_bits(BITS), np.ones((1, 1), np.uint64), ROWS, TARGETS[:, 0] << 40, WEIGHT, 1 << 20, 1
            ),
            OverflowError,
            "do not fit in 64 bits",
        ),
    ],
)
def test_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_parameters_of_c_take_nothing_but_what_c_reads() -> None:
    fine = np.zeros(3, dtype=np.int32)
    assert border.INT32_ARRAY.from_param(fine).value == fine.ctypes.data
    assert border.INT32_ARRAY.from_param(None) is None
    for wrong in (fine.astype(np.int64), fine.astype(">i4"), np.zeros(6, dtype=np.int32)[::2]):
        with pytest.raises(TypeError, match="C reads arrays of int32 in one piece"):
            border.INT32_ARRAY.from_param(wrong)
    with pytest.raises(TypeError, match="read-only"):
        border.INT32_ROOM.from_param(_read_only(fine))
    with pytest.raises(OverflowError, match="a number must fit in 32 bits"):
        border.INT32.from_param(2**31)


def test_depths_beyond_a_word() -> None:
    """From depth 62 on, twice the number of leaves overflows 64 bits: UBSan would report it."""
    for depth in (61, 62, 63, 64, 80, 1_000_000):
        solver = NumericSolver(np.arange(90)[None, :])
        solver.labels(np.arange(90) % 2, 2)
        solver.set(depth=depth, leaves=85, microseconds=20_000)
        assert solver.solve().status == "feasible"


def test_a_refused_call_leaves_no_state_behind() -> None:
    solver = Solver(BITS, Labels(LABELS))
    expected = solver.solve(depth=2).value
    for wrong in ({"leaves": 2**64}, {"options": {"no_such_option": 1}}):
        with pytest.raises((OverflowError, ValueError), match=r"64 bits|no_such_option"):
            solver.solve(depth=1, support=9, **wrong)  # type: ignore[arg-type]
    assert solver.solve(depth=2).value == expected
