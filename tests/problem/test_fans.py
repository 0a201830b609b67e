"""Nodes with one branch per level: what counts as a split, what is complete, and what the oracle and cart find."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest

from treeml.backends import registry
from treeml.backends.contract import Limits, Status
from treeml.backends.heuristics.cart import CartBackend
from treeml.backends.heuristics.impurity import CRITERIA
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.lang.diagnostic import BackendError
from treeml.problem.evaluate import evaluate_goals, meets_all
from treeml.problem.fans import chained, children, depth_of_path, has_whole_fans
from treeml.problem.problem import Problem
from treeml.problem.shapes import leaves_at, most_leaves
from treeml.problem.terms import Depth, Leaves, Support
from treeml.problem.tree import Leaf, Node, Split
from treeml.testing.problems import Sizes, bound, errors, from_columns, minimize, random_problem

CODES = [0, 0, 1, 1, 2, 2, 3, 3]
ACTUAL = [0, 0, 1, 1, 0, 0, 1, 1]


def four_levels(*bounds: object) -> Problem:
    columns = [("branches", CODES), ("binary", [0, 1] * 4)]
    return from_columns(columns, 2, minimize(errors(ACTUAL, 2)), bounds)  # type: ignore[arg-type]


def fan_of_four(*labels: int) -> Node:
    return chained((0, 1, 2), [Leaf(label) for label in labels])


def every_tree(problem: Problem, rows: frozenset[int], depth: int) -> Iterator[Node]:
    """All trees by definition: a leaf, a yes-or-no test with rows on both sides, or all levels of a column."""
    for label in range(problem.classes) if problem.classes else (-1,):
        yield Leaf(label)
    if depth == 0:
        return
    for feature in problem.features:
        tests = range(feature.first_test, feature.first_test + feature.tests)
        passing = [(test, frozenset(row for row in rows if problem.bits[test, row])) for test in tests]
        if feature.kind == "branches":
            present = [(test, part) for test, part in passing if part]
            if len(present) > 1:
                below = [list(every_tree(problem, part, depth - 1)) for _, part in present]
                for sides in product(*below):
                    yield chained([test for test, _ in present][:-1], sides)
            continue
        for test, part in passing:
            if part and part != rows:
                yes, no = every_tree(problem, part, depth - 1), every_tree(problem, rows - part, depth - 1)
                yield from (Split(test, *pair) for pair in product(list(yes), list(no)))


@pytest.mark.parametrize("part", range(10))
def test_the_oracle_finds_the_best_of_all_trees(part: int) -> None:
    tried = 0
    for seed in range(part * 40, part * 40 + 40):
        problem = random_problem(Random(seed), Sizes(rows=6, columns=2, classes=2, depth=2, branches=True))
        problem = problem.asking(problem.goals, (*problem.bounds, bound(Depth(), "<=", 2, "shallow")))
        if not any(feature.kind == "branches" for feature in problem.features):
            continue
        tried += 1
        everything = frozenset(range(problem.rows))
        allowed = [tree for tree in every_tree(problem, everything, 2) if meets_all(problem, tree)]
        planned = plan(problem, OracleBackend(), {"limit": 10**6})
        assert isinstance(planned, Plan), planned
        answer = run(planned, Limits(options={"limit": 10**6}))
        if not allowed:
            assert answer.status is Status.INFEASIBLE, seed
            continue
        assert answer.status is Status.OPTIMAL, seed
        assert answer.objective == min(evaluate_goals(problem, tree) for tree in allowed), seed
        assert answer.tree is not None
        assert has_whole_fans(problem, answer.tree)
    assert tried > 10


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("prune", ["none", "goal", "pessimistic", "description", "validated"])
def test_cart_grows_whole_fans(criterion: str, prune: str) -> None:
    for seed in range(30):
        problem = random_problem(Random(seed), Sizes(rows=20, columns=4, bounds=1, branches=True))
        planned = plan(problem, CartBackend())
        assert isinstance(planned, Plan)
        answer = run(planned, Limits(options={"criterion": criterion, "prune": prune}))
        if answer.tree is not None:
            assert has_whole_fans(problem, answer.tree)
            assert meets_all(problem, answer.tree)


def test_cart_splits_at_once_what_no_single_test_separates() -> None:
    answer = CartBackend().solve(four_levels(bound(Depth(), "<=", 1, "depth")))
    assert answer.objective == (0,)


@pytest.mark.parametrize("limit", [bound(Leaves(), "<=", 3, "leaves"), bound(Support(), ">=", 3, "support")])
def test_cart_leaves_out_a_fan_with_too_many_leaves_or_too_few_rows(limit: object) -> None:
    problem = four_levels(limit)
    answer = CartBackend().solve(problem)
    assert answer.tree is not None
    assert meets_all(problem, answer.tree)


def test_a_fan_is_one_level_of_depth() -> None:
    problem = four_levels()
    tree = fan_of_four(0, 1, 0, 1)
    assert evaluate_goals(problem, tree) == (0,)
    assert meets_all(four_levels(bound(Depth(), "<=", 1, "depth")), tree)
    assert depth_of_path(problem, ((0, False), (1, False), (4, True))) == 2
    assert children(problem, tree)[0] == (0, 1, 2)  # type: ignore[arg-type]
    assert most_leaves(four_levels(bound(Depth(), "<=", 1, "depth"))) == 4
    assert leaves_at(1, problem) == 4


@pytest.mark.parametrize(
    "tree",
    [Split(0, Leaf(0), Leaf(1)), chained((0, 1), [Leaf(0), Leaf(1), Split(4, Leaf(0), Leaf(1))])],
    ids=["one level", "two of four"],
)
def test_a_part_of_a_fan_is_no_answer(tree: Node) -> None:
    problem = four_levels()
    assert not has_whole_fans(problem, tree)

    class Partial(CartBackend):
        def solve(self, *rest: object, **named: object):  # type: ignore[no-untyped-def,override]
            answer = super().solve(problem)
            return type(answer)(answer.status, answer.stop, tree)

    planned = plan(problem, Partial())
    assert isinstance(planned, Plan)
    with pytest.raises(BackendError, match="does not hold"):
        run(planned)
    start = OracleBackend().solve(problem, start=tree)
    assert start.objective == (0,)


def test_other_back_ends_refuse_fans_in_a_sentence() -> None:
    problem = four_levels(bound(Depth(), "<=", 2, "depth"))
    for backend in registry.all():
        if not backend.can.branches:
            refused = plan(problem, backend)
            assert isinstance(refused, list)
            assert any("splits a node in two" in refusal.because for refusal in refused)


def test_levels_without_rows_have_no_branch() -> None:
    problem = from_columns([("branches", [0, 0, 1, 1, 3])], 2, minimize(errors([0, 0, 1, 1, 0], 2)))
    answer = OracleBackend().solve(problem)
    assert answer.objective == (0,)
    assert isinstance(answer.tree, Split)
    assert len(children(problem, answer.tree)[1]) == 3
