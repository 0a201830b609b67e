"""Arrays of finite floats become the columns that the way through polars makes of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from treeml.data.infer import InferenceNotes, finite_numbers, infer
from treeml.lang.spec import ColumnSpec

KINDS = {
    "decimals": lambda random: random.normal(size=20).round(2),
    "shares": lambda random: random.random(20),
    "zeros and ones": lambda random: random.integers(0, 2, 20).astype(float),
    "zeros": lambda random: np.zeros(20),
    "signed zeros": lambda random: np.array([-0.0, 1.0] * 10),
    "signed zeros among others": lambda random: np.array([-0.0, 3.5] * 10),
    "large": lambda random: random.normal(size=20) * 1e300,
    "one": lambda random: np.array([2.5]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("declared", ["", "number"])
def test_both_ways_make_the_same_column(kind: str, declared: str) -> None:
    values = KINDS[kind](np.random.default_rng(4))
    quick = finite_numbers("x", values, ColumnSpec(declared))
    slow = infer(pl.Series("x", values.copy()), ColumnSpec(declared), InferenceNotes("here"))
    assert quick is not None
    assert (quick.name, quick.type, quick.levels, quick.missing) == (slow.name, slow.type, slow.levels, slow.missing)
    assert quick.values.dtype == slow.values.dtype
    assert quick.values.tolist() == slow.values.tolist()
    assert np.signbit(quick.values).tolist() == np.signbit(slow.values).tolist()
    assert not np.shares_memory(quick.values, values)


def test_others_need_a_second_look() -> None:
    for values in (np.array([1.0, np.nan]), np.array([1.0, np.inf]), np.zeros(0)):
        assert finite_numbers("x", values, ColumnSpec("")) is None
    for declared in ("integer", "binary", "category", "ordered", "text"):
        assert finite_numbers("x", np.array([1.5, 2.5]), ColumnSpec(declared)) is None
