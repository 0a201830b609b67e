"""The tree of a sample, all rows -> the same tree with labels that meet the requirements on predictions on all rows.

A tree that meets a requirement on a sample often just misses it on all rows. Making the tests of all rows takes long,
but those of the tree are few: with them alone, its leaves are labeled anew.
"""

from __future__ import annotations

import numpy as np

from treeml.backends.planning.lowerings import spread
from treeml.backends.portfolio.relaxed import fitted
from treeml.data.table import Dataset
from treeml.lang.diagnostic import DataError
from treeml.measures.lower import lower_goal, lower_requirement
from treeml.measures.lower_dataset import Lowered
from treeml.problem.problem import Feature, Problem, Test
from treeml.problem.terms import Predicted
from treeml.problem.tree import Leaf, Node, Split
from treeml.trees.raising import field_of, question_test
from treeml.trees.routing import answers, dataset_inputs


def with_labels_of_all_rows(tree: Node, sampled: Lowered, dataset: Dataset) -> Node | None:
    """The tree with other labels; None if there are no classes, or if small changes lead to none that will do."""
    if not dataset.classes:
        return None
    tests = sorted(_tests_in(tree))
    try:
        problem = _problem(tests, sampled, dataset)
    except DataError:  # a measure that these rows do not have
        return None
    place = {test: number for number, test in enumerate(tests)}
    found = fitted(problem, _renumbered(tree, place))
    return None if found is None else _renumbered(found, dict(enumerate(tests)))


def _problem(tests: list[int], sampled: Lowered, dataset: Dataset) -> Problem:
    """The goals and the requirements on predictions for all rows, which answer these tests alone."""
    features, spec = sampled.problem.features, dataset.spec
    goals = tuple(lower_goal(goal, dataset, features) for goal in spec.goals)
    bounds = [bound for each in spec.requirements for bound in lower_requirement(each, dataset, features)]
    problem = Problem(
        tuple(Feature(f"test {number}", "binary", 2, None, number, 1) for number in range(len(tests))),
        tuple(Test(number, "true") for number in range(len(tests))),
        np.ones(dataset.rows, dtype=np.int64) if dataset.count is None else dataset.count,
        len(dataset.classes),
        goals,
        tuple(bounds),
        _bits(tests, sampled, dataset),
    )
    spreads = spread(problem)
    about_predictions = tuple(bound for bound in spreads.bounds if bound.sum.kinds() == {Predicted.__name__})
    return spreads.asking(goals, about_predictions)


def _bits(tests: list[int], sampled: Lowered, dataset: Dataset) -> np.ndarray:
    """tests x rows: does the row answer yes?"""
    asked = [question_test(sampled.questions[test]) for test in tests]
    fields = tuple(field_of(dataset, name) for name in dict.fromkeys(test.column for test in asked))
    columns = dataset_inputs(fields, dataset).columns
    bits = np.zeros((len(tests), dataset.rows), dtype=np.bool_)
    for place, test in enumerate(asked):
        bits[place] = answers(test, columns[test.column])
    return bits


def _tests_in(node: Node) -> set[int]:
    return set() if isinstance(node, Leaf) else {node.test} | _tests_in(node.yes) | _tests_in(node.no)


def _renumbered(node: Node, number: dict[int, int]) -> Node:
    """The tree with other numbers of its tests."""
    if isinstance(node, Leaf):
        return node
    return Split(number[node.test], _renumbered(node.yes, number), _renumbered(node.no, number))
