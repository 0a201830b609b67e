"""Problem -> the back-end to try before those of the stated order, where measurements say that another is faster.

Least depth is native's, on every set that was measured. For the least size of a faultless tree it depends: native
looks through sets of rows, whose number grows with the number of tests; SAT takes columns as they are and doubles with
every leaf. So with many tests and a small tree SAT is first. `python -m benchmarks.least` prints both.
"""

from __future__ import annotations

from treeml.backends import registry
from treeml.problem.problem import Problem
from treeml.problem.shapes import at_best
from treeml.problem.tree import Leaf, Node

MANY_TESTS = 100
FEW_LEAVES = 12


def preferred(problem: Problem) -> tuple[str, str] | None:
    """The name of the back-end and the sentence that says why; None where the stated order stands."""
    from treeml.backends.task.greedy_start import greedy_for_bound
    from treeml.problem.evaluate import meets_all

    if not _asks_for_least_size(problem) or len(problem.tests) < MANY_TESTS or registry.get("sat").missing():
        return None
    tree = greedy_for_bound(problem)
    if tree is None or not meets_all(problem, tree):
        return None
    size = _leaves(tree)
    if size > FEW_LEAVES:
        return None
    tests = len(problem.tests)
    return "sat", f"sat is taken: {tests:,} tests are many for native, and a greedy tree has only {size} leaves"


def _asks_for_least_size(problem: Problem) -> bool:
    """Fewest leaves first, at the least cost of predictions that any tree can have?"""
    if not problem.goals or problem.goals[0].sum.kinds() != {"Leaves"}:
        return False
    for bound in problem.bounds:
        if bound.sum.kinds() == {"Predicted"} and bound.sense != ">=":
            return at_best(bound.sum, problem) == bound.limit
    return False


def _leaves(tree: Node) -> int:
    return 1 if isinstance(tree, Leaf) else _leaves(tree.yes) + _leaves(tree.no)
