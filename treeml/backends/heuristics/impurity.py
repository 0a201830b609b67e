"""Rows of a node -> how good each test would be as its split.

The criteria are those of Breiman, Friedman, Olshen and Stone (1984: gini, twoing, squared and absolute loss) and of
Quinlan (1993: entropy, gain ratio), each for all tests at once. They only rank tests and are not values of a tree, so
floating point suffices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.problem.impurity_cost import ImpurityCost
from treeml.problem.problem import Problem
from treeml.problem.terms import Custom, LeafErrors, Loss, Predicted, Purity, StoredCost, Sum

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

FINE = 2.0**20  # steps from 0 to the largest residual
CELLS_AT_ONCE = 4_000_000  # answers that are made into numbers of 8 bytes at a time


@dataclass(frozen=True, eq=False, slots=True)
class SplitCounts:
    """What greedy induction knows about the rows: the weight of every class for every row, or target numbers."""

    classes: Floats | None  # rows x classes: the gain of predicting the class instead of the worst one
    loss: Loss | None


def evidence(problem: Problem) -> SplitCounts | None:
    """The counts of the first goal on classes or losses, else of the first such bound; None without one.

    A row of weight w counts w for its class. With misclassification costs it counts, for every class, what that class
    saves compared with the most expensive one, as in the altered priors of Breiman and others (1984).
    """
    sums = sums_to_keep_small(problem)
    for wanted in ((Predicted, Loss, Custom), (LeafErrors, Purity)):
        for total in sums:
            for factor, term in total.parts:
                if not isinstance(term, wanted):
                    continue
                if isinstance(term, Custom):
                    if isinstance(term.function, ImpurityCost):
                        return SplitCounts(term.function.class_weights(), None)
                    stand_in = _loss_of_residuals(term)
                    if stand_in is not None:
                        return SplitCounts(None, stand_in)
                    continue
                if isinstance(term, Loss):
                    return SplitCounts(None, term)
                if isinstance(term, Purity):
                    return SplitCounts(term.weight.astype(np.float64), None)
                if isinstance(term, Predicted | LeafErrors):
                    cost = term.cost.astype(np.float64) * (1.0 if factor * term.scale >= 0 else -1.0)
                    return SplitCounts(cost.max(axis=1, initial=-np.inf, keepdims=True) - cost, None)
    return None


def _loss_of_residuals(term: Custom) -> Loss | None:
    """The squared loss of what a single leaf leaves unexplained; None if the cost does not say what that is."""
    residuals = term.function.residuals() if isinstance(term.function, StoredCost) else None
    if residuals is None:
        return None
    largest = float(np.abs(residuals).max(initial=0.0))
    targets = np.rint(residuals * (FINE / largest if 0 < largest < np.inf else 0.0)).astype(np.int64)
    return Loss("squared", targets[:, None], np.ones(len(targets), dtype=np.int64))


def sums_to_keep_small(problem: Problem) -> list[Sum]:
    """What is minimized, and then what is bounded: the less of it a tree has, the better."""
    bounds = [bound.sum.negated() if bound.sense == ">=" else bound.sum for bound in problem.bounds]
    return [goal.sum for goal in problem.goals] + bounds


def worth(
    answers: NDArray[np.bool_],
    rows: Rows,
    known: SplitCounts,
    criterion: str,
    fans: Sequence[NDArray[np.bool_]] = (),
) -> tuple[Floats, float]:
    """The gain of every test's split of the rows, then of every fan's, and the impurity of the rows.

    A fan is given by its branches x rows: does the row belong to the branch?
    """
    if known.loss is not None:
        return _loss_worth(answers, rows, known.loss, fans)
    assert known.classes is not None
    weights = known.classes[rows]
    total = weights.sum(axis=0)
    sides = np.zeros((max([2, *map(len, fans)]), len(answers) + len(fans), len(total)))
    sides[0, : len(answers)] = side_sums(answers, weights)
    sides[1, : len(answers)] = total - sides[0, : len(answers)]
    for number, fan in enumerate(fans, len(answers)):
        sides[: len(fan), number] = fan @ weights
    return CRITERIA[criterion](sides, total), _gini(total)


def side_sums(answers: NDArray[np.bool_], amounts: Floats) -> Floats:
    """Tests x rows, rows x amounts -> the sums over the rows that answer yes, a few tests at a time."""
    step = _tests_at_once(answers)
    if len(answers) <= step:
        return np.asarray(answers @ amounts)
    return np.concatenate([answers[at : at + step] @ amounts for at in range(0, len(answers), step)])


def _tests_at_once(answers: NDArray[np.bool_]) -> int:
    return max(1, CELLS_AT_ONCE // max(1, int(answers.shape[1])))


# Each criterion takes the weight of every class in every side of every split: sides x splits x classes.


def _gini_gain(sides: Floats, total: Floats) -> Floats:
    return np.asarray(_gini(total) - _gini(sides).sum(axis=0))


def _entropy_gain(sides: Floats, total: Floats) -> Floats:
    return np.asarray(_entropy(total) - _entropy(sides).sum(axis=0))


def _gain_ratio(sides: Floats, total: Floats) -> Floats:
    """The gain divided by the entropy of the split itself, for splits of at least average gain."""
    gain = _entropy_gain(sides, total)
    split = _entropy(np.moveaxis(sides.sum(axis=-1), 0, -1))
    useful = (split > 0) & (gain > 0)
    if not useful.any():
        return gain
    average = gain[useful].mean()
    ratio = np.divide(gain, split, out=np.zeros_like(gain), where=split > 0)
    return np.where(gain >= average - 1e-12, ratio, 0.0) * float(total.sum())


def _twoing(sides: Floats, total: Floats) -> Floats:
    """The product of the sides' shares, times the squared sum of the differences of their class shares.

    It is defined for two sides. Of more, the best way to hold one side against the others counts.
    """
    if len(sides) == 2:
        return _twoing_of_two(sides[0], sides[1], total)
    whole = sides.sum(axis=0)
    return np.asarray(np.max([_twoing_of_two(side, whole - side, total) for side in sides], axis=0))


def _twoing_of_two(yes: Floats, no: Floats, total: Floats) -> Floats:
    left, right, whole = yes.sum(axis=-1), no.sum(axis=-1), total.sum()
    both = (left > 0) & (right > 0)
    safe_left, safe_right = np.where(both, left, 1.0), np.where(both, right, 1.0)
    apart = np.abs(yes / safe_left[..., None] - no / safe_right[..., None]).sum(axis=-1)
    return np.where(both, left * right * apart**2, 0.0) / (4 * max(float(whole), 1e-300))


CRITERIA: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "gini": _gini_gain,
    "entropy": _entropy_gain,
    "gain_ratio": _gain_ratio,
    "twoing": _twoing,
}


def _gini(weights: Floats) -> Any:
    """Weight times the gini index."""
    total = weights.sum(axis=-1)
    squares = (weights**2).sum(axis=-1)
    return total - np.divide(squares, total, out=np.zeros_like(np.asarray(total)), where=np.asarray(total) > 0)


def _entropy(weights: Floats) -> Any:
    """Weight times the entropy."""
    total = weights.sum(axis=-1, keepdims=True)
    share = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
    return -(weights * logs).sum(axis=-1)


def _loss_worth(
    answers: NDArray[np.bool_], rows: Rows, loss: Loss, fans: Sequence[NDArray[np.bool_]]
) -> tuple[Floats, float]:
    weight = loss.weight[rows].astype(np.float64)
    gain, impurity = np.zeros(len(answers) + len(fans)), 0.0
    for output in range(loss.targets.shape[1]):
        target = loss.targets[rows, output].astype(np.float64)
        # Centered first, because sums of squares of large numbers would cancel.
        target = target - target.mean()
        of_sides = _squared_loss if loss.kind == "squared" else _pinball_loss
        level = float(loss.level) if loss.kind == "quantile" else 0.5
        whole = of_sides(np.ones((1, len(rows)), dtype=bool), target, weight, level)[0]
        step = _tests_at_once(answers)
        blocks = [answers[at : at + step] for at in range(0, len(answers), step)] or [answers]
        split = np.concatenate(
            [of_sides(block, target, weight, level) + of_sides(~block, target, weight, level) for block in blocks]
        )
        gain += whole - np.append(split, [of_sides(fan, target, weight, level).sum() for fan in fans])
        impurity += whole
    return gain, impurity


def _squared_loss(side: NDArray[np.bool_], target: Floats, weight: Floats, level: float) -> Floats:
    total, first, second = side_sums(side, np.stack([weight, weight * target, weight * target**2], axis=1)).T
    return np.asarray(second - np.divide(first**2, total, out=np.zeros_like(total), where=total > 0))


def _pinball_loss(side: NDArray[np.bool_], target: Floats, weight: Floats, level: float) -> Floats:
    """The loss to the quantile of each side; at level 1/2 it is half the absolute loss, which ranks tests equally."""
    order = np.argsort(target, kind="stable")
    target, weight = target[order], weight[order]
    weights = side[:, order] * weight
    below = np.cumsum(weights, axis=1)
    total = below[:, -1]
    place = np.argmax(below >= level * total[:, None] - 1e-9, axis=1)
    value = target[place]
    reached = np.cumsum(weights * target, axis=1)
    at = np.arange(len(side))
    weight_below, sum_below = below[at, place], reached[at, place]
    sum_above = reached[:, -1] - sum_below
    loss = (1 - level) * (value * weight_below - sum_below) + level * (sum_above - value * (total - weight_below))
    return np.where(total > 0, loss, 0.0)
