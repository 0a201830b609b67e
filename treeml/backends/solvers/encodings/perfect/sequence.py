"""Tree <-> DT-sequence: the groups of rows that are still together, level by level (Schidler and Szeider 2021).

In a sequence of length d, all rows are together at level 0 (DT1), a group either stays whole or is divided in two by
one question from one level to the next (DT2), and at level d every group has one class (DT3). A tree of depth d gives
a sequence of length d and the other way around (Theorem 3). The clauses of `partition.py` describe sequences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from treeml.problem.tree import Leaf, Node, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Bits = NDArray[np.bool_]
    Sequence_ = NDArray[np.int64]  # levels x rows: the number of the row's group, which is its first row

Divide = Callable[["Whole", "Whole"], tuple[int, bool]]  # rows of either side -> test, and whether its no is the first


def sequence_of(tree: Node, yes: Callable[[int, Whole], Bits], rows: int, depth: int) -> Sequence_:
    """The sequence of the first `depth` levels of a tree; `yes` answers a test for some of the rows.

    A sequence that is longer than the tree repeats its last level.
    """
    group = np.zeros((depth + 1, rows), np.int64)
    here: list[tuple[Node, Whole]] = [(tree, np.arange(rows))]
    for level in range(depth + 1):
        below: list[tuple[Node, Whole]] = []
        for node, inside in here:
            group[level, inside] = inside[0]
            if isinstance(node, Leaf):
                below.append((node, inside))
                continue
            answers = yes(node.test, inside)
            sides = ((node.yes, inside[answers]), (node.no, inside[~answers]))
            below += [side for side in sides if len(side[1])]
        here = below
    return group


def tree_of(sequence: Sequence_, labels: Whole, divide: Divide) -> Node:
    """The tree of a sequence; `divide` finds a test that separates two groups. A group of one class is a leaf."""

    def grow(rows: Whole, level: int) -> Node:
        if (labels[rows] == labels[rows[0]]).all():
            return Leaf(int(labels[rows[0]]))
        while True:
            level += 1  # DT3: a group of several classes is divided before the last level
            first = sequence[level, rows] == sequence[level, rows[0]]
            if not first.all():
                break
        one, other = rows[first], rows[~first]
        test, swapped = divide(one, other)
        sides = grow(one, level), grow(other, level)
        return Split(test, *(sides[::-1] if swapped else sides))

    return grow(np.arange(sequence.shape[1]), 0)
