"""Columns of floats: which are refused, which values are equal, and ranks that match those of a plain sort."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treeml as tml
from treeml.measures.cuts import between
from treeml.native.numeric import NumericSolver, Outcome

TINY = 5e-324  # the smallest number above 0


def solve(values: np.ndarray, labels: np.ndarray, **options: int) -> tuple[NumericSolver, Outcome]:
    solver = NumericSolver(values)
    solver.labels(labels, int(labels.max()) + 1)
    solver.set(**options)
    return solver, solver.solve()


def through_the_language(values: np.ndarray, labels: np.ndarray, depth: int) -> tml.Result:
    """A whole solve, with the tree applied to the numbers."""
    asked = tml.Model().minimize(tml.errors).require(tml.depth <= depth)
    result = asked.solve(values, labels, backend="native(kernel = numeric)")
    assert result.verified
    assert result.plan[-1] == "the numeric kernel runs, as asked"
    return result


def check_ranks(column: np.ndarray) -> None:
    """Compare with numpy's sort; a second column makes sure that the first is not the only one."""
    solver = NumericSolver(np.array([column, np.arange(len(column))]))
    assert (solver.ranks(0) == np.unique(column + 0.0, return_inverse=True)[1]).all()
    assert (solver.ranks(1) == np.arange(len(column))).all()


@pytest.mark.parametrize("bad", [math.nan, -math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(("column", "row"), [(0, 0), (1, 2), (2, 4)])
def test_what_is_not_finite_is_refused_by_column_and_row(bad: float, column: int, row: int) -> None:
    values = np.arange(15, dtype=float).reshape(3, 5)
    values[column, row] = bad
    values[2, 4] = bad  # the error names the first of several
    with pytest.raises(ValueError, match=f"column {column}, row {row} is not a finite number"):
        NumericSolver(values)


def test_a_refused_table_leaves_nothing_behind() -> None:
    solver = NumericSolver(np.array([[1.0, 2.0]]))
    given = np.array([[1.0, math.nan]])
    assert solver._library.values(solver._handle, given, 1, 2) == 1
    with pytest.raises(ValueError, match="there are no rows"):
        solver._check(solver._library.solve(solver._handle))


def test_zeros_of_either_sign_are_equal() -> None:
    values = np.array([[-0.0, 0.0, -0.0, 0.0, 1.0, -1.0]])
    solver, outcome = solve(values, np.array([0, 1, 0, 1, 0, 0]), depth=3)
    assert solver.ranks(0).tolist() == [1, 1, 1, 1, 2, 0]
    assert outcome.value == 2


def test_numbers_too_small_to_be_normal() -> None:
    values = np.array([[0.0, TINY, 2 * TINY, -TINY, 2.3e-308, -2.3e-308]])
    solver, outcome = solve(values, np.array([0, 1, 0, 1, 0, 0]), depth=4)
    assert solver.ranks(0).tolist() == [2, 3, 4, 1, 5, 0]
    assert outcome.value == 0


@pytest.mark.parametrize("low", [1.0, -1.0, 0.1, 1e308, -1e-300, 0.0, 2.0**53, 123456.789])
def test_numbers_that_differ_in_their_last_bit_are_separated(low: float) -> None:
    high = math.nextafter(low, math.inf)
    solver, outcome = solve(np.array([[low, high, low, high]]), np.array([0, 1, 0, 1]), depth=1)
    assert outcome.value == 0
    assert outcome.tree is not None
    below, above = solver.beside(0, outcome.tree.cut[0])
    assert (below in (0, 2), above in (1, 3)) == (True, True)
    (middle,) = between(np.array([low]), np.array([high]), whole=False)
    assert low <= middle < high
    assert through_the_language(np.array([[low], [high], [low], [high]]), np.array([0, 1, 0, 1]), 1).objective == 0


def test_whole_numbers_beyond_the_floats() -> None:
    """From 2**53 on, floats represent only every second whole number, so callers must pass large ones as codes."""
    first = 2.0**53
    values = np.array([[first, first + 2, first + 4, -first, -first - 2, 2.0**63]])
    solver, outcome = solve(values, np.array([0, 1, 0, 1, 0, 1]), depth=3)
    assert solver.ranks(0).tolist() == [2, 3, 4, 1, 0, 5]
    assert outcome.value == 0
    whole = np.array([[2**53], [2**53 + 1], [2**53 + 2], [-(2**63)], [2**63 - 1]], dtype=np.int64)
    assert through_the_language(whole, np.array([0, 1, 0, 1, 1]), 3).objective == 0


def test_constant_columns_are_left_out() -> None:
    values = np.array([[2.5] * 4, [-0.0, 0.0, 0.0, -0.0], [4.0, 3.0, 2.0, 1.0]])
    solver, outcome = solve(values, np.array([0, 0, 1, 1]))
    assert solver.statistics()["columns"] == 1
    assert outcome.value == 0
    assert solver.ranks(0).tolist() == [0] * 4
    assert solver.beside(0, 0) == (0, -1)


def test_equal_columns_are_kept_once_and_their_cuts_are_known() -> None:
    column = np.array([3.0, 1.0, 2.0, 1.0])
    solver, outcome = solve(np.array([column, 10 * column, -column]), np.array([1, 0, 1, 0]))
    assert outcome.value == 0
    assert solver.statistics()["columns"] == 2
    assert solver.beside(1, 0) == (3, 2)


@pytest.mark.parametrize("rows", [2, 3, 31, 64, 200, 1000, 5000, 40000])
def test_ranks_of_many_kinds_of_columns(rows: int) -> None:
    random = np.random.default_rng(rows)
    normal = random.normal(size=rows)
    for column in (
        normal,
        np.round(normal, 1),
        random.integers(-3, 3, rows).astype(float),
        normal * 10.0 ** random.integers(-300, 300, rows),
        np.sort(normal),
        np.sort(normal)[::-1].copy(),
        random.random(rows) * TINY * 1000,
    ):
        check_ranks(column)


@pytest.mark.parametrize("rows", [1000, 30000])
def test_columns_are_ranked_when_leading_digits_rarely_differ(rows: int) -> None:
    """With one outlier, the other numbers agree in all leading digits, or in all but the last bits."""
    random = np.random.default_rng(5)
    steps = random.permutation(rows)
    for column in (1 + steps * 2.0**-40, 1 + steps * 2.0**-52, 1 + (steps % 100) * 2.0**-52):
        column[0] = 1e300
        check_ranks(column)
        column[1] = -1e300
        check_ranks(column)


@pytest.mark.slow
def test_a_million_rows() -> None:
    random = np.random.default_rng(3)
    values = random.normal(size=(4, 1_000_000))
    values[3] = np.round(values[3], 2)
    for column in values:
        check_ranks(column)
    labels = ((values[0] > 0.25) ^ (values[1] > -0.5)).astype(np.int32)
    solver, outcome = solve(values, labels, depth=2)
    assert (outcome.status, outcome.value) == ("optimal", 0)
    assert outcome.tree is not None
    below, above = solver.beside(outcome.tree.column[0], outcome.tree.cut[0])
    column = values[outcome.tree.column[0]]
    wanted = {0: 0.25, 1: -0.5}[outcome.tree.column[0]]
    assert column[below] <= wanted < column[above]
