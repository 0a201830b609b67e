"""Costs of tests with many digits beside errors, on columns of numbers."""

from __future__ import annotations

import numpy as np
import polars as pl

import treeml as tml


def test_a_stopped_search_states_an_exact_bound() -> None:
    random = np.random.default_rng(3)
    rows = pl.DataFrame({f"c{k}": random.random(300).round(2) for k in range(5)})
    rows = rows.with_columns(pl.Series("y", np.where(random.random(300) < 0.5, "p", "q")))
    costs = "\n".join(f"cost test c{k} = {k + 1}" for k in range(5))
    cuts = "binarize c0, c1, c2, c3, c4 by thresholds"
    text = f"predict y\n{cuts}\n{costs}\nminimize errors + 0.01714285714285714 * test_cost\nrequire depth <= 4"
    result = tml.parse(text).solve(rows, backend="native", within=0.5)
    assert result.exact is not None
    assert result.bound is None or 0 <= result.bound <= result.objective
    for moment in result.trace:
        assert moment.bound is None or type(moment.bound.numerator) is int
