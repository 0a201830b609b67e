"""A bound that was learned for some rows holds for more rows, although these allow cuts that the others do not."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from treeml.native.numeric import NumericSolver


def striped(seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Two halves of four stripes each. A tree of depth three has a leaf with enough rows for every stripe, but in parts
    of a half some stripes have too few rows for that."""
    random = Random(seed)
    support, shift, flip = random.choice((3, 4, 5)), random.choice((0, 5, 13)), random.random() < 0.5
    half, stripe, labels = [], [], []
    for side in (0, 1):
        for level in range(4):
            is_thin = random.random() < 0.6
            for _ in range(random.randint(support, support + 2) if is_thin else random.randint(support, 12)):
                near = random.randint(60, 99) if is_thin and random.random() < 0.8 else random.randint(0, 99)
                half.append(199 - near if side else near)
                stripe.append(10 * level + random.randint(0, 9) + side * shift)
                labels.append((level + side * flip) % 2)
    return np.array([half, stripe], dtype=np.int32), np.array(labels, dtype=np.int32), support


@pytest.mark.parametrize("options", [{}, {"greedy": 0, "deepen": 0}, {"near": 0, "cross": 0}], ids=str)
def test_thin_stripes_are_found(options: dict[str, int]) -> None:
    for seed in range(300):
        columns, labels, support = striped(seed)
        for depth in (3, 4):
            solver = NumericSolver(columns)
            solver.labels(labels, 2)
            solver.set(depth=depth, support=support, **options)
            outcome = solver.solve()
            assert (outcome.status, outcome.value) == ("optimal", 0), (seed, depth)
