"""DT_pb: trees and their sequences of groups, weights of classes, and when the hybrid takes it."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from perfect_problems import DEPTH, perfect_problem
from random_problems import ONE

from treeml.backends.contract import Limits, Status
from treeml.backends.heuristics.cart import greedy_tree
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.registry import get
from treeml.backends.run import run
from treeml.backends.solvers.encodings.perfect.sequence import sequence_of, tree_of
from treeml.problem.evaluate import Routed, answers, evaluate_sum
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import Sum, WeightedDepth
from treeml.problem.tree import Leaf, Node
from treeml.testing.problems import binary, bound, errors


def grown(seed: int) -> tuple[Problem, Node, int]:
    problem = perfect_problem(seed)
    tree = greedy_tree(problem)
    return problem, tree, int(evaluate_sum(DEPTH, problem, tree))


def separating(problem: Problem, one: np.ndarray, other: np.ndarray) -> tuple[int, bool]:
    for test in range(len(problem.tests)):
        first, second = problem.bits[test, one], problem.bits[test, other]
        if (first != second[0]).all() and (second == second[0]).all():
            return test, not first[0]
    raise AssertionError("no test separates the groups")


@pytest.mark.parametrize("seed", range(40))
def test_a_tree_becomes_a_sequence_and_the_sequence_a_tree(seed: int) -> None:
    """Theorem 3 of Schidler and Szeider (2021), in both directions."""
    problem, tree, depth = grown(seed)
    labels = Routed(problem, tree).labels

    def yes(test: int, rows: np.ndarray) -> np.ndarray:
        return answers(problem, test, rows)

    sequence = sequence_of(tree, yes, problem.rows, depth)
    assert not sequence[0].any()  # DT1
    for level in range(depth):  # DT2
        for group in np.unique(sequence[level]):
            rows = np.flatnonzero(sequence[level] == group)
            parts = [rows[sequence[level + 1, rows] == part] for part in np.unique(sequence[level + 1, rows])]
            assert len(parts) <= 2
            if len(parts) == 2:
                separating(problem, *parts)
    for group in np.unique(sequence[depth]):  # DT3
        assert len(set(labels[sequence[depth] == group].tolist())) == 1
    again = tree_of(sequence, labels, lambda one, other: separating(problem, one, other))
    assert (Routed(problem, again).labels == labels).all()
    assert evaluate_sum(DEPTH, problem, again) <= depth
    longer = sequence_of(again, yes, problem.rows, depth + 2)
    assert (longer[-1] == longer[-2]).all()


@pytest.mark.parametrize("part", range(6))
def test_classes_with_weights_agree_with_the_oracle(part: int) -> None:
    found = {Status.OPTIMAL: 0, Status.INFEASIBLE: 0}
    for seed in range(20 * part, 20 * part + 20):
        random = Random(seed)
        plain = perfect_problem(seed)
        weights = tuple(random.randint(0, 3) for _ in range(plain.classes))
        limit, depth = random.randint(1, 5), random.randint(1, 4)
        bounds = (
            Bound(DEPTH, "<=", Fraction(depth), "depth"),
            Bound(Sum(((ONE, WeightedDepth(weights)),)), "<=", Fraction(limit), "weighted depth"),
        )
        problem = perfect_problem(seed, bounds=bounds)
        truth = OracleBackend().solve(problem)
        for start in (None, greedy_tree(plain)):
            made = plan(problem, get("sat"))
            assert isinstance(made, Plan), made
            assert "partition" in made.remark
            answer = run(made, Limits(), start)
            assert answer.status is truth.status, seed
        found[truth.status] += 1
    assert min(found.values()) > 2


@pytest.mark.parametrize("encoding", ["order", "binary", "complete"])
def test_other_encodings_refuse_weights(encoding: str) -> None:
    weighted = Bound(Sum(((ONE, WeightedDepth((1, 0, 0))),)), "<=", Fraction(3), "weighted depth")
    problem = perfect_problem(5, bounds=(Bound(DEPTH, "<=", Fraction(3), "depth"), weighted))
    refused = plan(problem, get("sat"), {"encoding": encoding})
    assert isinstance(refused, list)
    assert any("encoding = partition" in refusal.because for refusal in refused)


def test_few_rows_and_many_levels_are_left_to_pairs() -> None:
    """One column of eighteen values in one-hot form: deep trees over few rows, below the depth of the switch."""
    rows = ["".join("1" if place == value else "0" for place in range(18)) for value in range(18)]
    actual = [value % 2 for value in range(18)]

    def asked(depth: int) -> Plan:
        limits = (
            bound(errors(actual, 2), "<=", 0, "errors"),
            Bound(DEPTH, "<=", Fraction(depth), "depth"),
        )
        made = plan(binary(rows, 2, (), limits), get("sat"))
        assert isinstance(made, Plan)
        return made

    assert "complete tree of depth 8 is much larger than the pairs of 18 rows" in asked(8).remark
    assert "encoding complete" in asked(5).remark


def test_a_single_class_is_a_leaf() -> None:
    assert tree_of(np.zeros((1, 3), np.int64), np.array([1, 1, 1]), lambda one, other: (0, False)) == Leaf(1)
