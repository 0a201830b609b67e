"""A measure that is only reported -> its value on a tree, for the rows of training or for others.

Most of these measures depend on the order of leaves, or are roots, so no back-end optimizes them. A tree keeps what its
leaves learned from the training rows, and unseen rows are measured by that.
"""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from math import floor, isqrt, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.conditions import class_number, refuse
from treeml.data.hazards import UNITS, death_costs, deaths_and_hazard, not_lost, survival_times
from treeml.data.linear import LinearColumns
from treeml.data.table import Dataset, label_text
from treeml.lang.measures import MEASURES, chosen_loss
from treeml.lang.spec import Use
from treeml.measures.evaluators import TreeOutcome, confusion, evaluate
from treeml.problem.constants import exact_squares, exact_sum
from treeml.trees.leaf_lines import along_lines

LEAST_SHARE = float(np.finfo(np.float64).eps)  # of a class in a leaf, for logarithms, as in scikit-learn
_DIGITS = 10**30  # a root is rounded to this many parts


def reported_value(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction | None:
    """The value of any measure, with the predictions that the tree has; None if it is undefined for these rows."""
    loss = chosen_loss(use)
    if loss is None or loss.columns or not dataset.targets.shape[1]:
        return evaluate(use, dataset, outcome)
    if loss.kind == "hazard":
        return _hazard_loss(dataset, outcome)
    mean, total = _mean_loss(loss.kind, loss.level, dataset, outcome), _total(dataset)
    if use.measure == "r2":
        around = _mean_square_around_mean(dataset)
        # Without variance, there is nothing to explain: as in scikit-learn, either nothing is left, or all of it.
        return 1 - mean / around if around else Fraction(int(not mean))
    return mean if MEASURES[use.measure].name in ("mse", "mean_absolute_error") else mean * total


def rmse(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    mean = _mean_loss("squared", Fraction(1, 2), dataset, outcome)
    return Fraction(isqrt(int(mean * _DIGITS**2)), _DIGITS)


def auc(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction | None:
    """Every pair of a row of the class and another row; a pair in leaves of equal shares counts one half."""
    wanted = class_number(dataset, use.arguments[0], use.span)
    scores = [_share(outcome, leaf, dataset.classes[wanted]) for leaf in range(len(outcome.tree.leaves))]
    rank = {score: place for place, score in enumerate(sorted(set(scores)))}
    places = np.array([rank[score] for score in scores], dtype=np.intp)[outcome.leaf]
    is_wanted = dataset.actual == wanted
    inside, outside = (_sums(dataset.weight[mask], places[mask], len(rank)) for mask in (is_wanted, ~is_wanted))
    pairs = sum(inside) * sum(outside)
    below = won = 0
    for of_class, others in zip(inside, outside, strict=True):
        won += of_class * (2 * below + others)
        below += others
    return Fraction(won, 2 * pairs) if pairs else None


def log_loss(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    total = 0.0
    for leaf, label, weight in _cells(dataset, outcome):
        share = float(_share(outcome, leaf, dataset.classes[label]))
        total -= weight * log(min(max(share, LEAST_SHARE), 1 - LEAST_SHARE))
    return Fraction(total) / exact_sum(dataset.weight)


def gini(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    """One minus the sum of the squared shares of the classes in the leaf of a row."""
    impurity = []
    for leaf in range(len(outcome.tree.leaves)):
        shares = [_share(outcome, leaf, label) for label in outcome.tree.classes]
        impurity.append(1 - sum((share * share for share in shares), Fraction(0)))
    weights = _sums(dataset.weight, outcome.leaf, len(impurity))
    weighted = (weight * each for weight, each in zip(weights, impurity, strict=True))
    return sum(weighted, Fraction(0)) / exact_sum(dataset.weight)


def kappa(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction | None:
    """Undefined if predictions and classes are all one class: nothing is left to agree on."""
    table = confusion(dataset, outcome.predicted)
    total = sum(map(sum, table))
    agreed = Fraction(sum(table[each][each] for each in range(len(table))), total)
    predicted = [sum(row[place] for row in table) for place in range(len(table))]
    by_chance = Fraction(sum(sum(row) * often for row, often in zip(table, predicted, strict=True)), total**2)
    return (agreed - by_chance) / (1 - by_chance) if by_chance != 1 else None


def concordance(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction | None:
    """Harrell's index: of two rows, the one that died before the other's end should have the larger hazard."""
    times, observed = _survival(use, dataset)
    risks = [leaf.exact[0] for leaf in outcome.tree.leaves]
    rank = {risk: place for place, risk in enumerate(sorted(set(risks)))}
    places = np.array([rank[risk] for risk in risks], dtype=np.intp)[outcome.leaf]
    right = tied = pairs = 0
    for row in np.flatnonzero(observed):
        later = (times > times[row]) | ((times == times[row]) & ~observed)
        pairs += int(later.sum())
        right += int((later & (places < places[row])).sum())
        tied += int((later & (places == places[row])).sum())
    return Fraction(2 * right + tied, 2 * pairs) if pairs else None


def brier(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction | None:
    return _brier_of_classes(dataset, outcome) if dataset.classes else _brier_over_time(use, dataset, outcome)


def _brier_of_classes(dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    """The mean squared distance of the shares in a leaf to the class of a row; of two classes only one is counted."""
    squares, total = Fraction(0), exact_sum(dataset.weight)
    for leaf, label, weight in _cells(dataset, outcome):
        shares = [_share(outcome, leaf, each) for each in outcome.tree.classes]
        distance = sum((share * share for share in shares), 1 - 2 * _share(outcome, leaf, dataset.classes[label]))
        squares += weight * distance
    return squares / total / (2 if len(outcome.tree.classes) == 2 else 1)


def _brier_over_time(use: Use, dataset: Dataset, outcome: TreeOutcome) -> Fraction | None:
    """The integrated score of Graf and others (1999), over the moments of deaths before the last time of all.

    At a moment, a row that died before counts the square of its leaf's surviving share, a row that is still there that
    of what is missing to 1, each divided by the share of rows not lost until then, which is that of these rows.
    """
    times, observed = _survival(use, dataset)
    moments = np.unique(times[observed])
    moments = moments[moments < times.max(initial=0)]
    if len(moments) < 2:
        return None
    in_sight = not_lost(times, observed)
    at_death = np.array([_share_at(in_sight, moment) for moment in times.tolist()])
    scores = []
    curves = [leaf.curve for leaf in outcome.tree.leaves]
    for moment in moments.tolist():
        alive = np.array([_share_at(curve, moment) for curve in curves])[outcome.leaf]
        died, there = (times <= moment) & observed, times > moment
        parts = np.zeros(len(times))
        parts[died] = alive[died] ** 2 / at_death[died]
        parts[there] = (1 - alive[there]) ** 2 / _share_at(in_sight, moment)
        scores.append(float(parts.mean()))
    steps = np.diff(moments)
    area = float((steps * (np.array(scores[1:]) + np.array(scores[:-1])) / 2).sum())
    return Fraction(area) / Fraction(float(moments[-1] - moments[0]))


def _survival(use: Use, dataset: Dataset) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    if dataset.spec.observed is None:
        title = f"`{use.text or use.measure}` needs times of survival"
        refuse("D468", title, use.span, "is about them", helps=("write `predict months observed died`",))
    return survival_times(dataset)


def _share_at(curve: tuple[tuple[float, float], ...], moment: float) -> float:
    """The share that survives a moment."""
    passed = bisect_right(curve, (moment, 2.0))
    return curve[passed - 1][1] if passed else 1.0


def _hazard_loss(dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    """The loss with the relative hazards of the tree; the baseline is that of these rows."""
    rows = dataset.targets[:, 0]
    total = Fraction(int(death_costs(rows).sum()), UNITS)
    for number, leaf in enumerate(outcome.tree.leaves):
        deaths, hazard = deaths_and_hazard(rows[outcome.leaf == number])
        risk = float(leaf.exact[0])
        total += Fraction(risk * hazard / UNITS - deaths * (log(risk) + 1))
    return total


def _share(outcome: TreeOutcome, leaf: int, label: object) -> Fraction:
    """The share of a class, by weight, among the training rows of a leaf."""
    at = outcome.tree.leaves[leaf]
    total = sum(at.weights, Fraction(0))
    known = [label_text(each) for each in outcome.tree.classes]
    if not total or label_text(label) not in known:
        return Fraction(0)
    return at.weights[known.index(label_text(label))] / total


def _cells(dataset: Dataset, outcome: TreeOutcome) -> list[tuple[int, int, int]]:
    """Leaf, class and weight, where there is any."""
    classes = len(dataset.classes)
    sums = _sums(dataset.weight, outcome.leaf * classes + dataset.actual, len(outcome.tree.leaves) * classes)
    return [(place // classes, place % classes, weight) for place, weight in enumerate(sums) if weight]


def _sums(weight: NDArray[np.int64], group: NDArray[np.intp], groups: int) -> list[int]:
    return [exact_sum(weight[group == each]) for each in range(groups)]


def _total(dataset: Dataset) -> Fraction:
    return exact_sum(dataset.weight) * dataset.weight_scale


def _mean_loss(kind: str, level: Fraction, dataset: Dataset, outcome: TreeOutcome) -> Fraction:
    """The mean loss of the predictions in the leaves, which other rows may have taught."""
    if dataset.linear is not None:
        return _mean_linear_loss(kind, level, dataset, dataset.linear, outcome)
    total = Fraction(0)
    for leaf, node in enumerate(outcome.tree.leaves):
        rows = outcome.leaf == leaf
        weight, values = dataset.weight[rows], dataset.targets[rows, 0]
        constant = node.exact[0] / dataset.target_scale
        if kind == "squared":
            crossed = exact_sum(values, weight) - constant * exact_sum(weight) / 2
            total += exact_squares(values, weight) - 2 * constant * crossed
        else:
            above = values > floor(constant)
            over = exact_sum(values[above], weight[above]) - constant * exact_sum(weight[above])
            under = constant * exact_sum(weight[~above]) - exact_sum(values[~above], weight[~above])
            total += over + under if kind == "absolute" else level * over + (1 - level) * under
    power = 2 if kind == "squared" else 1
    return total * dataset.target_scale**power / exact_sum(dataset.weight)


def _mean_linear_loss(
    kind: str, level: Fraction, dataset: Dataset, columns: LinearColumns, outcome: TreeOutcome
) -> Fraction:
    """The same for linear leaves, in floating point; a ridge is no part of it."""
    leaves = outcome.tree.leaves
    predicted = np.array([leaf.prediction for leaf in leaves])[outcome.leaf] - columns.offset
    over = columns.target - predicted - along_lines(leaves, outcome.leaf, lambda name: dataset.column(name).values)
    if kind == "squared":
        losses = over**2
    else:
        losses = np.abs(over) if kind == "absolute" else np.maximum(float(level) * over, (float(level) - 1) * over)
    return Fraction(float(np.average(losses, weights=columns.weight)))


def _mean_square_around_mean(dataset: Dataset) -> Fraction:
    weight, values = dataset.weight, dataset.targets[:, 0]
    mean = Fraction(exact_sum(values, weight), exact_sum(weight))
    return (Fraction(exact_squares(values, weight), exact_sum(weight)) - mean**2) * dataset.target_scale**2
