"""A least weight of the leaves, `leaf_weight`, on the numeric kernel: the answers of the oracle."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from treeml.backends.anytime.local_kernel import LocalKernel
from treeml.backends.contract import NO_LIMITS
from treeml.backends.native.backend import NativeBackend
from treeml.backends.native.kernel_choice import can_take
from treeml.backends.native.leaf_sizes import leaf_sizes
from treeml.backends.oracle.backend import OracleBackend
from treeml.problem.evaluate import evaluate_goals, meets_all
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Depth, LeafErrors, Sum, Support
from treeml.testing.problems import Sizes, bound, errors, from_columns, random_problem, single

NUMERIC = replace(NO_LIMITS, options={"kernel": "numeric"})
WEIGHTS = ((1, 2, 3), (0, 0, 1, 5), (2**31 - 1, 2**31), (2**53, 2**53 + 1), (2**56, 2**56 - 1, 1))


def at_least(weight: list[int], classes: int, least: Fraction) -> Bound:
    cost = -np.repeat(np.array(weight, dtype=np.int64)[:, None], classes, axis=1)
    return Bound(Sum(((Fraction(-1), LeafErrors(cost, Fraction(1, 2))),)), ">=", least, name="leaf_weight")


def weighted(seed: int) -> Problem:
    random = Random(seed)
    sizes = Sizes(rows=9, columns=3, classes=3, depth=3, bounds=1)
    problem = random_problem(random, sizes, ("Predicted", "Leaves"))
    weight = [random.choice(WEIGHTS[seed % len(WEIGHTS)]) for _ in range(problem.rows)]
    share = Fraction(random.choice((-1, 0, 1, 1, 2, 3, 5)), random.choice((2, 5, 8)))
    limits = [at_least(weight, problem.classes, share * sum(weight) / 2)]
    if random.random() < 0.2:
        limits.append(at_least(weight, problem.classes, Fraction(random.choice(weight), 2)))
    return replace(problem, bounds=(*problem.bounds, *limits))


@pytest.mark.parametrize("part", range(4))
def test_equal_to_the_oracle(part: int) -> None:
    solved = 0
    for seed in range(150 * part, 150 * part + 150):
        problem = weighted(seed)
        if can_take(problem) is not None or list(NativeBackend().refusals(problem, {"kernel": "numeric"})):
            continue
        wanted, found = OracleBackend().solve(problem), NativeBackend().solve(problem, NUMERIC)
        assert found.status is wanted.status
        assert found.objective == wanted.objective
        assert found.tree is None or meets_all(problem, found.tree)
        assert found.tree is None or evaluate_goals(problem, found.tree) == found.objective
        solved += 1
    assert solved > 60


def test_two_kinds_of_sizes_are_left_to_the_binary_kernel() -> None:
    problem = next(each for each in map(weighted, range(100)) if (sizes := leaf_sizes(each)) and sizes.least > 1)
    assert can_take(problem) is None
    both = replace(problem, bounds=(*problem.bounds, bound(Support(), ">=", 2, "support")))
    assert leaf_sizes(both) is None
    assert can_take(both) is not None
    other = at_least(list(range(1, problem.rows + 1)), problem.classes, Fraction(1))
    assert leaf_sizes(replace(problem, bounds=(*problem.bounds, other))) is None


@pytest.mark.parametrize("seed", range(4))
def test_parts_of_trees_keep_the_weight(seed: int) -> None:
    """The search that replaces parts of trees asks the same kernel."""
    random, rows = Random(seed), 60
    columns = [("ordered", [random.randint(0, 40) for _ in range(rows)]) for _ in range(3)]
    goal = Goal(single(errors([random.randrange(3) for _ in range(rows)], 3)))
    weight = [random.randint(0, 9) for _ in range(rows)]
    limits = (bound(Depth(), "<=", 2, "depth"), at_least(weight, 3, Fraction(sum(weight), 12)))
    problem = replace(from_columns(columns, 3, (goal,), limits), given_bits=None)
    kernel = LocalKernel(problem)
    assert kernel.kernel == "numeric"
    branch = kernel.best(np.arange(rows), 2)
    assert branch is not None
    assert meets_all(problem, branch.tree)
    binary = NativeBackend().solve(problem, replace(NO_LIMITS, options={"kernel": "binary"}))
    assert evaluate_goals(problem, branch.tree) == binary.objective
