"""`native(upper = , enough = )`: a value of the goal prunes the search, and every claim still holds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import treeml as tml
from treeml.backends.contract import Status
from treeml.lang.diagnostic import SpecError
from treeml.solving.failure import of_failure


def frame(seed: int) -> pl.DataFrame:
    chance = np.random.default_rng(seed)
    X = chance.integers(0, 2, (60, 5))
    label = (X[:, 0] & X[:, 1]) ^ X[:, 2] ^ (chance.random(60) < 0.2)
    amount = 3 * X[:, 0] + X[:, 3] + chance.integers(0, 3, 60)
    columns = {f"x{place}": X[:, place] for place in range(5)}
    return pl.DataFrame({**columns, "label": np.array(["no", "yes"])[label.astype(int)], "amount": amount})


GOALS = [
    ("label", "minimize errors", 1),
    ("label", "minimize error_rate + 0.01 * leaves", Fraction(1, 6000)),
    ("label", "maximize accuracy", Fraction(1, 60)),
    ("amount", "minimize squared_loss", Fraction(1, 100)),
    ("amount", "minimize absolute_loss", 1),
]


@pytest.mark.parametrize("kernel", ["binary", "numeric"])
@pytest.mark.parametrize(("target", "goal", "step"), GOALS)
@pytest.mark.parametrize("seed", range(3))
def test_only_better_trees_are_wanted(target: str, goal: str, step: Fraction, kernel: str, seed: int) -> None:
    other = "amount" if target == "label" else "label"
    spec = f"predict {target} {goal} require depth <= 2 solve with "
    data = frame(seed).drop(other)
    best = tml.parse(spec + "oracle").solve(data).objective
    assert best is not None
    worse = -step if goal.startswith("maximize") else step
    cases = [(best + worse, True), (best - worse, False)]
    if step == 1:  # a whole number is written exactly
        cases.append((best, False))
    for upper, exists in cases:
        found = tml.parse(f"{spec} native(kernel = {kernel}, upper = {float(upper)!r})").solve(data)
        if exists:
            assert found.status is Status.OPTIMAL
            assert found.objective == best
        else:
            assert found.status is Status.UNKNOWN
            assert found.tree is None
            assert "upper" in " ".join(found.notes)
            assert found.bound is not None
            assert (found.bound >= best) if goal.startswith("maximize") else (found.bound <= best)


@pytest.mark.parametrize("seed", range(4))
def test_enough_is_enough(seed: int) -> None:
    data = frame(seed).drop("amount")
    spec = "predict label minimize errors require depth <= 4 solve with native"
    best = tml.parse(spec).solve(data)
    for enough in (1000, 25, int(best.objective or 0) + 1, 0):
        found = tml.parse(f"{spec}(enough = {enough}, pairs = 0, deepening = 0)").solve(data)
        assert found.objective is not None
        assert best.objective is not None
        assert found.objective >= best.objective
        assert found.status in (Status.OPTIMAL, Status.FEASIBLE)
        if found.status is Status.FEASIBLE:
            assert found.objective < enough
            assert "enough" in " ".join(found.notes)
        else:
            assert found.objective == best.objective
        assert found.bound is None or found.bound <= best.objective


@pytest.mark.parametrize("seed", range(4))
def test_a_tree_whose_bound_it_meets_is_optimal_also_if_it_is_enough(seed: int) -> None:
    chance = np.random.default_rng(seed)
    data = pl.DataFrame({f"x{place}": chance.normal(size=80).round(1) for place in range(4)})
    data = data.with_columns(label=pl.Series(chance.integers(0, 2, 80)))
    found = tml.parse("predict label minimize errors require depth <= 2 solve with native(enough = 30)").solve(data)
    assert (found.bound == found.objective) == (found.status is Status.OPTIMAL)
    assert any("enough" in note for note in found.notes) == (found.status is Status.FEASIBLE)


def test_the_help_where_no_tree_is_better_is_to_raise_the_limit() -> None:
    found = tml.parse("predict label minimize errors require depth <= 1 solve with native(upper = 1)").solve(
        frame(0).drop("amount")
    )
    assert [failure.helps for failure in of_failure(found)] == [
        ("raise `upper`, or leave it out: trees that are not better than it are not looked for",)
    ]


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("minimize leaves require errors <= 20 require depth <= 3", "nothing that `upper` could prune"),
        ("minimize errors then minimize leaves require depth <= 2", "not exactly one"),
        ("minimize depth require errors <= 20", "in several steps or in other units"),
        ('minimize errors require depth <= 2 require precision("yes") >= 0.7', "couple the leaves"),
        ("ensemble by lpboost maximize margin require depth <= 1", "ever new goals"),
    ],
)
def test_where_it_has_no_meaning_it_is_refused(rest: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        tml.parse(f"predict label {rest} solve with native(upper = 3)").solve(frame(0).drop("amount"))


def test_a_value_is_noted_as_it_was_written() -> None:
    rows = frame(0).drop("amount")
    spec = "predict label maximize accuracy require depth <= 1 solve with native"
    assert "there is no tree better than upper = 0.9999" in tml.parse(f"{spec}(upper = 0.9999)").solve(rows).notes
