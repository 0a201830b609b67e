"""Problem without a goal -> Answer: one of its requirements becomes the goal, and the search ends with any tree.

Without costs nothing tells the search where trees that meet every requirement are, and its bounds exclude little. With
the sum of a requirement as its cost, it goes to the trees that meet this one best, the others kept. The limit of that
requirement is the largest cost of interest, so that no tree is lost, and lists have one sum less to keep.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, OnProgress, Progress, Status, Stop
from treeml.backends.native.coupled.requirements import limits_predictions
from treeml.backends.native.coupled.task import has_small_sums, read_coupled
from treeml.problem.evaluate import is_answer
from treeml.problem.problem import Goal, Problem
from treeml.problem.tree import Node

NO_GOAL = (Evidence("no goal"),)


def with_stand_in(problem: Problem, kernel: str) -> tuple[Problem, Fraction] | None:
    """The problem with a goal, and the value that is good enough; None if it has one, or if no requirement can be one.

    A gap limits every difference of groups in both directions, which a goal cannot do: only a requirement whose name
    stands for a single limit is taken.
    """
    if problem.goals:
        return None
    limits = [bound for bound in problem.bounds if limits_predictions(bound)]
    times = Counter(bound.name for bound in limits)
    for bound in limits if len(limits) > 1 else ():
        if times[bound.name] > 1 or bound.sense == "=":
            continue
        total, limit = (bound.sum, bound.limit) if bound.sense == "<=" else (bound.sum.negated(), -bound.limit)
        asked = problem.asking((Goal(total),), problem.bounds)
        try:
            task = read_coupled(asked)
        except OverflowError:
            continue
        if task.most is not None and (kernel != "coupled numeric" or has_small_sums(asked)):
            return asked, limit
    return None


def any_tree(
    problem: Problem,
    limit: Fraction,
    start: Node | None,
    on_progress: OnProgress | None,
    solve: Callable[[OnProgress], Answer],
) -> Answer:
    """The answer to a problem without a goal from a search for the problem with one, where `limit` is good enough."""
    if start is not None and is_answer(problem, start):
        return _found(start)

    def listen(moment: Progress) -> bool | None:
        if moment.objective is not None and moment.objective[0] <= limit:
            return False
        return None if on_progress is None else on_progress(Progress(moment.seconds))

    answer = solve(listen)
    if answer.tree is not None and is_answer(problem, answer.tree):
        return replace(_found(answer.tree), statistics=answer.statistics, notes=answer.notes)
    if answer.status is Status.INFEASIBLE:
        return replace(answer, trace=())
    return replace(answer, status=Status.UNKNOWN, tree=None, objective=None, bound=None, evidence=(), trace=())


def _found(tree: Node) -> Answer:
    return Answer(Status.OPTIMAL, Stop.PROVED, tree, (), evidence=NO_GOAL)
