"""The oracle against trees that are written out one by one, and judged by the exact evaluator."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest

from treeml.backends.contract import Deadline, Limits, Status, Stop
from treeml.backends.oracle.backend import OracleBackend, estimate
from treeml.problem.evaluate import evaluate_goals, meets_all
from treeml.problem.problem import Problem
from treeml.problem.terms import EVERY_TERM, Depth, Leaves, Monotone, Ratio
from treeml.problem.tree import Leaf, Node, Split
from treeml.testing.problems import Sizes, binary, bound, errors, from_columns, minimize, random_problem, single

SMALL = Sizes(rows=6, columns=2, classes=2, depth=2, bounds=3)


def every_tree(problem: Problem, rows: frozenset[int], depth: int) -> Iterator[Node]:
    yield from (Leaf(label) for label in (range(problem.classes) if problem.classes else (-1,)))
    for test in range(len(problem.tests)) if depth else ():
        yes = frozenset(row for row in rows if problem.bits[test, row])
        if yes and yes != rows:
            for left, right in product(every_tree(problem, yes, depth - 1), every_tree(problem, rows - yes, depth - 1)):
                yield Split(test, left, right)


def by_hand(problem: Problem) -> tuple[Fraction, ...] | None:
    depth = 2 if problem.max_depth is None else problem.max_depth
    trees = every_tree(problem, frozenset(range(problem.rows)), depth)
    return min((evaluate_goals(problem, tree) for tree in trees if meets_all(problem, tree)), default=None)


@pytest.mark.parametrize("block", range(6))
def test_the_best_of_all_trees(block: int) -> None:
    feasible = 0
    for seed in range(50 * block, 50 * block + 50):
        made = random_problem(Random(seed), SMALL)
        problem = made.asking(made.goals, (*made.bounds, bound(Depth(), "<=", 2)))
        answer = OracleBackend().solve(problem)
        assert answer.objective == by_hand(problem), seed
        if answer.tree is not None:
            feasible += 1
            assert meets_all(problem, answer.tree)
            assert evaluate_goals(problem, answer.tree) == answer.objective
    assert feasible > 10


def test_random_problems_use_every_term() -> None:
    kinds = {
        type(term).__name__
        for seed in range(400)
        for problem in [random_problem(Random(seed))]
        for total in [goal.sum for goal in problem.goals] + [each.sum for each in problem.bounds]
        for _, term in total.parts
    }
    assert kinds == EVERY_TERM


def test_no_depth_bound_is_needed() -> None:
    rows = [format(number, "03b") for number in range(8)]
    parity = [row.count("1") % 2 for row in rows]
    answer = OracleBackend().solve(binary(rows, 2, minimize(errors(parity, 2), Leaves(), Depth())))
    assert (answer.status, answer.objective) == (Status.OPTIMAL, (0, 8, 3))


def test_a_large_problem_is_refused_with_its_size() -> None:
    rows = [format(number, "012b") for number in range(0, 4096, 17)]
    problem = binary(rows, 2, minimize(errors([0] * len(rows), 2)))
    (refusal,) = OracleBackend().refusals(problem)
    assert f"{estimate(problem):,}" in refusal.because
    assert "oracle(limit = ...)" in refusal.instead
    assert not list(OracleBackend().refusals(problem, {"limit": estimate(problem)}))


def test_a_conflict_is_irreducible() -> None:
    xor = errors([0, 1, 1, 0], 2)
    bounds = (
        bound(Leaves(), "<=", 4, "leaves"),
        bound(xor, "<=", 0, "exact"),
        bound(Depth(), "<=", 1, "shallow"),
        bound(Depth(), ">=", 0, "deep"),
    )
    answer = OracleBackend().solve(binary(("00", "01", "10", "11"), 2, (), bounds))
    assert (answer.status, answer.conflict) == (Status.INFEASIBLE, ("exact", "shallow"))


def test_time_and_outcomes_are_limited() -> None:
    problem = binary(("00", "01", "10", "11"), 2, minimize(errors([0, 1, 1, 0], 2)))
    late = OracleBackend().solve(problem, Limits(Deadline(0.0)))
    assert (late.status, late.stop, late.tree) == (Status.UNKNOWN, Stop.TIME, None)
    full = OracleBackend().solve(problem, Limits(options={"outcomes": 1}))
    assert full.stop is Stop.MEMORY


def test_an_interrupt_keeps_the_incumbent() -> None:
    def interrupt(moment: object) -> None:
        raise KeyboardInterrupt

    problem = binary(("00", "01", "10", "11"), 2, minimize(errors([0, 1, 1, 0], 2)))
    answer = OracleBackend().solve(problem, on_progress=interrupt)
    assert (answer.status, answer.stop) == (Status.FEASIBLE, Stop.INTERRUPTED)
    assert answer.tree is not None


def test_a_ratio_without_a_denominator_meets_every_bound() -> None:
    nothing = Ratio(single(errors([0, 0], 2)), single(errors([0, 0], 2)))
    problem = binary(("0", "1"), 2, minimize(Leaves()), (bound(nothing, ">=", 2, "ratio"),))
    answer = OracleBackend().solve(problem)
    assert answer.tree == Leaf(0)


def test_monotone_is_judged_on_inputs_that_no_row_has() -> None:
    """The rows allow x <= 0 alone to be positive; raising x from there must not lose it."""
    codes = [0, 0, 2, 2]
    goals = minimize(errors([1, 1, 0, 0], 2))
    rising = bound(Monotone(0, True, 1), ">=", 1, "rising")
    problem = from_columns([("ordered", codes)], 2, goals, (rising,))
    assert OracleBackend().solve(problem).objective == (2,)
    falling = bound(Monotone(0, False, 1), ">=", 1, "falling")
    assert OracleBackend().solve(problem.asking(goals, (falling,))).objective == (0,)


def test_numbers_beyond_64_bits() -> None:
    cost = np.full((3, 2), 2**62, dtype=np.int64)
    cost[:, 0] -= 1
    from treeml.problem.terms import Predicted

    answer = OracleBackend().solve(binary(("0", "0", "1"), 2, minimize(Predicted(cost))))
    assert answer.objective == (3 * (2**62 - 1),)
