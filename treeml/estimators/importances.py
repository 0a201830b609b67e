"""Tree, its training rows -> for each column the share of the loss that its splits avoid.

The loss of a node is the least that a leaf in its place could have. Summed over all splits, what is avoided is the loss
of a single leaf minus that of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treeml.data.table import label_text
from treeml.lang.measures import chosen_loss
from treeml.solving.checking import check
from treeml.trees.nodes import Branch, Node, sides
from treeml.trees.tree import Tree

if TYPE_CHECKING:
    from treeml.lang.spec import Spec
    from treeml.model import Model

Floats = NDArray[np.float64]
LossOf = Callable[[Sequence[int]], float]  # of the rows in some leaves


def class_importances(tree: Tree, model: Model) -> Floats:
    """By errors, or by costs of mistakes if the goal counts these; rows and classes weigh as in the goal."""
    weights = np.array([[float(weight) for weight in leaf.weights] for leaf in tree.leaves])
    costs = _costs(tree, check(model, has_target=True)[0])

    def loss(leaves: Sequence[int]) -> float:
        return float((costs @ weights[list(leaves)].sum(axis=0)).min())

    return _shares(tree, loss)


def number_importances(tree: Tree, model: Model, reached: NDArray[np.intp], y: Floats, weight: Floats | None) -> Floats:
    """By the loss of the goal: squared, absolute or of a quantile."""
    spec = check(model, has_target=True)[0]
    losses = [chosen_loss(use) for goal in spec.goals for _, use in goal.expression.parts]
    loss = next((each for each in losses if each is not None), None)
    kind = "squared" if loss is None else loss.kind
    level = float(loss.level) if loss is not None and kind == "quantile" else 0.5
    weights = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)

    def loss_of(leaves: Sequence[int]) -> float:
        rows = np.isin(reached, list(leaves))
        values, own = np.asarray(y, dtype=np.float64)[rows], weights[rows]
        if not len(values):
            return 0.0
        if kind == "squared":
            return float(own @ (values - np.average(values, weights=own)) ** 2)
        difference = values - _quantile(values, own, level)
        pinball = np.where(difference >= 0, level * difference, (level - 1) * difference)
        return float(own @ pinball)

    return _shares(tree, loss_of)


def _quantile(values: Floats, weights: Floats, level: float) -> float:
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(below, level * below[-1])])


def _costs(tree: Tree, spec: Spec) -> Floats:
    """Predicted x actual: 1 for a mistake, or its cost if the goal is about costs."""
    names = [label_text(label) for label in tree.classes]
    uses = {use.measure for goal in spec.goals for _, use in goal.expression.parts}
    costs = 1.0 - np.eye(len(names))
    if "mistake_cost" in uses:
        for place, predicted in enumerate(names):
            for other, actual in enumerate(names):
                costs[place, other] = float(spec.mistake_costs.get((predicted, actual), predicted != actual))
    return costs


def _shares(tree: Tree, loss: LossOf) -> Floats:
    place = {name: number for number, name in enumerate(tree.inputs)}
    avoided = np.zeros(len(place))
    first = 0

    def visit(node: Node) -> list[int]:
        """The leaves below a node, which are numbered from left to right."""
        nonlocal first
        if not isinstance(node, Branch):
            first += 1
            return [first - 1]
        below = [visit(side) for side in sides(node)]
        together = [leaf for part in below for leaf in part]
        avoided[place[node.test.column]] += loss(together) - sum(loss(part) for part in below)
        return together

    visit(tree.root)
    avoided = np.maximum(avoided, 0.0)  # rounding may leave a little less than nothing
    total = avoided.sum()
    return avoided / total if total > 0 else np.zeros(len(place))
