"""A loss of real numbers, then the fewest leaves -> solves of the loss alone with fewer and fewer leaves.

Goals in whole numbers become one number for the search, in which the first goal weighs more than all others can. Values
of a loss that is rounded do not allow that, and the search cannot bound it either. But it bounds leaves: the best tree
with one leaf less than the best so far either has the same loss, up to the tolerance of the first proof, or shows that
this number of leaves is the least.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from treeml.backends.claims import OPTIMAL, combined, supporting
from treeml.backends.contract import Answer, Limits, OnProgress, Status, Stop
from treeml.backends.planning.lexicographic import combined_stages
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import Leaves, Sum
from treeml.problem.tree import Leaf, Node

SolveOne = Callable[[Problem, Limits, Node | None, OnProgress | None], Answer]


def is_real_then_leaves(problem: Problem) -> bool:
    """Is the first of two goals a loss of real numbers, and the second one the number of leaves?"""
    if len(problem.goals) != 2 or not {"Loss", "Custom"} & problem.goals[0].sum.kinds():
        return False
    parts = problem.goals[1].sum.parts
    return len(parts) == 1 and isinstance(parts[0][1], Leaves) and parts[0][0] > 0


def solve_then_leaves(
    problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None, solve: SolveOne
) -> Answer:
    first = solve(problem.asking(problem.goals[:1], problem.bounds), limits, start, on_progress)
    if first.tree is None or first.objective is None:
        return first
    stages = [first]
    if first.status is Status.OPTIMAL and not limits.deadline.passed:
        stages.append(_fewest_leaves(problem, limits, first, solve))
    return combined_stages(problem, stages)


def _fewest_leaves(problem: Problem, limits: Limits, first: Answer, solve: SolveOne) -> Answer:
    assert first.tree is not None
    assert first.objective is not None
    worst = first.objective[0] + first.tolerance
    best, leaves, proof = first, _leaves(first.tree), first
    while leaves > 1:
        fewer = Bound(Sum(((Fraction(1), Leaves()),)), "<=", Fraction(leaves - 1), "leaves")
        found = solve(problem.asking(problem.goals[:1], (*problem.bounds, fewer)), limits, None, None)
        if found.tree is not None and found.objective is not None and found.objective[0] <= worst:
            best, leaves, proof = found, _leaves(found.tree), first
            continue
        if found.status not in (Status.OPTIMAL, Status.INFEASIBLE):
            value = _size(problem, leaves)
            return replace(
                best, status=Status.FEASIBLE, stop=found.stop, objective=(value,), bound=None, evidence=(), trace=()
            )
        proof = found
        break
    evidence = [*supporting(first.evidence, OPTIMAL), *proof.evidence]
    value = _size(problem, leaves)
    return replace(
        best,
        status=Status.OPTIMAL,
        stop=Stop.PROVED,
        objective=(value,),
        bound=value,
        evidence=combined("goals in turn", evidence),
        trace=(),
    )


def _size(problem: Problem, leaves: int) -> Fraction:
    """The value of the second goal."""
    total = problem.goals[1].sum
    return total.parts[0][0] * leaves + total.constant


def _leaves(tree: Node) -> int:
    return 1 if isinstance(tree, Leaf) else _leaves(tree.yes) + _leaves(tree.no)
