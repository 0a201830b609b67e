"""The minimum margin itself: no example may fall short (Breiman 1999; Grove and Schuurmans 1998)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from treeml.forests.examples import Examples
from treeml.forests.lpboost import LPBoost
from treeml.lang.diagnostic import DataError, Diagnostic


class HardMargin(LPBoost):
    """LPBoost without slacks: prices add up to 1 and have no other limit."""

    name: ClassVar[str] = "hardmargin"

    def __init__(self, examples: Examples, options: Mapping[str, Any]) -> None:
        if examples.contradictory:
            raise DataError(_contradictory(examples.contradictory))
        super().__init__(examples, options)

    def _penalty(self, options: Mapping[str, Any]) -> Fraction | None:
        return None


def _contradictory(rows: int) -> Diagnostic:
    return Diagnostic(
        "D433",
        f"{rows} rows have the same answers to every test and different classes",
        notes=("whatever a forest votes, one of two such rows is wrong, so the smallest margin is never above 0",),
        helps=("let a few rows fall short: `ensemble by lpboost(nu = 0.1)`", "or add columns that tell these apart"),
    )
