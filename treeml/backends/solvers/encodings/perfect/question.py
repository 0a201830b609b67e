"""Problem -> the question for a perfect tree, if it is one: every row has one class, and only depth and size count.

This question has encodings of its own (`complete`, `partition`). A requirement on predictions determines the class of
every row if its limit is the least value that any tree can have; `require errors = 0` does so if no two identical rows
differ in class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.task.integer_task import Form, IntegerTask, parts_of
from treeml.backends.task.node_questions import NodeQuestions
from treeml.problem.evaluate import answers
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import Depth, Leaves, Predicted, Sum
from treeml.problem.tree import Leaf, Node

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

FREE = -1  # the label of a group that may get any class


@dataclass(frozen=True, eq=False, slots=True)
class PerfectTreeTask:
    """Is there a tree within this depth and number of leaves that gives every group of rows its class?"""

    questions: NodeQuestions
    label: Whole  # per group
    row: Whole  # one row of every group
    depth: int
    leaves: int | None
    levels: tuple[int, ...] | None = None  # the deepest level for a leaf of each class, if classes have weights

    @property
    def bound_groups(self) -> Whole:
        """The groups that must get a particular class."""
        return np.flatnonzero(self.label != FREE)

    def wrong(self, tree: Node) -> Whole:
        """The groups that the tree assigns to a wrong class."""
        predicted = np.full(self.questions.groups, FREE)
        waiting: list[tuple[Node, Whole]] = [(tree, np.arange(self.questions.groups))]
        while waiting:
            node, here = waiting.pop()
            if isinstance(node, Leaf):
                predicted[here] = node.label
                continue
            yes = answers(self.questions.problem, node.test, self.row[here])
            waiting += [(node.yes, here[yes]), (node.no, here[~yes])]
        return np.flatnonzero((self.label != FREE) & (predicted != self.label))

    def restricted(self, groups: Sequence[int]) -> Problem:
        """The same question as a problem over one row of each of these groups."""
        problem = self.questions.problem
        rows = self.row[np.asarray(groups, np.int64)]
        features = tuple(
            feature if feature.codes is None else replace(feature, codes=feature.codes[rows])
            for feature in problem.features
        )
        given = None if problem.given_bits is None else np.ascontiguousarray(problem.given_bits[:, rows])
        cost = (np.arange(problem.classes)[None, :] != self.label[np.asarray(groups)][:, None]).astype(np.int64)
        bounds = [
            Bound(Sum(((Fraction(1), Predicted(cost)),)), "<=", Fraction(0)),
            Bound(Sum(((Fraction(1), Depth()),)), "<=", Fraction(self.depth)),
        ]
        if self.leaves is not None:
            bounds.append(Bound(Sum(((Fraction(1), Leaves()),)), "<=", Fraction(self.leaves)))
        count = np.ones(len(rows), np.int64)
        return Problem(features, problem.tests, count, problem.classes, (), tuple(bounds), given)


def read_perfect(problem: Problem, task: IntegerTask, questions: NodeQuestions) -> PerfectTreeTask | str:
    """The question, or the reason why this problem is a different one."""
    if problem.goals or not problem.classes:
        return "something is minimized" if problem.goals else "the leaves hold numbers"
    if task.monotone or any(rule.kind != "support" or rule.some or rule.limit > 1 for rule in task.leaf_rules):
        return "single leaves have requirements of their own"
    label = np.full(questions.groups, FREE)
    leaves: int | None = None
    for requirement in task.requirements:
        form = requirement.form
        if _counts_leaves(form) and requirement.low is None and requirement.high is not None:
            most = requirement.high // form.leaves
            leaves = most if leaves is None else min(leaves, most)
        elif form.predicted is not None and _only_predictions(form) and requirement.high is not None:
            found = _labels(questions.summed(form.predicted), requirement.low, requirement.high)
            if found is None or not _agree(label, found):
                return "the requirement on predictions leaves room for different classes of a row"
            label = np.where(label == FREE, found, label)
        else:
            return "more is required than classes, depth and size"
    row = np.zeros(questions.groups, np.int64)
    row[questions.group] = np.arange(problem.rows)
    if task.weighted_depths and (label == FREE).any():
        return "rows that may get any class have no level"
    levels = [
        min([task.depth, *(limit - weights[place] for weights, limit in task.weighted_depths)])
        for place in range(problem.classes)
    ]
    return PerfectTreeTask(questions, label, row, task.depth, leaves, tuple(levels) if task.weighted_depths else None)


def merged_labels(total: Sum, group: Whole, label: Whole) -> Whole | None:
    """The labels, merged with those that minimize this sum of predictions; None if they conflict or are not unique."""
    cost = np.zeros((len(label), 1), np.int64)
    for factor, term in total.parts:
        assert isinstance(term, Predicted)
        part = np.zeros((len(label), term.cost.shape[1]), object)
        np.add.at(part, group, term.cost.astype(object))
        cost = cost + part * (factor * term.scale)
    cheap = cost == cost.min(axis=1)[:, None]
    found = _only_cheap(cheap.astype(bool))
    if found is None or not _agree(label, found):
        return None
    return np.where(label == FREE, found, label)


def _counts_leaves(form: Form) -> bool:
    return form.leaves > 0 and form.predicted is None and _is_plain(form)


def _only_predictions(form: Form) -> bool:
    return not form.leaves and _is_plain(form)


def _is_plain(form: Form) -> bool:
    return (
        not (form.depth or form.used or form.test_costs or form.losses or form.offset)
        and len(list(parts_of(form))) == 1
    )


def _labels(cost: Whole, low: int | None, high: int) -> Whole | None:
    """The class of every group if the sum of costs must be minimal; None if it need not be."""
    least = cost.min(axis=1)
    if high != int(least.sum()) or (low is not None and low > high):
        return None
    return _only_cheap(cost == least[:, None])


def _only_cheap(cheap: NDArray[np.bool_]) -> Whole | None:
    """The cheapest class of every group, or FREE if all classes are equal; None if several but not all are cheapest."""
    count = cheap.sum(axis=1)
    if ((count > 1) & (count < cheap.shape[1])).any():
        return None
    return np.where(count == 1, cheap.argmax(axis=1), FREE)


def _agree(one: Whole, other: Whole) -> bool:
    return bool(((one == FREE) | (other == FREE) | (one == other)).all())
