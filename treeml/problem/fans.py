"""Nodes with one branch per level: how trees of yes-or-no tests express them.

A feature of kind `branches` is split at all its levels at once. Such a node, a fan, is written as a chain of tests of
that feature down the no sides: one for every level that rows of the node have, except the last, to which the rows left
over go. So everything that understands yes-or-no tests understands fans, and only what counts splits or grows trees
has to know that a chain is one node: it is one level of depth, and it is complete or absent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from treeml.problem.arrays import Rows
    from treeml.problem.problem import Problem

BRANCHES = "branches"  # the kind of such a feature


def has_fans(problem: Problem) -> bool:
    """Is there a feature that is split at all its levels at once?"""
    return BRANCHES in [feature.kind for feature in problem.features]


def fan_of_test(problem: Problem, test: int) -> int | None:
    """The feature of the fans that a test is part of; None for a test that is a split by itself."""
    feature = problem.tests[test].feature
    return feature if problem.features[feature].kind == BRANCHES else None


def single_tests(problem: Problem) -> list[int]:
    """The tests that are a split by themselves."""
    if not has_fans(problem):
        return list(range(len(problem.tests)))
    return [test for test in range(len(problem.tests)) if fan_of_test(problem, test) is None]


def fan_tests(problem: Problem) -> list[range]:
    """The tests of every feature that is split at all its levels at once."""
    fans = [feature for feature in problem.features if feature.kind == BRANCHES]
    return [range(feature.first_test, feature.first_test + feature.tests) for feature in fans]


def chain_order(problem: Problem, sizes: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """The tests of a fan in the order of its chain, without the last; () if there are not two branches.

    `sizes`: every test of the feature with the number of rows that pass it. The largest level comes last, so that
    values without a branch of their own go there; missing values have their own branch if there are any.
    """
    present = [(test, size) for test, size in sizes if size]
    if len(present) < 2:
        return ()
    levels = [(test, size) for test, size in present if problem.tests[test].kind != "missing"]
    last = max(levels, key=lambda pair: (pair[1], -pair[0]))[0]
    return tuple(test for test, _ in present if test != last)


def children(problem: Problem, split: Split) -> tuple[tuple[int, ...], tuple[Node, ...]]:
    """The tests of a node and its subtrees, one more than tests: two for a test, one per branch for a fan."""
    fan = fan_of_test(problem, split.test)
    tests, sides, rest = [split.test], [split.yes], split.no
    while fan is not None and isinstance(rest, Split) and problem.tests[rest.test].feature == fan:
        tests.append(rest.test)
        sides.append(rest.yes)
        rest = rest.no
    return tuple(tests), (*sides, rest)


def chained(tests: Sequence[int], sides: Sequence[Node]) -> Node:
    """The node with these tests and subtrees: the opposite of `children`."""
    node = sides[-1]
    for test, side in zip(reversed(tests), reversed(sides[:-1]), strict=True):
        node = Split(test, side, node)
    return node


def depth_of_path(problem: Problem, path: Sequence[tuple[int, bool]]) -> int:
    """The number of splits on a path: the tests of a fan are one split."""
    depth, above = 0, None
    for test, _ in path:
        fan = fan_of_test(problem, test)
        depth += fan is None or fan != above
        above = fan
    return depth


def has_whole_fans(problem: Problem, tree: Node) -> bool:
    """Does every fan of the tree separate all levels that its rows have?"""
    import numpy as np  # imported here: start-up time

    if not has_fans(problem):
        return True
    todo: list[tuple[Node, Rows]] = [(tree, np.arange(problem.rows))]
    while todo:
        node, rows = todo.pop()
        if isinstance(node, Leaf):
            continue
        tests, sides = children(problem, node)
        for test, side in zip(tests, sides, strict=False):
            yes = problem.bits[test, rows]
            todo.append((side, rows[yes]))
            rows = rows[~yes]
        fan = fan_of_test(problem, node.test)
        if fan is not None:
            codes = problem.features[fan].codes
            assert codes is not None
            if len(np.unique(codes[rows])) > 1:
                return False
        todo.append((sides[-1], rows))
    return True


def widest(problem: Problem) -> int:
    """The most subtrees that a node can have."""
    return max((feature.tests for feature in problem.features if feature.kind == BRANCHES), default=2)
