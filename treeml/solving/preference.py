"""Problem -> the back-end to try first, if measurements show that it is faster than the default one.

For the least depth, native was fastest on every data set that was measured. For the smallest perfect tree it depends:
native searches sets of rows, whose number grows with the number of tests; SAT takes columns as they are, and its time
doubles with every leaf. So a back-end like SAT, which declares `many_tests`, comes first if there are many tests and
the tree is small. `python -m benchmarks.least` prints the times of both.
"""

from __future__ import annotations

from treeml.backends import registry
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node

MANY_TESTS = 100
FEW_LEAVES = 12


def preferred(problem: Problem) -> tuple[str, str] | None:
    """The name of the back-end and the reason in one sentence; None if the default order applies."""
    from treeml.backends.task.greedy_start import greedy_for_bound
    from treeml.problem.evaluate import meets_all

    if not _asks_for_least_size(problem) or len(problem.tests) < MANY_TESTS:
        return None
    suited = next((each for each in registry.all() if each.can.many_tests and not each.missing()), None)
    if suited is None:
        return None
    tree = greedy_for_bound(problem)
    if tree is None or not meets_all(problem, tree):
        return None
    size = _leaves(tree)
    if size > FEW_LEAVES:
        return None
    name, usual, tests = suited.name, registry.default_name(), len(problem.tests)
    return name, f"{name} is taken: {tests:,} tests are many for {usual}, and a greedy tree has only {size} leaves"


def _asks_for_least_size(problem: Problem) -> bool:
    """Is the first goal the fewest leaves, under a bound that asks for the least possible cost of predictions?"""
    if not problem.goals or problem.goals[0].sum.kinds() != {"Leaves"}:
        return False
    for bound in problem.bounds:
        if bound.sum.kinds() == {"Predicted"} and bound.sense != ">=":
            return bound.sum.lower_bound(problem) == bound.limit
    return False


def _leaves(tree: Node) -> int:
    return 1 if isinstance(tree, Leaf) else _leaves(tree.yes) + _leaves(tree.no)
