"""A model in the order encoding: clauses, bounded sums, a sum to minimize, and the meaning of its literals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.solvers.encodings.clauses.pseudo_boolean import Clauses
from treeml.backends.solvers.encodings.complete_tree import CompleteTree
from treeml.backends.task.integer_task import IntegerTask
from treeml.backends.task.node_questions import NodeQuestions
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Bits = NDArray[np.bool_]

Terms = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class AtMost:
    """sum of weight * literal <= limit if all literals of `condition` are true."""

    terms: Terms
    limit: int
    condition: tuple[int, ...] = ()
    name: str = ""


@dataclass
class OrderModel:
    """Clauses, bounded sums, and a sum to minimize."""

    problem: Problem
    task: IntegerTask
    questions: NodeQuestions
    nodes: CompleteTree
    clauses: Clauses = field(default_factory=Clauses)
    limits: list[AtMost] = field(default_factory=list)
    goal: Terms = field(default_factory=list)
    goal_constant: int = 0
    margin: int = 1

    # literals
    ask: NDArray[np.int64] = field(init=False)  # nodes x questions
    side: NDArray[np.int64] = field(init=False)  # nodes x groups
    split: NDArray[np.int64] | None = None  # nodes
    label: NDArray[np.int64] | None = None  # leaves x classes, or leaves if there are two classes
    ends: NDArray[np.int64] | None = None  # leaves x groups: z, if the clauses about leaves use it

    def label_is(self, leaf: int, label: int) -> tuple[int, ...]:
        """The literals that say "the leaf predicts the class": one, or none if there is only one class."""
        if self.problem.classes <= 1 or self.label is None:
            return ()
        if self.label.ndim == 1:
            return (int(self.label[leaf]) if label else -int(self.label[leaf]),)
        return (int(self.label[leaf, label]),)

    def decode(self, true: Bits) -> Node:
        """The tree of an assignment; `true[v]` is the value of variable v."""

        def grow(node: int) -> Node:
            if node >= self.nodes.branches:
                return Leaf(self._label_of(node - self.nodes.branches, true))
            if self.split is not None and not true[self.split[node]]:
                return grow(2 * node + 1)
            asks = np.flatnonzero(true[self.ask[node]])
            if not len(asks):
                return grow(2 * node + 1)
            yes = true[self.side[node]]
            found = self.questions.decode(self.questions[int(asks[0])], yes)
            if found is None:
                return grow(2 * node + 1 if yes.any() else 2 * node + 2)
            test, swapped = found
            left, right = grow(2 * node + 1), grow(2 * node + 2)
            return Split(test, right, left) if swapped else Split(test, left, right)

        return grow(0)

    def _label_of(self, leaf: int, true: Bits) -> int:
        if not self.problem.classes:
            return -1
        if self.problem.classes == 1 or self.label is None:
            return 0
        if self.label.ndim == 1:
            return int(true[self.label[leaf]])
        return int(np.argmax(true[self.label[leaf]]))  # any class if no row needs one


def not_in_leaf(model: OrderModel, leaf: int, path: Sequence[tuple[int, bool]]) -> Whole:
    """groups x literals, one of which holds if the group does not end in the leaf: one with z, else one per step."""
    return off_path(model, path) if model.ends is None else -model.ends[leaf][:, None]


def off_path(model: OrderModel, path: Sequence[tuple[int, bool]]) -> Whole:
    """groups x steps: literals, one of which holds if the group is not on the path."""
    columns = [-model.side[node] if yes else model.side[node] for node, yes in path]
    return np.stack(columns, axis=1) if columns else np.zeros((model.questions.groups, 0), np.int64)
