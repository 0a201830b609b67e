"""Bounds for numbers that were rounded: lower by the tolerance, but never below what no tree can be below."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import treeml as tml
from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, Status, Stop
from treeml.problem.tree import Leaf
from treeml.solving.choice import lower
from treeml.solving.pipeline import prepare
from treeml.solving.rounded_numbers import for_the_users_numbers


@pytest.mark.parametrize("goal", ["mse", "mean_absolute_error", "mse + 0.1 * leaves"])
def test_a_loss_has_no_negative_bound(goal: str) -> None:
    random = np.random.default_rng(0)
    dataset, request = prepare(
        f"predict y minimize {goal} require depth <= 1", random.random((50, 2)), random.random(50) * 1e6
    )
    assert dataset.rounding.targets
    problem = lower(dataset, request).form(numeric=True).problem

    def stated(bound: Fraction) -> Fraction:
        proof = (Evidence("row by row"),)
        answer = Answer(Status.FEASIBLE, Stop.TIME, Leaf(-1), bound=bound, evidence=proof)
        found = for_the_users_numbers(answer, dataset, Fraction(10), problem).bound
        assert found is not None
        return found

    assert stated(Fraction(1)) < 1
    assert stated(Fraction(0)) == 0


@pytest.mark.parametrize("goal", ["mse", "mean_absolute_error"])
def test_the_tolerance_of_a_mean_covers_the_rounding_whatever_the_rows_weigh(goal: str) -> None:
    random = np.random.default_rng(34)
    for _ in range(12):
        sides = np.array([0] * 7 + [1])  # the last row is far away, so that the others have many digits
        y = np.where(sides, 1e9, random.normal(size=8)).tolist()
        weights = (random.integers(1, 4, 8) * 1e-6).round(9).tolist()
        data = {"x": sides.tolist(), "y": y, "w": weights}
        model = tml.parse(f"predict y weight by w features x minimize {goal} require depth <= 1")
        result = model.solve(data)
        rows = [(Fraction(repr(number)), Fraction(repr(weight))) for number, weight in zip(y, weights, strict=True)]
        best = sum(_loss([rows[row] for row in np.flatnonzero(sides == side)], goal) for side in (0, 1))
        best /= sum(weight for _, weight in rows)
        assert "rounded" in result.notes[0]
        assert Fraction(result.bound) <= best
        assert abs(Fraction(result.objective) - best) <= Fraction(result.tolerance) * max(Fraction(1), best)


def _loss(rows: list[tuple[Fraction, Fraction]], goal: str) -> Fraction:
    """Of one leaf, with the numbers as they are given."""
    if not rows:
        return Fraction(0)
    if goal == "mse":
        total = sum((weight for _, weight in rows), Fraction(0))
        mean = sum((number * weight for number, weight in rows), Fraction(0)) / total
        return sum((weight * (number - mean) ** 2 for number, weight in rows), Fraction(0))
    return min(sum((w * abs(number - guess) for number, w in rows), Fraction(0)) for guess, _ in rows)


def test_the_report_says_that_the_value_is_that_of_rounded_numbers() -> None:
    random = np.random.default_rng(0)
    rows, numbers = random.random((50, 2)), random.random(50) * 1e6
    model = tml.parse("predict y minimize mse require depth <= 1")
    rounded = model.solve(rows, numbers)
    assert "rounded" in rounded.notes[0]
    (said,) = [line for line in str(rounded).splitlines() if line.startswith("verified")]
    assert "exactly" not in said
    assert f"rounded numbers, within {rounded.tolerance:.2g} (relative)" in said
    exact = model.solve(rows, numbers.round(3))
    assert "recomputed exactly from the rows" in str(exact)


def weighed(rows: int, seed: int, kind: str = "exponential") -> pl.DataFrame:
    """Numbers, a class that follows them, and weights as programs draw them; some weights are tiny."""
    random = np.random.default_rng(seed)
    values = random.normal(size=(rows, 3))
    sick = (values[:, 0] > 0.2) ^ (values[:, 1] + random.normal(0, 0.5, rows) > 0)
    weight = random.exponential(size=rows) if kind == "exponential" else random.uniform(0.5, 1.5, rows)
    columns = {f"x{number}": values[:, number] for number in range(3)}
    target = {"y": np.where(sick, "yes", "no"), "t": values[:, 2] + random.normal(size=rows)}
    return pl.DataFrame({**columns, **target, "w": weight})


HEAD = "predict {target} features x0, x1, x2 weight by w "


@pytest.mark.parametrize("goal", ["errors", "error_rate + 0.0137 * leaves"])
def test_weights_of_many_digits_are_solved_though_some_of_them_are_tiny(goal: str) -> None:
    text = HEAD.format(target="y") + f"minimize {goal} require depth <= 2"
    result = tml.parse(text).solve(weighed(20_000, 1), backend="native")
    assert result.is_optimal
    assert any("weights were rounded" in note for note in result.notes)


def test_rounded_weights_are_optimal_within_the_tolerance() -> None:
    """Compared with every stump, whose errors are added up as fractions."""
    for seed in range(8):
        rows = weighed(60, seed)
        text = HEAD.format(target="y") + "minimize errors + 0.5 * leaves require depth <= 1"
        result = tml.parse(text).solve(rows)
        weight = [Fraction(repr(number)) for number in rows["w"].to_list()]
        is_yes = (rows["y"] == "yes").to_list()

        def errors(side: list[bool], weight: list[Fraction] = weight, is_yes: list[bool] = is_yes) -> Fraction:
            here = [(w, y) for w, y, is_here in zip(weight, is_yes, side, strict=True) if is_here]
            return min(sum((w for w, y in here if y is answer), Fraction(0)) for answer in (True, False))

        best = errors([True] * 60) + Fraction(1, 2)
        for name in ("x0", "x1", "x2"):
            for cut in rows[name].to_list():
                below = (rows[name] <= cut).to_list()
                best = min(best, errors(below) + errors([not each for each in below]) + 1)
        assert result.is_optimal
        assert abs(Fraction(result.objective) - best) <= Fraction(result.tolerance) * max(Fraction(1), best)
        assert result.tolerance < 1e-6


def test_weighed_distances_have_a_bound_near_their_value() -> None:
    text = HEAD.format(target="t") + "minimize absolute_loss require depth <= 2"
    result = tml.parse(text).solve(weighed(1500, 2), backend="native")
    assert result.gap is None or result.gap < 1e-4
    assert result.plan[-1].startswith("the numeric kernel runs")


def test_no_bound_on_a_share_is_above_one() -> None:
    requirements = 'require depth <= 3 require recall("yes") >= 90%'
    text = HEAD.format(target='y is "yes"') + 'maximize specificity("yes") ' + requirements
    result = tml.parse(text).solve(weighed(600, 3, "uniform"), within=0.5, backend="native")
    assert result.bound is None or result.bound <= 1


def test_a_share_of_rounded_weights_in_every_leaf_has_a_tree() -> None:
    text = HEAD.format(target='y is "yes"') + "minimize errors require depth <= 2 require purity >= 60%"
    result = tml.parse(text).solve(weighed(400, 4, "uniform"), within=60.0)  # proved in a second when idle
    assert result.tree is not None


@pytest.mark.parametrize(
    "goal",
    [
        "maximize -1 * error_rate",
        "maximize 0.5 - 2 * error_rate",
        "maximize 2 * accuracy - 1",
        "minimize 1 - accuracy",
    ],
)
def test_a_bound_on_shares_allows_the_tree_that_was_found(goal: str) -> None:
    text = HEAD.format(target='y is "yes"') + goal + " require depth <= 4"
    result = tml.parse(text).solve(weighed(600, 3), within=0.01, backend="native")
    sign = -1 if goal.startswith("maximize") else 1
    assert result.objective is not None
    if result.bound is not None:
        assert sign * result.bound <= sign * result.objective + result.tolerance


def test_linear_leaves_keep_the_digits_of_every_weight() -> None:
    """The line follows the heavy rows, and a light row is so far from it that it costs more than all others."""
    light = 1.4142135623730951e-15
    columns = {"x": [0.0, 1.0, 0.5, 0.25, 1e6, 2e6], "t": [0.0, 1.0, 0.5, 0.25, 0.0, 1.0]}
    rows = pl.DataFrame({**columns, "w": [1 / 3, 1 / 3, 1.0, 1 / 7, light, light]})
    text = "predict t features x weight by w minimize squared_loss require depth <= 0 "
    with pytest.raises(tml.DataError, match="more digits than 64 bits hold"):
        tml.parse(text + "leaves linear(x)").solve(rows)
    assert tml.parse(text).solve(rows).is_optimal
