"""Forest, Dataset -> its margin and every requirement, recomputed exactly from the original rows.

Each tree has to meet every requirement; the votes are counted again, in whole numbers; and another method solves the
master problem over the trees, to see whether other weights would be better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.table import Dataset
from treeml.forests.criterion import Criterion, criterion
from treeml.forests.examples import Examples
from treeml.measures.evaluators import confusion, outcome_of
from treeml.solving.verify import GoalCheck, RequirementCheck, Verification, verify_outcome
from treeml.trees.forest import Forest, count_votes, margins_of


def verify_forest(
    forest: Forest,
    dataset: Dataset,
    options: Mapping[str, Any],
    claimed: Fraction | None = None,
    tolerance: Fraction = Fraction(0),
    kind: type[Criterion] | None = None,
    resolve: bool = True,
) -> Verification:
    """Recompute everything from the rows.

    `claimed` is the value of the criterion; `kind` is the criterion, if it is not the one that the forest names.
    `resolve` says whether to solve the master again, up to `tolerance`.
    """
    single = replace(dataset, spec=replace(dataset.spec, goals=()))
    outcomes = [outcome_of(tree, single) for tree in forest.trees]
    each = [verify_outcome(outcome, single) for outcome in outcomes]
    predicted = [outcome.predicted.astype(np.intp) for outcome in outcomes]
    votes, total = count_votes(predicted, forest.weights, len(dataset.classes))
    made, margins = _criterion(kind or criterion(forest.criterion), dataset, options, votes)
    unit = forest.total / total
    value = made.value(margins, unit)
    labels = np.argmax(votes, axis=1)
    mismatches = [f"tree {number}: {mismatch}" for number, found in enumerate(each, 1) for mismatch in found.mismatches]
    if claimed is not None and claimed != value:
        mismatches.append(f"the margin is {float(value)!r}, but {float(claimed)!r} was claimed")
    if forest.total != made.total:
        mismatches.append(f"the weights add up to {forest.total}, not to {made.total}")
    notes = []
    if resolve:
        again = _second_opinion(made, predicted)
        if again is not None and again > float(value + tolerance):
            mismatches.append(f"other weights of the same trees give {again!r}, more than {float(value)!r}")
        notes.append(_checked(again, len(forest.trees), tolerance))
    text = dataset.spec.goals[0].text if dataset.spec.goals else ""
    return Verification(
        (GoalCheck(text, "maximize", value, claimed),),
        tuple(_worst([found.requirements[place] for found in each]) for place in range(len(each[0].requirements))),
        _measures(forest, dataset, value, labels, margins_of(votes, dataset.actual.astype(np.intp)), total),
        tuple(mismatches),
        _confusion(dataset, labels),
        tuple(notes),
        bool(dataset.rounding),
    )


def _criterion(
    kind: type[Criterion], dataset: Dataset, options: Mapping[str, Any], votes: NDArray[Any]
) -> tuple[Criterion, NDArray[np.int64]]:
    """The criterion over the original rows, not merged to examples, and the margins of those with weight."""
    classes = len(dataset.classes)
    heavy = np.flatnonzero(dataset.weight > 0)
    own = dataset.actual[heavy].astype(np.intp)
    rivals = np.array([[other for other in range(classes) if other != label] for label in range(classes)])
    examples = Examples(
        heavy,
        own,
        dataset.weight[heavy],
        dataset.weight_scale,
        classes,
        np.repeat(np.arange(len(heavy)), classes - 1),
        rivals[own].ravel().astype(np.intp),
    )
    place = heavy[examples.example]
    margins = votes[place, own[examples.example]] - votes[place, examples.rival]
    return kind(examples, options), margins


def _second_opinion(made: Criterion, predicted: Sequence[NDArray[np.intp]]) -> float | None:
    """The best value over all weights of these trees, by a solver other than the one that found the weights."""
    signs = np.array([made.examples.signs(votes[made.examples.row]) for votes in predicted])
    return made.again(signs)


def _checked(again: float | None, trees: int, tolerance: Fraction) -> str:
    if again is None:
        return f"the weights of the {trees} trees could not be checked by another solver"
    shown = "0" if abs(again) <= tolerance else f"{again:.9g}"
    return (
        f"the weights of the {trees} trees were checked by another solver, whose best value is {shown}: "
        f"at most {float(tolerance):.3g} above the margin"
    )


def _worst(checks: Sequence[RequirementCheck]) -> RequirementCheck:
    """The check of the tree that comes closest to violating a requirement."""
    return min(checks, key=lambda check: (check.met, check.slack is None, check.slack or 0))


def _measures(
    forest: Forest,
    dataset: Dataset,
    value: Fraction,
    labels: NDArray[np.intp],
    margins: NDArray[Any],
    total: int,
) -> dict[str, Fraction]:
    weight = [int(each) for each in dataset.weight.tolist()]
    wrong = sum(each for each, right in zip(weight, (labels == dataset.actual).tolist(), strict=True) if not right)
    everything = sum(weight)
    heavy = [int(margin) for margin, each in zip(margins.tolist(), weight, strict=True) if each]
    return {
        "margin": value,
        "errors": wrong * dataset.weight_scale,
        "error_rate": Fraction(wrong, everything),
        "accuracy": 1 - Fraction(wrong, everything),
        "trees": Fraction(len(forest.trees)),
        "depth": Fraction(max(tree.depth for tree in forest.trees)),
        "leaves": Fraction(max(len(tree.leaves) for tree in forest.trees)),
        "smallest_margin": Fraction(min(heavy), total),
        "mean_margin": Fraction(
            sum(margin * each for margin, each in zip(margins.tolist(), weight, strict=True)), total * everything
        ),
    }


def _confusion(dataset: Dataset, labels: NDArray[np.intp]) -> tuple[tuple[str, ...], tuple[tuple[Fraction, ...], ...]]:
    from treeml.data.table import label_text

    cells = confusion(dataset, labels.astype(np.int32))
    weights = tuple(tuple(cell * dataset.weight_scale for cell in row) for row in cells)
    return tuple(label_text(label) for label in dataset.classes), weights
