"""Tree, Dataset -> the tree with a reason at every leaf that predicts against its majority.

Such a leaf is switched to its majority, and the requirements and goals are evaluated again: a requirement that is then
violated, or else a goal that is then worse, is the reason. A leaf for which neither holds gets no reason.
"""

from __future__ import annotations

from dataclasses import replace

from treeml.data.table import Dataset, label_text
from treeml.measures.evaluators import TreeOutcome
from treeml.solving.verify import SHAPE_GOALS, goal_values, is_met
from treeml.trees.nodes import overruled_class
from treeml.trees.tree import Tree

MOST_EXPLAINED = 16  # leaves; each evaluates every requirement once
OF_SHAPE = SHAPE_GOALS | {"uses"}  # measures that are the same whatever the leaves predict


def with_reasons(outcome: TreeOutcome, dataset: Dataset) -> Tree:
    """The same tree, whose leaves say why they predict against their majority."""
    tree = outcome.tree
    if tree.task != "classes":
        return tree
    overruled = {place: overruled_class(leaf, tree.classes) for place, leaf in enumerate(tree.leaves)}
    against = {place: label for place, label in overruled.items() if label is not None}
    if not against:
        return tree
    reasons = {
        place: _reason(outcome, place, label, dataset) for place, label in list(against.items())[:MOST_EXPLAINED]
    }
    return tree.with_leaves({place: replace(tree.leaves[place], because=text) for place, text in reasons.items()})


def _reason(outcome: TreeOutcome, place: int, label: int, dataset: Dataset) -> str:
    """The requirements that the leaf would violate with its majority, or the first goal that would be worse."""
    tree = outcome.tree
    switched_tree = tree.with_leaves({place: replace(tree.leaves[place], prediction=tree.classes[label])})
    numbers = {label_text(each): number for number, each in enumerate(dataset.classes)}
    predicted = outcome.predicted.copy()
    predicted[outcome.leaf == place] = numbers[label_text(tree.classes[label])]
    switched = TreeOutcome(switched_tree, outcome.leaf, predicted)
    given = dataset.with_given_weights()
    needed = [
        each.text or each.name
        for each in dataset.spec.requirements
        if any(use.measure not in OF_SHAPE for _, use in each.expression.parts) and not is_met(each, given, switched)
    ]
    if needed:
        return needed[0] if len(needed) == 1 else f"{needed[0]} and {len(needed) - 1} more"
    now, then = goal_values(outcome, dataset), goal_values(switched, dataset)
    for before, after in zip(now, then, strict=True):
        if before.value != after.value:
            is_worse = (after.value > before.value) == (before.sense == "minimize")
            return before.text if is_worse else ""
    return ""
