"""Limits, prices and weights as programs write them: every back-end is right, or refuses with a reason."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import treeml as tml
from treeml.lang.diagnostic import RefusedError

BACKENDS = ("native", "cpsat", "mip", "maxsat", "sat", "oracle")
FOUR = {"x": [1, 2, 3, 4], "y": ["a", "b", "a", "b"]}
SIX = {"u": [0, 0, 1, 1, 1, 0], "v": [0, 1, 0, 1, 1, 1], "y": [0, 1, 1, 0, 1, 1]}
WEIGHED = {"x": [0, 0, 1, 1], "y": ["p", "p", "q", "q"], "w": [1200.1234, 3000.5, 2500.25, 4000.75]}
WIDE = {"x": [2, 0, 0, 2, 1, 0, 2], "y": [1, 0, 0, 1, 1, 0, 0], "w": [1, 10**9, 7 * 10**12, 123456789, 3, 123456789, 7]}
GROUPS = {"x": [0, 0, 1], "g": ["a", "b", "a"], "y": [0, 1, 1], "w": [1e-5, 1e5, 0.5]}

CASES: tuple[tuple[dict[str, list[Any]], str, str | None], ...] = (
    (FOUR, "minimize errors require depth <= 18446744073709551617", "0"),
    (FOUR, "minimize errors require depth <= 30", "0"),
    (FOUR, "minimize errors require depth <= 3 require leaves <= 18446744073709551618", "0"),
    (FOUR, "minimize leaves require depth <= 3 require errors <= 18446744073709551616", "1"),
    (FOUR, "minimize leaves require depth <= 3 require leaf_errors <= 18446744073709551616", "1"),
    (FOUR, "minimize errors require depth <= 3 require support >= 18446744073709551617 rows", None),
    (FOUR, "minimize errors require depth <= 3 require errors >= 18446744073709551616", None),
    (FOUR, "minimize leaves require depth <= 3 require errors - 2 * leaves <= -18446744073709551616", None),
    (FOUR, "minimize errors + 1e30 * leaves require depth <= 3", "1000000000000000000000000000002"),
    (FOUR, "minimize errors + 1e-30 * leaves require depth <= 3", "0.000000000000000000000000000004"),
    (FOUR, "minimize errors + 0.01714285714285714 * leaves require depth <= 3", "0.06857142857142856"),
    (FOUR, "minimize errors + 0.3333333333333333 * leaves require depth <= 3", "1.3333333333333332"),
    (FOUR, "minimize errors + 0.6666666666666667 * leaves require depth <= 3", "2.3333333333333334"),
    (
        FOUR,
        "minimize leaves require depth <= 3 require errors + 0.3333333333333333 * leaves <= 1.6666666666666666",
        "2",
    ),
    (FOUR, "minimize leaves require depth <= 3 require errors + 1e30 * leaves <= 3e30", "1"),
    (FOUR, "minimize errors + 0.3333333333333333 * leaves + 0.6666666666666666 * depth", "2.3333333333333332"),
    (SIX, "minimize errors require depth <= 2 require purity >= 0.6666666666666666", "1"),
    (SIX, "minimize leaves require depth <= 2 require purity >= 0.6666666666666667", "3"),
    (SIX, "minimize leaves require depth <= 2 require purity >= 0.6 require purity >= 0.9", None),
    (SIX, "minimize leaves require depth <= 2 require leaf_errors <= 1 require leaf_errors <= 0", None),
    (SIX, "minimize errors require depth <= 2 require precision(1) >= 0.6666666666666666", "1"),
    (SIX, "minimize errors require depth <= 2 require parity_gap(u) <= 0.3333333333333333", "2"),
    (SIX, "minimize errors require depth <= 2 require leaf_weight >= 1.3333333333333333", "2"),
    (WEIGHED, "weight by w minimize leaves require depth <= 1 require purity >= 0.6666666666666666", "2"),
    (WEIGHED, "weight by w minimize errors require depth <= 1 require leaf_weight >= 4200.6233333333334", "0"),
    (WEIGHED, "weight by w minimize errors require depth <= 1 require leaf_weight >= 4200.6234000000001", "4200.6234"),
    (WEIGHED, "weight by w minimize leaves require depth <= 1 require leaf_errors <= 4200.6233999999999", "2"),
    (WIDE, "weight by w minimize leaves require depth <= 2 require purity >= 123456790 / 246913579", "1"),
    (WIDE, "weight by w minimize leaves require depth <= 2 require purity >= 0.9999999999999999", None),
    (GROUPS, "weight by w minimize parity_gap(g) require depth <= 2", "0"),
    (SIX, "maximize count(predicted = 1) require depth <= 0", "6"),
)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_right_on_every_back_end(number: int) -> None:
    data, text, right = CASES[number]
    solved = []
    for backend in BACKENDS:
        try:
            result = tml.parse("predict y " + text).solve(data, backend=backend)
        except RefusedError:
            continue
        if right is None:
            assert result.status.value == "infeasible", backend
        else:
            assert result.status.value == "optimal", backend
            assert result.exact is not None
            assert result.exact.objective == (Fraction(right),), backend
        solved.append(backend)
    assert {"oracle", "cpsat"} <= set(solved)


def test_a_level_that_does_not_exist_is_not_built() -> None:
    """Two columns of yes and no have two levels, however many rows there are."""
    data = {"u": [row % 2 for row in range(400)], "v": [row // 2 % 2 for row in range(400)], "y": ["a", "b"] * 200}
    plan = tml.parse("predict y minimize errors require depth <= 40 solve with cpsat").explain(data)
    assert "no tree here is deeper than 2, so depth is bounded by 2" in plan


def test_limits_are_reported_as_they_were_written() -> None:
    model = tml.Model()
    model.minimize(tml.errors).require(tml.depth <= 2).require(tml.purity >= 2 / 3)
    result = model.solve(np.array([SIX["u"], SIX["v"]]).T, np.array(SIX["y"]), backend="cpsat")
    assert result.exact is not None
    assert [check.limit for check in result.exact.requirements] == [2, Fraction("0.6666666666666666")]


def test_native_reports_values_of_the_goal_only() -> None:
    result = tml.parse("predict y minimize leaves require errors <= 1 require depth <= 3").solve(FOUR, backend="native")
    assert result.objective == 2
    assert all(moment.objective is None or moment.objective[0] >= 2 for moment in result.trace)


@pytest.mark.parametrize("goal", ["absolute_loss", "quantile_loss(0.3)"])
@pytest.mark.parametrize(("value", "backend"), [(5e299, "cpsat"), (1e150, "mip"), (1e300, "native"), (-1e300, None)])
def test_prices_beside_the_loss_of_huge_equal_targets(goal: str, value: float, backend: str | None) -> None:
    text = f"column y : number\npredict y\nweight by w\nminimize {goal} + 0.1 * splits\nrequire depth <= 1"
    for x in ([0, 0, 0], [0, 1, 2]):
        columns = {"x": x, "y": [value] * 3, "w": [0.25] * 3}
        result = tml.Model.parse(text).solve(columns, backend=backend)
        assert (result.is_optimal, result.objective) == (True, 0)
