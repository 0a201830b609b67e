"""Dataset -> features and the yes-or-no tests on them, with the question of every test in the user's own values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast, overload

import numpy as np
from numpy.typing import NDArray

from treeml.data.binarization import suits
from treeml.data.table import BitColumns, Column, Dataset, listed, quoted
from treeml.lang.diagnostic import DataError, Diagnostic, Label
from treeml.lang.spec import Binarization
from treeml.measures.cuts import codes_of, distinct, every_cut, given_cuts, quantile_cuts, width_cuts
from treeml.problem.problem import Feature, Test

MOST_TESTS = 1000  # up to this many tests, every threshold is one unless the spec says otherwise
MOST_SUBSET_LEVELS = 12  # 2,047 tests
MOST_SUBSET_LEVELS_AS_THEY_ARE = 31
_LISTED = 50_000  # beyond this, tests and questions are created on access


@dataclass(frozen=True, slots=True)
class Question:
    """What a test asks, in the user's own values.

    kind `true`: is a binary column `value`? `at most`: is a number <= `value`, or an ordered level one of `values`, the
    last of which is `value`? `level`: is it `value`? `among`: is it one of `values`? `missing`: is it missing?
    """

    column: str
    kind: str
    value: Any = None
    values: tuple[Any, ...] = ()
    missing_yes: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Binarized:
    features: tuple[Feature, ...]
    tests: tuple[Test, ...]
    questions: Sequence[Question]  # parallel to tests
    bits: NDArray[np.bool_] | None = None  # tests x rows, if the data were given as bits
    notes: tuple[str, ...] = ()


def binarize(dataset: Dataset, *, numeric: bool = False) -> Binarized:
    """The tests of a dataset; `numeric`: the back-end uses ordered features directly."""
    columns = dataset.table.columns
    if isinstance(columns, BitColumns) and tuple(columns.index) == dataset.features:
        features, tests, questions = _binary_tests(dataset.features, columns.bit_levels)
        return Binarized(features, tests, questions, columns.bits)
    rules = _rules(dataset)
    grids, notes = _grids(dataset, rules, numeric)
    features_of: list[Feature] = []
    first = 0
    for grid in grids:
        features_of.append(
            Feature(grid.column, grid.kind, grid.levels, grid.codes, first, grid.tests, grid.has_missing)
        )
        first += grid.tests
    if first > _LISTED:
        tests_made = _Lazy(grids, lambda grid, number, j: grid.test(number, j))
        questions_made = _Lazy(grids, lambda grid, number, j: grid.question(j))
        return Binarized(tuple(features_of), cast("tuple[Test, ...]", tests_made), questions_made, None, notes)
    return Binarized(
        tuple(features_of),
        tuple([grid.test(number, j) for number, grid in enumerate(grids) for j in range(grid.tests)]),
        tuple([grid.question(j) for grid in grids for j in range(grid.tests)]),
        None,
        notes,
    )


# One column's tests, and what they ask.


@dataclass(frozen=True, eq=False, slots=True)
class _Grid:
    column: str
    kind: str  # of the Feature
    codes: NDArray[np.int32]
    levels: int
    tests: int
    has_missing: bool
    cuts: NDArray[Any] | None = None  # of numbers, and of the ranks of ordered levels
    labels: tuple[Any, ...] = ()  # of levels
    whole: bool = False
    two_valued: bool = False  # a category of two levels: the question names a level

    def test(self, feature: int, j: int) -> Test:
        kind, values, missing_yes = self._meaning(j)
        return Test(feature, kind, values, missing_yes)

    def question(self, j: int) -> Question:
        kind, values, missing_yes = self._meaning(j)
        if kind == "missing":
            return Question(self.column, "missing", missing_yes=True)
        if kind == "true":
            return Question(self.column, "level" if self.two_valued else "true", self.labels[1], (), missing_yes)
        if kind == "level":
            return Question(self.column, "level", self.labels[values[0]], (), missing_yes)
        if kind == "among":
            return Question(self.column, "among", None, tuple(self.labels[v] for v in values), missing_yes)
        cut = values[0] if self.cuts is None else self.cuts[values[0]].item()
        if self.labels:  # the cut is the rank of the last level on the yes side
            return Question(self.column, "at most", self.labels[int(cut)], self.labels[: int(cut) + 1], missing_yes)
        return Question(self.column, "at most", int(cut) if self.whole and cut == int(cut) else cut, (), missing_yes)

    def _meaning(self, j: int) -> tuple[str, tuple[int, ...], bool]:
        """Kind, values and missing side of the j-th test; tests with missing on the no side come first."""
        if self.has_missing and j == self.tests - 1:
            return "missing", (), True
        plain = self.tests
        if self.has_missing:
            plain = self.tests - 1 if self.kind == "levels" else (self.tests - 1) // 2
        missing_yes, j = divmod(j, plain)
        if self.kind == "binary":
            return "true", (), bool(missing_yes)
        if self.kind == "subsets":
            return "among", tuple(v for v in range(self.levels) if (j + 1) >> v & 1), bool(missing_yes)
        return "at most" if self.kind == "ordered" else "level", (j,), bool(missing_yes)


class _Lazy(Sequence[Any]):
    """Tests or questions of many columns, created on access."""

    def __init__(self, grids: list[_Grid], made: Callable[[_Grid, int, int], Any]) -> None:
        self.grids = grids
        self.made = made
        self.ends = np.cumsum([grid.tests for grid in grids])

    def __len__(self) -> int:
        return int(self.ends[-1])

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(index)
        number = int(np.searchsorted(self.ends, place, side="right"))
        grid = self.grids[number]
        return self.made(grid, number, place - int(self.ends[number]) + grid.tests)

    def __iter__(self) -> Iterator[Any]:
        for number, grid in enumerate(self.grids):
            for j in range(grid.tests):
                yield self.made(grid, number, j)


@lru_cache(maxsize=8)
def _binary_tests(
    names: tuple[str, ...], levels: tuple[Any, Any]
) -> tuple[tuple[Feature, ...], tuple[Test, ...], tuple[Question, ...]]:
    """Features, tests and questions of a 0/1 matrix: they hold no rows, so matrices with the same names share them."""
    return (
        tuple([Feature(name, "binary", 2, None, i, 1) for i, name in enumerate(names)]),
        tuple([Test(i, "true") for i in range(len(names))]),
        tuple([Question(name, "true", levels[1]) for name in names]),
    )


# Which rule applies to which column.


def _rules(dataset: Dataset) -> dict[str, Binarization | None]:
    """The rule of every feature: its own, or the first rule for all columns that suits it."""
    own = {rule.column: rule for rule in dataset.spec.binarizations if rule.column}
    for_all = [rule for rule in dataset.spec.binarizations if not rule.column]
    rules: dict[str, Binarization | None] = {}
    for name in dataset.features:
        column = dataset.column(name)
        fitting = (rule for rule in for_all if suits(rule, column))
        rules[name] = own.get(name) or next(fitting, None)
    return rules


def _grids(
    dataset: Dataset, rules: dict[str, Binarization | None], numeric: bool
) -> tuple[list[_Grid], tuple[str, ...]]:
    ready: dict[str, _Grid] = {}
    free: dict[str, NDArray[Any]] = {}  # numbers without a rule, and their distinct values
    for name, rule in rules.items():
        column = dataset.column(name)
        if column.is_number and rule is None:
            free[name] = distinct(_known(column))
        else:
            ready[name] = _grid(column, rule, numeric)
    total = sum(grid.tests for grid in ready.values()) + sum(max(len(values) - 1, 0) for values in free.values())
    notes = _coarse(dataset, rules)
    by_quantiles = total > MOST_TESTS and not numeric and bool(free)
    for name, values in free.items():
        column = dataset.column(name)
        whole = column.type == "integer"
        exact = not by_quantiles or len(values) <= 16
        cuts = every_cut(values, whole) if exact else quantile_cuts(_known(column), 16, whole)
        ready[name] = _of_cuts(column, cuts)
    if by_quantiles:
        notes = (
            *notes,
            f"optimality is relative to the tests: every threshold would make {total:,} of them, so number columns "
            "were cut by quantiles(16); `binarize all by thresholds` takes every threshold",
        )
    return [ready[name] for name in rules], notes


def _coarse(dataset: Dataset, rules: dict[str, Binarization | None]) -> tuple[str, ...]:
    """Notes about rules that leave thresholds out, because optimality is relative to the tests."""
    by_method: dict[str, list[str]] = {}
    for name, rule in rules.items():
        if rule is not None and rule.method in ("quantiles", "width", "cuts") and dataset.column(name).type != "binary":
            how = "at the cuts given" if rule.method == "cuts" else f"by {rule.method}({rule.pieces})"
            by_method.setdefault(how, []).append(name)
    said = [f"{listed(names, 4)} {how}" for how, names in by_method.items()]
    return (f"optimality is relative to the tests of `binarize`: {'; '.join(said)}",) if said else ()


def _grid(column: Column, rule: Binarization | None, numeric: bool) -> _Grid:
    if column.is_number:
        assert rule is not None
        return _of_cuts(column, _cuts(column, rule))
    if column.type == "binary":
        missing = column.missing is not None
        return _Grid(column.name, "binary", column.values, 2, 3 if missing else 1, missing, labels=column.levels)
    method = rule.method if rule else ("thresholds" if column.type == "ordered" else "levels")
    if method == "levels":
        return _of_levels(column)
    if method == "subsets":
        return _of_subsets(column, rule, numeric)
    return _of_order(column, rule)


def _known(column: Column) -> NDArray[Any]:
    return column.values if column.missing is None else column.values[~column.missing]


def _cuts(column: Column, rule: Binarization) -> NDArray[Any]:
    whole = column.type == "integer"
    values = _known(column)
    match rule.method:
        case "quantiles":
            return quantile_cuts(values, rule.pieces, whole)
        case "width":
            return width_cuts(values, rule.pieces, whole)
        case "cuts":
            return given_cuts(rule.cuts, values.dtype)
    return every_cut(distinct(values), whole)


def _of_cuts(column: Column, cuts: NDArray[Any]) -> _Grid:
    codes = codes_of(column.values, cuts)
    missing = column.missing is not None
    if column.missing is not None:
        codes[column.missing] = -1
    whole = column.type == "integer" or cuts.dtype.kind == "i"
    tests = len(cuts) * 2 + 1 if missing else len(cuts)
    return _Grid(column.name, "ordered", codes, len(cuts) + 1, tests, missing, cuts, whole=whole)


def _present(column: Column) -> tuple[NDArray[np.int32], tuple[Any, ...]]:
    """Codes and labels of the levels that occur."""
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
    if (counts > 0).all():
        return column.values, column.levels
    place = np.append(np.cumsum(counts > 0) - 1, -1).astype(np.int32)
    return place[column.values], tuple(level for level, count in zip(column.levels, counts, strict=True) if count)


def _of_levels(column: Column) -> _Grid:
    codes, labels = _present(column)
    missing = column.missing is not None
    if len(labels) == 2 and not missing:
        return _Grid(column.name, "binary", codes, 2, 1, False, labels=labels, two_valued=True)
    if len(labels) < 2:
        return _Grid(column.name, "levels", codes, len(labels), int(missing), missing, labels=labels)
    return _Grid(column.name, "levels", codes, len(labels), len(labels) + missing, missing, labels=labels)


def _of_order(column: Column, rule: Binarization | None) -> _Grid:
    """Ordered levels, cut after every level or after those that a rule picks by rank."""
    codes, labels = _present(column)
    missing = column.missing is not None
    if rule is None or rule.method == "thresholds":
        tests = max(len(labels) - 1, 0)
        return _Grid(
            column.name, "ordered", codes, len(labels), 2 * tests + 1 if missing else tests, missing, labels=labels
        )
    by_value = rule.method == "cuts"
    numbers = np.array(labels, dtype=float) if by_value else np.arange(len(labels), dtype=float)
    ranked = Column(
        column.name, "number" if by_value else "integer", np.append(numbers, np.nan)[codes], (), column.missing
    )
    grid = _of_cuts(ranked, _cuts(ranked, rule))
    return grid if by_value else replace(grid, labels=labels)


def _of_subsets(column: Column, rule: Binarization | None, numeric: bool) -> _Grid:
    codes, labels = _present(column)
    missing = column.missing is not None
    most = MOST_SUBSET_LEVELS_AS_THEY_ARE if numeric else MOST_SUBSET_LEVELS
    if len(labels) > most:
        title = f"`{column.name}` has {len(labels)} levels, too many for every subset to be a test"
        label = f"{2 ** (len(labels) - 1) - 1:,} tests"
        helps = (
            f"`binarize {quoted(column.name)} by levels` makes {len(labels)} tests",
            f"up to {MOST_SUBSET_LEVELS} levels can be split by subsets",
        )
        span = rule.span if rule else None
        labels_ = () if span is None else (Label(span, label),)
        raise DataError(
            Diagnostic("D418", title, labels_, () if span else (label,), helps, place="" if span else column.name)
        )
    if len(labels) == 2 and not missing:
        return _Grid(column.name, "binary", codes, 2, 1, False, labels=labels, two_valued=True)
    plain = max(2 ** (len(labels) - 1) - 1, 0) if labels else 0
    return _Grid(
        column.name, "subsets", codes, len(labels), 2 * plain + 1 if missing else plain, missing, labels=labels
    )
