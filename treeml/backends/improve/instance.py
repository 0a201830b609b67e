"""A subtree -> its local instance (Schidler and Szeider 2021, section 3).

The instance asks to classify the rows of the subtree's root. A leaf of the whole tree has the class that it predicts; a
leaf at which the subtree was cut has a class of its own, whose weight is the number of levels below it. A tree for the
instance, with the cut parts attached to the leaves of their classes, replaces the subtree: rows keep their predictions
(Theorem 1), and if the weighted depth does not grow, neither does the depth of the whole tree (Theorem 2). A subtree is
safe if its own depth alone decides that (Corollary 1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeml.backends.improve import support
from treeml.backends.improve.vertices import Rows, Vertex, flat_of, node_of, node_of_flat
from treeml.native.shallow import FlatShallowTree
from treeml.problem.evaluate import answers
from treeml.problem.problem import Problem
from treeml.problem.tree import Node

Bits = NDArray[np.bool_]
SUPPORT_CELLS = 4_000_000  # with more answers than this, finding a support set takes longer than it saves


@dataclass(frozen=True, eq=False, slots=True)
class LocalInstance:
    """Rows with classes, the tests that may be used, and the subtree below a leaf of each class."""

    root: Vertex
    rows: Rows  # rows of the problem; one of each group of equal rows if features were reduced
    tests: NDArray[np.intp]  # numbers of tests of the problem
    bits: Bits  # these tests x these rows
    labels: NDArray[np.int32]
    weights: tuple[int, ...]  # of every class
    below: tuple[Node, ...]  # of every class
    guide: (
        FlatShallowTree | None
    )  # the subtree itself, its tests as indices into `tests`; None if one of them is not in `tests`
    depth: int  # of the subtree, without the parts that were cut off
    weighted_depth: int
    is_whole: bool  # every leaf of it is a leaf of the tree

    @property
    def is_safe(self) -> bool:
        """Is the whole tree no deeper whenever the subtree is no deeper, whatever the classes of its leaves?"""
        return all(self.depth <= self.weighted_depth - weight for weight in self.weights)

    def replacement(self, tree: FlatShallowTree) -> Node:
        """A tree for the instance, its tests as indices into `tests`, with the cut parts attached again."""
        numbers = np.append(self.tests, -1).astype(np.int32)  # -1 marks a leaf
        return node_of_flat(FlatShallowTree(numbers[tree.test], tree.yes, tree.no, tree.label), list(self.below))


@dataclass(frozen=True, slots=True)
class Reach:
    """How large a local instance may be."""

    depth: int  # levels of the subtree
    rows: Callable[[int], int]  # the most rows (distinct rows after reduction), by the levels of the subtree
    cells: int = 1 << 26  # the most answers, tests times rows


def whole_instance(root: Vertex, problem: Problem, classes: NDArray[np.int32], reach: Reach) -> LocalInstance | None:
    """The subtree down to its leaves, with every test that splits its rows; None if that is too large."""
    if len(root.rows) > reach.rows(root.height) or root.height > reach.depth:
        return None
    found = local_tests(problem, root.rows, reach.cells)
    return None if found is None else _instance(root, frozenset(), classes, *found)


def cut_instance(
    root: Vertex, problem: Problem, classes: NDArray[np.int32], reach: Reach, reduction: str, to_leaves: bool
) -> LocalInstance | None:
    """The largest subtree within reach, grown from its root towards the highest vertices; None if there is none.

    Growing by height makes it safe and unbalanced, which is where there is something to gain. With `to_leaves` it must
    go down to leaves of the tree everywhere.
    """
    best: LocalInstance | None = None
    inside = {id(root)}
    frontier = [vertex for vertex in root.sides if not vertex.is_leaf]
    depth = {id(root): 0, **dict.fromkeys(map(id, root.sides), 1)}
    levels = 1
    while True:
        if not frontier or not to_leaves:
            cut = frozenset(map(id, frontier))
            made = _reduced(root, cut, levels, problem, classes, reach, reduction)
            if made is not None:
                best = made
            elif best is not None or not frontier:
                return best  # the numbers of rows and tests only grow with the subtree
        if not frontier:
            return best
        height = max(vertex.height for vertex in frontier)
        for vertex in [each for each in frontier if each.height == height]:
            frontier.remove(vertex)
            inside.add(id(vertex))
            for side in vertex.sides:
                depth[id(side)] = depth[id(vertex)] + 1
                levels = max(levels, depth[id(side)])
                if not side.is_leaf:
                    frontier.append(side)
        if levels > reach.depth or len(inside) > reach.cells // max(1, len(root.rows)):
            return best


def _reduced(
    root: Vertex,
    cut: frozenset[int],
    levels: int,
    problem: Problem,
    classes: NDArray[np.int32],
    reach: Reach,
    reduction: str,
) -> LocalInstance | None:
    most = reach.rows(levels)
    if reduction == "none":
        if len(root.rows) > most:
            return None
        found = local_tests(problem, root.rows, reach.cells)
        return None if found is None else _instance(root, cut, classes, *found)
    own = _tests_of(root, cut)
    bits = np.array([answers(problem, int(test), root.rows) for test in own])
    if reduction == "tree":
        if len(support.distinct_rows(bits)) > most:
            return None
        return _collapsed(_instance(root, cut, classes, own, bits))
    found = local_tests(problem, root.rows, min(reach.cells, SUPPORT_CELLS))
    if found is None:
        return None
    made = _instance(root, cut, classes, *found)
    chosen = support.smallest(made.bits, made.labels)
    if chosen is None or len(support.distinct_rows(made.bits[chosen])) > most:
        return None
    return _collapsed(_instance(root, cut, classes, made.tests[chosen], made.bits[chosen]))


def local_tests(problem: Problem, rows: Rows, cells: int) -> tuple[NDArray[np.intp], Bits] | None:
    """Every test that splits the rows, with their answers; None if there would be too many answers.

    For an ordered column only cuts between two values that occur here are considered.
    """
    numbers: list[NDArray[np.intp]] = []
    parts: list[Bits] = []
    made = 0
    if problem.given_bits is not None:
        if problem.given_bits.shape[0] * len(rows) > cells:
            return None
        bits = problem.given_bits[:, rows]
        count = bits.sum(axis=1)
        kept = np.flatnonzero((count > 0) & (count < len(rows)))
        return kept, bits[kept]
    for feature in problem.features:
        if feature.kind == "ordered" and not feature.has_missing and feature.codes is not None:
            codes = feature.codes[rows]
            values = np.unique(codes)[:-1]
            block = codes[None, :] <= values[:, None]
            tests = feature.first_test + values.astype(np.intp)
        else:
            tests = np.arange(feature.first_test, feature.first_test + feature.tests)
            if made + len(tests) * len(rows) > cells:
                return None
            block = np.array([answers(problem, int(test), rows) for test in tests]).reshape(len(tests), len(rows))
            count = block.sum(axis=1)
            useful = (count > 0) & (count < len(rows))
            tests, block = tests[useful], block[useful]
        made += block.size
        if made > cells:
            return None
        numbers.append(tests)
        parts.append(block)
    if not parts:
        return np.zeros(0, dtype=np.intp), np.zeros((0, len(rows)), dtype=np.bool_)
    return np.concatenate(numbers), np.concatenate(parts)


def _tests_of(root: Vertex, cut: frozenset[int]) -> NDArray[np.intp]:
    tests = set()
    todo = [root]
    while todo:
        vertex = todo.pop()
        if not vertex.is_leaf and id(vertex) not in cut:
            tests.add(vertex.test)
            todo += vertex.sides
    return np.array(sorted(tests), dtype=np.intp)


def _instance(
    root: Vertex, cut: frozenset[int], classes: NDArray[np.int32], tests: NDArray[np.intp], bits: Bits
) -> LocalInstance:
    """The instance of the subtree that ends at the vertices of `cut`; `classes` are the predictions that rows keep."""
    labels = np.empty(len(root.rows), dtype=np.int32)
    known: dict[int, int] = {}  # a prediction, or -1 - id of a cut vertex, -> its class here
    weights: list[int] = []
    below: list[Node] = []
    depth = weighted = 0
    todo = [(root, 0)]
    while todo:
        vertex, level = todo.pop()
        if not vertex.is_leaf and id(vertex) not in cut:
            todo += [(side, level + 1) for side in vertex.sides]
            continue
        key = int(classes[vertex.rows[0]]) if vertex.is_leaf else -1 - id(vertex)
        if key not in known:
            known[key] = len(weights)
            weights.append(vertex.height)
            below.append(node_of(vertex))
        labels[np.searchsorted(root.rows, vertex.rows)] = known[key]  # rows are sorted
        depth, weighted = max(depth, level), max(weighted, level + vertex.height)
    return LocalInstance(
        root, root.rows, tests, bits, labels, tuple(weights), tuple(below), _guide(root, cut, tests), depth, weighted,
        not cut,
    )  # fmt: skip


def _guide(root: Vertex, cut: frozenset[int], tests: NDArray[np.intp]) -> FlatShallowTree | None:
    """The subtree with its tests as indices into `tests`; None if one of them is not in `tests`."""
    flat = flat_of(root, cut)
    places = {int(test): number for number, test in enumerate(tests)}
    if any(int(test) not in places for test in flat.test if test >= 0):
        return None
    numbers = np.array([places[int(test)] if test >= 0 else -1 for test in flat.test], dtype=np.int32)
    return FlatShallowTree(numbers, flat.yes, flat.no, flat.label)


def _collapsed(instance: LocalInstance) -> LocalInstance:
    """One row of every group of equal rows: rows that no test here tells apart have one class (Observation 1)."""
    kept = support.distinct_rows(instance.bits)
    return LocalInstance(
        instance.root, instance.rows[kept], instance.tests, instance.bits[:, kept], instance.labels[kept],
        instance.weights, instance.below, instance.guide, instance.depth, instance.weighted_depth, instance.is_whole,
    )  # fmt: skip
