"""A quotient's denominator may have negative parts, as long as their sum is never negative."""

from __future__ import annotations

import polars as pl

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
