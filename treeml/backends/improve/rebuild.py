"""Goal depth: of the trees that are no deeper, one with fewer leaves, built again from the root down.

A search for depth alone balances a tree, and balanced trees have many leaves with few rows, which predict unseen rows
badly. Here every split, from the root down, becomes the test with the highest information gain that leaves both sides
a tree of the levels that remain: the greedy tree, as far as the depth allows it. The tree at hand shows that there is
always such a test. A rebuilt tree that has more leaves, or is deeper, is not used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from treeml.backends.contract import Deadline
from treeml.backends.heuristics.impurity import SplitCounts, worth
from treeml.backends.improve.inner import MOST_MEMORY, WORDS_PER_SECOND
from treeml.backends.improve.instance import LocalInstance, Reach, whole_instance
from treeml.backends.improve.vertices import Vertex, grow
from treeml.native import shallow
from treeml.native.shallow import FlatShallowTree
from treeml.problem.problem import Problem

QUICK: tuple[int, ...] = (0,)  # how far the search for a side may deviate from its order, pass by pass
THOROUGH: tuple[int, ...] = (0, 2)  # more saves few leaves and takes long
CANDIDATES = 40  # the most tests that are tried for a split
SHARE = 0.1  # of the patience, for one side of one split


@dataclass(slots=True)
class Rebuild:
    """Subtrees within reach, the largest first, each built again with growing effort."""

    problem: Problem
    classes: NDArray[np.int32]  # the class that every row must keep
    reach: Reach
    patience: float
    slacks: tuple[int, ...]
    memory: int | None = None
    level: int = 0
    tried: int = 0
    proofs: int = 0
    unproved: int = 0
    failures: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    def next(self, root: Vertex, deadline: Deadline) -> tuple[Vertex, Vertex] | None:
        """A vertex and its replacement; None if no effort finds one, or the time is up."""
        while self.level < len(self.slacks) and not deadline.passed:
            slack = self.slacks[self.level]
            self.level += 1
            for vertex, instance in self.largest(root):
                limit = root.height - vertex.depth
                self.tried += 1
                words = int(self.patience * WORDS_PER_SECOND)
                built = TreeBuilder(instance, slack, words, deadline, self.memory or MOST_MEMORY).built(limit)
                new = grow(instance.replacement(built), self.problem, vertex.rows)
                if new.height > limit:
                    continue
                if new.size < vertex.size or (vertex.height == limit > new.height):
                    return vertex, new
        return None

    @property
    def is_over(self) -> bool:
        return self.level >= len(self.slacks)

    def largest(self, root: Vertex) -> Iterator[tuple[Vertex, LocalInstance]]:
        """Every subtree that is within reach as a whole and is not part of another one."""
        todo = [root]
        while todo:
            vertex = todo.pop()
            if vertex.is_leaf:
                continue
            instance = whole_instance(vertex, self.problem, self.classes, self.reach)
            if instance is None or instance.guide is None:
                todo += vertex.sides
            else:
                yield vertex, instance


@dataclass(slots=True)
class _Part:
    """A node to be built: its rows, and a tree with few enough levels for them, from a node of it on."""

    rows: NDArray[np.intp]
    levels: int
    known: FlatShallowTree
    node: int


@dataclass(slots=True)
class TreeBuilder:
    """One instance, built again from its root down."""

    instance: LocalInstance
    slack: int
    words: int  # of work left, counted so that runs repeat
    deadline: Deadline
    memory: int
    counts: SplitCounts = field(init=False)
    side_words: int = field(init=False)

    def __post_init__(self) -> None:
        self.side_words = max(1, int(self.words * SHARE))
        member = np.zeros((len(self.instance.rows), len(self.instance.weights)))
        member[np.arange(len(member)), self.instance.labels] = 1.0
        self.counts = SplitCounts(member, None)

    def built(self, levels: int) -> FlatShallowTree:
        """A tree of at most this many levels for the instance."""
        assert self.instance.guide is not None
        test: list[int] = []
        sides: tuple[list[int], list[int]] = ([], [])
        label: list[int] = []
        todo = [(_Part(np.arange(len(self.instance.rows)), levels, self.instance.guide, 0), -1, 0)]
        while todo:
            part, parent, side = todo.pop()
            if parent >= 0:
                sides[side][parent] = len(test)
            labels = self.instance.labels[part.rows]
            pure = bool((labels == labels[0]).all())
            chosen, parts = (-1, ()) if pure else self.split(part)
            todo += [(each, len(test), number) for number, each in enumerate(parts)]
            test.append(chosen)
            label.append(int(labels[0]) if pure else -1)
            for children in sides:
                children.append(-1)
        return FlatShallowTree(*(np.array(part, dtype=np.int32) for part in (test, *sides, label)))

    def split(self, part: _Part) -> tuple[int, tuple[_Part, _Part]]:
        """The test with the highest gain whose sides have trees with few enough levels, and its sides."""
        node = self.first_split(part)
        own = int(part.known.test[node])
        gain = np.round(worth(self.instance.bits[:, part.rows], part.rows, self.counts, "entropy")[0], 9)
        for test in np.argsort(-gain, kind="stable")[:CANDIDATES]:
            if gain[test] <= gain[own] or self.words <= 0 or self.deadline.passed:
                break
            said = self.instance.bits[test, part.rows]
            sides = []
            for rows in (part.rows[said], part.rows[~said]):
                known = self.within(rows, part.levels - 1, part.known)
                if known is None:
                    break
                sides.append(_Part(rows, part.levels - 1, known, 0))
            else:
                return int(test), (sides[0], sides[1])
        said = self.instance.bits[own, part.rows]
        yes = _Part(part.rows[said], part.levels - 1, part.known, int(part.known.yes[node]))
        no = _Part(part.rows[~said], part.levels - 1, part.known, int(part.known.no[node]))
        return own, (yes, no)

    def first_split(self, part: _Part) -> int:
        """The first node of the known tree that divides the rows; they have two classes, so there is one."""
        node = part.node
        while True:
            said = self.instance.bits[part.known.test[node], part.rows]
            if not said.all() and said.any():
                return node
            node = int(part.known.yes[node] if said.all() else part.known.no[node])

    def within(self, rows: NDArray[np.intp], levels: int, known: FlatShallowTree) -> FlatShallowTree | None:
        """A tree of at most this many levels for the rows, if the search finds one with little effort."""
        bits, labels = self.instance.bits[:, rows], self.instance.labels[rows]
        self.words -= bits.size // 64 + 1
        try:
            with shallow.Shallow(bits, labels, self.instance.weights, known, self.memory) as solver:
                answer = solver.search(
                    levels, self.slack, min(self.side_words, max(1, self.words)), self.deadline.left()
                )
                self.words -= solver.work
                return solver.tree() if answer == shallow.FOUND else None
        except MemoryError:
            return None
