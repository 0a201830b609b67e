"""A policy, whose classes are decisions with gains -> what it earns, beside what one decision for all rows earns.

The target of such a specification is the decision that each row was given, by lot or by habit. Not following it is no
error, so errors and accuracy say nothing about a policy.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from treeml.data.table import Dataset, label_text
from treeml.lang.spec import Spec
from treeml.problem.constants import exact_sum


def is_policy(spec: Spec) -> bool:
    """Are predictions worth what columns say, all of them gains, and is nothing but the gain a goal about them?"""
    if not spec.row_costs or not all(is_gain for _, is_gain in spec.row_costs.values()):
        return False
    return any(use.measure == "gain" for goal in spec.goals for _, use in goal.expression.parts)


def policy_values(dataset: Dataset, predicted: NDArray[np.int32]) -> dict[str, Fraction]:
    """The gain per row of these predictions, and of every class for all rows. Unknown classes gain nothing."""
    assert dataset.row_cost is not None
    (known,) = (predicted >= 0).nonzero()
    named = {"gain per row": (dataset.row_cost[known, predicted[known]], dataset.weight[known])}
    for number, label in enumerate(dataset.classes):
        named[f"gain per row, all {label_text(label)}"] = (dataset.row_cost[:, number], dataset.weight)
    rows = exact_sum(dataset.weight) * dataset.weight_scale
    scale = -dataset.weight_scale * dataset.row_cost_scale
    return {name: exact_sum(*each) * scale / rows for name, each in named.items()} if rows else {}
