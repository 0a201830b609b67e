"""Problems whose goals have gaps between groups, and a back-end that takes sums over predictions alone."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np

from treeml.backends.contract import NO_LIMITS, Answer, BackendBase, Capabilities, Status, Stop
from treeml.backends.oracle.backend import OracleBackend
from treeml.problem.problem import Problem
from treeml.problem.terms import Largest, Predicted
from treeml.testing.problems import single


class Bounding(BackendBase):
    """The oracle, for sums over predictions as goals and as bounds."""

    name = "bounding"
    summary = "sums over predictions"
    can = Capabilities(
        goals=frozenset({"Predicted", "Leaves"}),
        bounds=frozenset({"Predicted", "Leaves", "Depth", "Support"}),
        needs_depth=False,
        merges_rows=True,
        merges_tests=True,
        starts=True,
    )

    def __init__(self, most: int = 10**6) -> None:
        self.asked: list[Problem] = []
        self.most = most  # the number of solves after which it runs out of time

    def solve(self, problem, limits=NO_LIMITS, start=None, on_progress=None):  # type: ignore[no-untyped-def]
        self.asked.append(problem)
        if len(self.asked) > self.most:
            return Answer(Status.UNKNOWN, Stop.TIME)
        return OracleBackend().solve(problem, limits, start, on_progress)


def gap(random: Random, problem: Problem, groups: int) -> Largest:
    """The largest difference between the rates of the last class in two groups, as the measures lower it."""
    weight = np.array([random.choice((1, 1, 2, 5)) for _ in range(problem.rows)])
    group = np.array([row % groups for row in range(problem.rows)])
    parts = []
    for one in range(groups):
        for other in range(groups):
            if one == other or not (group == one).any() or not (group == other).any():
                continue
            above, below = int(weight[group == one].sum()), int(weight[group == other].sum())
            cost = np.zeros((problem.rows, problem.classes), dtype=np.int64)
            cost[group == one, -1] = weight[group == one] * below
            cost[group == other, -1] = -weight[group == other] * above
            parts.append(single(Predicted(cost, Fraction(1, above * below))))
    return Largest(tuple(parts) or (single(Predicted(np.zeros((problem.rows, problem.classes), dtype=np.int64))),))
