"""A problem about classes -> greedy trees of more and more leaves, in a moment.

They grow on a few tests of every column, the most promising leaf first, so that each of them spends its leaves where
they gain most. What they are worth, and whether they meet the requirements, is up to the caller, who may label their
leaves anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from treeml.backends.anytime.coarse import FEW_TESTS, on_few_tests
from treeml.backends.heuristics.cart import growing_trees
from treeml.backends.native.inputs import forbidden_features
from treeml.problem.answers import has_many_answers
from treeml.problem.problem import Problem
from treeml.problem.some_rows import on_rows
from treeml.problem.tree import Leaf, Node, Split

MOST_ROWS = 50_000  # of which trees are grown


def grown_trees(problem: Problem, is_over: Callable[[], bool]) -> Iterator[Node]:
    """Greedy trees on few tests, each with the splits of the one before; none if there are too many tests.

    Very many rows are represented by some of them, which lead to almost the same splits.
    """
    problem = _with_fewer_rows(problem)
    has_few = len(problem.tests) <= FEW_TESTS and not forbidden_features(problem)
    coarse = None if has_few else on_few_tests(problem)
    if coarse is None and not has_many_answers(problem):
        yield from growing_trees(problem, is_over)
    elif coarse is not None:
        few, tests = coarse
        yield from (on_tests(tree, tests) for tree in growing_trees(few, is_over))


def _with_fewer_rows(problem: Problem) -> Problem:
    """The problem on one row in every n, each of which counts n times."""
    step = problem.rows // MOST_ROWS
    if step < 2:
        return problem
    rows = np.random.default_rng(problem.rows).integers(0, step, MOST_ROWS) + step * np.arange(MOST_ROWS)
    fewer = on_rows(problem, rows)
    return replace(fewer, count=step * fewer.count)


def on_tests(node: Node, tests: list[int]) -> Node:
    """A tree on few tests as a tree on the tests of the problem: `tests` has a number for each of the few."""
    if isinstance(node, Leaf):
        return node
    return Split(tests[node.test], on_tests(node.yes, tests), on_tests(node.no, tests))
