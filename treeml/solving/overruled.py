"""Tree, Dataset -> the tree with a reason at every leaf that predicts against its majority.

Such a leaf is switched to its majority, and the goals and requirements are evaluated again: a goal that is then worse,
or else a requirement that is then violated, is the reason. A leaf for which neither holds gets no reason. A goal comes
first because a leaf that is best for the goal does not predict its class for the sake of a requirement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from treeml.data.table import Dataset, label_text
from treeml.lang.measures import MEASURES
from treeml.measures.evaluators import TreeOutcome
from treeml.solving.verify import GoalCheck, goal_values, is_met
from treeml.trees.nodes import overruled_class
from treeml.trees.tree import Tree

MOST_EXPLAINED = 16  # leaves; each evaluates every requirement once


def with_reasons(outcome: TreeOutcome, dataset: Dataset, goals: Sequence[GoalCheck]) -> Tree:
    """The same tree, whose leaves say why they predict against their majority; `goals` have the values of the tree."""
    tree = outcome.tree
    if tree.task != "classes":
        return tree
    overruled = {place: overruled_class(leaf, tree.classes) for place, leaf in enumerate(tree.leaves)}
    against = {place: label for place, label in overruled.items() if label is not None}
    if not against:
        return tree
    reasons = {
        place: _reason(outcome, place, label, dataset, goals) for place, label in list(against.items())[:MOST_EXPLAINED]
    }
    return tree.with_leaves({place: replace(tree.leaves[place], because=text) for place, text in reasons.items()})


def _reason(outcome: TreeOutcome, place: int, label: int, dataset: Dataset, goals: Sequence[GoalCheck]) -> str:
    """The first goal that would be worse with the majority, or the requirements that the leaf would violate with it."""
    tree = outcome.tree
    switched_tree = tree.with_leaves({place: replace(tree.leaves[place], prediction=tree.classes[label])})
    numbers = {label_text(each): number for number, each in enumerate(dataset.classes)}
    predicted = outcome.predicted.copy()
    predicted[outcome.leaf == place] = numbers[label_text(tree.classes[label])]
    switched = TreeOutcome(switched_tree, outcome.leaf, predicted)
    worse = _worse_goal(goals, goal_values(switched, dataset))
    if worse:
        return worse
    given = dataset.with_given_weights()
    needed = [
        each.text or each.name
        for each in dataset.spec.requirements
        if any(not MEASURES[use.measure].ignores_predictions for _, use in each.expression.parts)
        and not is_met(each, given, switched)
    ]
    return listed_reasons(needed)


def listed_reasons(requirements: Sequence[str]) -> str:
    """The requirements that a leaf would violate with its majority, in a few words."""
    return f"{requirements[0]} and {len(requirements) - 1} more" if len(requirements) > 1 else "".join(requirements)


def _worse_goal(goals: Sequence[GoalCheck], switched: Sequence[GoalCheck]) -> str:
    """The first goal whose value differs, if the switched tree is worse; "" otherwise."""
    for before, after in zip(goals, switched, strict=True):
        if before.value != after.value:
            return before.text if (after.value > before.value) == (before.sense == "minimize") else ""
    return ""
