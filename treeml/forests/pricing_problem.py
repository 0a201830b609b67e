"""Dataset -> the problem of one tree of a forest: the spec's requirements, and a goal like those that prices make."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from treeml.backends.planning.rescale import rescaled
from treeml.data.table import Dataset
from treeml.measures.lower_dataset import Lowered, lower
from treeml.problem.problem import Goal
from treeml.problem.terms import Predicted, Sum


def lower_one_tree(dataset: Dataset, numeric: bool) -> Lowered:
    """The problem that shows which back-ends can grow the trees."""
    spec = replace(dataset.spec, goals=(), ensemble=None, ensemble_trees=None, start=None)
    lowered = lower(replace(dataset, spec=spec), numeric=numeric)
    problem = lowered.problem
    # These costs stand for the prices of a round; they only have to differ from the costs of every requirement.
    cost = (np.arange(problem.rows)[:, None] * 3 + np.arange(problem.classes) * 5) % 7
    goal = Goal(Sum(((Fraction(1), Predicted(cost.astype(np.int64))),)), text="margin")
    # Limits that no tree reaches are reduced here: pricing that keeps its data calls native without a plan.
    return replace(lowered, problem=rescaled(problem.asking((goal,), problem.bounds), None).problem)
