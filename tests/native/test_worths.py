"""A bound from similar rows holds to the last digit: the most that a row is worth is not rounded down."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from treeml.native.solver import Solver
from treeml.native.solver_input import ClassCosts, Labels, LeafCosts, Targets
from treeml.testing.exhaustive import Exhaustive, Leaf

HEAVY = 2**53 + 1  # the least number that a double does not have


def similar_tests(random: Random, rows: int) -> np.ndarray:
    """Tests of which many differ in a single row."""
    bits = [[random.random() < 0.5 for _ in range(rows)] for _ in range(random.randint(3, 6))]
    for number in range(1, len(bits)):
        if random.random() < 0.5:
            bits[number] = list(random.choice(bits[:number]))
            place = random.randrange(rows)
            bits[number][place] = not bits[number][place]
    return np.array(bits)


def drawn_costs(random: Random, rows: int, classes: int) -> tuple[LeafCosts, Leaf]:
    """Costs with some rows that are heavier than a double can say, and the definition of what a leaf costs."""
    weight = [random.choice((1, HEAVY, HEAVY)) for _ in range(rows)]
    label = [random.randrange(classes) for _ in range(rows)]
    kind = random.choice(("labels", "costs", "targets"))
    if kind == "targets":
        target = [random.choice((0, 1, HEAVY, HEAVY + 1)) for _ in range(rows)]

        def spread(members: tuple[int, ...]) -> Fraction:
            return Fraction(min(sum(abs(target[row] - target[at]) for row in members) for at in members))

        return Targets(np.array(target)[:, None], "absolute"), spread

    cost = [[0 if own == label[row] else weight[row] for own in range(classes)] for row in range(rows)]

    def cheapest(members: tuple[int, ...]) -> Fraction:
        return Fraction(min(sum(cost[row][own] for row in members) for own in range(classes)))

    if kind == "costs":
        return ClassCosts(np.array(cost)), cheapest
    return Labels(np.array(label), classes, np.array(weight)), cheapest


@pytest.mark.parametrize("general", [0, 1])
def test_heavy_rows_are_worth_all_of_their_weight(general: int) -> None:
    for seed in range(400):
        random = Random(seed)
        rows = random.randint(5, 9)
        bits = similar_tests(random, rows)
        costs, leaf = drawn_costs(random, rows, random.choice((2, 3)))
        tests = [(frozenset(np.flatnonzero(row).tolist()), number) for number, row in enumerate(bits)]
        options = {"general": general, "order": 0, "deepening": 0, "dynamic": random.choice((0, 1))}
        found = Solver(bits, costs).solve(depth=2, options=options)
        best = Exhaustive(rows, tests, leaf).best(2)
        assert (found.status, found.value) == ("optimal", best), (seed, costs)
