"""Problem with coupled requirements -> Answer: the coupled search, and what follows if memory ends it.

Several goals become one cost, in which an earlier goal weighs more than the later ones can ever differ. If that number
is too large for the search, the goals are solved in turn, each with the earlier ones held at their best values.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from time import monotonic

from treeml.backends.contract import Answer, Limits, OnProgress, Solve, Stop
from treeml.backends.native.coupled.handover import hand_over
from treeml.backends.native.coupled.run import CoupledRun
from treeml.backends.native.coupled.stand_in import any_tree, with_stand_in
from treeml.backends.native.coupled.task import read_coupled
from treeml.problem.problem import Bound, Problem
from treeml.problem.tree import Node


def solve_coupled(
    problem: Problem,
    limits: Limits,
    start: Node | None,
    on_progress: OnProgress | None,
    one_goal: Solve,
    bounding: Solve,
    kernel: str = "coupled",
    divides_leaves: bool = False,
) -> Answer:
    """`one_goal` solves a problem with a single goal, whatever its requirements; `bounding` also, for its bound.

    `divides_leaves`: does `bounding` divide few leaves between the sides of splits?
    """
    if len(problem.goals) > 1 and not fits_at_once(problem):
        from treeml.backends.planning.lexicographic import lexicographic  # imported here: start-up time

        return lexicographic(one_goal)(problem, limits, start, on_progress)
    began, stand_in = monotonic(), with_stand_in(problem, kernel)
    searched = partial(CoupledRun, one_goal=one_goal, bounding=bounding, divides_leaves=divides_leaves)
    if stand_in is None:
        answer = searched(problem, limits, start, on_progress, began, kernel).answer()
    else:
        asked, limit = stand_in

        def solve(listen: OnProgress) -> Answer:
            return searched(asked, limits, None, listen, began, kernel).answer()

        answer = any_tree(problem, limit, start, on_progress, solve)
    if answer.stop is Stop.MEMORY and limits.options.get("hand_over", 1):
        return hand_over(problem, limits, answer, on_progress)
    return answer


def fits_at_once(problem: Problem) -> bool:
    """Are all goals together, as one cost, small enough for the search?"""
    try:
        read_coupled(problem)
    except OverflowError:
        return False
    return True


def in_turn(problem: Problem) -> Iterator[Problem]:
    """The problems of goals that are solved in turn, with a limit of 0 for values that are not known yet."""
    for number, goal in enumerate(problem.goals):
        held = (Bound(earlier.sum, "<=", Fraction(0)) for earlier in problem.goals[:number])
        yield problem.asking((goal,), (*problem.bounds, *held))
