"""A tree of a world -> its losses of numbers, by their definitions.

This is written from docs/measures.md alone and uses no part of the package except the worlds themselves, so it cannot
share a mistake with reading, lowering, solving or verifying.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from treeml.testing.real_truth import linear_loss, survival_loss, variance
from treeml.testing.world_view import Grown, TooMany, View
from treeml.testing.worlds import WorldMeasure


def _constants(view: View, use: WorldMeasure, tree: Grown) -> Iterator[tuple[list[tuple[Fraction, Fraction]], str]]:
    """For every leaf and output, the values with their weights, and the kind of loss."""
    if use.name == "cluster_loss":
        kind = "absolute" if use.arguments[-1] == "absolute" else "squared"
        columns = [name for name in use.arguments if name not in ("absolute", "squared")]
    else:
        kind, columns = use.name.removesuffix("_loss"), [""]
    for place in tree:
        for name in columns:
            values = [view.numbers[name][row] if name else view.targets[row] for row in place.rows]
            if any(value is None for value in values):
                raise TooMany
            yield (
                [(value, view.weight[row]) for value, row in zip(values, place.rows, strict=True) if value is not None],
                kind,
            )


def hazard_loss(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    parts = (([view.hazards[row] for row in place.rows], [view.died[row] for row in place.rows]) for place in tree)
    return sum((Fraction(survival_loss(hazards, died)) for hazards, died in parts), Fraction(0))


def _linear_loss(view: View, tree: Grown) -> Fraction:
    columns = []
    for name in view.world.lines:
        known = [value for value in view.numbers[name] if value is not None]
        if len(known) < view.rows:
            raise TooMany
        columns.append(known)
    prices = [Fraction(view.world.ridge) * variance(column, view.weight) for column in columns]
    total = Fraction(0)
    for place in tree:
        own = [[column[row] for row in place.rows] for column in columns]
        targets, weights = ([each[row] for row in place.rows] for each in (view.targets, view.weight))
        total += linear_loss(own, targets, weights, prices)
    return total


def loss(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction:
    if view.world.lines and use.name == "squared_loss":
        return _linear_loss(view, tree)
    total = Fraction(0)
    for values, kind in _constants(view, use, tree):
        if kind == "squared":
            weight = sum((own for _, own in values), Fraction(0))
            if weight:
                mean = sum((value * own for value, own in values), Fraction(0)) / weight
                total += sum((own * (value - mean) ** 2 for value, own in values), Fraction(0))
            continue
        level = Fraction(use.arguments[0]) if kind == "quantile" else Fraction(1)
        other = 1 - level if kind == "quantile" else Fraction(1)
        total += min(
            sum(
                (own * (level * (value - at) if value > at else other * (at - value)) for value, own in values),
                Fraction(0),
            )
            for at, _ in values
        )
    return total


def mean_loss(view: View, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
    """The loss of a mean, divided by the weight of all rows."""
    of = {"mse": "squared_loss", "mean_absolute_error": "absolute_loss"}[use.name]
    whole = sum(view.weight, Fraction(0))
    return loss(view, replace(use, name=of), tree, predicted) / whole if whole else None
