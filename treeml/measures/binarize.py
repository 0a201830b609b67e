"""Dataset -> features and the yes-or-no tests on them, with the question of every test in the user's own values."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import Any, cast, overload

import numpy as np
from numpy.typing import NDArray

from treeml.data.binarization import suits
from treeml.data.dates import CALENDAR, calendar_value, cut_number
from treeml.data.table import BitColumns, Codes, Column, CutColumn, Dataset, listed, quoted
from treeml.lang.diagnostic import DataError, Diagnostic, Label
from treeml.lang.spec import Binarization, Spec
from treeml.measures.cuts import EveryCut, LateValues, codes_of, given_cuts, quantile_cuts, ranks, width_cuts
from treeml.problem.fans import BRANCHES
from treeml.problem.problem import Feature, Test

MOST_TESTS = 1000  # up to this many tests, every threshold is one unless the spec says otherwise
LONG = 1 << 20  # distinct values of a column that are not listed until many of them are asked for
MOST_SUBSET_LEVELS = 12  # 2,047 tests
MOST_SUBSET_LEVELS_AS_THEY_ARE = 31


@dataclass(frozen=True, slots=True)
class Question:
    """What a test asks, in the user's own values.

    kind `true`: is a binary column `value`? `at most`: is a number <= `value`, or an ordered level one of `values`, the
    last of which is `value`? `level`: is it `value`? `branch`: the same, as one of the branches of a node. `among`: is
    it one of `values`? `missing`: is it missing?
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
    if isinstance(columns, BitColumns) and columns.index.keys() >= set(dataset.features):
        features, tests, questions = _binary_tests(dataset.features, columns.bit_levels)
        return Binarized(features, tests, questions, columns.bits_of(dataset.features))
    rules = _rules(dataset)
    grids, notes = _grids(dataset, rules, numeric)
    features_of: list[Feature] = []
    first = 0
    for grid in grids:
        features_of.append(
            Feature(grid.column, grid.kind, grid.levels, grid.codes, first, grid.tests, grid.has_missing)
        )
        first += grid.tests
    tests = cast("tuple[Test, ...]", _Tests(grids))  # a sequence of tests that are made when they are looked at
    return Binarized(tuple(features_of), tests, _Questions(grids), None, notes)


def tests_of(dataset: Dataset) -> int:
    """The number of tests that the columns allow."""
    return sum(feature.tests for feature in binarize(dataset).features)


# One column's tests, and what they ask.


@dataclass(frozen=True, eq=False, slots=True)
class _Grid:
    column: str
    kind: str  # of the Feature
    codes: Codes
    levels: int
    tests: int
    has_missing: bool
    cuts: EveryCut | NDArray[Any] | None = None  # of numbers, and of the ranks of ordered levels
    labels: tuple[Any, ...] = ()  # of levels
    whole: bool = False
    calendar: str = ""  # date or time, if the cuts are such values
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
        if kind in ("level", "branch"):
            return Question(self.column, kind, self.labels[values[0]], (), missing_yes)
        if kind == "among":
            return Question(self.column, "among", None, tuple(self.labels[v] for v in values), missing_yes)
        cut = values[0] if self.cuts is None else self.cuts[values[0]].item()
        if self.labels:  # the cut is the rank of the last level on the yes side
            return Question(self.column, "at most", self.labels[int(cut)], self.labels[: int(cut) + 1], missing_yes)
        if self.calendar:
            return Question(self.column, "at most", calendar_value(cut, self.calendar), (), missing_yes)
        return Question(self.column, "at most", int(cut) if self.whole and cut == int(cut) else cut, (), missing_yes)

    def _meaning(self, j: int) -> tuple[str, tuple[int, ...], bool]:
        """Kind, values and missing side of the j-th test; tests with missing on the no side come first."""
        if self.has_missing and j == self.tests - 1:
            return "missing", (), True
        plain = self.tests
        if self.has_missing:
            plain = self.tests - 1 if self.kind in ("levels", BRANCHES) else (self.tests - 1) // 2
        missing_yes, j = divmod(j, plain)
        if self.kind == "binary":
            return "true", (), bool(missing_yes)
        if self.kind == "subsets":
            return "among", tuple(v for v in range(self.levels) if (j + 1) >> v & 1), bool(missing_yes)
        kind = {"ordered": "at most", BRANCHES: "branch"}.get(self.kind, "level")
        return kind, (j,), bool(missing_yes)


