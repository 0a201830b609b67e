"""Question for a perfect tree -> clauses over pairs of rows: DT_pb of Schidler and Szeider (2021), for any column.

A tree is described level by level: two rows are in one group as long as no test has separated them. The size hardly
depends on the depth, so deep and unbalanced trees over few rows are feasible. i < j are rows, m levels, c questions.

    g[i, j, m]   i and j are together before level m       q[i, m, c]   the node of i on level m asks c
    d[i, m]      i goes to the yes side on level m

    g[i, j, 0];   not g[i, j, depth] for rows of different classes;   g[i, j, m+1] -> g[i, j, m]
    not g[i, j, depth - weight] for rows of different classes, if the class of i or j has a weight
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
from treeml.backends.solvers.encodings.perfect.sequence import sequence_of, tree_of
from treeml.backends.task.deadline import NO_DEADLINE, in_time
from treeml.backends.task.node_questions import NodeQuestion
from treeml.problem.evaluate import answers
from treeml.problem.tree import Node

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
        differ = np.flatnonzero(wanted[self.first] != wanted[self.second])
        deepest = np.full(count, depth)
        if self.perfect.levels is not None:
            deepest = np.minimum(np.array(self.perfect.levels)[wanted], depth)
        if (deepest < 0).any():
            clauses.never()
            return
        apart = np.minimum(deepest[self.first], deepest[self.second])[differ]
        clauses.extend((-self.together[apart, differ])[:, None].tolist())
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
        """The tree of the sequence of groups that the clauses describe."""
        sequence = np.tile(np.arange(len(self.groups)), (self.depth + 1, 1))
        for level in range(self.depth + 1):
            together = true[self.together[level]]
            np.minimum.at(sequence[level], self.second[together], self.first[together])
        return tree_of(sequence, self.perfect.label[self.groups], self._divide)

    def hints(self, tree: Node) -> list[int]:
        """Literals that describe the first levels of a tree, to begin the search near it."""
        problem, rows = self.perfect.questions.problem, self.perfect.row[self.groups]
        sequence = sequence_of(
            tree, lambda test, inside: answers(problem, test, rows[inside]), len(self.groups), self.depth
        )
        together = sequence[:, self.first] == sequence[:, self.second]
        return np.where(together, self.together, -self.together).ravel().tolist()

    def _divide(self, one: Whole, other: Whole) -> tuple[int, bool]:
        """A test that separates two groups, and whether the first of them answers no."""
        for number in self.useful:
            question = self.perfect.questions[number]
            values = np.asarray(question.yes if question.kind == "test" else question.codes, np.int64)
            first, second = values[self.groups[one]], values[self.groups[other]]
            if np.isin(first, second).any():
                continue
            if question.kind == "test":
                return question.test, not first[0]
            if question.kind == "equal" or _is_below(first, second):
                return self._test(question, first)
            if _is_below(second, first):
                test, swapped = self._test(question, second)
                return test, not swapped
        raise AssertionError("rows that were separated are not")

    def _test(self, question: NodeQuestion, chosen: Whole) -> tuple[int, bool]:
        """The test that these codes pass; groups with other codes go wherever a test of the column sends them."""
        assert question.codes is not None
        everywhere = question.codes <= chosen.max() if question.kind == "order" else np.isin(question.codes, chosen)
        everywhere[question.codes < 0] = bool((chosen < 0).any())
        found = self.perfect.questions.decode(question, everywhere)
        assert found is not None, "rows that were separated are not"
        return found


def _is_below(low: Whole, high: Whole) -> bool:
    """Can a threshold separate these codes, whatever happens to missing values?"""
    above = high[high >= 0]
    return bool(low.max() < (above.min() if len(above) else -1))


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
