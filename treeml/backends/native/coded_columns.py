"""Problem -> columns of codes, for kernels that take columns as they are; trees over columns <-> trees over tests.

Ordered features are passed unchanged. A feature with missing values becomes two columns, in which missing rows come
first and last, so that every cut is tried with them on either side. Any other test becomes a column of two codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeml.native.numeric import FlatThresholdTree
from treeml.problem.problem import Feature, Problem, Test

KEPT = "codes of columns"  # the name under which they are kept with their problem
MOST_KEPT = 1 << 26  # of these codes: 256 MB


@dataclass(frozen=True, slots=True)
class CodedColumn:
    """One column of codes, for an ordered feature or for a single test."""

    feature: int
    test: int = -1  # -1: the column stands for all cuts of the feature
    missing: str = ""  # where missing rows are placed: "low", "high", or "" if there are none


def columns_of(problem: Problem, forbidden: frozenset[int] = frozenset()) -> tuple[CodedColumn, ...]:
    """The columns that the kernel would get, however many."""
    columns: list[CodedColumn] = []
    for number, feature in enumerate(problem.features):
        if number in forbidden or not feature.tests:
            continue
        if _is_whole(feature):
            sides = ("low", "high") if feature.has_missing else ("",)
            columns += [CodedColumn(number, missing=side) for side in sides]
        else:
            columns += [
                CodedColumn(number, test) for test in range(feature.first_test, feature.first_test + feature.tests)
            ]
    return tuple(columns)


def number_of_columns(problem: Problem) -> int:
    """How many these are, which is asked several times; with wide tables of text there are many to make."""
    features = (feature for feature in problem.features if feature.tests)
    return sum(1 + feature.has_missing if _is_whole(feature) else feature.tests for feature in features)


def _is_whole(feature: Feature) -> bool:
    """Whether the feature is ordered and has a test for every cut."""
    cuts = feature.levels - 1
    return feature.kind == "ordered" and feature.tests == (2 * cuts + 1 if feature.has_missing else cuts)


class CodedColumns:
    """The columns of a problem without its forbidden features, and both directions between cuts and tests."""

    def __init__(self, problem: Problem, forbidden: frozenset[int] = frozenset()) -> None:
        self.problem = problem
        self.columns = columns_of(problem, forbidden)
        self._given: NDArray[np.int32] | None = None

    def at(self, rows: NDArray[np.intp], codes: NDArray[np.int32]) -> CodedColumns:
        """The same columns on some of the rows; `codes` are those of all rows."""
        part = copy(self)
        # `codes[:, rows]` lies in memory row by row, and C would get a copy. All rows are not copied at all.
        part._given = codes if len(rows) == codes.shape[1] else np.take(codes, rows, axis=1)
        return part

    def codes(self) -> NDArray[np.int32]:
        """columns x rows."""
        if self._given is not None:
            return self._given
        kept = vars(self.problem).get(KEPT)  # columns of tests take long to write, and several searches want them
        if kept is not None and kept[0] == self.columns:
            return np.asarray(kept[1])
        codes = np.empty((len(self.columns), self.problem.rows), dtype=np.int32)
        for place, column in enumerate(self.columns):
            codes[place] = _codes(self.problem, column)
        if codes.size <= MOST_KEPT and any(column.test >= 0 for column in self.columns):
            codes.flags.writeable = False
            vars(self.problem)[KEPT] = self.columns, codes
        return codes

    def to_tests(self, tree: FlatThresholdTree) -> tuple[list[int], list[int], list[int], list[int]]:
        """A tree over columns as a tree over tests; a column with missing rows last may swap the sides of a split."""
        test, left, right = [], [], []
        for column, cut, yes, no in zip(tree.column, tree.cut, tree.yes, tree.no, strict=True):
            number, turned = (-1, False) if column < 0 else test_of_cut(self.problem, self.columns[column], cut)
            test.append(number)
            left.append(no if turned else yes)
            right.append(yes if turned else no)
        return test, left, right, list(tree.label)

    def to_columns(self, test: Sequence[int], yes: Sequence[int], no: Sequence[int]) -> FlatThresholdTree | None:
        """A tree over tests as a tree over columns; None if it uses a forbidden feature."""
        place = {column: number for number, column in enumerate(self.columns)}
        flat = FlatThresholdTree([], [], [], [], [])
        for number, to_yes, to_no in zip(test, yes, no, strict=True):
            column, cut, turned = (-1, 0, False) if number < 0 else self._cut_of(int(number), place)
            if number >= 0 and column < 0:
                return None
            flat.column.append(column)
            flat.cut.append(cut)
            flat.yes.append(int(to_no if turned else to_yes))
            flat.no.append(int(to_yes if turned else to_no))
        return flat

    def _cut_of(self, number: int, place: Mapping[CodedColumn, int]) -> tuple[int, int, bool]:
        test = self.problem.tests[number]
        feature = self.problem.features[test.feature]
        if not _is_whole(feature):
            return place.get(CodedColumn(test.feature, number), -1), 0, False
        if test.kind == "missing":
            return place.get(CodedColumn(test.feature, missing="low"), -1), 0, False
        if not feature.has_missing:
            return place.get(CodedColumn(test.feature), -1), test.values[0], False
        side, shift = ("low", 1) if test.missing_yes else ("high", 0)
        return place.get(CodedColumn(test.feature, missing=side), -1), test.values[0] + shift, False


def _codes(problem: Problem, column: CodedColumn) -> NDArray[np.int32]:
    feature = problem.features[column.feature]
    if column.test >= 0:
        return (~_answers(problem, feature, column.test)).astype(np.int32)
    assert feature.codes is not None
    if column.missing == "low":
        return feature.codes + np.int32(1)
    if column.missing == "high":
        return np.where(feature.codes < 0, np.int32(feature.levels), feature.codes)
    return feature.codes


def _answers(problem: Problem, feature: Feature, number: int) -> NDArray[np.bool_]:
    """The rows that answer yes to a test, as a mask."""
    codes = feature.codes
    if codes is None or problem.given_bits is not None:
        return np.asarray(problem.bits[number])
    test: Test = problem.tests[number]
    if test.kind == "missing":
        return np.asarray(codes < 0)
    if test.kind == "true":
        yes = codes == 1
    elif test.kind == "at most":
        yes = codes <= test.values[0]
    elif len(test.values) == 1:
        yes = codes == test.values[0]
    else:
        yes = np.isin(codes, np.array(test.values, dtype=np.int32))
    return np.where(codes < 0, test.missing_yes, yes) if feature.has_missing else np.asarray(yes)


def test_of_cut(problem: Problem, column: CodedColumn, cut: int) -> tuple[int, bool]:
    """The number of the test equal to this cut, and whether its sides are swapped."""
    if column.test >= 0:
        return column.test, False
    feature = problem.features[column.feature]
    if not feature.has_missing:
        return feature.first_test + cut, False
    if column.missing == "low":
        if cut == 0:
            return _number(problem, feature, Test(column.feature, "missing"), feature.tests - 1), False
        wanted = Test(column.feature, "at most", (cut - 1,), True)
        return _number(problem, feature, wanted, feature.levels - 1 + cut - 1), False
    if cut == feature.levels - 1:
        return _number(problem, feature, Test(column.feature, "missing"), feature.tests - 1), True
    return _number(problem, feature, Test(column.feature, "at most", (cut,)), cut), False


def _number(problem: Problem, feature: Feature, wanted: Test, likely: int) -> int:
    """The number of a test of the feature; it is almost always at the likely place."""

    def is_it(number: int) -> bool:
        test = problem.tests[number]
        if test.kind != wanted.kind:
            return False
        return wanted.kind == "missing" or (test.values == wanted.values and test.missing_yes == wanted.missing_yes)

    if is_it(feature.first_test + likely):
        return feature.first_test + likely
    return next(number for number in range(feature.first_test, feature.first_test + feature.tests) if is_it(number))
