"""A world -> the best value of any tree, or that there is none, by examining every tree with exact fractions.

This is written from docs/measures.md alone and uses no part of the package except the worlds themselves, so it cannot
share a mistake with reading, lowering, solving or verifying.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import ceil
from random import Random

from treeml.testing.true_losses import loss
from treeml.testing.true_measures import MEASURES
from treeml.testing.world_view import Grown, Place, TooMany, View
from treeml.testing.worlds import SURVIVAL, Required, Weighted, World, WorldMeasure

MOST_TREES = 6_000
MOST_LABELLED = 40_000


@dataclass(frozen=True, slots=True)
class Truth:
    """The best values of the goals as the user states them; None if no tree meets the requirements."""

    best: tuple[Fraction, ...] | None
    off: Fraction = Fraction(0)  # how far a value computed in floating point may be off


def truth(world: World) -> Truth | None:
    """None if there are too many trees to examine."""
    if world.forest or world.is_large:
        return None
    try:
        view = AllTrees(_dropped(world))
        return Truth(view.best(), view.off())
    except TooMany:
        return None


def some_values(random: Random, world: World, what: Weighted) -> tuple[Fraction, ...]:
    """Values of the sum on some trees: limits near these are interesting."""
    try:
        view = AllTrees(_dropped(world))
        trees = [view.random_tree(random) for _ in range(4)]
        values = [view.total(what, tree, view.random_labels(random, tree)) for tree in trees]
    except TooMany:
        return ()
    return tuple(value for value in values if value is not None and value >= 0)


def _dropped(world: World) -> World:
    for column in world.columns:
        if column.missing == "median":
            raise TooMany  # the package decides which of two middle values is used
        if column.missing == "drop":
            for row in reversed(range(world.rows)):
                if column.values[row] == "":
                    world = world.without_row(row)
    return world


class AllTrees(View):
    """Every tree of a world, and what it is worth."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.total = cache(self._total)

    def off(self) -> Fraction:
        """Logarithms and linear models are computed in floating point, which docs/measures.md bounds."""
        if self.world.task == SURVIVAL:
            return Fraction(1, 10**8)
        if any("log_loss" in str(goal.what) for goal in self.world.goals):
            return Fraction(1, 10**12)
        if not self.world.lines:
            return Fraction(0)
        whole = (Place(tuple(range(self.rows))),)
        constants = View(replace(self.world, lines=()))
        squares = loss(constants, WorldMeasure("squared_loss"), whole, ("",))
        return Fraction(1, 10**9) * max(Fraction(1), squares)

    # -- trees

    def best(self) -> tuple[Fraction, ...] | None:
        best: tuple[Fraction, ...] | None = None
        found: tuple[Fraction, ...] = ()
        for tree, predicted in self.labelled():
            if not all(self.meets(required, tree, predicted) for required in self.world.requirements):
                continue
            values = tuple(self.total(goal.what, tree, predicted) or Fraction(0) for goal in self.world.goals)
            signed = tuple(
                -value if goal.sense == "maximize" else value
                for value, goal in zip(values, self.world.goals, strict=True)
            )
            if best is None or signed < best:
                best, found = signed, values
        return None if best is None else found

    def labelled(self) -> Iterator[tuple[Grown, tuple[str, ...]]]:
        """Every tree with every choice of a class for its leaves."""
        looked_at = 0
        for tree in self.trees():
            choices: Sequence[tuple[str, ...]] = (
                list(product(self.names, repeat=len(tree))) if self.names else [("",) * len(tree)]
            )
            looked_at += len(choices)
            if looked_at > MOST_LABELLED:
                raise TooMany
            for choice in choices:
                yield tree, choice

    def trees(self) -> list[Grown]:
        levels = max(0, self.rows - 1)
        for required in self.world.requirements:
            if required.sense in ("<=", "=") and str(required.what) == "depth":
                levels = min(levels, int(Fraction(required.limit)))
        made: dict[tuple[frozenset[int], int], list[Grown]] = {}

        def grow(rows: frozenset[int], left: int) -> list[Grown]:
            key = (rows, left)
            if key in made:
                return made[key]
            found: list[Grown] = [(Place(tuple(sorted(rows))),)]
            for number, question in enumerate(self.questions) if left and len(rows) > 1 else ():
                yes, no = rows & question.rows, rows - question.rows
                if not yes or not no:
                    continue
                for one, other in product(grow(yes, left - 1), grow(no, left - 1)):
                    found.append(_below(number, True, one) + _below(number, False, other))
                    if len(found) > MOST_TREES:
                        raise TooMany
            made[key] = found
            return found

        return grow(frozenset(range(self.rows)), levels)

    def random_tree(self, random: Random) -> Grown:
        tree: Grown = (Place(tuple(range(self.rows))),)
        for _ in range(random.choice((0, 1, 2, 3))):
            place = random.choice(tree)
            ways = [
                number
                for number, question in enumerate(self.questions)
                if 0 < len(question.rows.intersection(place.rows)) < len(place.rows)
            ]
            if ways:
                number = random.choice(ways)
                inside = self.questions[number].rows
                sides = [
                    Place(tuple(row for row in place.rows if (row in inside) == side), (*place.path, (number, side)))
                    for side in (True, False)
                ]
                tree = (*(each for each in tree if each is not place), *sides)
        return tree

    def random_labels(self, random: Random, tree: Grown) -> tuple[str, ...]:
        return tuple(random.choice(self.names) if self.names else "" for _ in tree)

    # -- measures

    def meets(self, required: Required, tree: Grown, predicted: tuple[str, ...]) -> bool:
        value = self.total(required.what, tree, predicted)
        if value is None:
            return True  # a bound on an undefined share holds
        if not required.sense:
            return value == 1
        limit = Fraction(required.limit)
        if required.unit == "%":
            limit = Fraction(ceil(limit * self.rows / 100))
        return {"<=": value <= limit, ">=": value >= limit, "=": value == limit}[required.sense]

    def _total(self, what: Weighted, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
        """The weighted sum; None if it is an undefined share."""
        total = Fraction(0)
        for factor, use in what.parts:
            value = self.value(use, tree, predicted)
            if value is None and len(what.parts) == 1:
                return None
            total += Fraction(factor) * (value or Fraction(0))
        return total

    def value(self, use: WorldMeasure, tree: Grown, predicted: tuple[str, ...]) -> Fraction | None:
        return MEASURES[use.name](self, use, tree, predicted)


def _below(number: int, side: bool, tree: Grown) -> Grown:
    return tuple(Place(place.rows, ((number, side), *place.path)) for place in tree)
