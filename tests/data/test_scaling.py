"""Floats are whole numbers with as few digits after the point as all of them need."""

from __future__ import annotations

import numpy as np
import pytest

from treeml.data.scaling import shortest_decimals


@pytest.mark.parametrize(
    ("values", "digits"),
    [
        ([1.0, -2.0, 0.0], 0),
        ([0.25, 1.0], 2),
        ([1.0, 0.25], 2),
        ([0.5, 0.125, 3.0], 3),
        ([1e-05, 0.5], 5),
        ([-0.0, 0.1], 1),
        ([100.0, 0.000123], 6),
    ],
)
def test_the_fewest_digits(values: list[float], digits: int) -> None:
    found = shortest_decimals(np.array(values))
    assert found is not None
    whole, number = found
    assert number == digits
    assert [each / 10.0**number for each in whole.tolist()] == values


@pytest.mark.parametrize("first", [0.1 + 0.2, 1 / 3, 1e300, float("inf"), float("nan")])
def test_numbers_with_more_digits_are_left_to_others(first: float) -> None:
    with np.errstate(invalid="ignore"):
        assert shortest_decimals(np.array([first, 1.0])) is None


def test_narrow_floats_are_read_as_they_are_printed() -> None:
    found = shortest_decimals(np.array([0.1, 0.25], dtype=np.float32))
    assert found is not None
    assert (found[0].tolist(), found[1]) == ([10, 25], 2)


def test_no_numbers_need_no_digits() -> None:
    found = shortest_decimals(np.array([]))
    assert found is not None
    assert found[1] == 0
