"""Bounds that solvers report as floats, where the terms of the goal are so large that a float loses its last digits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from treeml.backends.contract import Limits, Progress, Status
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.registry import get
from treeml.backends.run import run
from treeml.problem.problem import Bound, Feature, Goal, Problem, Test
from treeml.problem.terms import Depth, Predicted, Sum

ONE = Fraction(1)
CODES = ((2, 1, 1, 0, 2, 0, 0), (0, 0, 2, 2, 2, 2, 0), (0, 0, 2, 2, 2, 2, 2), (0, 2, 2, 0, 2, 0, 0))


def predicted(first: list[int], second: list[int], divisor: int = 1) -> Sum:
    return Sum(((ONE, Predicted(np.stack([first, second], axis=1).astype(np.int64), Fraction(1, divisor))),))


def large_terms() -> Problem:
    """Its best tree costs 2, the difference of terms with sixteen digits."""
    features = tuple(
        Feature(f"x{place}", "ordered", 3, np.array(codes, np.int32), 2 * place, 2) for place, codes in enumerate(CODES)
    )
    tests = tuple(Test(place, "at most", (cut,)) for place in range(4) for cut in range(2))
    none = [0] * 7
    goal = predicted([0, 0, 0, 0, 3559651332771478, 0, 0], [575802845161331, 368145449437684, 0, 1, 0, 1, 0])
    at_least = predicted(none, [251634768584774, 90709743469552, 0, 3700141210173375, 0, 461113905142794, 0], 10**9 + 7)
    equal = predicted(none, [3914584799380019, 264507523902559, 324507304087915, -1, 0, -1, 0])
    at_most = predicted([0, 0, 0, 0, 4280307646440987, 0, 0], [223291980929508, 0, 0, 0, 0, 0, 0], 3)
    bounds = (
        Bound(Sum(((ONE, Depth()),)), "<=", Fraction(2), "depth"),
        Bound(at_least, ">=", Fraction(4161255115316169, 10**9 + 7), "first"),
        Bound(equal, "=", Fraction(-2), "second"),
        Bound(at_most, "<=", Fraction(1426769215480329), "third"),
    )
    return Problem(features, tests, np.ones(7, np.int64), 2, (Goal(goal),), bounds)


@pytest.mark.parametrize(
    ("name", "options"),
    [("cpsat", {"encoding": encoding}) for encoding in ("cover", "rows", "order")] + [("native", {}), ("oracle", {})],
)
def test_no_bound_lies_above_the_best_tree(name: str, options: dict[str, Any]) -> None:
    planned = plan(large_terms(), get(name), options)
    assert isinstance(planned, Plan), planned
    bounds: list[Any] = []

    def listen(moment: Progress) -> None:
        bounds.append(moment.bound)

    answer = run(planned, Limits(options=options), on_progress=listen)
    assert (answer.status, answer.objective, answer.bound) == (Status.OPTIMAL, (2,), 2)
    assert all(bound is None or bound <= 2 for bound in bounds)
