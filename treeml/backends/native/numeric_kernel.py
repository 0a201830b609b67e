"""Problem -> columns of codes for the numeric kernel, and trees over columns -> trees over the problem's tests.

Ordered features are passed unchanged. A feature with missing values becomes two columns, in which missing rows come
first and last, so that every cut is tried with them on either side. Any other test becomes a column of two codes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.native.numeric import FlatThresholdTree, NumericSolver, Outcome, options
from treeml.native.solver import Found
from treeml.problem.problem import Feature, Problem, Test


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


def _is_whole(feature: Feature) -> bool:
    """Whether the feature is ordered and has a test for every cut."""
    cuts = feature.levels - 1
    return feature.kind == "ordered" and feature.tests == (2 * cuts + 1 if feature.has_missing else cuts)


class ThresholdSolver:
    """The numeric counterpart of `treeml.native.solver.Solver`: one problem, which can be solved repeatedly."""

    def __init__(
        self,
        problem: Problem,
        *,
        cost: Any = None,
        targets: Any = None,
        weight: Any = None,
        beside: float = 0.0,
        count: Any = None,
        forbidden: frozenset[int] = frozenset(),
    ) -> None:
        self.problem = problem
        self.columns = columns_of(problem, forbidden)
        codes = np.empty((len(self.columns), problem.rows), dtype=np.int32)
        for place, column in enumerate(self.columns):
            codes[place] = _codes(problem, column)
        self._solver = NumericSolver(codes, count)
        self._squared = targets is not None
        self._slack = Fraction(0)
        if targets is not None:
            self._solver.targets(targets, weight, beside)
        else:
            self._solver.costs(cost)

    def solve(
        self,
        *,
        depth: int | None = None,
        support: int = 1,
        leaves: int | None = None,
        leaf_price: int | Fraction = 0,
        seconds: float = inf,
        memory: int | None = None,
        threads: int = 1,
        upper: int | None = None,
        enough: int | None = None,
        start: tuple[Sequence[int], Sequence[int], Sequence[int]] | None = None,
        on_progress: Callable[[float, Any, Any], bool | None] | None = None,
        options: Mapping[str, int] | None = None,
    ) -> Found:
        settings = dict(options or {})
        unit = self._solver.unit
        settings["support"] = support
        price = Fraction(leaf_price) * unit
        settings["leaf_price"] = round(price)
        settings["threads"] = min(threads, 256)
        for name, value in (("depth", depth), ("leaves", leaves), ("memory", memory)):
            if value is not None:
                settings[name] = value
        for name, value in (("upper", upper), ("enough", enough)):
            if value is not None:
                settings[name] = round(Fraction(value) * unit)
        if isfinite(seconds):
            settings["microseconds"] = max(0, min(int(1e6 * seconds), 2**62))
        self._solver.start(None if start is None else self._lowered(*start))
        table = _initial_values()
        self._solver.set(**settings)
        self._slack = self._solver.slack + 2 * abs(price - round(price)) * min(
            leaves or self.problem.rows, self.problem.rows
        )
        try:
            watch = None if on_progress is None else self._watch(on_progress)
            return self._found(self._solver.solve(watch))
        finally:
            self._solver.set(**{name: table[name] for name in settings})

    def interrupt(self) -> None:
        self._solver.interrupt()

    def _watch(self, on_progress: Callable[[float, Any, Any], bool | None]) -> Callable[[float, Any, int], bool | None]:
        unit, slack = self._solver.unit, self._slack

        def watch(seconds: float, value: int | None, bound: int) -> bool | None:
            below = Fraction(bound - slack) / unit if self._squared else bound
            if value is None:
                return on_progress(seconds, None, below)
            return on_progress(seconds, Fraction(value) / unit if self._squared else value, below)

        return watch

    def _found(self, outcome: Outcome) -> Found:
        unit, slack = outcome.unit, self._slack
        value, bound = outcome.value, outcome.bound if outcome.status == "optimal" else outcome.bound - slack
        tree = outcome.tree
        test, left, right, label = self._raised(tree) if tree is not None else ([], [], [], [])
        arrays = [np.array(part, dtype=np.int32) for part in (test, left, right, label)]
        return Found(
            outcome.status,
            outcome.stop,
            None if value is None else (Fraction(value) / unit if self._squared else value),
            Fraction(bound) / unit if self._squared else bound,
            arrays[0],
            arrays[1],
            arrays[2],
            arrays[3],
            Fraction(slack) / unit,
            self._solver.statistics(),
            outcome.kernel,
        )

    def _raised(self, tree: FlatThresholdTree) -> tuple[list[int], list[int], list[int], list[int]]:
        """A tree over columns as a tree over tests; a column with missing rows last may swap the sides of a split."""
        test, left, right = [], [], []
        for column, cut, yes, no in zip(tree.column, tree.cut, tree.yes, tree.no, strict=True):
            number, turned = (-1, False) if column < 0 else _test_of(self.problem, self.columns[column], cut)
            test.append(number)
            left.append(no if turned else yes)
            right.append(yes if turned else no)
        return test, left, right, list(tree.label)

    def _lowered(self, test: Sequence[int], yes: Sequence[int], no: Sequence[int]) -> FlatThresholdTree | None:
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
    else:
        yes = np.isin(codes, np.array(test.values, dtype=np.int32))
    return np.where(codes < 0, test.missing_yes, yes)


def _test_of(problem: Problem, column: CodedColumn, cut: int) -> tuple[int, bool]:
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


def _initial_values() -> dict[str, int]:
    return {name: initial for name, (_, _, initial, _) in options().items()}
