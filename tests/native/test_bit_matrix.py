"""A matrix of 0 and 1, row after row, is packed and solved as its tests are one by one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from treeml.native.bit_matrix import MOST_DEPTH, BitMatrixAnswer, NotWhole, is_brief, least_squares
from treeml.native.solver import Solver, options, statistic_names
from treeml.native.solver_input import Targets


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 63, 64, 65, 127, 130, 200])
@pytest.mark.parametrize("columns", [1, 7, 8, 9, 17])
def test_it_finds_what_the_solver_finds(rows: int, columns: int) -> None:
    random = np.random.default_rng(rows * 100 + columns)
    cells = random.integers(0, 2, (rows, columns)).astype(np.uint8)
    targets = random.integers(-9, 99, rows) * 7 + 1000
    for depth in (0, 1, 2, 3):
        found = least_squares(cells, targets, depth, 60.0)
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
                least_squares(wrong, np.zeros(rows, dtype=np.int64), 1, 1.0)


def test_mistakes_are_refused() -> None:
    cells = np.zeros((4, 2), dtype=np.uint8)
    with pytest.raises(ValueError, match="one number for every row"):
        least_squares(cells, np.zeros(3, dtype=np.int64), 1, 1.0)
    with pytest.raises(ValueError, match="too large"):
        least_squares(cells, np.full(4, 2**62), 1, 1.0)
    for large in (np.full(4, 2.0**53), np.full(4, 2**26), np.array([0.0, np.inf, 1.0, 2.0]), np.full(4, np.nan)):
        with pytest.raises(ValueError, match="too large"):
            least_squares(cells, large, 1, 1.0)
    with pytest.raises(NotWhole, match="not whole"):
        least_squares(cells, np.array([0.0, 1.0, 2.5, 3.0]), 1, 1.0)
    with pytest.raises(ValueError, match="depth"):
        least_squares(cells, np.arange(4), MOST_DEPTH + 1, 1.0)
    assert "depth" in options()


def test_targets_are_moved_to_the_middle_without_a_change_of_the_loss() -> None:
    random = np.random.default_rng(8)
    cells, targets = random.integers(0, 2, (90, 6)).astype(np.uint8), random.integers(0, 50, 90)
    near, far = (least_squares(cells, targets + shift, 2, 60.0) for shift in (0, 10**6))
    assert (near.value, near.unit, near.column) == (far.value, far.unit, far.column)


@pytest.mark.parametrize(("rows", "columns", "brief"), [(1500, 17, True), (100, 36, True), (20, 1000, False)])
def test_few_rows_with_many_tests_do_not_make_a_search_brief(rows: int, columns: int, brief: bool) -> None:
    assert is_brief(rows, columns, 3) == brief
    assert not is_brief(rows, columns, 4)


@pytest.mark.parametrize("seed", range(40))
def test_the_leaves_hold_what_the_matrix_has(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, columns, depth = int(random.integers(1, 200)), int(random.integers(1, 12)), seed % 5
    cells = (random.random((rows, columns)) < random.random()).astype(np.uint8)
    numbers = random.integers(-50, 50, rows)
    found = least_squares(cells, numbers if seed % 2 else numbers.astype(np.float64), depth, 60.0)
    reached = np.zeros(rows, dtype=np.int64)
    for _ in range(depth):
        column = np.array(found.column)[reached]
        side = np.where(cells[np.arange(rows), column] == 1, np.array(found.yes)[reached], np.array(found.no)[reached])
        reached = np.where(column < 0, reached, side)
    nodes = len(found.column)
    assert found.rows == np.bincount(reached, minlength=nodes).tolist()
    assert found.sums == [int(numbers[reached == node].sum()) for node in range(nodes)]
    assert found.squares == int((numbers**2).sum())
    assert found.depth == height(found, 0) <= depth
    assert found.has_needless == any(
        column >= 0 and questions(found, found.yes[node]) == questions(found, found.no[node]) and is_split(found, node)
        for node, column in enumerate(found.column)
    )


def test_a_question_is_needless_if_both_sides_have_the_same_means() -> None:
    cells = np.array([[a, b] for a in (0, 1) for b in (0, 1)] * 4, dtype=np.uint8)
    crossed = least_squares(cells, (cells[:, 0] ^ cells[:, 1]) * 10.0, 2, 60.0)
    assert questions(crossed, 0)[1:] != ()
    assert not crossed.has_needless


def height(found: BitMatrixAnswer, node: int) -> int:
    if found.column[node] < 0:
        return 0
    return 1 + max(height(found, found.yes[node]), height(found, found.no[node]))


def is_split(found: BitMatrixAnswer, node: int) -> bool:
    """Is there a question behind the yes?"""
    return found.column[found.yes[node]] >= 0


def questions(found: BitMatrixAnswer, node: int) -> Any:
    """A subtree, with the means of its leaves."""
    column = found.column[node]
    if column < 0:
        return Fraction(found.sums[node], found.rows[node]) if found.rows[node] else None
    return column, questions(found, found.yes[node]), questions(found, found.no[node])
