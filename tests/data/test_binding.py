"""A spec and a table become a Dataset in whole numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeml as tml
from treeml.data.bind import bind
from treeml.data.read import load, load_arrays
from treeml.data.scaling import EXACT, fit, whole_fractions, whole_numbers
from treeml.lang.diagnostic import DataError
from treeml.lang.spec import CheckedGoal, ColumnSpec, Linear, Requirement, Spec, Use
from treeml.measures.lower_dataset import lower


def goal(measure: str, *arguments: Any) -> CheckedGoal:
    return CheckedGoal("minimize", Linear(((Fraction(1), Use(measure, arguments, measure)),)))


ERRORS = goal("errors")
ROWS = {"a": [1, 2, 3, 4], "sex": ["F", "M", "F", "M"], "w": [0.5, 1.25, 0, 2], "y": ["no", "yes", "no", "yes"]}


def test_roles() -> None:
    dataset = bind(Spec(target="y", weight_column="w", forbidden=("sex",), goals=(ERRORS,)), load(ROWS))
    assert dataset.features == ("a",)
    assert dataset.classes == ("no", "yes")
    assert dataset.positive == 1
    assert dataset.actual.tolist() == [0, 1, 0, 1]
    assert [int(w) * dataset.weight_scale for w in dataset.weight] == [Fraction(1, 2), Fraction(5, 4), 0, 2]
    assert dataset.mistake_cost.tolist() == [[0, 1], [1, 0]]


def test_a_sensitive_column_is_a_feature_unless_forbidden() -> None:
    columns = {"sex": ColumnSpec("category", sensitive=True)}
    assert "sex" in bind(Spec(target="y", columns=columns, goals=(ERRORS,)), load(ROWS, columns)).features


def test_features_named_and_left_out() -> None:
    assert bind(Spec(target="y", features=("sex", "a"), goals=(ERRORS,)), load(ROWS)).features == ("sex", "a")
    assert bind(Spec(target="y", excluded=("a", "w"), goals=(ERRORS,)), load(ROWS)).features == ("sex",)


def test_arrays_need_no_predict() -> None:
    dataset = bind(Spec(goals=(ERRORS,)), load_arrays(np.array([[0, 1], [1, 1]]), ["b", "a"], [1, 3]))
    assert dataset.features == ("x0", "x1")
    assert dataset.classes == ("a", "b")
    assert dataset.weight.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([0, 1, 0], (0, 1)),
        ([1, 2, 3], (1, 2, 3)),
        ([1.0, 2.0, 1.0], (1.0, 2.0)),
        ([True, False, True], (False, True)),
        (["b", "a", "b"], ("a", "b")),
        ([1, 1, 1], (1,)),
        ([2**60, 2**60 + 1, 2**60], (2**60, 2**60 + 1)),
    ],
)
def test_labels_stay_the_users_own(labels: list[Any], classes: tuple[Any, ...]) -> None:
    dataset = bind(Spec(goals=(ERRORS,)), load_arrays(np.zeros((3, 1)), np.array(labels)))
    assert dataset.classes == classes
    assert [type(label) for label in dataset.classes] == [type(label) for label in classes]
    assert [dataset.classes[number] for number in dataset.actual] == labels


def test_one_class_is_allowed_and_noted() -> None:
    dataset = bind(Spec(target="y", goals=(ERRORS,)), load({"a": [1, 2], "y": ["x", "x"]}))
    assert any("every row is of class `x`" in note for note in dataset.notes)


@pytest.mark.parametrize(("rows", "noted"), [(24, ["code", "flag"]), (12, [])])
def test_the_target_under_another_name_is_noted(rows: int, noted: list[str]) -> None:
    truth = [number % 3 == 0 for number in range(rows)]
    columns = {
        "code": ["B" if each else "A" for each in truth],
        "near": ["B" if each and number else "A" for number, each in enumerate(truth)],
        "many": [f"{each}{number % 2}" for number, each in enumerate(truth)],
        "flag": truth,
        "y": ["ill" if each else "well" for each in truth],
    }
    notes = bind(Spec(target="y", goals=(ERRORS,)), load(columns)).notes
    assert [note for note in notes if "tells the class" in note] == [
        f"`{name}` alone tells the class of every row: leave it out if it follows from the target" for name in noted
    ]


def test_numbers_are_classes_or_numbers_as_the_measures_want() -> None:
    table = load({"a": [1, 2, 3], "y": [10, 20, 30]})
    assert bind(Spec(target="y", goals=(ERRORS,)), table).classes == (10, 20, 30)
    as_numbers = bind(Spec(target="y", goals=(goal("squared_loss"),)), table)
    assert as_numbers.classes == ()
    assert [int(v) * as_numbers.target_scale for v in as_numbers.targets[:, 0]] == [10, 20, 30]
    declared = Spec(target="y", columns={"y": ColumnSpec("number")}, goals=(ERRORS,))
    with pytest.raises(DataError, match="T301"):
        bind(declared, load({"a": [1, 2, 3], "y": [10, 20, 30]}, declared.columns))


def test_class_weights_and_costs_are_exact() -> None:
    spec = Spec(
        target="y",
        weight_column="w",
        class_weights={"yes": Fraction(1, 3)},
        mistake_costs={("no", "yes"): Fraction("50.5"), ("yes", "yes"): Fraction(1, 4)},
        goals=(goal("mistake_cost"),),
    )
    dataset = bind(spec, load(ROWS))
    weights = [int(w) * dataset.weight_scale for w in dataset.weight]
    assert weights == [Fraction(1, 2), Fraction(5, 12), 0, Fraction(2, 3)]
    costs = [[int(c) * dataset.mistake_scale for c in row] for row in dataset.mistake_cost]
    assert costs == [[0, Fraction("50.5")], [1, Fraction(1, 4)]]


def test_weights_of_sixteen_digits_are_exact() -> None:
    weights = [1 / 3, 10.0, 3.3, 0.7]
    dataset = bind(Spec(target="y", weight_column="w", goals=(ERRORS,)), load({**ROWS, "w": weights}))
    assert [int(whole) * dataset.weight_scale for whole in dataset.weight] == [Fraction(repr(each)) for each in weights]
    assert not dataset.rounding
    assert not dataset.notes


def test_weights_that_do_not_fit_are_rounded_for_a_goal_and_that_is_said() -> None:
    weights = [1 / 3, 1000.0, 3.3, 0.7]
    dataset = bind(Spec(target="y", weight_column="w", goals=(ERRORS,)), load({**ROWS, "w": weights}))
    assert 0 < int(dataset.weight.sum()) <= EXACT
    assert any("their total moves by at most 3.3e-13" in note for note in dataset.notes)
    for whole, weight in zip(dataset.weight, weights, strict=True):
        exact = Fraction(repr(weight))
        assert abs(int(whole) * dataset.weight_scale - exact) <= dataset.rounding.weights * exact
    assert dataset.rounding.weights < Fraction(1, 10**9)


def required(measure: str, sense: str, limit: int, name: str) -> Requirement:
    return Requirement(Linear(((Fraction(1), Use(measure)),)), sense, Fraction(limit), name)


@pytest.mark.parametrize(
    ("goals", "requirements"),
    [((ERRORS,), (required("errors", "=", 1, "one"),)), ((ERRORS, goal("leaves")), ())],
)
def test_weights_that_an_equation_or_an_earlier_goal_reads_are_exact_or_refused(
    goals: tuple[Any, ...], requirements: tuple[Any, ...]
) -> None:
    spec = Spec(target="y", weight_column="w", goals=goals, requirements=requirements)
    weights = [1 / 3, 100.0, 3.3, 0.7]
    dataset = bind(spec, load({**ROWS, "w": weights}))
    assert [int(whole) * dataset.weight_scale for whole in dataset.weight] == [Fraction(repr(each)) for each in weights]
    assert not dataset.rounding
    with pytest.raises(DataError, match="the weights have more digits than 64 bits hold"):
        bind(spec, load({**ROWS, "w": [1 / 3, 1000.0, 3.3, 0.7]}))


def test_a_requirement_on_rounded_weights_is_loosened_and_measured_exactly() -> None:
    spec = Spec(target="y", weight_column="w", goals=(ERRORS,), requirements=(required("errors", "<=", 1, "few"),))
    weights = [1 / 3, 1000.0, 3.3, 0.7]
    dataset = bind(spec, load({**ROWS, "w": weights}))
    assert dataset.rounding.weights > 0
    (bound,) = lower(dataset).problem.bounds
    assert 1 + Fraction(1, 10**13) < bound.limit < 1 + Fraction(1, 10**11)
    given = dataset.with_given_weights()
    assert [whole * given.weight_scale for whole in given.weight] == [Fraction(repr(each)) for each in weights]


def test_targets_that_do_not_fit_are_rounded_for_a_goal_only() -> None:
    rows = {"x": [1, 2, 3], "y": [0.1234567890123457, 1e5, 2.5]}
    loss = Linear(((Fraction(1), Use("squared_loss")),))
    dataset = bind(Spec(target="y", goals=(goal("squared_loss"),)), load(rows))
    for whole, exact in zip(dataset.targets[:, 0], rows["y"], strict=True):
        assert abs(int(whole) * dataset.target_scale - Fraction(repr(exact))) <= dataset.rounding.targets
    assert dataset.rounding.targets > 0
    spec = Spec(target="y", goals=(goal("leaves"),), requirements=(Requirement(loss, "<=", Fraction(1), "close"),))
    with pytest.raises(DataError, match="the numbers to predict have more digits than 64 bits hold"):
        bind(spec, load(rows))


def test_weights_that_would_lose_their_digits_are_exact_or_refused() -> None:
    spec = Spec(target="y", weight_column="w", goals=(ERRORS,))
    exact = bind(spec, load({**ROWS, "w": [1e-8, 2.5e9, 3.3, 0.7]}))
    assert int(exact.weight.min()) * exact.weight_scale == Fraction(1, 10**8)
    assert not exact.notes
    for gone in (1e-30, 1e-12):
        with pytest.raises(DataError) as refused:
            bind(spec, load({**ROWS, "w": [gone, 1e10, 3.3, 0.7]}))
        assert str(refused.value) == (
            "error[D463]: the weights have more digits than 64 bits hold\n"
            " --> the data\n"
            "  = note: too many digits\n"
            "  = note: from the first digit of their sum to the last digit of the smallest\n"
            "  = note: they are not rounded, which could make a requirement hold or fail, or change the small ones\n"
            "  = help: round them to a few digits"
        )


def test_costs_are_exact_or_refused() -> None:
    costs = {("a", "b"): Fraction("1.4142135623730951"), ("b", "a"): Fraction(3)}
    dataset = bind(Spec(target="y", mistake_costs=costs), load({"x": [1, 2], "y": ["a", "b"]}))
    assert int(dataset.mistake_cost[0, 1]) * dataset.mistake_scale == costs["a", "b"]
    assert not dataset.notes
    costs["b", "a"] = Fraction(10**15)
    with pytest.raises(DataError, match="the costs of mistakes have more digits than 64 bits hold"):
        bind(Spec(target="y", mistake_costs=costs), load({"x": [1, 2], "y": ["a", "b"]}))


def test_costs_leave_weights_their_digits() -> None:
    """Costs of 2**53 and weights of many digits have no common whole numbers, which is a message and not a crash."""
    costs = {("a", "b"): Fraction("1.4142135623730951"), ("b", "a"): Fraction(10**15)}
    spec = Spec(target="y", weight_column="w", mistake_costs=costs, goals=(goal("mistake_cost"),))
    table = load({"x": [1, 2, 2], "y": ["a", "b", "a"], "w": [0.3333333333333333, 0.25, 0.1]})
    with pytest.raises(DataError, match="the costs of mistakes have more digits than 64 bits hold"):
        lower(bind(spec, table))


def test_cluster_columns_are_described_by_the_others() -> None:
    table = load({"a": [1, 2, 3], "b": [0.5, 1.5, 2.25], "c": [1, 0, 1]})
    cluster = goal("cluster_loss", ("b", "c"), "squared")
    dataset = bind(Spec(goals=(cluster,)), table)
    assert dataset.features == ("a",)
    values = [[int(v) * dataset.target_scale for v in row] for row in dataset.targets]
    assert values == [[Fraction(1, 2), 1], [Fraction(3, 2), 0], [Fraction(9, 4), 1]]
    assert bind(Spec(features=("a", "b"), goals=(cluster,)), table).features == ("a", "b")


def test_missing_values_dropped() -> None:
    spec = Spec(target="y", columns={"a": ColumnSpec("integer", missing="drop")}, goals=(ERRORS,))
    dataset = bind(spec, load({**ROWS, "a": [None, 2, None, 4]}, spec.columns))
    assert dataset.rows == 2
    assert dataset.row_numbers.tolist() == [1, 3]
    assert dataset.classes == ("yes",)
    assert dataset.column("a").missing is None
    assert "2 rows were dropped where `a` is missing" in dataset.notes


def test_missing_values_filled_with_the_lower_median() -> None:
    for kind, values, expected in (
        ("integer", [None, 10, 3, 4], [4, 10, 3, 4]),
        ("number", [1.5, None, 2.5, None], [1.5, 1.5, 2.5, 1.5]),
        ("ordered", ["a", "b", None, "b"], ["a", "b", "b", "b"]),
    ):
        spec = Spec(target="y", columns={"a": ColumnSpec(kind, missing="median")}, goals=(ERRORS,))
        column = bind(spec, load({**ROWS, "a": values}, spec.columns)).column("a")
        assert [column.levels[v] if column.levels else v for v in column.values.tolist()] == expected


@pytest.mark.parametrize("rule", ["separate", "median"])
def test_targets_and_weights_can_only_be_dropped(rule: str) -> None:
    for name, values in (("y", ["no", None, "no", "yes"]), ("w", [1, None, 2, 3])):
        spec = Spec(target="y", weight_column="w", columns={name: ColumnSpec(missing=rule)}, goals=(ERRORS,))
        with pytest.raises(DataError, match=f"1 value is missing in `{name}`"):
            bind(spec, load({**ROWS, name: values}, spec.columns))


def test_a_column_without_values_has_no_median() -> None:
    spec = Spec(target="y", columns={"a": ColumnSpec("number", missing="median")}, goals=(ERRORS,))
    with pytest.raises(DataError, match="missing in every row"):
        bind(spec, load({**ROWS, "a": [None] * 4}, spec.columns))


@pytest.mark.parametrize("kind", ["binary", "number", "integer", "category", "ordered"])
def test_a_column_without_values_can_be_kept_apart(kind: str) -> None:
    spec = Spec(target="y", columns={"a": ColumnSpec(kind, missing="separate")}, goals=(ERRORS,))
    dataset = bind(spec, load({**ROWS, "a": [None] * 4}, spec.columns))
    assert lower(dataset).problem.bits[lower(dataset).problem.features[0].first_test :].size


def test_missing_values_kept_apart() -> None:
    spec = Spec(target="y", columns={"sex": ColumnSpec("category", missing="separate")}, goals=(ERRORS,))
    missing = bind(spec, load({**ROWS, "sex": ["F", None, "M", None]}, spec.columns)).column("sex").missing
    assert missing is not None
    assert missing.tolist() == [False, True, False, True]


def test_missing_values_of_columns_that_play_no_part() -> None:
    spec = Spec(target="y", excluded=("sex",), goals=(ERRORS,))
    assert bind(spec, load({**ROWS, "sex": ["F", None, "M", None]})).rows == 4


def test_missing_targets_of_bit_matrices_can_be_dropped() -> None:
    spec = Spec(columns={"y": ColumnSpec("category", missing="drop")}, goals=(ERRORS,))
    table = load_arrays(np.array([[0, 1], [1, 1], [1, 0]]), ["a", None, "b"], types=spec.columns)
    dataset = bind(spec, table)
    assert dataset.row_numbers.tolist() == [0, 2]
    assert dataset.column("x0").values.tolist() == [0, 1]


def test_no_features_make_a_single_leaf() -> None:
    dataset = bind(Spec(target="y", goals=(ERRORS,)), load({"y": [0, 1]}))
    assert dataset.features == ()
    assert any("single leaf" in note for note in dataset.notes)


decimals = st.decimals(-(10**6), 10**6, places=6, allow_nan=False).map(float)


@given(st.lists(decimals, min_size=1, max_size=30))
def test_decimals_become_whole_numbers_exactly(values: list[float]) -> None:
    whole, scale, moved = whole_numbers(np.array(values), EXACT, EXACT)
    assert moved == 0
    assert [int(number) * scale for number in whole] == [Fraction(repr(value)) for value in values]


@given(st.lists(st.floats(0, 1e300, allow_subnormal=True), min_size=1, max_size=20))
@settings(max_examples=200)
def test_any_floats_become_whole_numbers_that_fit(values: list[float]) -> None:
    whole, scale, moved = whole_numbers(np.array(values), EXACT, EXACT)
    assert sum(map(int, whole)) <= EXACT
    exact = [Fraction(repr(value)) for value in values]
    distance = sum((abs(int(number) * scale - value) for number, value in zip(whole, exact, strict=True)), Fraction(0))
    assert distance == moved
    assert moved <= len(values) * scale / 2


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_many_floats_of_full_length(size: float) -> None:
    values = np.random.default_rng(0).normal(size=20_000) * size
    whole, scale, moved = whole_numbers(values, 2**62, EXACT)
    assert int(np.abs(whole).sum()) <= 2**62
    exact = [Fraction(repr(value)) for value in values.tolist()]
    distances = [abs(int(number) * scale - value) for number, value in zip(whole, exact, strict=True)]
    assert sum(distances) <= moved
    assert max(distances) <= scale


@pytest.mark.parametrize("rows", [99, 101, 10_001])
@pytest.mark.parametrize("magnitude", [1e-300, 1e-9, 1.0, 1e9, 1e307])
def test_floats_of_all_digits_are_rounded_by_no_more_than_said(rows: int, magnitude: float) -> None:
    values = np.random.default_rng(3).normal(size=rows) * magnitude
    whole, scale, moved = whole_numbers(values, 2**58, 2**58)
    change = sum(
        abs(Fraction(repr(value)) - number * scale)
        for value, number in zip(values.tolist(), whole.tolist(), strict=True)
    )
    assert change <= moved
    assert int(np.abs(whole).astype(object).sum()) <= 2**58


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20))
def test_whole_numbers_that_are_too_large_are_rounded(values: list[int]) -> None:
    whole, scale, moved = whole_numbers(np.array(values, dtype=np.int64), EXACT, EXACT)
    assert sum(abs(int(number)) for number in whole) <= EXACT
    assert sum(abs(int(n) * scale - v) for n, v in zip(whole, values, strict=True)) == moved


@given(st.lists(st.fractions(0, 1000), min_size=1, max_size=10))
def test_fractions(values: list[Fraction]) -> None:
    whole, scale = whole_fractions(values)
    assert [number * scale for number in whole] == values
    fitted, finer, moved = fit(values, [1] * len(values), 1000, 1000)
    assert sum(fitted) <= 1000
    assert abs(sum(number * finer for number in fitted) - sum(values)) <= moved


def test_the_positive_class_is_said_where_it_matters() -> None:
    gap = goal("parity_gap", "sex")
    dataset = bind(Spec(target="y", goals=(gap,)), load(ROWS))
    assert dataset.notes == ("the positive class of `y` is `yes`, since no other was named",)
    assert bind(Spec(target="y", positive="no", goals=(gap,)), load(ROWS)).positive == 0
    assert bind(Spec(target="y", goals=(ERRORS,)), load({**ROWS, "y": ["b", "a", "b", "a"]})).positive is None


def test_a_single_group_is_noted() -> None:
    spec = Spec(target="y", goals=(goal("parity_gap", "sex"),))
    assert any("is `F` in every row" in note for note in bind(spec, load({**ROWS, "sex": ["F"] * 4})).notes)


def test_whole_numbers_beyond_floats_beside_decimals_are_refused() -> None:
    """Joined with decimals they would become floats, and the loss would be that of other numbers."""
    big = 10**18
    rows = {"x": [0, 0, 1, 1], "u": [big, big + 40, big + 80, big + 120], "v": [0.5, 0.5, 0.25, 0.25]}
    text = "minimize cluster_loss({}, squared)\nfeatures x\nrequire depth <= 0"
    assert tml.parse(text.format("u")).solve(rows).objective == sum((each - 60) ** 2 for each in (0, 40, 80, 120))
    with pytest.raises(DataError, match="the numbers to predict have more digits than 64 bits hold"):
        tml.parse(text.format("u, v")).solve(rows)
