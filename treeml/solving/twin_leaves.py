"""A back-end's tree -> the same tree without splits whose two leaves predict the same.

Such a split is no mistake of a back-end: unless leaves have a price, a solver has no reason to avoid it. But people who
read the tree ask what it is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from treeml.data.table import Dataset
from treeml.measures.evaluators import TreeOutcome, outcome_of
from treeml.problem.tree import Leaf, Node, Split
from treeml.solving.verify import goal_values, is_met
from treeml.trees.raising import raise_tree

if TYPE_CHECKING:
    from treeml.measures.binarize import Question


def without_twins(node: Node, found: TreeOutcome, questions: Sequence[Question], dataset: Dataset) -> TreeOutcome:
    """The tree `found`, which was raised from `node`, with twins merged if every requirement and goal allows it."""
    merged = _merged(node)
    if not dataset.classes or merged is node:
        return found
    smaller = outcome_of(raise_tree(merged, questions, dataset), dataset)
    if len(smaller.tree.leaves) == len(found.tree.leaves):
        return found
    given = dataset.with_given_weights()
    if not all(is_met(each, given, smaller) for each in dataset.spec.requirements):
        return found
    return smaller if goal_values(smaller, dataset) == goal_values(found, dataset) else found


def _merged(node: Node) -> Node:
    """The same object if nothing can be merged."""
    if isinstance(node, Leaf):
        return node
    yes, no = _merged(node.yes), _merged(node.no)
    if isinstance(yes, Leaf) and yes == no:
        return yes
    return node if yes is node.yes and no is node.no else Split(node.test, yes, no)
