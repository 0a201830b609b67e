"""Costs that every row brings along, and tests that cost less after others: by hand, and against every small tree."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import polars as pl
import pytest

import treeml as tml
from treeml.lang.diagnostic import DataError
from treeml.testing.attack import claim_of, faults
from treeml.testing.random_worlds import CELLS, random_world
from treeml.testing.truth import truth

BACKENDS = ("native", "oracle", "cpsat", "mip", "maxsat")
PRICED = [cell for cell in CELLS if any(word in part for part in cell[1:] for word in ("gain", "mistake", "test cost"))]

TRIAL = pl.DataFrame(
    {
        "old": [0, 0, 1, 1, 0, 1],
        "ill": [0, 1, 0, 1, 1, 0],
        "arm": ["treat", "wait", "treat", "wait", "wait", "treat"],
        "treated": [1.5, -2.0, 4.0, 0.5, -1.0, 3.0],
        "waiting": [0.0, 1.0, 0.25, 2.0, 1.0, 0.0],
    }
)


def policy() -> tml.Model:
    model = tml.Model().predict("arm").maximize(tml.gain).require(tml.depth <= 1)
    return model.gain(predict="treat", by="treated").gain(predict="wait", by="waiting")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_policy_earns_what_its_rows_earn(backend: str) -> None:
    result = policy().solve(TRIAL, backend=backend)
    # Treating those who are not ill earns 1.5 + 4 + 3, letting the others wait 1 + 2 + 1.
    assert result.status is tml.Status.OPTIMAL
    assert result.objective == 12.5
    assert result.tree is not None
    assert result.tree.columns == ("ill",)


def test_a_policy_is_reported_beside_one_decision_for_all() -> None:
    result = policy().solve(TRIAL)
    measures = {name: float(value) for name, value in result.measures.items()}
    assert "errors" not in measures
    assert "accuracy" not in measures
    assert measures["gain"] == 12.5
    assert measures["gain per row"] == pytest.approx(12.5 / 6)
    assert measures["gain per row, all treat"] == pytest.approx(1.0)
    assert measures["gain per row, all wait"] == pytest.approx(4.25 / 6)
    asked = policy().report("measures", tml.accuracy).solve(TRIAL)
    assert "accuracy" in asked.measures


def test_a_policy_is_validated_by_what_unseen_rows_earn() -> None:
    rows = pl.concat([TRIAL] * 4)
    result = policy().validate("folds", 4, seed=1).solve(rows)
    assert result.validation is not None
    assert next(iter(result.validation.measures)) == "gain per row"
    for part in result.validation.parts:
        assert -2 <= part.test["gain per row"] <= 4
    assert result.validation.mean("gain per row, all treat") == pytest.approx(1.0, abs=1.5)


def test_a_class_without_a_column_costs_nothing() -> None:
    model = tml.Model().predict("arm").minimize(tml.mistake_cost).require(tml.depth <= 0)
    result = model.cost(predict="treat", by="treated").solve(TRIAL)
    assert (result.objective, result.tree.predict(TRIAL)[0]) == (0, "wait")


def test_columns_of_costs_are_not_tested() -> None:
    result = policy().require(tml.depth <= 5).solve(TRIAL)
    assert {"treated", "waiting"}.isdisjoint(result.tree.columns)


def test_weights_multiply_costs() -> None:
    heavy = TRIAL.with_columns(w=pl.Series([2, 1, 1, 1, 1, 1]))
    assert policy().weight_by("w").solve(heavy).objective == 14


def test_costs_of_many_digits_are_rounded_with_a_stated_tolerance() -> None:
    random = Random(3)
    rows = 50
    table = pl.DataFrame(
        {
            "x": [random.randint(0, 5) for _ in range(rows)],
            "arm": [random.choice(["treat", "wait"]) for _ in range(rows)],
            "treated": [random.gauss(0, 1) for _ in range(rows)],
            "waiting": [random.gauss(0, 1e-3) for _ in range(rows)],
        }
    )
    result = policy().solve(table)
    assert result.status is tml.Status.OPTIMAL
    assert any("rounded" in note for note in result.notes)
    best = max(_value(table, cut, sides) for cut in range(-1, 5) for sides in ("tw", "wt", "tt", "ww"))
    assert abs(float(best) - result.objective) < 1e-9


def _value(table: pl.DataFrame, cut: int, sides: str) -> Fraction:
    total = Fraction(0)
    for row in table.iter_rows(named=True):
        side = sides[0] if row["x"] <= cut else sides[1]
        total += Fraction(row["treated" if side == "t" else "waiting"])
    return total


def test_rounded_costs_are_not_required() -> None:
    table = TRIAL.with_columns(treated=pl.Series([1.1234567890123456e-9, 1e9, 2.5e9, 1e-7, 3.0, 4.0]))
    with pytest.raises(DataError) as caught:
        policy().require(tml.gain >= 0).solve(table)
    assert {each.code for each in caught.value.diagnostics} == {"D463"}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"treated": ["a", "b", "c", "d", "e", "f"]}, "D425"),
        ({"treated": [1.5, None, 4.0, 0.5, -1.0, 3.0]}, "D404"),
        ({"arm": ["wait"] * 6}, "D450"),
    ],
)
def test_columns_that_are_no_costs_are_refused(change: dict[str, list[object]], code: str) -> None:
    with pytest.raises(DataError) as caught:
        policy().solve(TRIAL.with_columns(**{name: pl.Series(values) for name, values in change.items()}))
    assert code in {each.code for each in caught.value.diagnostics}


@pytest.mark.parametrize("backend", ["native", "oracle"])
def test_columns_tested_together_are_paid_once(backend: str) -> None:
    table = pl.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": ["p", "q", "q", "p"]})
    model = tml.Model().predict("y").minimize(tml.errors + tml.test_cost / 100)
    apart = tml.Model(model.statements).test_cost(["a", "b"], 10).solve(table, backend=backend)
    together = tml.Model(model.statements).test_cost(["a", "b"], 10, together=True).solve(table, backend=backend)
    assert (apart.objective, apart.measures["test_cost"]) == (0.8, 4 * 20)
    assert (together.objective, together.measures["test_cost"]) == (0.4, 4 * 10)


@pytest.mark.parametrize("backend", ["native", "oracle"])
def test_the_order_of_tests_counts_for_a_discount(backend: str) -> None:
    table = pl.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": ["p", "q", "q", "p"]})
    model = tml.Model().predict("y").minimize(tml.errors + tml.test_cost / 100)
    result = model.test_cost("a", 1).test_cost("b", 9).test_cost("b", 2, after="a").solve(table, backend=backend)
    assert result.measures["test_cost"] == 4 * 3
    assert result.tree.root.test.column == "a"


@pytest.mark.parametrize("seed", range(60))
def test_no_claim_contradicts_the_values_of_all_small_trees(seed: int) -> None:
    random = Random(seed)
    world = random_world(random, *random.choice(PRICED))
    while not (world.row_costs or world.test_discounts):
        world = random_world(random, *random.choice(PRICED))
    claims = [claim_of(world.text(), world.table(), backend, 60.0) for backend in ("native", "oracle", "")]
    assert [fault.reason for fault in faults(world, claims, truth(world))] == []
