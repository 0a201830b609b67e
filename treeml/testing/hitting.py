"""A family of sets -> a problem whose smallest and shallowest perfect trees are its smallest hitting sets.

The reduction of Ordyniak and Szeider (2021, Theorem 2): one row without marks, and for every set a row with those of
its members. Separating the first row from the others takes one test for every member of a hitting set, and these tests
lie on one path. So hard families of sets are hard problems for every back-end.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from treeml.problem.problem import Goal, Problem
from treeml.testing.problems import binary, bound, errors


def hitting_problem(family: Sequence[Collection[int]], universe: int, goals: tuple[Goal, ...]) -> Problem:
    """Elements are 0 .. universe - 1; no set of the family is empty."""
    marks = [[0] * universe, *([int(element in members) for element in range(universe)] for members in family)]
    actual = [1, *(0 for _ in family)]
    rows = ["".join(map(str, row)) for row in marks]
    return binary(rows, goals=goals, bounds=(bound(errors(actual, 2), "<=", 0, "errors"),), classes=2)
