"""Planted trees with leaves exactly at the limits: every option of the search leaves the optimum as it is."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from treeml.native.numeric import NumericSolver, Outcome
from treeml.testing.exhaustive import Exhaustive, threshold_tests
from treeml.testing.planted_cases import COSTS, LABELS, QUANTILE, SQUARED, PlantedCase, planted_case

CHOICES = {
    "cross": (1, 1, 0),
    "near": (1, 1, 0),
    "lazy": (1, 1, 0),
    "greedy": (1, 0, 0),
    "deepen": (200, 0, 1),
    "climb": (256, 0, 1),
    "first": (0, 0, 1, 100),
    "improve": (1, 1, 0),
    "seed": (0, 1),
    "slack": (50, 0, 1000),
    "cell": (0, 32, 64),
    "kernel": (0, 0, 1),
    "threads": (1, 1, 1, 2),
}


def solver_of(case: PlantedCase) -> NumericSolver:
    solver = NumericSolver(np.array(case.rows.columns, dtype=np.int32), np.array(case.count))
    weight = np.array(case.weight)
    if case.kind == LABELS:
        solver.labels(np.array(case.rows.label), case.rows.classes, weight)
    elif case.kind == COSTS:
        solver.costs(np.array(case.cost))
    elif case.kind == QUANTILE:
        solver.quantile(np.array(case.target), weight, *case.rates)
    else:
        solver.targets(np.array(case.target), weight, float(case.price))
    if case.fees:
        fees = [int(fee * solver.unit) for fee in case.fees]
        solver.fees(np.arange(len(fees), dtype=np.int32), np.array(fees))
    return solver


def solved(case: PlantedCase, solver: NumericSolver, options: dict[str, int]) -> Outcome:
    limits = {} if case.leaves is None else {"leaves": case.leaves}
    price = int(case.price * solver.unit)
    solver.set(depth=case.depth, support=case.support, leaf_price=price, **limits, **options)
    return solver.solve()


def check(case: PlantedCase, best: Fraction | None, options: dict[str, int]) -> None:
    solver = solver_of(case)
    found = solved(case, solver, options)
    off = Fraction(solver.slack) / solver.unit
    if best is None:
        assert found.status == "infeasible"
        return
    assert found.status == "optimal"
    assert found.value is not None
    assert abs(Fraction(found.value) / solver.unit - best) <= off


def check_seeds(seeds: range) -> None:
    for seed in seeds:
        case = planted_case(Random(seed))
        best, random = case.best(), Random(seed + 10**6)
        for _ in range(4):
            options = {name: random.choice(values) for name, values in CHOICES.items()}
            try:
                check(case, best, options)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, {options}, best {best}") from error


@pytest.mark.parametrize("part", range(4))
def test_every_option_finds_the_planted_tree_or_a_better_one(part: int) -> None:
    check_seeds(range(40 * part, 40 * part + 40))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_every_option_on_many_seeds(part: int) -> None:
    check_seeds(range(1000 + 200 * part, 1200 + 200 * part))


def test_rows_that_count_for_nothing_are_no_leaf_of_their_own() -> None:
    """The only perfect tree has a leaf whose row stands for none of the user's rows."""
    solver = NumericSolver(np.array([[0, 1, 2, 3]], dtype=np.int32), np.array([1, 0, 1, 1]))
    solver.labels(np.array([0, 1, 0, 0]), 2)
    for options in ({}, {"greedy": 0}, {"deepen": 0, "near": 0}):
        solver.set(depth=2, **options)
        found = solver.solve()
        assert (found.status, found.value, found.bound) == ("optimal", 1, 1)


def test_two_levels_of_all_rows_after_deeper_searches() -> None:
    """A price that allows three leaves: a search of three levels comes first, and keeps codes for the last one."""
    columns = [[0, 1, 1, 1, 0, 0, 0, 1, 0, 1, 0], [1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1], [0] * 8 + [1] * 3]
    label, weight = [0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0], [1, 1, 0, 1, 100, 1, 0, 1, 1, 100, 100]

    def leaf(members: tuple[int, ...]) -> Fraction:
        return Fraction(min(sum(weight[row] for row in members if label[row] != own) for own in (0, 1)))

    best = Exhaustive(11, threshold_tests(columns), leaf, Fraction(2)).best(10)
    for options in ({}, {"deepen": 1}, {"greedy": 0}, {"threads": 2}):
        solver = NumericSolver(np.array(columns, dtype=np.int32))
        solver.labels(np.array(label), 2, np.array(weight))
        solver.set(leaf_price=2, **options)
        found = solver.solve()
        assert (found.status, found.value) == ("optimal", best)


def test_columns_of_a_group_have_one_fee() -> None:
    solver = NumericSolver(np.array([[0, 1], [1, 0], [0, 1]], dtype=np.int32))
    with pytest.raises(ValueError, match="columns of one group have different fees"):
        solver.fees(np.array([4, 2, 4]), np.array([1, 1, 2]))
    solver.fees(np.array([4, 2, 4]), np.array([1, 3, 1]))


def test_stopped_searches_claim_no_more_than_the_optimum() -> None:
    for seed in range(60):
        case = planted_case(Random(seed))
        if case.kind in (SQUARED, QUANTILE) or case.fees:
            continue
        best = case.best()
        for microseconds in (0, 50, 300, 1000):
            found = solved(case, solver_of(case), {"microseconds": microseconds})
            if best is not None:
                assert found.status != "infeasible", seed
                assert found.bound <= best, seed
                assert found.value is None or found.value >= best, seed
