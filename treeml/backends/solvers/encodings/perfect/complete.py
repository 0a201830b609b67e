"""Question for a perfect tree -> clauses over the complete tree (Avellaneda 2020), for any number of classes.

Nodes t of level k and leaves l are those of the complete tree, i are groups of rows, j tests, c the digits of a class.

    a[t, j]   node t asks j       s[i, k]   i goes to the yes side on level k      g[l, c]   digit c of the class of l

    one of a[t, .], and, unless size counts, not the one of a node above            for every t
    i is led to t by s[i, 0 .. k-1]  and  a[t, j]  ->  s[i, k] as i answers j       for every i, t and j
    i is led to l by s[i, .]  ->  g[l, .] is the class of i                         for every i and l

The direction of a row is one literal per level, not per node. If size counts, u[l] holds for every leaf that a row
reaches: tests that separate no rows are removed from the tree at the end, so these are its leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.solvers.encodings.clauses.pseudo_boolean import Clauses, at_most
from treeml.backends.solvers.encodings.complete_tree import CompleteTree
from treeml.backends.solvers.encodings.perfect.question import PerfectTreeTask
from treeml.backends.task.deadline import NO_DEADLINE, in_time
from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Bits = NDArray[np.bool_]


class CompleteModel:
    """The clauses; the questions must be single tests: `read_questions(problem, binary=True)`."""

    def __init__(self, perfect: PerfectTreeTask, groups: Sequence[int], deadline: Deadline = NO_DEADLINE) -> None:
        self.perfect, self.deadline = perfect, deadline
        self.groups = np.asarray(groups, np.int64)
        self.tests = distinct_tests(perfect, self.groups)
        self.nodes = CompleteTree(perfect.depth if self.tests else 0)
        self.clauses = Clauses()
        self._write()

    def _write(self) -> None:
        clauses, nodes, count = self.clauses, self.nodes, len(self.groups)
        questions = self.perfect.questions
        self.ask = _matrix(clauses, nodes.branches, len(self.tests))
        self.side = _matrix(clauses, count, nodes.depth)
        self.digits = max(1, (max(1, self.perfect.questions.problem.classes) - 1).bit_length())
        self.label = _matrix(clauses, nodes.leaves, self.digits)
        says = np.zeros((count, len(self.tests)), bool)
        for place, test in enumerate(self.tests):
            says[:, place] = _yes(questions[test].yes)[self.groups]
        for node in range(nodes.branches):
            in_time(self.deadline)
            self._write_node(node, says)
        wanted = self.perfect.label[self.groups]
        for leaf, path in enumerate(nodes.paths):
            away = self._away(path)
            for digit in range(self.digits):
                sign = np.where(wanted >> digit & 1, 1, -1)
                clauses.extend(np.concatenate([away, (sign * self.label[leaf, digit])[:, None]], axis=1).tolist())
        if self.perfect.leaves is not None:
            used = _matrix(clauses, nodes.leaves, 1)[:, 0]
            for leaf, path in enumerate(nodes.paths):
                column = np.full((count, 1), used[leaf])
                clauses.extend(np.concatenate([self._away(path), column], axis=1).tolist())
            at_most(clauses, [(1, int(literal)) for literal in used], self.perfect.leaves)

    def _write_node(self, node: int, says: Bits) -> None:
        """The clauses of one node; `says` holds the answers, groups x tests."""
        level, asks = self.nodes.level(node), self.ask[node]
        self.clauses.add(*asks.tolist())
        self.clauses.at_most_one(asks.tolist())
        # A node below a leaf repeats a test, which separates nothing; if leaves are counted this must be possible.
        if self.perfect.leaves is None and len(self.tests) >= self.nodes.depth:
            for above, _ in self.nodes.path(node):
                self.clauses.extend(np.stack([-self.ask[above], -asks], axis=1).tolist())
        away = self._away(self.nodes.path(node))
        count, tests = says.shape
        block = np.empty((count, tests, level + 2), np.int64)
        block[:, :, :level] = away[:, None, :]
        block[:, :, level] = -asks[None, :]
        block[:, :, level + 1] = np.where(says, 1, -1) * self.side[:, level][:, None]
        self.clauses.extend(block.reshape(-1, level + 2).tolist())

    def _away(self, path: Sequence[tuple[int, bool]]) -> Whole:
        """groups x steps: literals, one of which holds if the group does not take this path."""
        columns = [-self.side[:, level] if yes else self.side[:, level] for level, (_, yes) in enumerate(path)]
        return np.stack(columns, axis=1) if columns else np.zeros((len(self.groups), 0), np.int64)

    def decode(self, true: Bits) -> Node:
        questions = self.perfect.questions
        classes = self.perfect.questions.problem.classes

        def grow(node: int) -> Node:
            if node >= self.nodes.branches:
                digits = true[self.label[node - self.nodes.branches]]
                return Leaf(min(classes - 1, sum(1 << place for place in np.flatnonzero(digits).tolist())))
            test = questions[self.tests[int(np.flatnonzero(true[self.ask[node]])[0])]].test
            return Split(test, grow(2 * node + 1), grow(2 * node + 2))

        return grow(0)


def estimate_complete(rows: int, tests: int, depth: int, classes: int) -> int:
    """The approximate number of occurrences of literals."""
    return (rows * tests << depth) * max(2, depth) + (rows * max(1, (classes - 1).bit_length()) << depth) * (depth + 1)


def distinct_tests(perfect: PerfectTreeTask, groups: Whole) -> list[int]:
    """The places of questions that split these groups, each split once: swapped sides count as the same split."""
    seen: set[bytes] = set()
    kept = []
    for place, question in enumerate(perfect.questions):
        yes = _yes(question.yes)[groups]
        if yes.all() or not yes.any():
            continue
        key = (yes ^ yes[0]).tobytes()
        if key not in seen:
            seen.add(key)
            kept.append(place)
    return kept


def _yes(yes: Bits | None) -> Bits:
    assert yes is not None, "a question that is not a single test"
    return yes


def _matrix(clauses: Clauses, rows: int, columns: int) -> Whole:
    first = clauses.top + 1
    clauses.fresh(rows * columns)
    return first + np.arange(rows * columns, dtype=np.int64).reshape(rows, columns)
