"""Dataset -> Problem: features and tests from `binarize`, goals and bounds from the measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeml.data.rounding import targets_may_be_rounded, weights_may_be_rounded
from treeml.data.spec_checks import too_many_digits
from treeml.data.table import Dataset
from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.measures.binarize import Question, binarize
from treeml.measures.lower import lower_goal, lower_requirement
from treeml.problem.problem import Problem


@dataclass(frozen=True, eq=False, slots=True)
class Lowered:
    """A problem, and what its tests mean in the user's columns."""

    problem: Problem
    questions: Sequence[Question]  # what each test of the problem asks
    dataset: Dataset
    notes: tuple[str, ...] = ()


def lower(dataset: Dataset, *, numeric: bool = False) -> Lowered:
    """The problem for a back-end; `numeric`: it uses ordered features directly, without their bits."""
    binarized = binarize(dataset, numeric=numeric)
    mistakes = list(_rounded_though_read(dataset))
    goals, bounds = [], []
    for goal in dataset.spec.goals:
        try:
            goals.append(lower_goal(goal, dataset, binarized.features))
        except DataError as refused:
            mistakes.extend(refused.diagnostics)
    for requirement in dataset.spec.requirements:
        try:
            bounds.extend(lower_requirement(requirement, dataset, binarized.features))
        except DataError as refused:
            mistakes.extend(refused.diagnostics)
    if mistakes:
        raise DataError(mistakes)
    problem = Problem(
        features=binarized.features,
        tests=binarized.tests,
        count=_counts(dataset),
        classes=len(dataset.classes),
        goals=tuple(goals),
        bounds=tuple(bounds),
        given_bits=binarized.bits,
    )
    return Lowered(problem, binarized.questions, dataset, (*dataset.notes, *binarized.notes))


def _counts(dataset: Dataset) -> NDArray[np.int64]:
    """How many of the user's rows each row stands for; rows of weight 1 have these ones in memory already."""
    if dataset.count is not None:
        return dataset.count
    return dataset.weight if dataset.has_unit_weights else np.ones(dataset.rows, dtype=np.int64)


def _rounded_though_read(dataset: Dataset) -> Iterator[Diagnostic]:
    """Numbers that were rounded for another spec than the one that they are used for now."""
    spec, rounding = dataset.spec, dataset.rounding
    if rounding.weights and not weights_may_be_rounded(spec):
        yield too_many_digits("weights", dataset.table, spec.spans.get("weight"))
    if rounding.targets and not targets_may_be_rounded(spec):
        yield too_many_digits("numbers to predict", dataset.table, spec.spans.get("predict"))
