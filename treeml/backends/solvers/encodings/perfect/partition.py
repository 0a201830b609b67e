"""Question for a perfect tree -> clauses over pairs of rows: DT_pb of Schidler and Szeider (2021), for any column.

A tree is described level by level: two rows are in one group as long as no test has separated them. The size hardly
depends on the depth, so deep and unbalanced trees over few rows are feasible. i < j are rows, m levels, c questions.

    g[i, j, m]   i and j are together before level m       q[i, m, c]   the node of i on level m asks c
    d[i, m]      i goes to the yes side on level m

    g[i, j, 0];   not g[i, j, depth] for rows of different classes;   g[i, j, m+1] -> g[i, j, m]
    one of q[i, m, .];   g[i, j, m] and q[i, m, c] -> q[j, m, c]
    single test c:   q[i, m, c] -> d[i, m] as i answers
    ordered c, i before j:  g[i, j, m] and q[i, m, c] -> (d[j, m] -> d[i, m]);  alike in c: -> d[i, m] = d[j, m]
    g[i, j, m+1]  =  g[i, j, m] and d[i, m] = d[j, m]

The paper merges the last two lines into one per test. With separate directions, ordered columns and categories split by
subsets need no tests at all, and the clauses that separate groups do not depend on the number of tests.

If size counts, f[i] holds for the first row of every group of the last level: these are the leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.solvers.encodings.clauses.pseudo_boolean import Clauses, at_most
from treeml.backends.solvers.encodings.perfect.question import PerfectTreeTask
from treeml.backends.task.deadline import NO_DEADLINE, in_time
from treeml.backends.task.node_questions import NodeQuestion
from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Bits = NDArray[np.bool_]


class PartitionModel:
    def __init__(self, perfect: PerfectTreeTask, groups: Sequence[int], deadline: Deadline = NO_DEADLINE) -> None:
        self.perfect, self.deadline = perfect, deadline
        self.groups = np.asarray(groups, np.int64)
        self.useful = [place for place, question in enumerate(perfect.questions) if _parts(question, self.groups)]
        self.depth = perfect.depth if self.useful else 0
        self.clauses = Clauses()
        self._write()

    def _write(self) -> None:
        clauses, count, depth = self.clauses, len(self.groups), self.depth
        kinds = len(self.useful)
        self.first, self.second = np.triu_indices(count, 1)
        pairs = len(self.first)
        self.together = _block(clauses, depth + 1, pairs)
        self.asks = _block(clauses, depth * count, kinds).reshape(depth, count, kinds)
        self.side = _block(clauses, depth, count)
        wanted = self.perfect.label[self.groups]
        clauses.extend(self.together[0][:, None].tolist())
        differ = wanted[self.first] != wanted[self.second]
        clauses.extend((-self.together[depth][differ])[:, None].tolist())
        for level in range(depth):
            self._write_level(level)
        if self.perfect.leaves is not None:
            self._write_size(self.perfect.leaves)

    def _write_level(self, level: int) -> None:
        clauses, first, second = self.clauses, self.first, self.second
        here, below, side = self.together[level], self.together[level + 1], self.side[level]
        one, other = side[first], side[second]
        clauses.extend(np.stack([-below, here], axis=1).tolist())
        for columns in (
            (-below, -one, other),
            (-below, one, -other),
            (-here, -one, -other, below),
            (-here, one, other, below),
        ):
            clauses.extend(np.stack(columns, axis=1).tolist())
        clauses.extend(self.asks[level].tolist())
        for place, number in enumerate(self.useful):
            in_time(self.deadline)
            asks = self.asks[level][:, place]
            clauses.extend(np.stack([-here, -asks[first], asks[second]], axis=1).tolist())
            self._write_question(self.perfect.questions[number], asks, here, side)

    def _write_question(self, question: NodeQuestion, asks: Whole, here: Whole, side: Whole) -> None:
        clauses, first, second = self.clauses, self.first, self.second
        if question.kind == "test":
            assert question.yes is not None
            sign = np.where(question.yes[self.groups], 1, -1)
            clauses.extend(np.stack([-asks, sign * side], axis=1).tolist())
            return
        assert question.codes is not None
        codes = question.codes[self.groups]
        alike = codes[first] == codes[second]
        known = (codes[first] >= 0) & (codes[second] >= 0)
        # While the pair is together, q of its first row implies q of the second, so one of the two is enough.
        for one, other, where in (
            (first, second, alike | (known & (codes[first] < codes[second]) & (question.kind == "order"))),
            (second, first, alike | (known & (codes[first] > codes[second]) & (question.kind == "order"))),
        ):
            columns = (-here[where], -asks[first[where]], -side[other[where]], side[one[where]])
            clauses.extend(np.stack(columns, axis=1).tolist())

    def _write_size(self, leaves: int) -> None:
        clauses, last = self.clauses, self.together[self.depth]
        heads = list(clauses.fresh(len(self.groups)))
        for number, head in enumerate(heads):
            earlier = last[(self.second == number)].tolist()
            clauses.add(head, *earlier)
        at_most(clauses, [(1, head) for head in heads], leaves)

    def decode(self, true: Bits) -> Node:
        labels = self.perfect.label[self.groups]

        def grow(rows: Whole, level: int) -> Node:
            if level == self.depth:
                return Leaf(int(labels[rows[0]]))
            number = self.useful[int(np.flatnonzero(true[self.asks[level, rows[0]]])[0])]
            yes = true[self.side[level, rows]]
            if yes.all() or not yes.any():
                return grow(rows, level + 1)
            test, swapped = self._test(number, rows, yes)
            left, right = grow(rows[yes], level + 1), grow(rows[~yes], level + 1)
            return Split(test, right, left) if swapped else Split(test, left, right)

        return grow(np.arange(len(self.groups)), 0)

    def _test(self, number: int, rows: Whole, yes: Bits) -> tuple[int, bool]:
        """The test that separates these rows in this way; other groups go wherever a test of the column sends them."""
        question = self.perfect.questions[number]
        if question.kind == "test":
            return question.test, False
        assert question.codes is not None
        codes = question.codes[self.groups[rows]]
        chosen = codes[yes]
        everywhere = question.codes <= chosen.max() if question.kind == "order" else np.isin(question.codes, chosen)
        everywhere[question.codes < 0] = bool((chosen < 0).any())
        found = self.perfect.questions.decode(question, everywhere)
        assert found is not None, "rows that were separated are not"
        return found


def estimate_partition(rows: int, kinds: int, depth: int) -> int:
    """The approximate number of occurrences of literals."""
    return rows * rows // 2 * depth * (3 * kinds + 16)


def _parts(question: NodeQuestion, groups: Whole) -> bool:
    values = question.yes if question.kind == "test" else question.codes
    assert values is not None
    return bool((values[groups] != values[groups[0]]).any()) if len(groups) else False


def _block(clauses: Clauses, rows: int, columns: int) -> Whole:
    first = clauses.top + 1
    clauses.fresh(rows * columns)
    return first + np.arange(rows * columns, dtype=np.int64).reshape(rows, columns)
