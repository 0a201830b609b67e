"""Questions -> a starting tree, grown greedily.

Above the last level a split is chosen by the Gini impurity of the goal's costs, on the last level by the goal itself.
Candidate subsets are prefixes of the codes sorted by the share of a class, which include the best one if there are two
classes (Breiman and others 1984).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.task.deadline import NO_DEADLINE
from treeml.backends.task.integer_task import IntegerTask, LeafRule
from treeml.backends.task.node_questions import NodeQuestion, NodeQuestions, read_questions
from treeml.backends.task.read_problem import form_of
from treeml.backends.task.unsupported import Unsupported
from treeml.problem.answers import has_many_answers
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Bits = NDArray[np.bool_]

MOST_CELLS = 5_000_000  # groups times questions up to which a tree is grown in passing: about a second
LARGEST_DEPTH = 200  # the tree is grown recursively


def greedy_tree(questions: NodeQuestions, task: IntegerTask, deadline: Deadline = NO_DEADLINE) -> Node | None:
    """The tree; None if the goal does not depend on predictions. After the deadline no more nodes are split."""
    if task.goal.predicted is None or task.depth < 0:
        return None
    cost = questions.summed(task.goal.predicted)
    gain = cost.max(axis=1, keepdims=True) - cost
    support = max(1, task.support)

    def grow(rows: Whole, depth: int) -> Node:
        here = cost[rows].sum(axis=0)
        leaf = Leaf(int(here.argmin()))
        if depth == 0 or deadline.passed or here.min() == cost[rows].min(axis=1).sum():
            return leaf
        best: tuple[float, NodeQuestion, Bits] | None = None
        for question in questions:
            if deadline.passed:
                return leaf
            found = _best_cut(question, rows, cost if depth == 1 else gain, questions.count, support, depth == 1)
            if found is not None and (best is None or found[0] < best[0]):
                best = (found[0], question, found[1])
        if best is None or (depth == 1 and best[0] >= here.min()):
            return leaf
        decoded = questions.decode(best[1], best[2])
        if decoded is None:
            return leaf
        test, swapped = decoded
        yes, no = grow(rows[best[2][rows]], depth - 1), grow(rows[~best[2][rows]], depth - 1)
        return Split(test, no, yes) if swapped else Split(test, yes, no)

    return grow(np.arange(questions.groups), task.depth)


def first_trees(questions: NodeQuestions, task: IntegerTask, deadline: Deadline = NO_DEADLINE) -> Iterator[Node]:
    """The greedy tree, then smaller and smaller ones, which may meet requirements that it breaks."""
    depth = task.depth
    while depth > 0 and not deadline.passed:
        tree = greedy_tree(questions, replace(task, depth=depth), deadline)
        if tree is None:
            break
        yield tree
        depth //= 2
    yield from map(Leaf, range(questions.problem.classes) if questions.problem.classes else (-1,))


def greedy_for_bound(problem: Problem, deadline: Deadline = NO_DEADLINE) -> Node | None:
    """A tree grown for the first bound on predictions, as deep as the bounds allow; it may break the other bounds."""
    if has_many_answers(problem):
        return None
    for bound in problem.bounds:
        if bound.sum.kinds() != {"Predicted"}:
            continue
        deep = LARGEST_DEPTH if problem.max_depth is None else min(problem.max_depth, LARGEST_DEPTH)
        support = problem.bound_on("Support", ">=")
        rule = () if support is None else (LeafRule("support", ">=", support, False, ""),)
        try:
            form = form_of(bound.sum.negated() if bound.sense == ">=" else bound.sum, "a requirement")
        except Unsupported:  # numbers too large for solvers; the tree is only a start, and none is needed
            return None
        task = IntegerTask(deep, form, (), rule, ())
        questions = read_questions(problem)
        return greedy_tree(questions, task, deadline) if questions.groups * len(questions) <= MOST_CELLS else None
    return None


def _best_cut(
    question: NodeQuestion, rows: Whole, values: Whole, count: Whole, support: int, last: bool
) -> tuple[float, Bits] | None:
    """The least score of a cut, and all groups, also those not here, that it sends to the yes side."""
    if question.kind == "test":
        assert question.yes is not None
        yes = question.yes[rows]
        if not yes.any() or yes.all() or min(count[rows][yes].sum(), count[rows][~yes].sum()) < support:
            return None
        above, below = values[rows][yes].sum(axis=0), values[rows][~yes].sum(axis=0)
        return float(_score(above[None], last)[0] + _score(below[None], last)[0]), question.yes
    assert question.codes is not None
    codes = question.codes[rows]
    present, inverse = np.unique(codes, return_inverse=True)
    if len(present) < 2:
        return None
    sums = np.zeros((len(present), values.shape[1]))
    counts = np.zeros(len(present))
    np.add.at(sums, inverse, values[rows])
    np.add.at(counts, inverse, count[rows])
    order = np.arange(len(present))
    if question.kind == "equal":
        order = np.argsort(sums[:, 0] / np.maximum(1, sums.sum(axis=1)))
    elif present[0] < 0:
        order = order[1:]  # missing values stay on the no side
    above = np.cumsum(sums[order], axis=0)
    held = np.cumsum(counts[order])
    total, everything = sums.sum(axis=0), counts.sum()
    ends = len(order) - 1 if len(order) == len(present) else len(order)
    score = _score(above[:ends], last) + _score(total - above[:ends], last)
    score[(held[:ends] < support) | (everything - held[:ends] < support)] = np.inf
    place = int(score.argmin()) if len(score) else 0
    if not len(score) or not np.isfinite(score[place]):
        return None
    chosen = present[order[: place + 1]]
    if question.kind == "order":
        return float(score[place]), (question.codes >= 0) & (question.codes <= chosen.max())
    return float(score[place]), np.isin(question.codes, chosen)


def _score(sums: NDArray[np.float64] | Whole, last: bool) -> NDArray[np.float64]:
    if last:
        return np.asarray(sums.min(axis=1), float)
    total = sums.sum(axis=1)
    squares = (sums.astype(float) ** 2).sum(axis=1)
    return np.asarray(total - np.divide(squares, total, out=np.zeros_like(squares), where=total > 0), float)
