"""The reports of a coupled search: no bound on the way is above the optimum, and no value below it."""

from __future__ import annotations

import numpy as np
import pytest

from treeml.native.coupled import Coupled


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("depth", [3, 4])
def test_bounds_on_the_way_hold_for_the_whole_depth(seed: int, depth: int) -> None:
    """Trees of less depth are looked for first, and their bounds are higher than the optimum."""
    random = np.random.default_rng(seed)
    tests, rows = 12, 160
    bits = random.integers(0, 2, (tests, rows), dtype=np.uint8)
    label = bits[0] ^ bits[1] ^ bits[2] ^ (random.random(rows) < 0.1)
    group = random.integers(0, 2, rows)
    values = np.zeros((2, rows, 2), dtype=np.int64)
    values[0, np.arange(rows), 1 - label] = 1
    values[1, :, 1] = np.where(group == 1, 1, -1)
    heard: list[tuple[int | None, int | None]] = []
    found = Coupled(bits, values).solve(
        [-1],
        [1],
        depth=depth,
        on_progress=lambda _, value, bound: heard.append((value, bound)),
        options={"poll_milliseconds": 1},
    )
    assert found.status == "optimal"
    assert found.value is not None
    assert all(bound is None or bound <= found.value for _, bound in heard)
    assert all(value is None or value >= found.value for value, _ in heard)
