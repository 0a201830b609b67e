"""Hazards and curves of survival are those of their definitions, moment by moment."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from treeml.data.hazards import UNITS, hazards, not_lost, surviving


def random_times(seed: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    random = np.random.default_rng(seed)
    rows = int(random.integers(1, 60))
    times = random.integers(0, 12, rows) if seed % 2 else random.exponential(5.0, rows).round(1)
    return times, random.random(rows) < random.random()


def shares(times: NDArray[Any], leaves: NDArray[np.bool_], before: NDArray[np.bool_]) -> list[tuple[float, float]]:
    left, found = 1.0, []
    for moment in sorted(set(times.tolist())):
        there = int((times >= moment).sum()) - int((before & (times == moment)).sum())
        going = int((leaves & (times == moment)).sum())
        left *= 1 - (going / there if going else 0.0)
        found.append((float(moment), left))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_curves_are_products_of_what_stays(seed: int) -> None:
    times, observed = random_times(seed)
    nobody = np.zeros(len(times), dtype=np.bool_)
    for curve, expected in (
        (surviving(times, observed), shares(times, observed, nobody)),
        (not_lost(times, observed), shares(times, ~observed, observed)),
    ):
        assert [moment for moment, _ in curve] == [moment for moment, _ in expected]
        assert [share for _, share in curve] == pytest.approx([share for _, share in expected], abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_hazards_are_sums_of_deaths_per_row_at_risk(seed: int) -> None:
    times, observed = random_times(seed)
    packed = hazards(times, observed)
    assert (packed & 1).tolist() == observed.astype(int).tolist()
    for row, time in enumerate(times.tolist()):
        total = Fraction(0)
        for moment in sorted({each for each in times.tolist() if each <= time}):
            died = int((observed & (times == moment)).sum())
            total += Fraction(died, int((times >= moment).sum()))
        expected = total if total else Fraction(1, len(times) + 1)
        assert abs(int(packed[row] >> 1) - expected * UNITS) <= 1
