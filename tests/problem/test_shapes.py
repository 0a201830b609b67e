"""Statements about all trees hold for the trees that the oracle finds."""

from __future__ import annotations

import pickle
from dataclasses import fields
from fractions import Fraction
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import treeml as tml
from treeml.backends.contract import Status
from treeml.backends.oracle.backend import OracleBackend
from treeml.problem.evaluate import Routed, evaluate_sum
from treeml.problem.impossible import impossible
from treeml.problem.problem import Goal, Problem
from treeml.problem.shapes import deepest, groups
from treeml.problem.terms import Depth
from treeml.solving.choice import lower
from treeml.solving.pipeline import prepare
from treeml.testing.problems import random_problem, single

SEEDS = st.integers(0, 10**6)


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_no_tree_is_deeper(seed: int) -> None:
    problem = random_problem(Random(seed))
    deep = OracleBackend().solve(problem.asking((Goal(single(Depth(), -1)),), problem.bounds))
    if deep.objective is not None:
        assert -deep.objective[0] <= deepest(problem)


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_no_tree_is_better_than_at_best(seed: int) -> None:
    problem = random_problem(Random(seed))
    answer = OracleBackend().solve(problem)
    for goal in problem.goals:
        low = goal.sum.lower_bound(problem)
        if low is not None and answer.tree is not None:
            assert low <= evaluate_sum(goal.sum, problem, answer.tree)


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_impossible_requirements_are_infeasible(seed: int) -> None:
    problem = random_problem(Random(seed))
    if impossible(problem) is not None:
        assert OracleBackend().solve(problem).status is Status.INFEASIBLE


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_rows_of_a_group_share_a_leaf(seed: int) -> None:
    problem = random_problem(Random(seed))
    answer = OracleBackend().solve(problem.asking(problem.goals, ()))
    assert answer.tree is not None
    numbers = groups(problem)
    leaves = [set(numbers[rows].tolist()) for _, _, rows in Routed(problem, answer.tree).leaves]
    assert all(leaves)
    assert sum(map(len, leaves)) == len(set(numbers.tolist()))


def test_a_gap_is_never_negative() -> None:
    import numpy as np

    from treeml.problem.problem import Goal
    from treeml.problem.terms import Largest, Predicted, Sum
    from treeml.testing.problems import binary

    problem = binary(("00", "01", "10", "11"), 2, ())
    cost = np.array([[0, 3], [0, -1], [0, 0], [0, -2]])
    parts = tuple(Sum(((Fraction(1, 6), Predicted(sign * cost)),)) for sign in (1, -1))
    gap = Sum(((Fraction(2), Largest(parts)),), Fraction(1))
    assert gap.lower_bound(problem) == gap.lower_bound(problem, row_by_row=True) == 1
    # A single part bounds no more than its rows do, and a maximized maximum has no lower bound.
    alone = Sum(((Fraction(2), Largest(parts[:1])),))
    assert alone.lower_bound(problem) == 2 * Fraction(-3, 6)
    assert Sum(((Fraction(-1), Largest(parts)),)).lower_bound(problem) is None
    best = OracleBackend().solve(problem.asking((Goal(gap),), ())).objective
    assert best == (1,)


@given(SEEDS)
@settings(max_examples=100, deadline=None)
def test_rows_are_in_a_group_if_they_answer_every_test_alike(seed: int) -> None:
    problem = random_problem(Random(seed))
    numbers = groups(problem).tolist()
    answers = [row.tobytes() for row in np.ascontiguousarray(problem.bits.T)]
    assert len(set(zip(numbers, answers, strict=True))) == len(set(numbers)) == len(set(answers))


def test_facts_about_a_problem_are_not_sent_to_other_processes() -> None:
    problem = Problem((), (), np.ones(3, dtype=np.int64), 2, (), ())
    assert groups(problem).tolist() == [0, 0, 0]
    assert problem.bits.shape == (0, 3)
    vars(problem)["a fact"] = lambda: None  # cannot be copied
    assert vars(pickle.loads(pickle.dumps(problem))).keys() == {*(each.name for each in fields(Problem)), "bits"}


def test_groups_are_the_same_from_codes_and_from_answers() -> None:
    """Rows of one code answer alike, so that answers are made for every code; missing values are a code, too."""
    random = np.random.default_rng(11)
    numbers = np.where(random.random(200) < 0.3, np.nan, random.integers(0, 9, 200))
    levels = np.where(random.random(200) < 0.2, None, random.choice(["a", "b", "c", "d"], 200))
    text = """predict y
    column x, c : missing separate
    binarize x at 2, 5
    minimize errors"""
    frame = {"x": [None if np.isnan(each) else int(each) for each in numbers], "c": levels.tolist()}
    dataset, request = prepare(tml.parse(text), {**frame, "y": random.integers(0, 2, 200).tolist()})
    problem = lower(dataset, request).form(numeric=True).problem
    assert problem.given_bits is None
    answers = np.unique(problem.bits, axis=1, return_inverse=True)[1].reshape(-1)
    found = groups(problem)
    assert len(set(zip(answers.tolist(), found.tolist(), strict=True))) == len(set(answers.tolist()))
    assert len(set(found.tolist())) == len(set(answers.tolist()))
