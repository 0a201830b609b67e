"""A quotient's denominator may have negative parts, as long as their sum is never negative."""

from __future__ import annotations

import polars as pl
import pytest

import treeml

SPEC = """
predict class
features age
weight by pay
minimize ratio(errors + 1, 2 * accuracy + 3)
require depth <= 1
solve with {backend}
"""


def test_a_single_heavy_row_keeps_the_quotient_defined() -> None:
    rows = pl.DataFrame({"age": [0, 1, 1, 1, 1], "pay": [1.5, 0, 0, 0, 0], "class": ["yes", "no", "no", "no", "no"]})
    values = {
        backend: treeml.parse(SPEC.format(backend=backend)).solve(rows).objective for backend in ("native", "oracle")
    }
    # The heavy row right: no errors, accuracy 1.
    assert values == dict.fromkeys(values, 0.2)


def test_a_quotient_of_large_weights_before_another_goal_is_planned_without_overflow() -> None:
    rows = pl.DataFrame({"age": [0, 1], "pay": [10**15, 10**15 + 1], "class": ["yes", "no"]})
    text = 'predict class weight by pay maximize f1("yes") then minimize leaves require depth <= 1'
    assert treeml.parse(text).solve(rows).objective == (1, 2)
    with pytest.raises(treeml.SpecError, match="64 bits"):
        treeml.parse(text).solve(rows, backend="native")