class _Made(Sequence[Any]):
    """One object for every test of many columns, made on access; whoever needs all of them gets the same ones again."""

    def __init__(self, grids: list[_Grid]) -> None:
        self.grids = grids
        self.ends = list(accumulate(grid.tests for grid in grids))
        self._all: tuple[Any, ...] | None = None

    def make(self, number: int, j: int) -> Any:
        """The object of the j-th test of a column."""
        raise NotImplementedError

    def __len__(self) -> int:
        return self.ends[-1] if self.ends else 0

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return tuple([self[i] for i in range(*index.indices(len(self)))])
        if self._all is not None:
            return self._all[index]
        place = range(len(self))[index]
        number = bisect_right(self.ends, place)
        return self.make(number, place - self.ends[number] + self.grids[number].tests)

    def __iter__(self) -> Iterator[Any]:
        if self._all is None:
            self._all = tuple(
                [self.make(number, j) for number, grid in enumerate(self.grids) for j in range(grid.tests)]
            )
        return iter(self._all)


class _Tests(_Made):
    def make(self, number: int, j: int) -> Test:
        return self.grids[number].test(number, j)


class _Questions(_Made):
    def make(self, number: int, j: int) -> Question:
        return self.grids[number].question(j)


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
    return {name: rule_of(dataset.spec, dataset.column(name)) for name in dataset.features}


def rule_of(spec: Spec, column: Column) -> Binarization | None:
    """The rule of one column: its own, or the first rule for all columns that suits it."""
    own = next((rule for rule in reversed(spec.binarizations) if rule.column == column.name), None)
    return own or next((rule for rule in spec.binarizations if not rule.column and suits(rule, column)), None)


def _grids(
    dataset: Dataset, rules: dict[str, Binarization | None], numeric: bool
) -> tuple[list[_Grid], tuple[str, ...]]:
    ready: dict[str, _Grid] = {}
    free: dict[str, tuple[NDArray[Any] | LateValues, Codes]] = {}  # numbers without a rule: distinct values, and ranks
    for name, rule in rules.items():
        column = dataset.column(name)
        if column.is_number and rule is None:
            free[name] = _ranked(column)
        else:
            ready[name] = _grid(column, rule, numeric, dataset.count)
    total = sum(grid.tests for grid in ready.values()) + sum(max(len(values) - 1, 0) for values, _ in free.values())
    notes = _coarse(dataset, rules)
    by_quantiles = total > MOST_TESTS and not numeric and bool(free)
    for name, (values, codes) in free.items():
        column = dataset.column(name)
        if by_quantiles and len(values) > 16:
            counts = _known_counts(column, dataset.count)
            ready[name] = _of_cuts(
                column, quantile_cuts(_known(column), 16, column.is_whole, counts, _calendar(column))
            )
        else:
            ready[name] = _of_every_cut(column, values, codes)
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


def _grid(column: Column, rule: Binarization | None, numeric: bool, count: NDArray[np.int64] | None) -> _Grid:
    if column.is_number:
        assert rule is not None
        if rule.method == "thresholds":
            return _of_every_cut(column, *_ranked(column))
        return _of_cuts(column, cuts_of(column, rule, count))
    if column.type == "binary":
        missing = column.missing is not None
        coded = _coded(column)
        codes = column.values if coded is None else coded.translated(coded.held)
        return _Grid(column.name, "binary", codes, 2, 3 if missing else 1, missing, labels=column.levels)
    method = rule.method if rule else ("thresholds" if column.type == "ordered" else "levels")
    if method == "levels":
        return _of_levels(column)
    if method == "branches":
        return _of_branches(column)
    if method == "subsets":
        return _of_subsets(column, rule, numeric)
    return _of_order(column, rule, count)


