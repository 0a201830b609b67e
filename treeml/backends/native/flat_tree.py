"""Arrays of the C solver <-> trees; its names of statuses and stops -> those of the contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treeml.backends.contract import Status, Stop
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from treeml.backends.native.numeric_kernel import FlatTestTree
    from treeml.native.solver import Found

STATUS = {
    "optimal": Status.OPTIMAL,
    "feasible": Status.FEASIBLE,
    "infeasible": Status.INFEASIBLE,
    "unknown": Status.UNKNOWN,
}
STOP = {"proved": Stop.PROVED, "time": Stop.TIME, "interrupted": Stop.INTERRUPTED, "memory": Stop.MEMORY}
STOP["enough"] = Stop.FINISHED


def tree_of(found: Found | FlatTestTree, problem: Problem) -> Node:
    """The tree that the solver found."""
    nodes: list[Node] = [Leaf(-1)] * len(found.test)
    for at in range(len(nodes) - 1, -1, -1):
        if found.test[at] >= 0:
            nodes[at] = Split(int(found.test[at]), nodes[found.left[at]], nodes[found.right[at]])
        else:
            nodes[at] = Leaf(max(0, int(found.label[at])) if problem.classes else -1)
    return nodes[0]


def flat_tree(tree: Node) -> tuple[list[int], list[int], list[int]]:
    """A tree as three arrays (test, yes, no), each child after its parent; -1 for the test and children of a leaf."""
    test: list[int] = []
    yes: list[int] = []
    no: list[int] = []
    waiting: list[tuple[Node, list[int] | None, int]] = [(tree, None, 0)]
    while waiting:
        node, side, parent = waiting.pop()
        if side is not None:
            side[parent] = len(test)
        test.append(node.test if isinstance(node, Split) else -1)
        yes.append(-1)
        no.append(-1)
        if isinstance(node, Split):
            waiting += [(node.yes, yes, len(test) - 1), (node.no, no, len(test) - 1)]
    return test, yes, no


def labels_of(tree: Node) -> list[int]:
    """The label of every node in the order of `flat_tree`; -1 at a split."""
    labels: list[int] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        labels.append(node.label if isinstance(node, Leaf) else -1)
        if isinstance(node, Split):
            waiting += [node.yes, node.no]
    return labels
