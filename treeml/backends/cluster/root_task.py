"""Problem, its first test -> the best tree that begins with this test, or a bound on all such trees.

Below the first test, the rows of its two sides have nothing to do with each other: costs add up, and what every leaf
has to meet, each leaf meets on its own. So the two sides are two problems with one level less, which the native solver
solves. A side is searched only for trees that would make the whole better than the best tree known anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from treeml.backends.claims import BOUND, INFEASIBLE, Evidence, Proof, supporting
from treeml.backends.contract import Answer, Deadline, Limits, Status
from treeml.backends.native.backend import NativeBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.problem.evaluate import answers, evaluate_goals
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.some_rows import on_rows
from treeml.problem.terms import Depth, Sum
from treeml.problem.tree import Node, Split

ROW_BY_ROW = Evidence("row by row")


@dataclass(frozen=True, slots=True)
class RootAnswer:
    """What is known about the trees that begin with one test."""

    root: int
    bound: Fraction  # none of them that meets the requirements is below this
    evidence: Proof  # supports the bound, or the claim that no such tree exists
    tree: Node | None = None
    value: Fraction | None = None
    is_infeasible: bool = False


def solve_root(problem: Problem, root: int, upper: Fraction | None, seconds: float, memory: int | None) -> RootAnswer:
    """The best tree below `upper` that begins with this test."""
    deadline = Deadline.after(seconds)
    yes_rows = answers(problem, root, np.arange(problem.rows))
    sides = [side_of(problem, np.flatnonzero(rows)) for rows in (yes_rows, ~yes_rows)]
    constant = problem.goals[0].sum.constant
    least = [lower_bound(side) for side in sides]
    trees: list[Node | None] = [None, None]
    evidence: list[Evidence] = [ROW_BY_ROW]
    has_tree = True
    # The larger side first: it decides more.
    for place in sorted((0, 1), key=lambda each: -sides[each].rows):
        room = None if upper is None else upper - constant - least[1 - place]
        answer = _solved(sides[place], room, Limits(deadline=deadline, memory=memory))
        if answer.status is Status.INFEASIBLE:
            proof = supporting(answer.evidence, INFEASIBLE)
            return RootAnswer(root, constant, proof, is_infeasible=True)
        if answer.bound is not None:
            evidence += supporting(answer.evidence, BOUND)
            least[place] = max(least[place], answer.bound)
        trees[place] = answer.tree
        has_tree = has_tree and answer.tree is not None
        if not has_tree and upper is not None and constant + sum(least) >= upper:
            break
    bound = constant + sum(least, Fraction(0))
    yes, no = trees
    if yes is None or no is None:
        return RootAnswer(root, bound, tuple(dict.fromkeys(evidence)))
    values = [evaluate_goals(side, tree)[0] for side, tree in zip(sides, (yes, no), strict=True)]
    value = constant + sum(values, Fraction(0))
    return RootAnswer(root, bound, tuple(dict.fromkeys(evidence)), Split(root, yes, no), value)


def side_of(problem: Problem, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Problem:
    """The same tests and requirements on some rows alone, one level less deep."""
    depth = problem.max_depth
    assert depth is not None
    side, goal = on_rows(problem, rows), problem.goals[0]
    others = tuple(each for each in side.bounds if "Depth" not in each.sum.kinds())
    return side.asking(
        (Goal(Sum(side.goals[0].sum.parts), False, goal.text),),  # its constant is added once, for the whole
        (*others, depth_bound(depth - 1)),
    )


def depth_bound(depth: int) -> Bound:
    return Bound(Sum(((Fraction(1), Depth()),)), "<=", Fraction(depth), "depth")


def lower_bound(problem: Problem) -> Fraction:
    """A number that no tree is below: every row gets its best class, and there is one leaf."""
    found = problem.goals[0].sum.lower_bound(problem, row_by_row=True)
    assert found is not None, "costs and prices are bounded from below"
    return found


def _solved(problem: Problem, upper: Fraction | None, limits: Limits) -> Answer:
    """The native answer; only trees below `upper` are wanted, if the goal reaches the solver as it is."""
    backend = NativeBackend()
    options = {} if upper is None else {"upper": upper}
    planned = plan(problem, backend, options)
    if not isinstance(planned, Plan):
        options = {}
        planned = plan(problem, backend, options)
    assert isinstance(planned, Plan), "the cluster takes only what native takes"
    return run(planned, replace(limits, options=options))
