"""A matrix of 0 and 1, row after row, is packed and solved as its tests are one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from treeml.native.bit_matrix import BRIEF_PAIRS, MOST_DEPTH, BitMatrixSolver, statistic_names
from treeml.native.solver import Solver, options
from treeml.native.solver_input import Targets


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 63, 64, 65, 127, 130, 200])
@pytest.mark.parametrize("columns", [1, 7, 8, 9, 17])
def test_it_finds_what_the_solver_finds(rows: int, columns: int) -> None:
    random = np.random.default_rng(rows * 100 + columns)
    cells = random.integers(0, 2, (rows, columns)).astype(np.uint8)
    targets = random.integers(-9, 99, rows) * 7 + 1000
    for depth in (0, 1, 2, 3):
        found = BitMatrixSolver(cells, targets).solve(depth, 60.0)
        same = Solver(np.ascontiguousarray(cells.T), Targets(targets[:, None])).solve(depth=depth)
        assert found.is_optimal
        assert Fraction(found.value) / Fraction(found.unit) == same.value
        assert found.column == same.test.tolist()
        assert len(found.statistics) == len(statistic_names())


def test_other_cells_are_refused_wherever_they_are() -> None:
    random = np.random.default_rng(5)
    for rows, columns in ((3, 2), (70, 9), (129, 17)):
        cells = random.integers(0, 2, (rows, columns)).astype(np.uint8)
        for place in random.integers(0, cells.size, 12).tolist():
            wrong = cells.copy()
            wrong.flat[place] = int(random.integers(2, 256))
            with pytest.raises(ValueError, match="neither 0 nor 1"):
                BitMatrixSolver(wrong, np.zeros(rows, dtype=np.int64))


def test_mistakes_are_refused() -> None:
    cells = np.zeros((4, 2), dtype=np.uint8)
    with pytest.raises(ValueError, match="one number for every row"):
        BitMatrixSolver(cells, np.zeros(3, dtype=np.int64))
    with pytest.raises(ValueError, match="too large"):
        BitMatrixSolver(cells, np.full(4, 2**62))
    with pytest.raises(ValueError, match="depth"):
        BitMatrixSolver(cells, np.arange(4)).solve(MOST_DEPTH + 1, 1.0)
    assert "depth" in options()


def test_targets_are_moved_to_the_middle_without_a_change_of_the_loss() -> None:
    random = np.random.default_rng(8)
    cells, targets = random.integers(0, 2, (90, 6)).astype(np.uint8), random.integers(0, 50, 90)
    near, far = (BitMatrixSolver(cells, targets + shift).solve(2, 60.0) for shift in (0, 10**15))
    assert (near.value, near.unit, near.column) == (far.value, far.unit, far.column)


@pytest.mark.parametrize(("rows", "columns", "is_brief"), [(1500, 17, True), (100, 36, True), (20, 1000, False)])
def test_few_rows_with_many_tests_do_not_make_a_search_brief(rows: int, columns: int, is_brief: bool) -> None:
    solver = BitMatrixSolver(np.zeros((rows, columns), np.uint8), np.arange(rows))
    assert (solver.pairs <= BRIEF_PAIRS) == is_brief
