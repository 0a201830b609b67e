"""A tree over the tests of a problem -> vertices with their rows, which can be replaced in place.

Everything here is linear in the rows of the subtree touched: replacing a subtree routes its own rows again, and only
heights change above it. No function is recursive, so trees may be arbitrarily deep.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeml.native.shallow import FlatShallowTree
from treeml.problem.evaluate import answers
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split

Rows = NDArray[np.intp]


@dataclass(eq=False, slots=True)
class Vertex:
    """A node with the rows that reach it. `height` is the number of levels below it, `size` its leaves."""

    rows: Rows
    parent: Vertex | None = None
    test: int = -1  # -1: a leaf
    yes: Vertex | None = None
    no: Vertex | None = None
    label: int = -1
    height: int = 0
    size: int = 1

    @property
    def is_leaf(self) -> bool:
        return self.test < 0

    @property
    def sides(self) -> tuple[Vertex, Vertex]:
        assert self.yes is not None
        assert self.no is not None
        return self.yes, self.no

    @property
    def depth(self) -> int:
        """The number of splits above it."""
        return sum(1 for _ in self.above())

    def above(self) -> Iterator[Vertex]:
        """Its ancestors, the parent first."""
        vertex = self.parent
        while vertex is not None:
            yield vertex
            vertex = vertex.parent

    def below(self) -> Iterator[Vertex]:
        """Itself and everything below it, parents before children, yes before no."""
        todo = [self]
        while todo:
            vertex = todo.pop()
            yield vertex
            if not vertex.is_leaf:
                yes, no = vertex.sides
                todo += [no, yes]


def grow(node: Node, problem: Problem, rows: Rows) -> Vertex:
    """The tree with its rows; a split that sends all rows one way is left out."""
    root = Vertex(rows)
    todo = [(node, root)]
    order: list[Vertex] = []
    while todo:
        part, vertex = todo.pop()
        while isinstance(part, Split):
            yes = answers(problem, part.test, vertex.rows)
            if yes.all():
                part = part.yes
            elif not yes.any():
                part = part.no
            else:
                vertex.test = part.test
                vertex.yes, vertex.no = Vertex(vertex.rows[yes], vertex), Vertex(vertex.rows[~yes], vertex)
                todo += [(part.no, vertex.no), (part.yes, vertex.yes)]
                order.append(vertex)
                break
        else:
            vertex.label = part.label
    for vertex in reversed(order):
        _measure(vertex)
    return root


def _measure(vertex: Vertex) -> None:
    yes, no = vertex.sides
    vertex.height = 1 + max(yes.height, no.height)
    vertex.size = yes.size + no.size


def replace(old: Vertex, new: Vertex) -> Vertex:
    """Replace a subtree by another, in constant time except for the heights above; return the root."""
    parent = new.parent = old.parent
    if parent is None:
        return new
    if parent.yes is old:
        parent.yes = new
    else:
        parent.no = new
    root = new
    for root in new.above():
        _measure(root)
    return root


def node_of(vertex: Vertex) -> Node:
    """The subtree as a tree over tests."""
    made: list[Node] = []
    for each in reversed(list(vertex.below())):
        if each.is_leaf:
            made.append(Leaf(each.label))
        else:
            yes, no = made.pop(), made.pop()  # in reverse order the yes side comes last
            made.append(Split(each.test, yes, no))
    return made[0]


def flat_of(vertex: Vertex, stop: frozenset[int] = frozenset()) -> FlatShallowTree:
    """The subtree as arrays, parents before children; vertices whose `id` is in `stop` count as leaves."""
    test: list[int] = []
    yes: list[int] = []
    no: list[int] = []
    label: list[int] = []
    todo: list[tuple[Vertex, list[int] | None, int]] = [(vertex, None, 0)]
    while todo:
        each, side, parent = todo.pop()
        number = len(test)
        if side is not None:
            side[parent] = number
        ends = each.is_leaf or id(each) in stop
        test.append(-1 if ends else each.test)
        label.append(each.label if ends else -1)
        yes.append(-1)
        no.append(-1)
        if not ends:
            one, other = each.sides
            todo += [(other, no, number), (one, yes, number)]
    return FlatShallowTree(*(np.array(part, dtype=np.int32) for part in (test, yes, no, label)))


def node_of_flat(flat: FlatShallowTree, attach: list[Node] | None = None) -> Node:
    """A tree in arrays as a tree over tests; leaf label i becomes attach[i] if that is given."""
    made: dict[int, Node] = {}
    for number in range(len(flat.test) - 1, -1, -1):
        if flat.test[number] < 0:
            label = int(flat.label[number])
            made[number] = Leaf(label) if attach is None else attach[label]
        else:
            made[number] = Split(
                int(flat.test[number]), made.pop(int(flat.yes[number])), made.pop(int(flat.no[number]))
            )
    return made[0]


def deepest_path(root: Vertex) -> list[Vertex]:
    """The path from the root to a deepest leaf, on the yes side if there is a choice."""
    path = [root]
    while not path[-1].is_leaf:
        yes, no = path[-1].sides
        path.append(yes if yes.height >= no.height else no)
    return path
