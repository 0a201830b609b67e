"""A world -> its numbers and its tests, as exact fractions and sets of rows.

This is written from docs/measures.md alone and uses no part of the package except the worlds themselves, so it cannot
share a mistake with reading, lowering, solving or verifying.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import pairwise

from treeml.testing.real_truth import cumulative_hazards
from treeml.testing.worlds import CLASSES, CLUSTERS, World, WorldColumn

UNKNOWN_RULES = ("by quantiles", "by width")  # the package chooses these cuts, so they are unknown here


class TooMany(Exception):
    """There are too many trees to examine, or the tests are not known here."""


@dataclass(frozen=True, slots=True)
class TruthQuestion:
    """One test: the rows that pass it, and which of the column's values pass it."""

    column: str
    rows: frozenset[int]
    values: frozenset[int]
    of: int  # the number of values
    is_ordered: bool


@dataclass(frozen=True, slots=True)
class Place:
    """A leaf: its rows, and the answers on the path to it."""

    rows: tuple[int, ...]
    path: tuple[tuple[int, bool], ...] = ()


Grown = tuple[Place, ...]  # a tree is its leaves


class View:
    """A world with its numbers parsed and its tests listed."""

    def __init__(self, world: World) -> None:
        self.world, self.rows = world, world.rows
        self.questions = tuple(each for column in world.columns if column.name != "g" for each in _questions(column))
        self.actual = world.target
        self.names = sorted(set(world.target)) if world.task == CLASSES else []
        by_class = dict(world.class_weights)
        own = [Fraction(text) for text in world.weight] or [Fraction(1)] * self.rows
        self.weight = [
            own[row] * Fraction(by_class.get(self.actual[row], "1")) if self.actual else own[row]
            for row in range(self.rows)
        ]
        self.numbers = {
            column.name: [Fraction(text) if text else None for text in column.values]
            for column in world.columns
            if column.kind == "number"
        }
        self.targets = [Fraction(text) for text in world.target] if world.task not in (CLASSES, CLUSTERS) else []
        self.cost = {(said, true): Fraction(cost) for said, true, cost in world.mistake_costs}
        self.row_cost = {
            said: [Fraction(text) * (-1 if verb == "gain" else 1) for text in values]
            for verb, said, values in world.row_costs
        }
        self.died = [text == "1" for text in world.died]
        self.hazards = cumulative_hazards(self.targets, self.died) if world.died else []
        self.test_cost = {name: Fraction(cost) for name, cost in world.test_costs}
        self.discount = {(name, before): Fraction(cost) for name, before, cost in world.test_discounts}

    def said(self, tree: Grown, predicted: tuple[str, ...]) -> list[str]:
        """The predicted class of every row."""
        said = [""] * self.rows
        for place, label in zip(tree, predicted, strict=True):
            for row in place.rows:
                said[row] = label
        return said


def _questions(column: WorldColumn) -> Iterator[TruthQuestion]:
    missing = frozenset(row for row, text in enumerate(column.values) if text == "")
    if column.rule.startswith(UNKNOWN_RULES):
        raise TooMany
    if column.kind == "category":
        levels = sorted(set(column.values))
        subsets = (
            [frozenset((level,)) for level in range(len(levels))]
            if column.rule == "by levels"
            else [frozenset(n for n in range(len(levels)) if bits >> n & 1) for bits in range(1, 2 ** len(levels) - 1)]
        )
        for subset in subsets:
            rows = frozenset(row for row, text in enumerate(column.values) if levels.index(text) in subset)
            yield TruthQuestion(column.name, rows, subset, len(levels), False)
        return
    numbers = [_number_of(column.kind, text) if text else None for text in column.values]
    distinct = sorted({value for value in numbers if value is not None})
    if column.rule.startswith("at "):
        cuts = [Fraction(text) for text in column.rule[3:].split(",")]
    else:
        cuts = [(low + high) / 2 for low, high in pairwise(distinct)]
    for place, cut in enumerate(cuts):
        below = frozenset(row for row, value in enumerate(numbers) if value is not None and value <= cut)
        values = frozenset(range(place + 1))
        yield TruthQuestion(column.name, below, values, len(cuts) + 1, True)
        if missing:
            yield TruthQuestion(column.name, below | missing, values, len(cuts) + 1, True)
    if missing:
        yield TruthQuestion(column.name, missing, frozenset(), len(cuts) + 1, True)


def _number_of(kind: str, text: str) -> Fraction:
    return Fraction(date.fromisoformat(text).toordinal()) if kind == "date" else Fraction(text)
