"""Null pointers, no rows, constant columns, overflowing sums: an error with a message, or the right answer."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from treeml.native.numeric import NumericSolver, _library, options


def codes(*columns: list[int]) -> np.ndarray:
    return np.array(columns, dtype=np.int32)


def test_null_pointers_are_error_codes() -> None:
    library = _library()
    assert library.treeml_numeric_columns(None, None, 1, 1) == 1
    assert library.treeml_numeric_solve(None) == 1
    assert library.treeml_numeric_tree(None, None, None, None, None, None) == 1
    assert library.treeml_numeric_message(None) == b""
    assert library.treeml_numeric_nodes(None) == 0
    library.treeml_numeric_destroy(None)
    library.treeml_numeric_interrupt(None)
    handle = ctypes.c_void_p(library.treeml_numeric_create())
    assert library.treeml_numeric_columns(handle, None, 1, 5) == 1
    assert library.treeml_numeric_labels(handle, None, 2, None) == 1
    assert library.treeml_numeric_solve(handle) == 5
    assert b"rows" in library.treeml_numeric_message(handle)
    library.treeml_numeric_destroy(handle)


def test_no_rows() -> None:
    with pytest.raises(ValueError, match="there are no rows"):
        NumericSolver(np.zeros((2, 0), dtype=np.int32))


def test_negative_codes() -> None:
    with pytest.raises(ValueError, match="column 1, row 0 is negative"):
        NumericSolver(codes([0, 1], [-1, 0]))


def test_a_search_without_a_goal_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no goal"):
        NumericSolver(codes([0, 1])).solve()


def test_labels_outside_the_classes() -> None:
    solver = NumericSolver(codes([0, 1]))
    with pytest.raises(ValueError, match="row 1 is not between 0 and 1"):
        solver.labels(np.array([0, 2]), 2)
    with pytest.raises(ValueError, match=r"labels must have shape \(2,\), not \(3,\)"):
        solver.labels(np.array([0, 1, 1]), 2)


def test_negative_weights_and_counts() -> None:
    solver = NumericSolver(codes([0, 1]))
    with pytest.raises(ValueError, match="weight of row 1 is negative"):
        solver.labels(np.array([0, 1]), 2, np.array([1, -1]))
    with pytest.raises(ValueError, match="weight of row 0 is negative"):
        solver.targets(np.array([[1], [2]]), np.array([-1, 1]))
    with pytest.raises(ValueError, match="count of row 0 is negative"):
        NumericSolver(codes([0, 1]), np.array([-1, 1]))


def test_sums_that_overflow() -> None:
    solver = NumericSolver(codes([0, 1, 2]))
    with pytest.raises(OverflowError, match="add up to more than"):
        solver.labels(np.array([0, 1, 0]), 2, np.full(3, 2**61))
    with pytest.raises(OverflowError, match="add up to more than"):
        solver.costs(np.array([[2**62, -(2**62)], [0, 0], [0, 0]]))
    with pytest.raises(OverflowError, match="targets"):
        solver.targets(np.array([[2**62], [-(2**62)], [2**62]]), np.full(3, 2**40))
    solver.labels(np.array([0, 1, 0]), 2)
    solver.set(leaf_price=2**62)
    with pytest.raises(OverflowError, match="price"):
        solver.solve()


def test_options_are_checked() -> None:
    solver = NumericSolver(codes([0, 1]))
    with pytest.raises(ValueError, match="there is no option 'fast'"):
        solver.set(fast=1)
    with pytest.raises(ValueError, match="option threads takes values from 1 to 256, not 0"):
        solver.set(threads=0)
    for name, (low, high, initial, text) in options().items():
        assert low <= initial <= high, name
        assert text


def test_constant_columns_and_no_columns() -> None:
    for given in (codes([3, 3, 3], [7, 7, 7]), np.zeros((0, 3), dtype=np.int32)):
        solver = NumericSolver(given)
        solver.labels(np.array([0, 1, 1]), 2)
        outcome = solver.solve()
        assert (outcome.status, outcome.value) == ("optimal", 1)
        assert outcome.tree is not None
        assert outcome.tree.label == [1]


def test_one_class_and_one_row() -> None:
    solver = NumericSolver(codes([4]))
    solver.labels(np.array([0]), 1)
    assert solver.solve().value == 0


def test_an_impossible_support_is_infeasible() -> None:
    solver = NumericSolver(codes([0, 1]))
    solver.labels(np.array([0, 1]), 2)
    solver.set(support=3)
    assert solver.solve().status == "infeasible"


def test_codes_far_apart() -> None:
    top = 2**31 - 1
    solver = NumericSolver(codes([top, 0, top - 1, 5]))
    solver.labels(np.array([1, 0, 0, 0]), 2)
    outcome = solver.solve()
    assert outcome.value == 0
    assert outcome.tree is not None
    assert outcome.tree.cut[0] == top - 1


def test_deep_trees_without_a_bound_on_depth() -> None:
    solver = NumericSolver(np.arange(12, dtype=np.int32)[None, :])
    solver.labels(np.arange(12) % 2, 2)
    outcome = solver.solve()
    assert outcome.value == 0
    assert outcome.tree is not None
    assert outcome.tree.column.count(-1) == 12
