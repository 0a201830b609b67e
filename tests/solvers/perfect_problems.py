"""Random small problems of finding a perfect tree, with columns of every kind."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from random_problems import ONE, _bits

from treeml.problem.problem import Bound, Feature, Goal, Problem, Test
from treeml.problem.terms import Depth, Leaves, Predicted, Sum

DEPTH, LEAVES = Sum(((ONE, Depth()),)), Sum(((ONE, Leaves()),))
GOALS = {
    "depth": (Goal(DEPTH),),
    "leaves": (Goal(LEAVES),),
    "depth then leaves": (Goal(DEPTH), Goal(LEAVES)),
    "leaves then depth": (Goal(LEAVES), Goal(DEPTH)),
}


def perfect_problem(seed: int, goals: tuple[Goal, ...] = (), bounds: tuple[Bound, ...] = ()) -> Problem:
    """A problem in which no two identical rows differ in class."""
    make = np.random.default_rng(seed)
    rows, classes = int(make.integers(2, 11)), int(make.integers(2, 4))
    features: list[Feature] = []
    tests: list[Test] = []
    for number in range(int(make.integers(2, 5))):
        kind = str(make.choice(["binary", "binary", "ordered", "levels", "subsets"]))
        levels = 2 if kind == "binary" else int(make.integers(2, 5))
        codes = make.integers(0, levels, rows).astype(np.int32)
        first = len(tests)
        if kind == "binary":
            tests.append(Test(number, "true"))
        elif kind == "ordered":
            tests += [Test(number, "at most", (cut,)) for cut in range(levels - 1)]
        elif kind == "levels":
            tests += [Test(number, "level", (level,)) for level in range(levels)]
        else:
            tests += [
                Test(number, "among", tuple(level for level in range(levels) if place >> level & 1))
                for place in range(1, 2 ** (levels - 1))
            ]
        features.append(Feature(f"x{number}", kind, levels, codes, first, len(tests) - first))
    given = _bits(tuple(features), tuple(tests), rows)
    actual = make.integers(0, classes, rows)
    _, group = np.unique(given.T, axis=0, return_inverse=True)
    actual = actual[np.unique(group.ravel(), return_index=True)[1]][group.ravel()]
    cost = (np.arange(classes)[None, :] != actual[:, None]).astype(np.int64)
    perfect = Bound(Sum(((ONE, Predicted(cost)),)), "<=", Fraction(0), "errors")
    return Problem(tuple(features), tuple(tests), np.ones(rows, np.int64), classes, goals, (perfect, *bounds), given)
