"""Starting tree -> a better one, by choosing its cuts again node by node.

This follows Carreira-Perpinan and Tavallali (2018): with the rest of the tree fixed, every row at a node has a cost on
either side, and the best cut for these costs is found by sorting. The same is tried from a few perturbed trees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.task.deadline import NO_DEADLINE
from treeml.backends.task.integer_task import IntegerTask
from treeml.backends.task.node_questions import NodeQuestion, NodeQuestions
from treeml.problem.evaluate import answers
from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Bits = NDArray[np.bool_]

RESTARTS = 10


def improved_tree(
    questions: NodeQuestions, task: IntegerTask, tree: Node | None, deadline: Deadline = NO_DEADLINE, rounds: int = 20
) -> Node | None:
    """The tree, or a better one by the goal's costs of predictions; the caller has to check the requirements."""
    if tree is None or task.goal.predicted is None or isinstance(tree, Leaf) or not questions:
        return tree
    improvement = _Improvement(questions, questions.summed(task.goal.predicted))
    everything = np.arange(questions.groups)
    random = np.random.default_rng(0)
    full = _filled(tree, task.depth)
    best: Node = tree
    least = improvement.total(tree, everything)
    for restart in range(RESTARTS + 1):
        if deadline.passed:
            break
        here: Node = full if restart == 0 else improvement.perturbed(_filled(best, task.depth), random)
        value = improvement.total(here, everything)
        for _ in range(rounds):
            if deadline.passed:
                break
            here = improvement.improved(here, everything)
            improved = improvement.total(here, everything)
            if improved >= value:
                break
            value = improved
        if value < least:
            best, least = here, value
    return _labeled(best, everything, improvement.cost, improvement.says_yes)


class _Improvement:
    """Trees over groups of rows with the cost of every group and class; a leaf predicts the cheapest class."""

    def __init__(self, questions: NodeQuestions, cost: Whole) -> None:
        self.questions, self.cost = questions, cost
        self.row = np.zeros(questions.groups, np.int64)  # one row of every group
        self.row[questions.group] = np.arange(questions.problem.rows)
        self.known: dict[int, Bits] = {}

    def says_yes(self, test: int) -> Bits:
        if test not in self.known:
            self.known[test] = answers(self.questions.problem, test, self.row)
        return self.known[test]

    def total(self, node: Node, here: Whole) -> int:
        """The cost of the groups here below a node."""
        if isinstance(node, Leaf):
            return int(self.cost[here].sum(axis=0).min())
        yes = self.says_yes(node.test)[here]
        return self.total(node.yes, here[yes]) + self.total(node.no, here[~yes])

    def costs_below(self, node: Node, here: Whole, groups: Whole) -> Whole:
        """The cost of each of `groups` if it went below the node, whose leaves are labeled by the groups `here`."""
        if isinstance(node, Leaf):
            label = int(self.cost[here].sum(axis=0).argmin()) if len(here) else 0
            return np.asarray(self.cost[groups, label])
        yes = self.says_yes(node.test)
        result = np.zeros(len(groups), np.int64)
        goes = yes[groups]
        result[goes] = self.costs_below(node.yes, here[yes[here]], groups[goes])
        result[~goes] = self.costs_below(node.no, here[~yes[here]], groups[~goes])
        return result

    def improved(self, node: Node, here: Whole) -> Node:
        """The node with the best cut for the sides that it has, and then the same for its sides."""
        if isinstance(node, Leaf) or not len(here):
            return node
        yes = self.says_yes(node.test)[here]
        sides = [self.costs_below(node.no, here[~yes], here), self.costs_below(node.yes, here[yes], here)]
        values = np.zeros((self.questions.groups, 2), np.int64)
        values[here] = np.stack(sides, axis=1)
        best: tuple[float, Split] | None = None
        for question in self.questions:
            found = _best_route(question, here, values)
            decoded = None if found is None else self.questions.decode(question, found[1])
            if found is None or decoded is None or (best is not None and found[0] >= best[0]):
                continue
            test, swapped = decoded
            pair = (node.no, node.yes) if swapped else (node.yes, node.no)
            best = (found[0], Split(test, *pair))
        chosen = node if best is None else best[1]
        yes = self.says_yes(chosen.test)[here]
        return Split(chosen.test, self.improved(chosen.yes, here[yes]), self.improved(chosen.no, here[~yes]))

    def perturbed(self, node: Node, random: np.random.Generator) -> Node:
        """The tree with about half of its tests replaced by random ones."""
        if isinstance(node, Leaf):
            return node
        test = node.test
        if random.random() < 0.5:
            test = int(random.integers(0, len(self.questions.problem.tests)))
        return Split(test, self.perturbed(node.yes, random), self.perturbed(node.no, random))


def _filled(node: Node, depth: int) -> Node:
    """The tree with leaves above the last level turned into splits with equal sides, for the improvement to use."""
    if depth == 0:
        return node
    if isinstance(node, Leaf):
        return Split(0, _filled(node, depth - 1), _filled(node, depth - 1))
    return Split(node.test, _filled(node.yes, depth - 1), _filled(node.no, depth - 1))


def _labeled(node: Node, here: Whole, cost: Whole, says_yes: Callable[[int], Bits]) -> Node:
    """The tree with labels, without splits that separate nothing or whose leaves agree."""
    if isinstance(node, Leaf):
        return Leaf(int(cost[here].sum(axis=0).argmin()))
    yes = says_yes(node.test)[here]
    if yes.all() or not yes.any():
        return _labeled(node.yes if yes.any() else node.no, here, cost, says_yes)
    one, other = _labeled(node.yes, here[yes], cost, says_yes), _labeled(node.no, here[~yes], cost, says_yes)
    return one if isinstance(one, Leaf) and one == other else Split(node.test, one, other)


def _best_route(question: NodeQuestion, here: Whole, values: Whole) -> tuple[float, Bits] | None:
    """The cut with the least cost of the groups here; values holds their costs on the no side and on the yes side."""
    if question.kind == "test":
        assert question.yes is not None
        yes = question.yes[here]
        return float(values[here[yes], 1].sum() + values[here[~yes], 0].sum()), question.yes
    assert question.codes is not None
    present, inverse = np.unique(question.codes[here], return_inverse=True)
    gain = np.zeros(len(present))
    np.add.at(gain, inverse, values[here, 1] - values[here, 0])
    base = float(values[here, 0].sum())
    if question.kind == "equal":
        chosen = present[gain < 0]
        return base + float(gain[gain < 0].sum()), np.isin(question.codes, chosen)
    if present[0] < 0:
        present, gain = present[1:], gain[1:]
    if not len(present):
        return None
    sums = np.cumsum(gain)
    place = int(sums.argmin())
    return base + float(sums[place]), (question.codes >= 0) & (question.codes <= present[place])
