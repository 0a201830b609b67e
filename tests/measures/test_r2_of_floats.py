"""`maximize r2` over numbers of any digits: the best tree, within the tolerance that the proof states."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import treeml as tml
from treeml.data.rounding import tolerance_of_targets
from treeml.lang.diagnostic import DataError
from treeml.solving.checking import check

COLUMNS = 4


def rows_of(seed: int, magnitude: float, offset: float = 0.0) -> dict[str, Any]:
    chance = np.random.default_rng(seed)
    answers = chance.integers(0, 2, (30, COLUMNS))
    target = (chance.normal(size=30) + answers[:, 0] * 2 + answers[:, 1] * answers[:, 2]) * magnitude + offset
    columns = {f"x{place}": answers[:, place].tolist() for place in range(COLUMNS)}
    return {**columns, "w": chance.random(30).tolist(), "y": target.tolist()}


def best_share(data: dict[str, Any], weighted: bool) -> Fraction:
    """Of every tree of depth two, the largest share of the variance that it explains, in exact numbers."""
    target = [Fraction(value) for value in data["y"]]
    weight = [Fraction(value) for value in data["w"]] if weighted else [Fraction(1)] * len(target)

    def loss(rows: list[int]) -> Fraction:
        total = sum((weight[row] for row in rows), Fraction(0))
        if not total:
            return Fraction(0)
        mean = sum((weight[row] * target[row] for row in rows), Fraction(0)) / total
        return sum((weight[row] * (target[row] - mean) ** 2 for row in rows), Fraction(0))

    def split(rows: list[int], column: int) -> list[list[int]]:
        return [[row for row in rows if data[f"x{column}"][row] == side] for side in (0, 1)]

    every = list(range(len(target)))
    best = min(
        sum(min(sum(map(loss, split(side, below))) for below in range(COLUMNS)) for side in split(every, root))
        for root in range(COLUMNS)
    )
    return 1 - best / loss(every)


@pytest.mark.parametrize(
    ("seed", "magnitude", "weighted"),
    [(seed, magnitude, weighted) for seed, magnitude in enumerate((1e-9, 1.0, 1e12)) for weighted in (False, True)],
)
def test_it_is_the_best_of_all_trees(seed: int, magnitude: float, weighted: bool) -> None:
    data = rows_of(seed, magnitude)
    weigh = "weight by w\n" if weighted else ""
    used = ", ".join(f"x{place}" for place in range(COLUMNS))
    found = tml.Model.parse(f"predict y\nfeatures {used}\n{weigh}maximize r2\nrequire depth <= 2\n").solve(data)
    best = best_share(data, weighted)
    assert found.status.value == "optimal"
    assert found.tolerance < 1e-6
    assert abs(Fraction(found.objective) - best) <= found.tolerance + 1e-12


def test_a_variance_as_small_as_the_rounding_proves_nothing() -> None:
    data = rows_of(7, 1.0)
    goal = check(tml.Model.parse("predict y\nmaximize 3 * r2\n"), has_target=True)[0].goals[0]
    moved, weight = Fraction(1, 10**6), Fraction(len(data["y"]))
    assert tolerance_of_targets(goal, Fraction(0), moved, weight, moved**2 * weight) == 3
    assert tolerance_of_targets(goal, Fraction(0), moved, weight, Fraction(30)) < Fraction(1, 10**4)


@pytest.mark.parametrize("asked", ["require r2 >= 50%", "minimize leaves"])
def test_where_digits_decide_they_are_not_rounded(asked: str) -> None:
    goal = "maximize r2 then minimize leaves" if asked == "minimize leaves" else "minimize leaves\n" + asked
    with pytest.raises(DataError, match="more digits than 64 bits hold"):
        tml.Model.parse(f"predict y\nfeatures x0, x1\n{goal}\nrequire depth <= 2\n").solve(rows_of(1, 1.0))


def test_prices_may_stand_beside_it() -> None:
    data = rows_of(2, 1.0)
    for price in ("0.01", "0.05", "0.4"):
        spec = f"predict y\nfeatures x0, x1, x2, x3\nmaximize r2 - {price} * leaves\nrequire depth <= 2\n"
        result = tml.Model.parse(spec).solve(data)
        oracle = tml.Model.parse(spec).solve(data, backend="oracle")
        assert result.objective == pytest.approx(oracle.objective, abs=1e-9)
