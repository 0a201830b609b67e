"""The question of a faultless tree -> a classification instance as Ordyniak and Szeider (2021) have it.

Columns hold small whole numbers, and a test asks whether a value is at most a threshold. A column with an order is one
column; any other test is a column of two values. Sets of rows are whole numbers, a bit each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.solvers.encodings.faultless.question import FREE
from treeml.backends.task.node_questions import read_questions
from treeml.problem.problem import Problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

MOST_PAIRS = 4_000_000  # pairs of rows held at once while differences are counted


@dataclass(frozen=True, eq=False)
class Instance:
    """Rows that differ in some column, each with its class; values are numbered from 0 in their order."""

    values: Whole  # rows x columns
    label: Whole  # per row
    tests: tuple[tuple[int, ...], ...]  # per column and threshold the test that says "at most"; see `swapped`
    swapped: tuple[bool, ...]  # per column: the test says yes above the threshold

    @property
    def rows(self) -> int:
        return len(self.label)

    @property
    def columns(self) -> int:
        return int(self.values.shape[1])

    @cached_property
    def domains(self) -> tuple[int, ...]:
        return tuple(len(row) + 1 for row in self.tests)

    @property
    def largest_domain(self) -> int:
        return max(self.domains, default=0)

    @cached_property
    def everything(self) -> int:
        return (1 << self.rows) - 1

    @cached_property
    def classes(self) -> tuple[int, ...]:
        """The rows of every class, as bits."""
        return tuple(_bits(self.label == label) for label in np.unique(self.label))

    @cached_property
    def at_most(self) -> tuple[tuple[int, ...], ...]:
        """Per column and threshold: the rows with a value at most the threshold, as bits."""
        return tuple(
            tuple(_bits(self.values[:, column] <= cut) for cut in range(len(tests)))
            for column, tests in enumerate(self.tests)
        )

    def largest_difference(self) -> int:
        """The most columns in which two rows of different classes differ."""
        most = 0
        for label in np.unique(self.label)[:-1]:
            mine, others = self.values[self.label == label], self.values[self.label > label]
            step = max(1, MOST_PAIRS // max(1, len(others)))
            for first in range(0, len(mine), step):
                block = mine[first : first + step]
                count = np.zeros((len(block), len(others)), np.int32)
                for column in range(self.columns):
                    count += block[:, column][:, None] != others[:, column][None, :]
                most = max(most, int(count.max(initial=0)))
        return most


def read_instance(problem: Problem, label: Whole) -> Instance:
    """`label` says the class of every row of the problem, or FREE; rows alike are merged."""
    questions = read_questions(problem)
    columns: list[Whole] = []
    tests: list[tuple[int, ...]] = []
    swapped: list[bool] = []
    numeric = {
        question.feature for question in questions if question.kind == "order" and not _is_missing(question.codes)
    }
    for question in questions:
        if question.feature in numeric:
            feature = problem.features[question.feature]
            assert feature.codes is not None
            present, values = np.unique(feature.codes, return_inverse=True)
            columns.append(values.astype(np.int64))
            tests.append(tuple(feature.first_test + int(code) for code in present[:-1]))
            swapped.append(False)
    for number, test in enumerate(problem.tests):
        if test.feature in numeric:
            continue
        yes = problem.bits[number]
        if yes.any() and not yes.all():
            columns.append(yes.astype(np.int64))
            tests.append((number,))
            swapped.append(True)
    values = np.stack(columns, axis=1) if columns else np.zeros((problem.rows, 0), np.int64)
    wanted = label != FREE
    matrix = np.concatenate([values[wanted], label[wanted][:, None]], axis=1)
    matrix = np.unique(matrix, axis=0)
    return Instance(matrix[:, :-1], matrix[:, -1], tuple(tests), tuple(swapped))


def _is_missing(codes: NDArray[np.int32] | None) -> bool:
    assert codes is not None
    return bool((codes < 0).any())


def _bits(mask: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")
