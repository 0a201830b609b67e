"""Eleven rows of three Boolean columns, the running example of Aglin's thesis (2022, tables 4.1 and 6.1)."""

from __future__ import annotations

import numpy as np
import pytest

import treeml as tml

ROWS = np.array(
    [
        [0, 1, 1, 0],
        [1, 0, 1, 1],
        [0, 0, 1, 1],
        [0, 1, 0, 0],
        [1, 0, 0, 1],
        [0, 0, 0, 0],
        [0, 0, 1, 0],
        [1, 1, 0, 1],
        [0, 0, 0, 1],
        [0, 0, 1, 0],
        [0, 0, 0, 1],
    ]
)


@pytest.mark.parametrize("backend", ["native", "cpsat", "mip", "maxsat", "oracle"])
@pytest.mark.parametrize(("depth", "support", "errors"), [(0, 1, 5), (1, 1, 3), (2, 1, 3), (3, 1, 2), (3, 3, 3)])
def test_the_best_trees(backend: str, depth: int, support: int, errors: int) -> None:
    model = tml.Model().predict("y").minimize(tml.errors)
    model.require(tml.depth <= depth).require(tml.support >= support)
    result = model.solve(ROWS[:, :3], ROWS[:, 3], backend=backend)
    assert (result.status, result.objective) == (tml.Status.OPTIMAL, errors)
