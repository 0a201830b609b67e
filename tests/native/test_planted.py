"""Planted trees with leaves exactly at the limits: every option of the searches over tests leaves the optimum alone."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from treeml.native.solver import Solver
from treeml.native.solver_input import ClassCosts, Conditions, Labels, LeafCosts, Targets
from treeml.testing.exhaustive import threshold_tests
from treeml.testing.planted_cases import COSTS, LABELS, QUANTILE, PlantedCase, planted_case

CHOICES = {
    "cache_kind": (1, 1, 1, 0, 2, 3, 4),
    "small_cache": (1 << 18, 0),
    "pairs": (1, 1, 1, 0),
    "similarity": (1, 1, 0),
    "archive": (0, 0, 4, 64),
    "unavoidable": (1, 1, 0),
    "infeasible": (1, 1, 0),
    "strong": (1, 0),
    "hierarchical": (1, 1, 0),
    "dynamic": (1, 0),
    "order": (0, 1, 2, 3),
    "deepening": (1, 0),
    "general": (0, 0, 1),
    "neighbours": (128, 1, 0),
    "climb": (256, 1, 0),
    "reversible": (0, 1),
    "merge_tests": (1, 1, 0),
    "small_side": (1, 0),
    "order_everywhere": (1, 0),
}


def costs_of(case: PlantedCase) -> LeafCosts:
    weight, target = np.array(case.weight), np.array(case.target)[:, None]
    if case.kind == LABELS:
        return Labels(np.array(case.rows.label), case.rows.classes, weight)
    if case.kind == COSTS:
        return ClassCosts(np.array(case.cost))
    if case.kind != QUANTILE:
        return Targets(target, "squared", weight=weight)
    if case.rates == (1, 1):
        return Targets(target, "absolute", weight=weight)
    return Targets(target, "quantile", (Fraction(case.rates[0], sum(case.rates)),), weight)


def conditions_of(case: PlantedCase, columns: list[int]) -> Conditions:
    weight, rows = np.array(case.weight), range(case.rows.rows)
    own = np.array([[case.rows.label[row] == name for name in range(case.rows.classes)] for row in rows])
    return Conditions(
        columns=np.array(columns, dtype=np.int32),
        count=np.array(case.count),
        column_cost=case.fees or None,
        discounts=() if case.discount is None else (case.discount,),
        leaf_limit=None if case.limit is None else (~own * weight[:, None], case.limit),
        purity=None if case.purity is None else (own * weight[:, None], case.purity),
    )


def check_seeds(seeds: range) -> None:
    for seed in seeds:
        case = planted_case(Random(seed), has_conditions=True)
        if case.kind == QUANTILE and case.rates != (1, 1) and (case.fees or case.price):
            continue  # the values of several levels are in units of their own
        best, random = case.best(), Random(seed + 10**6)
        tests = threshold_tests(case.rows.columns)
        bits = np.array([[row in passing for row in range(case.rows.rows)] for passing, _ in tests])
        solver = Solver(bits, costs_of(case), conditions_of(case, [column for _, column in tests]))
        for _ in range(4):
            options = {name: random.choice(values) for name, values in CHOICES.items()}
            found = solver.solve(
                depth=case.depth,
                support=case.support,
                leaves=case.leaves,
                leaf_price=case.price,
                threads=random.choice((1, 1, 1, 2)),
                options=options,
            )
            where = (seed, options, best, found.value)
            assert found.status == ("infeasible" if best is None else "optimal"), where
            if best is not None:
                scale = sum(case.rates) if case.kind == QUANTILE and case.rates != (1, 1) else 1
                assert found.value is not None
                assert abs(Fraction(found.value) * scale - best) <= found.tolerance * scale, where


@pytest.mark.parametrize("part", range(4))
def test_every_option_finds_the_planted_tree_or_a_better_one(part: int) -> None:
    check_seeds(range(40 * part, 40 * part + 40))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_every_option_on_many_seeds(part: int) -> None:
    check_seeds(range(1000 + 200 * part, 1200 + 200 * part))
