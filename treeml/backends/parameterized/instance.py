"""Question for a perfect tree -> a classification instance in the sense of Ordyniak and Szeider (2021).

Columns hold small integers, and a test asks whether a value is at most a threshold. An ordered feature is one column;
any other test is a column with two values. Sets of rows are integers with one bit per row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.solvers.encodings.perfect.question import FREE
from treeml.backends.task.node_questions import read_questions
from treeml.problem.problem import Problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

MOST_PAIRS = 4_000_000  # pairs of rows in memory at once while differences are counted


@dataclass(frozen=True, eq=False)
class Instance:
    """Distinct rows, each with its class; the values of a column are numbered from 0 in their order."""

    values: Whole  # rows x columns
    label: Whole  # per row
    tests: tuple[tuple[int, ...], ...]  # for each column and threshold the test "at most"; see `swapped`
    swapped: tuple[bool, ...]  # for each column: does the test say yes above the threshold?

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
        """The rows of every class, as bit sets."""
        return tuple(_bits(self.label == label) for label in np.unique(self.label))

    @cached_property
    def at_most(self) -> tuple[tuple[int, ...], ...]:
        """For each column and threshold, the rows with a value of at most the threshold, as bit sets."""
        return tuple(
            tuple(_bits(self.values[:, column] <= cut) for cut in range(len(tests)))
            for column, tests in enumerate(self.tests)
        )

    def largest_difference(self) -> int:
        """The largest number of columns in which two rows of different classes differ."""
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
    """The instance of a problem; `label` is the class of every row, or FREE. Identical rows are merged."""
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