def _coded(column: Column) -> CutColumn | None:
    """The column if its values are looked up by small codes, so that they need not be written out."""
    return column if isinstance(column, CutColumn) and column.is_coded else None


def _known(column: Column) -> NDArray[Any]:
    return column.values if column.missing is None else column.values[~column.missing]


def _known_counts(column: Column, count: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    return count if count is None or column.missing is None else count[~column.missing]


def cuts_of(column: Column, rule: Binarization, count: NDArray[np.int64] | None = None) -> NDArray[Any]:
    """The cuts that a rule makes in a column of numbers; `count`: the user's rows that each row stands for."""
    if column.cuts is not None:
        return column.cuts
    whole = column.is_whole
    values = _known(column)
    if rule.method == "quantiles":
        return quantile_cuts(values, rule.pieces, whole, _known_counts(column, count), _calendar(column))
    if rule.method == "width":
        return width_cuts(values, rule.pieces, whole)
    cuts = (cut_number(cut, column.type) for cut in rule.cuts) if column.type in CALENDAR else rule.cuts
    return given_cuts(cuts, values.dtype)


def _ranked(column: Column) -> tuple[NDArray[Any] | LateValues, Codes]:
    """The distinct values of a column, and the rank of every row among them; -1 is missing."""
    if (coded := _coded(column)) is not None:
        occurs = coded.occurs()
        occurs[: column.missing is not None] = False  # code 0 is that of missing values, if there are any
        return coded.held[occurs], coded.translated(np.where(occurs, np.cumsum(occurs) - 1, -1))
    values, known = ranks(_known(column))
    codes = known
    if column.missing is not None:
        codes = np.full(len(column.values), -1, dtype=np.int32)
        codes[~column.missing] = known
    return (values if len(values) < LONG else LateValues(column.values, codes, len(values))), codes


def _of_every_cut(column: Column, values: NDArray[Any] | LateValues, codes: Codes) -> _Grid:
    """A cut between every two of the distinct values."""
    missing = column.missing is not None
    whole = column.is_whole or values.dtype.kind == "i"
    cuts = EveryCut(values, column.is_whole, _calendar(column))
    tests = len(cuts) * 2 + 1 if missing else len(cuts)
    return _Grid(
        column.name, "ordered", codes, len(cuts) + 1, tests, missing, cuts, whole=whole, calendar=_calendar(column)
    )


def _of_cuts(column: Column, cuts: NDArray[Any]) -> _Grid:
    missing = column.missing is not None
    codes: Codes
    if (coded := _coded(column)) is not None:
        numbers = codes_of(coded.held, cuts)
        numbers[:missing] = -1  # code 0 is that of missing values, if there are any
        codes = coded.translated(numbers)
    else:
        codes = codes_of(column.values, cuts)
        if column.missing is not None:
            codes[column.missing] = -1
    whole = column.is_whole or cuts.dtype.kind == "i"
    tests = len(cuts) * 2 + 1 if missing else len(cuts)
    return _Grid(
        column.name, "ordered", codes, len(cuts) + 1, tests, missing, cuts, whole=whole, calendar=_calendar(column)
    )


def _calendar(column: Column) -> str:
    return column.type if column.type in CALENDAR else ""


def _present(column: Column) -> tuple[Codes, tuple[Any, ...]]:
    """Codes and labels of the levels that occur."""
    if (coded := _coded(column)) is not None:
        occurs = coded.occurs() & (coded.held >= 0)
        codes = coded.translated(np.where(occurs, np.cumsum(occurs) - 1, -1))
        return codes, tuple([column.levels[level] for level in coded.held[occurs]])
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


def _of_branches(column: Column) -> _Grid:
    """Every level is a branch, and missing values are one more; two branches are a yes-or-no test."""
    grid = _of_levels(column)
    return replace(grid, kind=BRANCHES) if grid.kind == "levels" and grid.levels + grid.has_missing > 2 else grid


def _of_order(column: Column, rule: Binarization | None, count: NDArray[np.int64] | None) -> _Grid:
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
    grid = _of_cuts(ranked, cuts_of(ranked, rule, count))
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
