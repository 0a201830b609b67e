"""Fees that fall below another test: a split that fewer rows do not have may make more rows cheaper."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np

from treeml.native.coupled import Coupled
from treeml.native.coupled_numeric import CoupledNumeric
from treeml.testing.exhaustive import Exhaustive, threshold_tests


def test_a_cheap_test_that_makes_another_free() -> None:
    """The second column costs little, splits only some parts of the rows, and makes the third one free below it."""
    for seed in (191, 195, 268, *range(12)):
        random = Random(seed)
        rows = random.randint(8, 14)
        gate = random.randint(2, rows - 2)
        answer = [random.randrange(2) for _ in range(rows)]
        columns = [[row // random.choice((1, 1, 2)) for row in range(rows)], [int(row < gate) for row in range(rows)]]
        columns.append(answer)
        label = [answer[row] if row < rows - 2 else 1 - answer[row] for row in range(rows)]
        weight = [random.choice((30, 100)) for _ in range(rows)]
        fees = [0, random.choice((1, 2)), random.choice((5, 9, 20))]
        check(columns, label, weight, fees, random.choice((3, 4)), seed)


def test_the_case_that_was_called_optimal_too_early() -> None:
    columns = [
        [0, 0, 2, 1, 2, 2, 3, 7, 8, 4, 5, 5, 12, 13],
        [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0],
    ]
    label = [0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1]
    weight = [100, 100, 30, 30, 30, 100, 30, 30, 100, 30, 100, 100, 30, 100]
    assert check(columns, label, weight, [0, 1, 20], 4) == 7


def check(
    columns: list[list[int]], label: list[int], weight: list[int], fees: list[int], depth: int, seed: int = 0
) -> Fraction | None:
    """Both coupled kernels against all trees; the third column is free below the second."""
    rows, tests = len(label), threshold_tests(columns)

    def leaf(members: tuple[int, ...]) -> Fraction:
        return Fraction(min(sum(weight[row] for row in members if label[row] != own) for own in (0, 1)))

    each = {number: Fraction(fee) for number, fee in enumerate(fees)}
    best = Exhaustive(rows, tests, leaf, Fraction(0), each, {(2, 1): Fraction(0)}).best(depth)
    below = np.array([fees, fees, [*fees[:2], 0], fees], dtype=np.int64)
    values = np.zeros((2, rows, 2), dtype=np.int64)
    values[0, range(rows), [1 - own for own in label]] = weight
    values[1, :, 0] = 1
    bits = np.array([[row in passing for row in range(rows)] for passing, _ in tests], dtype=np.uint8)
    numeric = CoupledNumeric(np.array(columns, dtype=np.int32), values)
    numeric.set_fees(np.arange(3), below, None)
    binary = Coupled(bits, values, columns=np.array([column for _, column in tests]))
    binary.set_fees(below, None)
    for solver in (numeric, binary):
        found = solver.solve([0], [rows], depth=depth)
        assert (found.status, found.value) == ("optimal", best), (seed, type(solver))
        solver.close()
    return best
