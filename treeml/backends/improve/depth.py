"""Goal depth: the deepest leaf is shortened by making some subtree on its path shallower (Schidler and Szeider 2021).

Their Algorithm 1: take a leaf of the greatest depth; climb towards the root from the largest subtree that is within
reach as a whole; replace the first subtree for which a shallower one is found. If no subtree on the path to a deepest
leaf can be made shallower, the search ends: nothing within reach makes the tree shallower.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from treeml.backends.contract import Deadline
from treeml.backends.improve.inner import Inner
from treeml.backends.improve.instance import LocalInstance, Reach, cut_instance, whole_instance
from treeml.backends.improve.vertices import Vertex, deepest_path, grow
from treeml.problem.problem import Problem


@dataclass(slots=True)
class Settled:
    """Local instances that need not be tried again: rows of the root -> height and effort spent."""

    problem_rows: int
    known: dict[int, tuple[int, int, bool]] = field(default_factory=dict)  # rows -> height, effort, proved?
    numbers: NDArray[np.uint64] = field(init=False)

    def __post_init__(self) -> None:
        self.numbers = np.random.default_rng(20210118).integers(0, 2**63, self.problem_rows, dtype=np.uint64)

    def key(self, vertex: Vertex) -> int:
        return int(np.bitwise_xor.reduce(self.numbers[vertex.rows]))

    def covers(self, vertex: Vertex, level: int) -> bool:
        known = self.known.get(self.key(vertex))
        return known is not None and known[0] == vertex.height and (known[2] or known[1] >= level)

    def note(self, vertex: Vertex, level: int, is_proof: bool) -> None:
        self.known[self.key(vertex)] = (vertex.height, level, is_proof)


@dataclass(slots=True)
class Shallower:
    """Repeated search for a replacement on the deepest path of the current tree."""

    problem: Problem
    classes: NDArray[np.int32]  # the class that every row must keep
    inner: Inner
    reach: Reach
    reductions: tuple[str, ...]
    settled: Settled
    level: int = 0  # of effort
    tried: int = 0
    proofs: int = 0

    def next(self, root: Vertex, deadline: Deadline) -> tuple[Vertex, Vertex] | None:
        """A vertex and its replacement; None if nothing is left within reach, or the time is up."""
        while not deadline.passed:
            for vertex in self.climb(root):
                found = self.replacement(vertex, deadline)
                if found is not None:
                    return vertex, found
                if deadline.passed:
                    return None
            self.level += 1
            if self.level >= self.inner.levels:
                return None
        return None

    @property
    def is_over(self) -> bool:
        """Was every instance within reach tried with the greatest effort?"""
        return self.level >= self.inner.levels

    @property
    def unproved(self) -> int:
        """The number of subtrees that were given up without a proof."""
        return sum(not proved for _, _, proved in self.settled.known.values())

    @property
    def failures(self) -> Sequence[str]:
        """Error messages of inner back-ends that failed."""
        return self.inner.failures

    @property
    def refused(self) -> Sequence[str]:
        """Requirements are always checked on whole trees here, so there is nothing to report."""
        return ()

    def climb(self, root: Vertex) -> Iterator[Vertex]:
        """The splits on the deepest path that are worth trying, from the bottom up."""
        for vertex in reversed(deepest_path(root)[:-1]):
            if not self.settled.covers(vertex, self.level):
                yield vertex

    def replacement(self, vertex: Vertex, deadline: Deadline) -> Vertex | None:
        proved = True
        for instance in self.instances(vertex):
            self.tried += 1
            tried = self.inner.shallower(instance, self.level, deadline)
            if tried.tree is not None:
                new = grow(tried.tree, self.problem, vertex.rows)
                if new.height < vertex.height:
                    return new
            # A proof about a cut or reduced instance holds for that instance only.
            if tried.is_proof and instance.is_whole and len(instance.rows) == len(vertex.rows):
                self.proofs += 1
                proved = True
                break
            proved = False
        if not deadline.passed:
            self.settled.note(vertex, self.level, proved)
        return None

    def instances(self, vertex: Vertex) -> Iterator[LocalInstance]:
        whole = None
        if "none" in self.reductions:
            whole = whole_instance(vertex, self.problem, self.classes, self.reach)
        if whole is not None:
            yield whole
            if self.inner.is_thorough:
                return  # it covers every cut instance of this vertex
        for to_leaves in (True, False):
            for reduction in self.reductions:
                if reduction == "none" and (to_leaves or whole is not None):
                    continue
                made = cut_instance(vertex, self.problem, self.classes, self.reach, reduction, to_leaves)
                if made is not None and (made.is_safe or self.inner.weighs) and not (made.is_whole and not to_leaves):
                    yield made
