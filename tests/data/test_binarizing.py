"""Tests are exactly what the spec asks for, and their bits are what their questions say."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeml.data.bind import bind
from treeml.data.read import load, load_arrays
from treeml.lang.spec import Binarization, CheckedGoal, ColumnSpec, Linear, Spec, Use
from treeml.measures.binarize import Binarized, Question, binarize
from treeml.measures.cuts import EveryCut, between, codes_of, distinct, given_cuts, quantile_cuts, width_cuts
from treeml.measures.lower_dataset import Lowered, lower

ERRORS = CheckedGoal("minimize", Linear(((Fraction(1), Use("errors")),)))


def lowered(
    columns: dict[str, list[Any]],
    *rules: Binarization,
    types: dict[str, ColumnSpec] | None = None,
    numeric: bool = False,
) -> Lowered:
    rows = len(next(iter(columns.values())))
    table = {**columns, "y": [i % 2 for i in range(rows)]}
    spec = Spec(target="y", columns=types or {}, binarizations=rules, goals=(ERRORS,))
    return lower(bind(spec, load(table, types or {})), numeric=numeric)


def answers(question: Question, value: Any) -> bool:
    """A question answered straight from its definition."""
    if value is None:
        return question.missing_yes
    match question.kind:
        case "true" | "level":
            return bool(value == question.value)
        case "among":
            return value in question.values
        case "at most":
            return value in question.values if question.values else bool(value <= question.value)
    return False


def check_bits(made: Lowered, columns: dict[str, list[Any]]) -> None:
    bits = made.problem.bits
    assert bits.shape == (len(made.problem.tests), made.problem.rows)
    for test, question, row in zip(made.problem.tests, made.questions, bits, strict=True):
        assert made.problem.features[test.feature].name == question.column
        assert row.tolist() == [answers(question, value) for value in columns[question.column]]


def best_errors(made: Lowered, depth: int) -> int:
    """The fewest errors of any tree, by trying all."""
    bits = made.problem.bits
    actual = made.dataset.actual

    def fewest(rows: np.ndarray, depth: int) -> int:
        counts = np.bincount(actual[rows], minlength=2)
        best = int(counts.sum() - counts.max())
        for test in range(len(bits)) if depth else ():
            yes = bits[test][rows]
            if yes.any() and not yes.all():
                best = min(best, fewest(rows[yes], depth - 1) + fewest(rows[~yes], depth - 1))
        return best

    return fewest(np.arange(made.problem.rows), depth)


def test_the_trap_of_class_changing_cuts() -> None:
    rows = [(0, 0, 1, 1), (0, 1, 1, 0), (1, 1, 0, 0), (2, 0, 1, 0), (3, 0, 0, 1), (3, 1, 1, 0)]
    x, b, c, y = map(list, zip(*rows, strict=True))
    table = load({"x": x, "b": b, "c": c, "class": y})
    made = lower(bind(Spec(target="class", goals=(ERRORS,)), table))
    assert [question.value for question in made.questions if question.column == "x"] == [0, 1, 2]
    assert best_errors(made, 2) == 0
    without = Binarization("x", "cuts", cuts=(Fraction(0), Fraction(2)))
    assert best_errors(lower(bind(Spec(target="class", binarizations=(without,), goals=(ERRORS,)), table)), 2) == 1


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=30, unique=True))
@settings(max_examples=300)
def test_cuts_part_neighbors_exactly(values: list[float]) -> None:
    known = distinct(np.array(values) + 0.0)
    cuts = EveryCut(known, whole=False)[:]
    assert len(cuts) == len(known) - 1
    assert (known[:-1] <= cuts).all()
    assert (cuts < known[1:]).all()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_cuts_part_numbers_that_differ_in_their_last_bit(value: float) -> None:
    following = math.nextafter(value, math.inf)
    if math.isinf(following):
        return
    (cut,) = between(np.array([value]), np.array([following]), whole=False)
    assert value <= cut < following


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=20, unique=True))
def test_cuts_part_large_whole_numbers(values: list[int]) -> None:
    known = distinct(np.array(values, dtype=np.int64))
    cuts = EveryCut(known, whole=True)[:]
    assert (known[:-1] <= cuts).all()
    assert (cuts < known[1:]).all()


@pytest.mark.parametrize(
    ("low", "high", "whole", "cut"),
    [
        (1.0, 2.0, False, 1.5),
        (34, 35, True, 34),
        (10, 20, True, 15),
        (0.1, 0.2, False, 0.15),
        (0.30, 0.31, False, 0.305),
        (0.2, 10.7, False, 5),
        (99.9, 100.2, False, 100),
        (1000, 3000, False, 2000),
        (-2.5, -1.5, False, -2),
        (1e-9, 3e-9, False, 2e-9),
    ],
)
def test_cuts_are_short(low: float, high: float, whole: bool, cut: float) -> None:
    assert between(np.array([low], dtype=float), np.array([high], dtype=float), whole).tolist() == [cut]


small = st.lists(st.integers(-20, 20).map(lambda n: n / 4), min_size=1, max_size=40)


@given(small, st.integers(2, 10))
def test_quantiles_equal_their_definition(values: list[float], pieces: int) -> None:
    rows = np.array(values)
    cuts = quantile_cuts(rows, pieces, whole=False)
    ends = set()
    for j in range(1, pieces):
        end = min(v for v in values if Fraction(sum(w <= v for w in values), len(values)) >= Fraction(j, pieces))
        if end < max(values):
            ends.add(end)
    assert [max(v for v in values if v <= cut) for cut in cuts] == sorted(ends)


@given(small, st.integers(2, 10))
def test_widths_equal_their_definition(values: list[float], pieces: int) -> None:
    cuts = width_cuts(np.array(values), pieces, whole=False)
    low, high = Fraction(min(values)), Fraction(max(values))
    parts = set()
    for j in range(1, pieces):
        exact = low + (high - low) * j / pieces
        below = frozenset(v for v in values if v <= exact)
        if below and below != frozenset(values):
            parts.add(below)
    assert {frozenset(v for v in values if v <= cut) for cut in cuts} == parts
    assert len(cuts) == len(parts)


@given(small, st.lists(st.integers(-10, 10), min_size=1, max_size=25, unique=True))
def test_codes_count_the_cuts_below(values: list[float], cuts: list[int]) -> None:
    given_ = given_cuts([Fraction(cut) for cut in cuts], np.dtype(float))
    assert codes_of(np.array(values), given_).tolist() == [sum(cut < value for cut in cuts) for value in values]


def test_given_cuts_mean_what_their_text_says() -> None:
    made = lowered({"a": [0.1, 0.2, 0.3, 0.7]}, Binarization("a", "cuts", cuts=(Fraction("0.3"), Fraction("0.1"))))
    assert [question.value for question in made.questions] == [0.1, 0.3]
    assert made.problem.bits.tolist() == [[True, False, False, False], [True, True, True, False]]


COLUMNS: dict[str, list[Any]] = {
    "number": [0.5, 1.5, 2.5, 1.5, 9.5, 4.0],
    "whole": [1, 5, 3, 3, 9, 7],
    "bit": [0, 1, 1, 0, 0, 1],
    "pair": ["b", "a", "b", "b", "a", "a"],
    "color": ["red", "blue", "green", "red", "red", "blue"],
    "size": ["s1", "s10", "s2", "s2", "s10", "s1"],
}
TYPES = {"size": ColumnSpec("ordered")}


@pytest.mark.parametrize(
    "rules",
    [
        (),
        (Binarization("", "thresholds"),),
        (Binarization("", "quantiles", 3),),
        (Binarization("", "width", 3), Binarization("", "subsets")),
        (Binarization("size", "levels"), Binarization("whole", "cuts", cuts=(Fraction(4), Fraction(100)))),
        (Binarization("", "levels"),),
        (Binarization("size", "subsets"), Binarization("number", "quantiles", 2)),
        (Binarization("size", "quantiles", 2), Binarization("color", "subsets")),
    ],
)
def test_bits_are_what_the_questions_say(rules: tuple[Binarization, ...]) -> None:
    check_bits(lowered(COLUMNS, *rules, types=TYPES), COLUMNS)


def test_missing_values_kept_apart() -> None:
    columns = {name: [None if i == 2 else value for i, value in enumerate(values)] for name, values in COLUMNS.items()}
    kinds = {"number": "number", "whole": "integer", "bit": "binary", "size": "ordered"}
    types = {name: ColumnSpec(kinds.get(name, "category"), missing="separate") for name in columns}
    for rules in ((), (Binarization("", "quantiles", 3), Binarization("", "subsets"))):
        made = lowered(columns, *rules, types=types)
        check_bits(made, columns)
        for feature in made.problem.features:
            assert feature.has_missing
            tests = made.problem.tests[feature.first_test : feature.first_test + feature.tests]
            assert [test.kind for test in tests].count("missing") == 1
            if feature.kind in ("ordered", "binary", "subsets"):
                assert sum(test.missing_yes for test in tests[:-1]) * 2 == len(tests) - 1


@given(st.lists(st.sampled_from("abcde"), min_size=1, max_size=20))
def test_subsets_are_all_ways_to_part_the_levels(values: list[str]) -> None:
    columns = {"c": values}
    made = lowered(columns, Binarization("c", "subsets"), types={"c": ColumnSpec("category")})
    check_bits(made, columns)
    levels = sorted(set(values))
    wanted = set()
    for sides in product((False, True), repeat=len(levels)):
        yes = frozenset(level for level, side in zip(levels, sides, strict=True) if side)
        if 0 < len(yes) < len(levels):
            wanted.add(frozenset((yes, frozenset(levels) - yes)))
    got = [
        frozenset((frozenset(q.values or (q.value,)), frozenset(levels) - frozenset(q.values or (q.value,))))
        for q in made.questions
    ]
    assert len(got) == len(set(got)) == len(wanted)
    assert set(got) == wanted


def test_the_default_is_every_threshold_up_to_a_thousand_tests() -> None:
    few = {"a": [i / 2 for i in range(1001)]}
    many = {"a": [i / 2 for i in range(1002)], "b": [i % 5 for i in range(1002)]}
    exact = lowered(few)
    assert len(exact.problem.tests) == 1000
    assert exact.notes == ()
    coarse = lowered(many)
    assert [feature.tests for feature in coarse.problem.features] == [15, 4]
    assert "optimality is relative to the tests" in coarse.notes[0]
    assert [feature.tests for feature in lowered(many, numeric=True).problem.features] == [1001, 4]
    assert len(lowered(many, Binarization("", "thresholds")).problem.tests) == 1005


def test_rules_that_leave_thresholds_out_are_noted() -> None:
    rules = (Binarization("", "quantiles", 3), Binarization("whole", "cuts", cuts=(Fraction(4),)))
    notes = lowered(COLUMNS, *rules, types=TYPES).notes
    assert notes == (
        "optimality is relative to the tests of `binarize`: number, size by quantiles(3); whole at the cuts given",
    )
    assert lowered(COLUMNS, Binarization("", "thresholds"), types=TYPES).notes == ()


def test_very_many_tests_are_made_when_asked_for() -> None:
    columns: dict[str, list[Any]] = {"a": [i / 7 for i in range(30_000)], "b": [-i / 7 for i in range(30_000)]}
    made = lowered(columns, numeric=True)
    assert len(made.problem.tests) == len(made.questions) == 2 * 29_999
    for place in (0, 29_998, 29_999, -1):
        test, question = made.problem.tests[place], made.questions[place]
        column = columns[question.column]
        codes = made.problem.features[test.feature].codes
        assert codes is not None
        assert (codes <= test.values[0]).sum() == sum(value <= question.value for value in column)
    assert len(made.problem.tests[5:8]) == 3
    with pytest.raises(IndexError):
        made.problem.tests[2 * 29_999]


def test_matrices_of_bits_become_their_transpose() -> None:
    matrix = np.random.default_rng(0).integers(0, 2, (50, 20))
    made = lower(bind(Spec(goals=(ERRORS,)), load_arrays(matrix, np.arange(50) % 3)))
    assert (made.problem.bits == (matrix.T == 1)).all()
    assert made.problem.bits.flags.c_contiguous
    assert made.questions[3] == Question("x3", "true", 1)


def test_columns_without_variety_make_no_tests() -> None:
    made: Binarized = binarize(lowered({"a": [3, 3, 3], "c": ["x", "x", "x"]}).dataset)
    assert not len(made.tests)
    assert [feature.tests for feature in made.features] == [0, 0]
