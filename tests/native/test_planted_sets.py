"""Planted trees with leaves exactly at the limits: the least cost of a set of trees, with bounds from nearby cuts."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from treeml.native.sets import NO_TREE, LeafModel, TreeLimits, TreeSets
from treeml.testing.exhaustive import threshold_tests
from treeml.testing.planted_cases import COSTS, LABELS, PlantedCase, planted_case


def model_of(case: PlantedCase, shift: int) -> LeafModel:
    weight, rows = np.array(case.weight), range(case.rows.rows)
    own = np.array([[case.rows.label[row] == name for name in range(case.rows.classes)] for row in rows])
    wrong = ~own * weight[:, None]
    return LeafModel(
        cost=wrong if case.kind == LABELS else np.array(case.cost) - shift,
        limit=None if case.limit is None else (wrong, case.limit),
        purity=None if case.purity is None else (own * weight[:, None], case.purity.numerator, case.purity.denominator),
    )


def check_seeds(seeds: range) -> None:
    examined = 0
    for seed in seeds:
        case = planted_case(Random(seed), has_conditions=True)
        if case.kind not in (LABELS, COSTS) or 0 in case.count:
            continue
        case = replace(case, leaves=None, discount=None)
        shift = min(map(min, case.cost)) if case.kind == COSTS else 0
        tests = threshold_tests(case.rows.columns)
        bits = np.array([[row in passing for row in range(case.rows.rows)] for passing, _ in tests])
        limits = TreeLimits(depth=case.depth, support=case.support, price=case.price)
        column = np.array([number for _, number in tests], dtype=np.int32)
        best = case.best()
        examined += 1
        with TreeSets(
            bits,
            model_of(case, shift),
            limits,
            count=np.array(case.count),
            column=column,
            group=column,
            column_cost=np.array(case.fees) if case.fees else None,
        ) as sets:
            found = sets.optimum()
            if best is None:
                assert found >= NO_TREE, seed
                continue
            assert found + shift * case.rows.rows == best, seed
            sets.build(found)
            assert sets.total > 0, seed
            assert set(sets.costs) == {found}, seed
    assert examined > len(seeds) // 4


@pytest.mark.parametrize("part", range(3))
def test_the_best_tree_of_the_set(part: int) -> None:
    check_seeds(range(40 * part, 40 * part + 40))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_the_best_tree_of_the_set_on_many_seeds(part: int) -> None:
    check_seeds(range(1000 + 200 * part, 1200 + 200 * part))
