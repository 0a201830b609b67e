"""Rows of a leaf -> its loss of survival times and of a linear model, from docs/measures.md alone.

Survival needs logarithms, so it is a float; linear models are exact, by elimination over fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import log


def cumulative_hazards(times: Sequence[Fraction], died: Sequence[bool]) -> list[Fraction]:
    """Nelson and Aalen: at each time, the deaths so far, each divided by the rows that were still at risk."""
    found = []
    for time in times:
        total = Fraction(0)
        for moment in sorted(set(times)):
            if moment <= time:
                deaths = sum(end for own, end in zip(times, died, strict=True) if own == moment)
                total += Fraction(deaths, sum(own >= moment for own in times))
        found.append(total or Fraction(1, len(times) + 1))
    return found


def survival_loss(hazards: Sequence[Fraction], died: Sequence[bool]) -> float:
    """Of the rows of a leaf."""
    deaths = [hazard for hazard, end in zip(hazards, died, strict=True) if end]
    if not deaths:
        return 0.0
    mean = sum(hazards, Fraction(0)) / len(deaths)
    return sum(log(mean / hazard) for hazard in deaths)


def variance(values: Sequence[Fraction], weight: Sequence[Fraction]) -> Fraction:
    """Over all rows; 1 for a column without any."""
    total = sum(weight, Fraction(0))
    mean = sum((own * value for own, value in zip(weight, values, strict=True)), Fraction(0)) / total
    squares = sum((own * (value - mean) ** 2 for own, value in zip(weight, values, strict=True)), Fraction(0))
    return squares / total or Fraction(1)


def linear_loss(
    columns: Sequence[Sequence[Fraction]],
    target: Sequence[Fraction],
    weight: Sequence[Fraction],
    prices: Sequence[Fraction],
) -> Fraction:
    """The least weighted squares of a linear model of the rows of a leaf, plus the prices of its squared slopes."""
    total = sum(weight, Fraction(0))

    def centered(values: Sequence[Fraction]) -> list[Fraction]:
        mean = sum((own * value for own, value in zip(weight, values, strict=True)), Fraction(0)) / total
        return [value - mean for value in values]

    def product(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
        return sum((own * a * b for own, a, b in zip(weight, one, other, strict=True)), Fraction(0))

    own, goal = [centered(values) for values in columns], centered(target)
    size = len(own)
    matrix = [[product(a, b) for b in own] + [product(a, goal)] for a in own]
    for place in range(size):
        matrix[place][place] += prices[place] * total
    # Eliminated column by column: each pivot takes away its part of the squares of the target.
    loss = product(goal, goal)
    for place in range(size):
        pivot = matrix[place][place]
        if not pivot:  # the column depends on earlier ones, so its whole row is 0
            continue
        loss -= matrix[place][size] ** 2 / pivot
        for below in range(place + 1, size):
            share = matrix[below][place] / pivot
            matrix[below] = [value - share * upper for value, upper in zip(matrix[below], matrix[place], strict=True)]
    return loss
