"""Losses that no float holds are refused with advice, and the largest that one holds are solved."""

from __future__ import annotations

import pytest

import treeml as tml

ROWS = {"a": ["x", "x", "y", "y"], "b": [1.0, 2.0, 1.0, 2.0]}


@pytest.mark.parametrize("goal", ["squared_loss", "mse", "squared_loss + leaves"])
def test_squares_beyond_every_float_are_refused(goal: str) -> None:
    rows = {**ROWS, "t": [1e200, 2e200, 5e200, 7e200]}
    with pytest.raises(tml.DataError, match=r"D463.*larger than any float"):
        tml.parse(f"predict t minimize {goal} require depth <= 1").solve(rows)


@pytest.mark.parametrize(
    ("goal", "size", "loss"),
    [("squared_loss", 1e150, 2.5e300), ("absolute_loss", 1e300, 3e300), ("mse", 1e150, 0.625e300)],
)
def test_the_largest_losses_are_solved(goal: str, size: float, loss: float) -> None:
    rows = {**ROWS, "t": [size, 2 * size, 5 * size, 7 * size]}
    found = tml.parse(f"predict t minimize {goal} require depth <= 1").solve(rows)
    assert found.status is tml.Status.OPTIMAL
    assert found.verified
    assert float(found.objective) == pytest.approx(loss)
