"""Times of survival: the loss against its definition and the oracle, and the reported measures pair by pair."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from itertools import pairwise, product
from math import isnan, log
from random import Random
from typing import Any

import pytest

import treeml as tml
from treeml.lang.diagnostic import SpecError
from treeml.solving.validation import ValidatedPart, Validation
from treeml.trees.export.registry import export
from treeml.trees.svg import draw_svg
from treeml.trees.tree import Tree

TEXT = "predict months observed died\nminimize survival_loss\nrequire depth <= {}\n"


def rows_of(seed: int, rows: int = 14, columns: int = 3) -> dict[str, list[Any]]:
    random = Random(seed)
    table: dict[str, list[Any]] = {
        f"x{number}": [random.randint(0, 1) for _ in range(rows)] for number in range(columns)
    }
    table["months"] = [random.choice((1, 2, 2.5, 3, 5, 8)) * (1 + table["x0"][row]) for row in range(rows)]
    table["died"] = [random.random() < 0.6 for _ in range(rows)]
    return table


def hazard_of(table: dict[str, list[Any]]) -> list[float]:
    """Nelson and Aalen: the sum over earlier moments of deaths / rows at risk."""
    times, died = table["months"], table["died"]
    found = []
    for time in times:
        total = Fraction(0)
        for moment in sorted(set(times)):
            if moment <= time:
                deaths = sum(d for t, d in zip(times, died, strict=True) if t == moment)
                total += Fraction(deaths, sum(t >= moment for t in times))
        found.append(float(total or Fraction(1, len(times) + 1)))
    return found


def loss_of(table: dict[str, list[Any]], leaves: list[list[int]]) -> float:
    hazard = hazard_of(table)
    total = 0.0
    for rows in leaves:
        deaths = [row for row in rows if table["died"][row]]
        if deaths:
            theta = len(deaths) / sum(hazard[row] for row in rows)
            total += sum(-log(hazard[row]) for row in deaths) - len(deaths) * log(theta)
    return total


def splits(table: dict[str, list[Any]], rows: list[int], depth: int) -> list[list[list[int]]]:
    """All ways to divide rows among the leaves of a tree."""
    found = [[rows]]
    for name in ("x0", "x1", "x2") if depth else ():
        yes, no = ([row for row in rows if table[name][row] == value] for value in (1, 0))
        if yes and no:
            found += [a + b for a, b in product(splits(table, yes, depth - 1), splits(table, no, depth - 1))]
    return found


@pytest.mark.parametrize("seed", range(12))
def test_the_best_tree_is_that_of_the_definition(seed: int) -> None:
    table = rows_of(seed)
    depth = 1 + seed % 2
    best = min(loss_of(table, leaves) for leaves in splits(table, list(range(14)), depth))
    for backend in ("native", "oracle"):
        result = tml.parse(TEXT.format(depth)).solve(table, backend=backend)
        assert result.status is tml.Status.OPTIMAL
        assert result.verified
        assert float(result.objective) == pytest.approx(best, abs=1e-9)
        reached = result.tree.apply(table)
        leaves = [[row for row in range(14) if reached[row] == leaf] for leaf in range(len(result.tree.leaves))]
        assert loss_of(table, leaves) == pytest.approx(best, abs=1e-9)
        hazard = hazard_of(table)
        for rows, leaf in zip(leaves, result.tree.leaves, strict=True):
            deaths = sum(table["died"][row] for row in rows)
            assert leaf.prediction == pytest.approx(max(deaths, 0.5) / sum(hazard[row] for row in rows))


def test_reported_measures_pair_by_pair() -> None:
    table = rows_of(3, rows=30)
    result = tml.parse(TEXT.format(2) + "report measures, concordance, brier").solve(table)
    risk = result.tree.predict(table)
    right = pairs = 0.0
    for one, other in product(range(30), repeat=2):
        if not table["died"][one]:
            continue
        later = table["months"][other] > table["months"][one]
        if later or (table["months"][other] == table["months"][one] and not table["died"][other]):
            pairs += 1
            right += 1.0 if risk[one] > risk[other] else 0.5 if risk[one] == risk[other] else 0.0
    assert float(result.measures["concordance"]) == pytest.approx(right / pairs)
    assert 0 < float(result.measures["brier"]) < 0.3


def test_without_censored_rows_the_score_is_a_mean_square() -> None:
    table: dict[str, list[Any]] = {"x0": [0, 0, 0, 1, 1, 1], "months": [1, 2, 3, 3, 4, 6], "died": [1] * 6}
    result = tml.parse(TEXT.format(1) + "report brier").solve(table)
    shares = {leaf: [] for leaf in (0, 1)}
    reached = result.tree.apply(table).tolist()
    scores = []
    for moment in (1, 2, 3, 4):
        for leaf in shares:
            own = [row for row in range(6) if reached[row] == leaf]
            shares[leaf].append(sum(table["months"][row] > moment for row in own) / len(own))
        alive = [table["months"][row] > moment for row in range(6)]
        scores.append(sum((alive[row] - shares[reached[row]][-1]) ** 2 for row in range(6)) / 6)
    area = sum((one + other) / 2 for one, other in pairwise(scores))
    assert float(result.measures["brier"]) == pytest.approx(area / 3)


def surviving(times: list[float], died: list[bool], moment: float, in_sight: bool = False) -> float:
    """The share of Kaplan and Meier that is left after a moment: of the living, or of the rows in sight.

    Of equal times, deaths come first: who died then cannot be lost from sight any more.
    """
    share = 1.0
    rows = list(zip(times, died, strict=True))
    for each in sorted({time for time in times if time <= moment}):
        at_risk = sum(time >= each for time in times)
        deaths = sum(time == each and dead for time, dead in rows)
        losses = sum(time == each and not dead for time, dead in rows)
        if in_sight and losses:
            share *= 1 - losses / (at_risk - deaths)
        elif not in_sight:
            share *= 1 - deaths / at_risk
    return share


@pytest.mark.parametrize("seed", range(5))
def test_the_score_divides_by_the_share_of_rows_in_sight(seed: int) -> None:
    """Graf and others (1999): rows that died count 1 / G(their time), rows that are there 1 / G(the moment)."""
    table = rows_of(seed, rows=25)
    table["died"] = [died or row == 0 for row, died in enumerate(table["died"])]
    result = tml.parse(TEXT.format(1) + "report brier").solve(table)
    times, died = table["months"], table["died"]
    reached = result.tree.apply(table).tolist()
    moments = [each for each in sorted({t for t, d in zip(times, died, strict=True) if d}) if each < max(times)]
    scores = []
    for moment in moments:
        score = 0.0
        for row, leaf in enumerate(reached):
            own = [other for other in range(25) if reached[other] == leaf]
            alive = surviving([times[other] for other in own], [died[other] for other in own], moment)
            if times[row] <= moment and died[row]:
                score += alive**2 / surviving(times, died, times[row], in_sight=True)
            elif times[row] > moment:
                score += (1 - alive) ** 2 / surviving(times, died, moment, in_sight=True)
        scores.append(score / 25)
    steps = zip(pairwise(moments), pairwise(scores), strict=True)
    area = sum((end - begin) * (one + other) / 2 for (begin, end), (one, other) in steps)
    assert float(result.measures["brier"]) == pytest.approx(area / (moments[-1] - moments[0]))


def test_the_tree_keeps_its_curves() -> None:
    table = rows_of(1, rows=30)
    tree = tml.parse(TEXT.format(1)).solve(table).tree
    assert Tree.from_json(tree.to_json()) == tree
    for leaf in tree.leaves:
        shares = [share for _, share in leaf.curve]
        assert shares == sorted(shares, reverse=True)
    assert draw_svg(tree).count("<path") == 2 + len(tree.leaves)
    assert "relative hazard = " in str(tree)


def test_rules_name_the_hazard_and_not_the_time() -> None:
    tree = tml.parse(TEXT.format(1)).solve(rows_of(1)).tree
    assert tree is not None
    assert all('THEN "relative hazard" = ' in line for line in str(export(tree, "rules")).splitlines())


def test_folds_measure_unseen_rows() -> None:
    result = tml.parse(TEXT.format(1) + "validate by folds(3, seed = 1)").solve(rows_of(5, rows=60))
    assert result.validation is not None
    assert {"survival_loss", "concordance", "brier"} <= set(result.validation.measures)


def test_text_and_python_say_the_same() -> None:
    model = tml.Model().predict("months", observed="died").minimize(tml.survival_loss).require(tml.depth <= 2)
    assert model == tml.parse(TEXT.format(2))
    assert "predict months observed died" in str(model)
    assert tml.parse(str(model)) == model


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("predict months minimize survival_loss", "which rows were observed"),
        ("predict months observed died minimize squared_loss", "does not go with times of survival"),
        ("predict months observed died minimize survival_loss weight by x0", "cannot be weighted"),
        ("predict months observed months minimize survival_loss", "both the time and whether"),
        ("predict months observed died minimize survival_loss features died", "observed"),
        ("predict months observed x3 minimize survival_loss", "does not say whether the end was observed"),
        ("predict below observed died minimize survival_loss", "go below 0"),
        (
            "predict months minimize squared_loss report concordance",
            "`concordance` needs to know which rows were observed",
        ),
    ],
)
def test_what_does_not_fit_is_refused(text: str, said: str) -> None:
    table = {**rows_of(2), "x3": ["dead", "alive"] * 7, "below": list(range(-3, 11))}
    with pytest.raises(SpecError, match=said):
        tml.parse(f"{text} require depth <= 1").solve(table)


def test_solvers_of_models_refuse_it() -> None:
    with pytest.raises(SpecError, match="cannot minimize"):
        tml.parse(TEXT.format(1)).solve(rows_of(2), backend="cpsat")


@pytest.mark.parametrize("backend", ["native", "oracle"])
def test_no_loss_but_for_rounding_is_the_least(backend: str) -> None:
    """The row that dies is alone in its leaf: its loss is 0, of which rounding leaves 3e-13."""
    table = {"a": [0, 1, 0, 0], "months": [3, 1, 1, 3], "died": [0, 1, 0, 0]}
    text = "predict months observed died minimize survival_loss require depth <= 2 features a"
    result = tml.parse(text).solve(table, backend=backend)
    assert 0 < result.objective < 1e-12 < result.tolerance < 1e-10
    assert result.status is tml.Status.OPTIMAL


def test_the_spread_over_parts_of_which_one_has_an_infinite_loss_is_no_number() -> None:
    parts = tuple(
        ValidatedPart(
            **{**dict.fromkeys((field.name for field in fields(ValidatedPart)), None), "test": {"loss": loss}}
        )
        for loss in (1.0, float("inf"))
    )
    whole = Validation(**{**dict.fromkeys((field.name for field in fields(Validation)), None), "parts": parts})
    assert isnan(whole.spread("loss"))
