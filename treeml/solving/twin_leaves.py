"""A back-end's tree -> the same tree without splits whose two leaves predict the same.

Such a split is no mistake of a back-end: unless leaves have a price, a solver has no reason to avoid it. But people who
read the tree ask what it is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from treeml.data.table import Dataset
from treeml.measures.evaluators import outcome_of
from treeml.problem.tree import Leaf, Node, Split
from treeml.solving.verify import goal_values, is_met
from treeml.trees.raising import raise_tree
from treeml.trees.tree import Tree

if TYPE_CHECKING:
    from treeml.measures.binarize import Question


def without_twins(node: Node, tree: Tree, questions: Sequence[Question], dataset: Dataset) -> Tree:
    """`tree`, which was raised from `node`, with twin leaves merged if every requirement and goal allows it."""
    merged = _merged(node)
    if not dataset.classes or merged is node:
        return tree
    smaller = raise_tree(merged, questions, dataset)
    if len(smaller.leaves) == len(tree.leaves):
        return tree
    outcome, given = outcome_of(smaller, dataset), dataset.with_given_weights()
    if not all(is_met(each, given, outcome) for each in dataset.spec.requirements):
        return tree
    return smaller if goal_values(outcome, dataset) == goal_values(outcome_of(tree, dataset), dataset) else tree


def _merged(node: Node) -> Node:
    """The same object if nothing can be merged."""
    if isinstance(node, Leaf):
        return node
    yes, no = _merged(node.yes), _merged(node.no)
    if isinstance(yes, Leaf) and yes == no:
        return yes
    return node if yes is node.yes and no is node.no else Split(node.test, yes, no)
