"""A measure and a finished tree -> the exact value, computed directly from the definition.

This deliberately shares nothing with the lowerings: no matrices and no terms, only the weights of rows and what the
tree predicts for them. Tests check that both agree, and verification uses this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.conditions import (
    class_number,
    classes_meeting,
    cluster_targets,
    groups_of,
    positive_class,
    refuse,
    rows_meeting,
)
from treeml.data.hazards import death_costs, leaf_loss
from treeml.data.linear import fitted
from treeml.data.table import Dataset, Whole, label_text
from treeml.lang.diagnostic import Diagnostic, RefusedError
from treeml.lang.measures import MEASURES
from treeml.lang.plugins import resolve
from treeml.lang.spec import Use
from treeml.measures.binarize import tests_of
from treeml.measures.monotonicity import is_monotone
from treeml.problem.constants import exact_sum, group_losses, group_sums, in_units, rows_of_groups
from treeml.problem.impurity_cost import bits_of_split, code_length
from treeml.problem.magnitudes import SAFE
from treeml.problem.terms import rounded_root
from treeml.trees.tree import Tree

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class TreeOutcome:
    """A tree, and the leaf and prediction of every row."""

    tree: Tree
    leaf: NDArray[np.intp]  # of each row: the number of its leaf
    predicted: NDArray[np.int32]  # of each row: the number of the predicted class; empty if leaves hold numbers


def outcome_of(tree: Tree, dataset: Dataset) -> TreeOutcome:
    """Send every row of the data down the tree."""
    from treeml.trees.routing import dataset_inputs, route

    leaf = route(tree, dataset_inputs(tree.fields, dataset))
    if tree.task != "classes":
        return TreeOutcome(tree, leaf, np.zeros(0, dtype=np.int32))
    numbers = {label_text(label): number for number, label in enumerate(dataset.classes)}
    unknown = [each.prediction for each in tree.leaves if label_text(each.prediction) not in numbers]
    if unknown:
        refuse(
            "D465",
            f"the tree predicts `{label_text(unknown[0])}`, which is not a class of {dataset.table.source}",
            None,
            f"its classes are {', '.join(numbers)}",
        )
    labels = np.array([numbers[label_text(each.prediction)] for each in tree.leaves], dtype=np.int32)
    return TreeOutcome(tree, leaf, labels.take(leaf))


def evaluate(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction | None:
    """The exact value of a measure; None if it is a share of the rows predicted as something, and no row is."""
    value: Fraction | None = resolve(MEASURES[use.measure].evaluator)(use, dataset, outcome)
    return value


def weight_of(dataset: Dataset, rows: Mask) -> Fraction:
    """The weight of some rows."""
    return in_units(_units(dataset, rows), dataset.weight_scale)


def _units(dataset: Dataset, rows: Mask) -> int:
    """The weight of some rows in units of `weight_scale`."""
    return int(np.count_nonzero(rows)) if dataset.has_unit_weights else exact_sum(dataset.weight.compress(rows))


def confusion(dataset: Dataset, predicted: NDArray[np.int32]) -> list[list[int]]:
    """The weight of the rows for every actual and predicted class, in units of `weight_scale`."""
    classes = len(dataset.classes)
    cells = dataset.actual * classes + predicted
    if dataset.has_unit_weights:
        sums = np.bincount(cells, minlength=classes * classes)
    else:
        most = int(dataset.weight.max(initial=0))
        # Sums of whole numbers stay exact in float64 up to 2**53.
        small = most * dataset.rows < 2**53
        sums = np.zeros(classes * classes, dtype=np.int64 if most * dataset.rows < SAFE else object)
        if small:
            weights = dataset.weight.astype(np.float64)  # weights as given may be objects
            sums = np.bincount(cells, weights=weights, minlength=classes * classes).astype(np.int64)
        else:
            np.add.at(sums, cells, dataset.weight if sums.dtype == np.int64 else dataset.weight.astype(object))
    whole: list[list[int]] = sums.reshape(classes, classes).tolist()
    return whole


# The shape of the tree.


def depth(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    return Fraction(outcome.tree.depth)


def leaves(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    return Fraction(len(outcome.tree.leaves))


def splits(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    return Fraction(outcome.tree.splits)


def support(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    return Fraction(int(_rows_in_leaves(dataset, outcome).min()))


def features_used(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    return Fraction(len(outcome.tree.columns))


def uses(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    return Fraction(int(use.arguments[0] in outcome.tree.columns))


def test_cost(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    total = Fraction(0)
    rows = _rows_in_leaves(dataset, outcome).tolist()
    for (path, _), count in zip(outcome.tree.paths(), rows, strict=True):
        total += count * _cost_of_path(dataset, [test.column for test, _ in path])
    return total


def _cost_of_path(dataset: Dataset, columns: list[str]) -> Fraction:
    """The cost of the columns, tested in this order: of the first test of each, the least that the others allow."""
    total = Fraction(0)
    tested: list[str] = []
    for name in dict.fromkeys(columns):
        prices = (dataset.test_discount.get((name, before)) for before in tested)
        own = dataset.test_cost.get(name, Fraction(0))
        total += min((price for price in prices if price is not None), default=own)
        tested.append(name)
    return total


def monotone(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    name, direction = use.arguments
    positive = label_text(dataset.classes[positive_class(dataset, use)])
    return Fraction(int(is_monotone(outcome.tree, name, direction == "increasing", positive)))


# Classes.


def errors(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    return weight_of(dataset, outcome.predicted != dataset.actual)


def error_rate(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    return _part(use, dataset, outcome.predicted != dataset.actual, np.ones(dataset.rows, dtype=np.bool_), "the rows")


def accuracy(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    return 1 - error_rate(use, dataset, outcome)


def balanced_accuracy(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    right = outcome.predicted == dataset.actual
    recalls = [
        _part(use, dataset, right, dataset.actual == number, f"class `{label_text(label)}`")
        for number, label in enumerate(dataset.classes)
    ]
    return sum(recalls, Fraction(0)) / len(recalls)


def recall(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    wanted = class_number(dataset, use.arguments[0], use.span)
    return _part(use, dataset, outcome.predicted == wanted, dataset.actual == wanted, f"class `{use.arguments[0]}`")


def specificity(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    wanted = class_number(dataset, use.arguments[0], use.span)
    others = f"the classes other than `{use.arguments[0]}`"
    return _part(use, dataset, outcome.predicted != wanted, dataset.actual != wanted, others)


def precision(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction | None:
    wanted = class_number(dataset, use.arguments[0], use.span)
    return _quotient(dataset, dataset.actual == wanted, outcome.predicted == wanted)


def npv(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction | None:
    wanted = class_number(dataset, use.arguments[0], use.span)
    return _quotient(dataset, dataset.actual != wanted, outcome.predicted != wanted)


def f1(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction | None:
    right, either = _overlap(use, dataset, outcome)
    return 2 * right / (right + either) if either else None


def fbeta(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction | None:
    wanted, square = class_number(dataset, use.arguments[0], use.span), use.arguments[1] ** 2
    actual, predicted = dataset.actual == wanted, outcome.predicted == wanted
    right = (1 + square) * weight_of(dataset, actual & predicted)
    wrong = square * weight_of(dataset, actual & ~predicted) + weight_of(dataset, ~actual & predicted)
    return right / (right + wrong) if right + wrong else None


def jaccard(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction | None:
    right, either = _overlap(use, dataset, outcome)
    return right / either if either else None


def _overlap(use: Use, dataset: Dataset, outcome: TreeOutcome) -> tuple[Fraction, Fraction]:
    """The weight of the rows that are of the class and predicted as it, and of those that are one of the two."""
    wanted = class_number(dataset, use.arguments[0], use.span)
    actual, predicted = dataset.actual == wanted, outcome.predicted == wanted
    return weight_of(dataset, actual & predicted), weight_of(dataset, actual | predicted)


def mcc(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    wanted = class_number(dataset, use.arguments[0], use.span)
    actual, predicted = dataset.actual == wanted, outcome.predicted == wanted
    _part(use, dataset, actual, actual, f"class `{use.arguments[0]}`")
    _part(use, dataset, ~actual, ~actual, f"the classes other than `{use.arguments[0]}`")
    cells = ((actual, predicted), (~actual, ~predicted), (~actual, predicted), (actual, ~predicted))
    tp, tn, fp, fn = (weight_of(dataset, one & other) for one, other in cells)
    square = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    beyond_chance = tp * tn - fp * fn
    return rounded_root(beyond_chance**2 / square, beyond_chance < 0) if square else Fraction(0)


def gmean(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    product = Fraction(1)
    right = outcome.predicted == dataset.actual
    for number, label in enumerate(dataset.classes):
        product *= _part(use, dataset, right, dataset.actual == number, f"class `{label}`")
    return rounded_root(product, root=len(dataset.classes))


def count(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    conditions = tuple(condition for part in use.arguments for condition in part)
    return weight_of(dataset, _meeting(dataset, outcome, conditions))


def rate(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction | None:
    counted, given = (*use.arguments, ())[:2]
    among = _meeting(dataset, outcome, given)
    if not any(condition.subject == "predicted" and not condition.is_column for condition in given):
        return _part(use, dataset, _meeting(dataset, outcome, counted), among, "the rows that meet what is given")
    return _quotient(dataset, _meeting(dataset, outcome, counted), among)


def ratio(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction | None:
    above, below = (
        sum(
            (factor * (evaluate(part, dataset, outcome) or Fraction(0)) for factor, part in side.parts),
            side.constant,
        )
        for side in use.arguments
    )
    return above / below if below else None


def _meeting(dataset: Dataset, outcome: TreeOutcome, conditions: tuple[Any, ...]) -> Mask:
    return rows_meeting(dataset, conditions) & classes_meeting(dataset, conditions)[outcome.predicted]


def parity_gap(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    return _gap(use, dataset, outcome, np.ones(dataset.rows, dtype=np.bool_))


def opportunity_gap(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    return _gap(use, dataset, outcome, dataset.actual == positive_class(dataset, use))


def predictive_gap(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    return _gap(use, dataset, outcome, dataset.actual != positive_class(dataset, use))


def odds_gap(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    return max(opportunity_gap(use, dataset, outcome), predictive_gap(use, dataset, outcome))


def _gap(use: Use, dataset: Dataset, outcome: TreeOutcome, among: Mask) -> Fraction:
    """Largest minus smallest rate of the positive prediction."""
    chosen = outcome.predicted == positive_class(dataset, use)
    name = use.arguments[0]
    rates = [
        _part(use, dataset, chosen, group & among, f"group `{text}` of `{name}`")
        for text, group in groups_of(dataset, name)
    ]
    return max(rates) - min(rates)


def mistake_cost(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    if dataset.row_cost is not None:
        cost = dataset.row_cost[np.arange(dataset.rows), outcome.predicted]
        return exact_sum(cost, dataset.weight) * dataset.weight_scale * dataset.row_cost_scale
    total = 0
    for actual, row in enumerate(confusion(dataset, outcome.predicted)):
        for predicted, weight in enumerate(row):
            total += weight * int(dataset.mistake_cost[predicted, actual])
    return total * dataset.weight_scale * dataset.mistake_scale


def gain(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    return -mistake_cost(use, dataset, outcome)


def description_length(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    """The bits of the classes leaf by leaf, one bit per node for its kind, and the number of its test per split."""
    codes = sum((Fraction(code_length(counts)) for counts in _class_weights(dataset, outcome)), Fraction(0))
    return codes + len(outcome.tree.leaves) + outcome.tree.splits * Fraction(bits_of_split(tests_of(dataset)))


def _class_weights(dataset: Dataset, outcome: TreeOutcome) -> list[list[float]]:
    """The weight of every class in every leaf."""
    found = []
    for rows in _leaf_rows(outcome):
        weight, actual = dataset.weight[rows], dataset.actual[rows]
        sums = [exact_sum(weight[actual == number]) for number in range(len(dataset.classes))]
        found.append([float(each * dataset.weight_scale) for each in sums])
    return found


def purity(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    shares = []
    for rows in _leaf_rows(outcome):
        weight, actual = dataset.weight[rows], dataset.actual[rows]
        of_classes = [exact_sum(weight[actual == number]) for number in range(len(dataset.classes))]
        if any(of_classes):
            shares.append(Fraction(max(of_classes), sum(of_classes)))
    return min(shares, default=Fraction(1))


def leaf_errors(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    wrong = outcome.predicted != dataset.actual
    return max(exact_sum(dataset.weight[rows][wrong[rows]]) for rows in _leaf_rows(outcome)) * dataset.weight_scale


def leaf_weight(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    return min(exact_sum(dataset.weight[rows]) for rows in _leaf_rows(outcome)) * dataset.weight_scale


# Numbers.


def squared_loss(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    """With linear leaves, the squares plus what the ridge adds."""
    if dataset.linear is not None:
        return sum((Fraction(fitted(dataset.linear, rows).loss) for rows in _leaf_rows(outcome)), Fraction(0))
    return _loss("squared", dataset.targets, dataset, outcome) * dataset.target_scale**2


def absolute_loss(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    return _loss("absolute", dataset.targets, dataset, outcome) * dataset.target_scale


def mse(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    return squared_loss(use, dataset, outcome) / weight_of(dataset, np.ones(dataset.rows, dtype=np.bool_))


def mean_absolute_error(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    return absolute_loss(use, dataset, outcome) / weight_of(dataset, np.ones(dataset.rows, dtype=np.bool_))


def r2(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    """1 if all rows have the same target: there is no variance to explain, and none is left."""
    weights, values = dataset.weight.tolist(), dataset.targets[:, 0].tolist()
    mean = Fraction(sum(w * v for w, v in zip(weights, values, strict=True)), sum(weights))
    around = sum((w * (v - mean) ** 2 for w, v in zip(weights, values, strict=True)), Fraction(0))
    total = around * dataset.weight_scale * dataset.target_scale**2
    return 1 - squared_loss(use, dataset, outcome) / total if total else Fraction(1)


def survival_loss(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    """Deaths and hazards leaf by leaf; the hazards of the rows are those of all of them together."""
    rows = dataset.targets[:, 0]
    died, hazard, costs = rows & 1, rows >> 1, death_costs(rows)
    leaves = len(outcome.tree.leaves)
    sums = (group_sums(outcome.leaf, leaves, each) for each in (costs, died, hazard))
    return sum((Fraction(leaf_loss(*each)) for each in zip(*sums, strict=True)), Fraction(0))


def quantile_loss(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    level = Fraction(use.arguments[0])
    return _loss("quantile", dataset.targets, dataset, outcome, level) * dataset.target_scale


def cluster_loss(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    distance = "absolute" if use.arguments[1:] == ("absolute",) else "squared"
    targets, scale = cluster_targets(dataset, use)
    return _loss(distance, targets, dataset, outcome) * (scale**2 if distance == "squared" else scale)


def _loss(
    kind: str, targets: Whole, dataset: Dataset, outcome: TreeOutcome, level: Fraction = Fraction(1, 2)
) -> Fraction:
    """Every leaf with its own best constant for every output."""
    leaves = len(outcome.tree.leaves)
    losses = [group_losses(kind, values, dataset.weight, outcome.leaf, leaves, level) for values in targets.T]
    return sum(losses, Fraction(0)) * dataset.weight_scale


def margin(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    title = "`margin` belongs to an ensemble, and no single tree has one"
    raise RefusedError(Diagnostic("B550", title, helps=("ask for `accuracy` of one tree",)))


# Rows.


def _rows_in_leaves(dataset: Dataset, outcome: TreeOutcome) -> NDArray[np.int64]:
    return dataset.rows_in(outcome.leaf, len(outcome.tree.leaves))


def _leaf_rows(outcome: TreeOutcome) -> list[NDArray[np.intp]]:
    """The rows of every leaf."""
    return rows_of_groups(outcome.leaf, len(outcome.tree.leaves))


def _part(use: Use, dataset: Dataset, rows: Mask, among: Mask, what: str) -> Fraction:
    total = _units(dataset, among)
    if total == 0:
        refuse(
            "D462",
            f"`{use.text or use.measure}` is a share of nothing",
            use.span,
            f"there is no weight in {what}",
            helps=("leave the measure out, or give data in which there are such rows",),
        )
    return Fraction(_units(dataset, rows & among), total)


def _quotient(dataset: Dataset, rows: Mask, among: Mask) -> Fraction | None:
    total = _units(dataset, among)
    return Fraction(_units(dataset, rows & among), total) if total else None
