"""A measure over a Dataset -> an exact sum of terms, which is all that back-ends see.

Every classification measure becomes one matrix of row x class costs in whole numbers, with one scale. What is not
linear in the predictions has terms of its own: a gap is the `Largest` of the differences between two groups, in both
orders, and a share of the predicted rows is a `Ratio`.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import lcm
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from treeml.data.conditions import (
    class_number,
    classes_meeting,
    cluster_targets,
    compared_rows,
    groups_of,
    positive_class,
    refuse,
    rows_meeting,
    speaks_of_prediction,
)
from treeml.data.table import Dataset, Whole
from treeml.lang.diagnostic import Diagnostic, Label, RefusedError
from treeml.lang.measures import MEASURES
from treeml.lang.plugins import resolve
from treeml.lang.source import Span
from treeml.lang.spec import Use
from treeml.measures.binarize import tests_of
from treeml.problem.constants import exact_sum, group_losses
from treeml.problem.hazard_cost import HazardCost
from treeml.problem.impurity_cost import ImpurityCost, bits_of_split
from treeml.problem.linear_cost import LinearCost
from treeml.problem.magnitudes import SAFE, added
from treeml.problem.problem import Feature
from treeml.problem.terms import (
    Contingency,
    Custom,
    Depth,
    DiscountedTestCost,
    Largest,
    LeafErrors,
    Leaves,
    Loss,
    Monotone,
    Predicted,
    Purity,
    Ratio,
    Sum,
    Support,
    Term,
    TestCost,
    Used,
)

MOST_REPORTED = Fraction(10**308)  # losses are reported as floats
MOST_ENTRIES = 2**26  # of all matrices of a gap together: 64 million, half a gigabyte

Features = tuple[Feature, ...]


def lower_measure(use: Use, dataset: Dataset, features: Features) -> Sum:
    """The exact value of a measure as a sum of terms."""
    lowered: Sum = resolve(MEASURES[use.measure].lowering)(use, dataset, features)
    return lowered


# The shape of the tree.


def depth(use: Use, dataset: Dataset, features: Features) -> Sum:
    return _one(Depth())


def leaves(use: Use, dataset: Dataset, features: Features) -> Sum:
    return _one(Leaves())


def splits(use: Use, dataset: Dataset, features: Features) -> Sum:
    return Sum(((Fraction(1), Leaves()),), Fraction(-1))


def support(use: Use, dataset: Dataset, features: Features) -> Sum:
    return _one(Support())


def features_used(use: Use, dataset: Dataset, features: Features) -> Sum:
    return _one(Used(frozenset(range(len(features)))))


def uses(use: Use, dataset: Dataset, features: Features) -> Sum:
    name = use.arguments[0]
    return _one(Used(frozenset(number for number, feature in enumerate(features) if feature.name == name)))


def test_cost(use: Use, dataset: Dataset, features: Features) -> Sum:
    number = {feature.name: place for place, feature in enumerate(features)}
    costs = [dataset.test_cost.get(feature.name, Fraction(0)) for feature in features]
    reduced = {pair: cost for pair, cost in dataset.test_discount.items() if number.keys() >= set(pair)}
    denominator = lcm(*(cost.denominator for cost in (*costs, *reduced.values())))
    discounts = [(number[name], number[before], int(cost * denominator)) for (name, before), cost in reduced.items()]
    whole = tuple(int(cost * denominator) for cost in costs)
    if sum(whole) * dataset.rows >= SAFE:
        _too_large(use)
    if discounts:
        return _one(DiscountedTestCost(whole, Fraction(1, denominator), tuple(sorted(discounts))))
    return _one(TestCost(whole, Fraction(1, denominator)))


def monotone(use: Use, dataset: Dataset, features: Features) -> Sum:
    name, direction = use.arguments
    positive = positive_class(dataset, use)
    for number, feature in enumerate(features):
        if feature.name == name:
            if dataset.column(name).type in ("category", "text"):
                refuse(
                    "D460",
                    f"`{name}` has no order along which a prediction could rise",
                    use.span,
                    f"is a category of {feature.levels} levels",
                    helps=(f"declare `column {name} : ordered`, if its levels have one",),
                )
            return _one(Monotone(number, direction == "increasing", positive))
    # There is no test on the column, so the prediction does not depend on it.
    return Sum((), Fraction(1))


# Classes.


def errors(use: Use, dataset: Dataset, features: Features) -> Sum:
    return _one(Predicted(_error_matrix(use, dataset), dataset.weight_scale))


def error_rate(use: Use, dataset: Dataset, features: Features) -> Sum:
    cost = _error_matrix(use, dataset)
    return _one(Predicted(cost, Fraction(1, _nonzero(use, int(dataset.weight.sum()), "the rows"))))


def accuracy(use: Use, dataset: Dataset, features: Features) -> Sum:
    return Sum(((Fraction(-1), error_rate(use, dataset, features).parts[0][1]),), Fraction(1))


def balanced_accuracy(use: Use, dataset: Dataset, features: Features) -> Sum:
    _check_weights(use, dataset)
    totals = [
        _nonzero(use, int(dataset.weight[dataset.actual == number].sum()), f"class `{label}`")
        for number, label in enumerate(dataset.classes)
    ]
    common = lcm(*totals)
    # Each class sums to `common`, so this is the sum over all rows.
    if common * len(totals) >= SAFE:
        _too_large(use)
    factor = np.array([common // total for total in totals], dtype=np.int64)
    cost = np.zeros((dataset.rows, len(totals)), dtype=np.int64)
    cost[np.arange(dataset.rows), dataset.actual] = dataset.weight * factor[dataset.actual]
    return _one(Predicted(cost, Fraction(1, common * len(totals))))


def recall(use: Use, dataset: Dataset, features: Features) -> Sum:
    wanted = class_number(dataset, use.arguments[0], use.span)
    rows = dataset.actual == wanted
    return _share(use, dataset, rows, _only(dataset, wanted), f"class `{use.arguments[0]}`")


def specificity(use: Use, dataset: Dataset, features: Features) -> Sum:
    wanted = class_number(dataset, use.arguments[0], use.span)
    rows = dataset.actual != wanted
    return _share(use, dataset, rows, ~_only(dataset, wanted), f"the classes other than `{use.arguments[0]}`")


def precision(use: Use, dataset: Dataset, features: Features) -> Sum:
    wanted = class_number(dataset, use.arguments[0], use.span)
    classes = _only(dataset, wanted)
    everywhere = np.ones(dataset.rows, dtype=np.bool_)
    return _one(
        Ratio(
            _weight_of(use, dataset, dataset.actual == wanted, classes),
            _weight_of(use, dataset, everywhere, classes),
        )
    )


def npv(use: Use, dataset: Dataset, features: Features) -> Sum:
    wanted = class_number(dataset, use.arguments[0], use.span)
    others = ~_only(dataset, wanted)
    everywhere = np.ones(dataset.rows, dtype=np.bool_)
    return _one(
        Ratio(
            _weight_of(use, dataset, dataset.actual != wanted, others),
            _weight_of(use, dataset, everywhere, others),
        )
    )


def f1(use: Use, dataset: Dataset, features: Features) -> Sum:
    return _overlap(use, dataset, 2)


def fbeta(use: Use, dataset: Dataset, features: Features) -> Sum:
    square = use.arguments[1] ** 2
    missed, extra = square.numerator, square.denominator
    return _overlap(use, dataset, missed + extra, missed, extra)


def jaccard(use: Use, dataset: Dataset, features: Features) -> Sum:
    return _overlap(use, dataset, 1)


def _overlap(use: Use, dataset: Dataset, hit: int, missed: int = 1, extra: int = 1) -> Sum:
    """hit * TP / (hit * TP + missed * FN + extra * FP)."""
    _check_weights(use, dataset, hit)
    wanted = class_number(dataset, use.arguments[0], use.span)
    of_it = np.where(dataset.actual == wanted, dataset.weight, 0)
    both = np.zeros((dataset.rows, len(dataset.classes)), dtype=np.int64)
    both[:, wanted] = hit * of_it
    either = np.repeat(missed * of_it[:, None], len(dataset.classes), axis=1)
    either[:, wanted] = extra * (dataset.weight - of_it) + hit * of_it
    scale = dataset.weight_scale
    return _one(Ratio(_one(Predicted(both, scale)), _one(Predicted(either, scale))))


def mcc(use: Use, dataset: Dataset, features: Features) -> Sum:
    return _contingency(use, dataset, class_number(dataset, use.arguments[0], use.span))


def gmean(use: Use, dataset: Dataset, features: Features) -> Sum:
    if len(dataset.classes) == 1:
        return Sum((), Fraction(1))  # every row is of the class, and predicted as it
    if len(dataset.classes) != 2:
        refuse(
            "D467",
            f"`gmean` can be optimized or required for two classes, and there are {len(dataset.classes)}",
            use.span,
            "is the geometric mean of all their recalls",
            helps=("ask for `balanced_accuracy`, or name one class: `mcc(...)`; `report gmean` takes any number",),
        )
    return _contingency(use, dataset, 1)


def _contingency(use: Use, dataset: Dataset, wanted: int) -> Sum:
    """A root of the two-by-two table of one class against all others."""
    classes, scale = _only(dataset, wanted), dataset.weight_scale
    of_it = dataset.actual == wanted
    label = dataset.classes[wanted]
    positives = _nonzero(use, added(dataset.weight[of_it]), f"class `{label}`")
    negatives = _nonzero(use, added(dataset.weight[~of_it]), f"the classes other than `{label}`")
    right, wrong = (_weight_of(use, dataset, rows, classes) for rows in (of_it, ~of_it))
    return _one(Contingency(use.measure, right, wrong, positives * scale, negatives * scale))


def count(use: Use, dataset: Dataset, features: Features) -> Sum:
    conditions = tuple(condition for part in use.arguments for condition in part)
    return _weight_of(use, dataset, rows_meeting(dataset, conditions), classes_meeting(dataset, conditions))


def rate(use: Use, dataset: Dataset, features: Features) -> Sum:
    counted, given = (*use.arguments, ())[:2]
    rows, among = rows_meeting(dataset, (*counted, *given)), rows_meeting(dataset, given)
    classes = classes_meeting(dataset, (*counted, *given))
    if any(map(speaks_of_prediction, given)):
        return _one(
            Ratio(
                _weight_of(use, dataset, rows, classes),
                _weight_of(use, dataset, among, classes_meeting(dataset, given)),
            )
        )
    cost = _matrix(use, dataset, rows, classes)
    total = _nonzero(use, int(dataset.weight[among].sum()), "the rows that meet what is given")
    return _one(Predicted(cost, Fraction(1, total)))


def gap(use: Use, dataset: Dataset, features: Features) -> Sum:
    positive = positive_class(dataset, use)
    compared = MEASURES[use.measure].fairness
    name = use.arguments[0]
    groups = groups_of(dataset, name)
    pairs = len(groups) * (len(groups) - 1) * len(compared)
    if pairs * dataset.rows * len(dataset.classes) > MOST_ENTRIES:
        refuse(
            "D461",
            f"`{name}` has too many groups to compare every two of them",
            use.span,
            f"{len(groups)} groups make {pairs} comparisons over {dataset.rows} rows",
            helps=("join small groups in a new column, and name that",),
        )
    parts: list[Sum] = []
    for rows_compared in compared:
        rows, sides = compared_rows(dataset, rows_compared), []
        where = "" if rows_compared == "all" else f" among actual {rows_compared}"
        for text, group in groups:
            side = group & rows
            what = f"group `{text}` of `{name}`{where}"
            sides.append((side, _nonzero(use, _weight_in(dataset, side), what)))
        made: dict[tuple[int, int], Sum] = {}
        for one, other in permutations(range(len(sides)), 2):
            opposite = made.get((other, one))  # the same costs, subtracted
            made[one, other] = (
                _one(_difference(use, dataset, positive, sides[one], sides[other]))
                if opposite is None
                else opposite.negated()
            )
        parts.extend(made.values())
    if not parts:
        # A single group never differs from another.
        return _one(Predicted(np.zeros((dataset.rows, len(dataset.classes)), dtype=np.int64)))
    return _one(Largest(tuple(parts)))


def _difference(
    use: Use,
    dataset: Dataset,
    positive: int,
    above: tuple[NDArray[np.bool_], int],
    below: tuple[NDArray[np.bool_], int],
) -> Predicted:
    """The rate of the positive prediction in one group minus that in another."""
    _check_weights(use, dataset)
    (above_rows, above_total), (below_rows, below_total) = above, below
    common = lcm(above_total, below_total)
    if 2 * common >= SAFE:
        _too_large(use)
    cost = np.zeros((dataset.rows, len(dataset.classes)), dtype=np.int64)
    np.multiply(dataset.weight, common // above_total, out=cost[:, positive], where=above_rows)
    np.multiply(dataset.weight, -(common // below_total), out=cost[:, positive], where=below_rows)
    return Predicted(cost, Fraction(1, common))


def mistake_cost(use: Use, dataset: Dataset, features: Features) -> Sum:
    if dataset.row_cost is not None:
        largest = np.abs(dataset.row_cost).max(axis=1, initial=0)
        if exact_sum(dataset.weight, largest) >= SAFE:
            _too_large(use)
        return _one(
            Predicted(dataset.row_cost * dataset.weight[:, None], dataset.weight_scale * dataset.row_cost_scale)
        )
    _check_weights(use, dataset, int(np.abs(dataset.mistake_cost).max(initial=1)))
    cost = dataset.mistake_cost.T[dataset.actual] * dataset.weight[:, None]
    return _one(Predicted(np.ascontiguousarray(cost), dataset.weight_scale * dataset.mistake_scale))


def gain(use: Use, dataset: Dataset, features: Features) -> Sum:
    return Sum(((Fraction(-1), mistake_cost(use, dataset, features).parts[0][1]),))


def description_length(use: Use, dataset: Dataset, features: Features) -> Sum:
    """The bits of the classes, and those of the nodes: every leaf but one comes with a split."""
    split = Fraction(bits_of_split(tests_of(dataset)))
    return Sum(((Fraction(1), Custom(_impurity("code length", dataset))), (1 + split, Leaves())), -split)


def log_loss(use: Use, dataset: Dataset, features: Features) -> Sum:
    return _mean_impurity(use, "entropy", dataset)


def gini(use: Use, dataset: Dataset, features: Features) -> Sum:
    return _mean_impurity(use, "gini", dataset)


def _mean_impurity(use: Use, kind: str, dataset: Dataset) -> Sum:
    total = _nonzero(use, exact_sum(dataset.weight), "the rows") * dataset.weight_scale
    return Sum(((1 / total, Custom(_impurity(kind, dataset))),))


def _impurity(kind: str, dataset: Dataset) -> ImpurityCost:
    return ImpurityCost(kind, dataset.actual, len(dataset.classes), dataset.weight, dataset.weight_scale)


def purity(use: Use, dataset: Dataset, features: Features) -> Sum:
    _check_weights(use, dataset)
    weight = np.zeros((dataset.rows, len(dataset.classes)), dtype=np.int64)
    weight[np.arange(dataset.rows), dataset.actual] = dataset.weight
    return _one(Purity(weight))


def leaf_errors(use: Use, dataset: Dataset, features: Features) -> Sum:
    return _one(LeafErrors(_error_matrix(use, dataset), dataset.weight_scale))


def leaf_weight(use: Use, dataset: Dataset, features: Features) -> Sum:
    """Minus the largest of minus the weights of leaves, so that back-ends that bound leaf errors support it too."""
    _check_weights(use, dataset)
    cost = np.repeat(-dataset.weight[:, None], len(dataset.classes), axis=1)
    return Sum(((Fraction(-1), LeafErrors(cost, dataset.weight_scale)),))


# Numbers.


def squared_loss(use: Use, dataset: Dataset, features: Features) -> Sum:
    if dataset.linear is not None:
        return _one(Custom(LinearCost(dataset.linear)))
    scale = dataset.weight_scale * dataset.target_scale**2
    return _loss(use, Loss("squared", dataset.targets, dataset.weight, scale))


def absolute_loss(use: Use, dataset: Dataset, features: Features) -> Sum:
    scale = dataset.weight_scale * dataset.target_scale
    return _loss(use, Loss("absolute", dataset.targets, dataset.weight, scale))


def mse(use: Use, dataset: Dataset, features: Features) -> Sum:
    scale = dataset.target_scale**2 / _nonzero(use, int(dataset.weight.sum()), "the rows")
    return _loss(use, Loss("squared", dataset.targets, dataset.weight, scale))


def mean_absolute_error(use: Use, dataset: Dataset, features: Features) -> Sum:
    scale = dataset.target_scale / _nonzero(use, int(dataset.weight.sum()), "the rows")
    return _loss(use, Loss("absolute", dataset.targets, dataset.weight, scale))


def r2(use: Use, dataset: Dataset, features: Features) -> Sum:
    """One minus the loss as a share of that of a single leaf; 1 if that has none, since no tree then has any."""
    together = np.zeros(dataset.rows, dtype=np.intp)
    alone = group_losses("squared", dataset.targets[:, 0], dataset.weight, together, 1, Fraction(1, 2))
    loss = Loss("squared", dataset.targets, dataset.weight, 1 / (alone or Fraction(1)))
    return Sum(((Fraction(-1), loss),), Fraction(1))


def survival_loss(use: Use, dataset: Dataset, features: Features) -> Sum:
    return _one(Custom(HazardCost.of(dataset.targets[:, 0])))


def quantile_loss(use: Use, dataset: Dataset, features: Features) -> Sum:
    scale = dataset.weight_scale * dataset.target_scale
    return _loss(use, Loss("quantile", dataset.targets, dataset.weight, scale, Fraction(use.arguments[0])))


def cluster_loss(use: Use, dataset: Dataset, features: Features) -> Sum:
    distance = "absolute" if use.arguments[1:] == ("absolute",) else "squared"
    targets, scale = cluster_targets(dataset, use)
    power = 2 if distance == "squared" else 1
    return _loss(use, Loss(distance, targets, dataset.weight, dataset.weight_scale * scale**power))


def margin(use: Use, dataset: Dataset, features: Features) -> Sum:
    title = "`margin` belongs to an ensemble, and no single tree has one"
    helps = ("write `ensemble by lpboost(...)`, or ask for `accuracy` of one tree",)
    labels = () if use.span is None else (Label(use.span, "is measured over the trees of an ensemble"),)
    raise RefusedError(Diagnostic("B550", title, labels, helps=helps))


# Matrices.


def _one(term: Term) -> Sum:
    return Sum(((Fraction(1), term),))


def _only(dataset: Dataset, number: int) -> NDArray[np.bool_]:
    only: NDArray[np.bool_] = np.arange(len(dataset.classes)) == number
    return only


def _error_matrix(use: Use, dataset: Dataset) -> Whole:
    _check_weights(use, dataset)
    cost = np.empty((dataset.rows, len(dataset.classes)), dtype=np.int64)
    for number in range(len(dataset.classes)):
        np.multiply(dataset.weight, dataset.actual != number, out=cost[:, number])
    return cost


def _matrix(use: Use, dataset: Dataset, rows: NDArray[np.bool_], classes: NDArray[np.bool_]) -> Whole:
    """Row x class: the weight of the row if both row and class are selected, else 0."""
    _check_weights(use, dataset)
    cost: Whole = np.where(rows, dataset.weight, 0)[:, None] * classes[None, :].astype(np.int64)
    return cost


def _weight_of(use: Use, dataset: Dataset, rows: NDArray[np.bool_], classes: NDArray[np.bool_]) -> Sum:
    return _one(Predicted(_matrix(use, dataset, rows, classes), dataset.weight_scale))


def _share(use: Use, dataset: Dataset, rows: NDArray[np.bool_], classes: NDArray[np.bool_], what: str) -> Sum:
    cost = _matrix(use, dataset, rows, classes)
    return _one(Predicted(cost, Fraction(1, _nonzero(use, int(dataset.weight[rows].sum()), what))))


def _loss(use: Use, loss: Loss) -> Sum:
    """A loss that is reported as a float, and therefore has to be one."""
    largest = max(abs(int(loss.targets.max(initial=0))), abs(int(loss.targets.min(initial=0))))
    most = (2 * largest) ** (2 if loss.kind == "squared" else 1) * added(loss.weight) * loss.targets.shape[1]
    if most * loss.scale >= MOST_REPORTED:
        refuse(
            "D463",
            f"`{use.text or use.measure}` of these numbers is larger than any float",
            use.span,
            "could exceed 1e308",
            helps=("divide the numbers by a constant before, such as 1e100",),
        )
    return _one(loss)


def _check_weights(use: Use, dataset: Dataset, factor: int = 1) -> None:
    if (dataset.rows if dataset.has_unit_weights else added(dataset.weight)) * factor >= SAFE:
        _too_large(use)


def _weight_in(dataset: Dataset, rows: NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(rows) if dataset.has_unit_weights else dataset.weight.compress(rows).sum())


def _nonzero(use: Use, total: int, what: str) -> int:
    if total:
        return total
    refuse(
        "D462",
        f"`{use.text or use.measure}` is a share of nothing",
        use.span,
        f"there is no weight in {what}",
        helps=("leave the measure out, or give data in which there are such rows",),
    )


def _too_large(use: Use) -> NoReturn:
    instead = "give weights and costs with fewer digits"
    if use.measure == "balanced_accuracy":
        instead = "with so many classes of different sizes, weigh them instead: `weight class ... = ...` and `accuracy`"
    refuse_size(use.text or use.measure, use.span, instead)


def refuse_size(what: str, span: Span | None, instead: str = "give weights and costs with fewer digits") -> NoReturn:
    refuse(
        "D463",
        f"`{what}` needs numbers beyond 64 bits",
        span,
        "would reach 2**62 in whole numbers",
        notes=("weights, costs and shares are kept as whole numbers with one common denominator",),
        helps=(instead,),
    )
