"""Instance, columns, a size and a depth -> a perfect tree within these limits, if there is one.

Every shape of a tree is tried with every assignment of columns (Lemma 5). The thresholds follow: if the left side has a
tree for the rows up to a threshold, it has one for any lower threshold, while the right side profits from higher ones.
So only the largest threshold that works for the left side needs to be tried, and it is found by bisection (FINDTH and
BINARYSEARCH, Lemma 6). Shapes, columns and thresholds are chosen together from the root down, so that results for a set
of rows are reused in every shape; `by_shapes` goes through the shapes one by one, as the paper does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from treeml.backends.parameterized.instance import Instance
from treeml.problem.tree import Leaf, Node, Split

Shape = tuple[Any, Any] | None  # a pair of shapes, or None for a leaf
BYTES_PER_ENTRY = 250


class Trees:
    """Trees over some columns, with a cache of the results for sets of rows."""

    def __init__(
        self, instance: Instance, columns: frozenset[int], tick: Callable[[], None], most_entries: int | None = None
    ) -> None:
        self.instance, self.columns, self.tick, self.most_entries = instance, sorted(columns), tick, most_entries
        self.known: dict[tuple[int, int, int], Node | None] = {}

    def find(self, rows: int, tests: int, depth: int) -> Node | None:
        """A perfect tree for these rows within this number of tests and levels, if there is one."""
        present = [number for number, members in enumerate(self.instance.classes) if members & rows]
        if len(present) <= 1:
            return Leaf(int(self._label(present[0])) if present else 0)
        depth = min(depth, tests)
        tests = tests if depth >= 62 else min(tests, (1 << depth) - 1)
        if len(present) > tests + 1:
            return None
        key = (rows, tests, depth)
        if key not in self.known:
            self.tick()
            found = self._split(rows, tests, depth)
            if self.most_entries is not None and len(self.known) >= self.most_entries:
                self.known.clear()
            self.known[key] = found
        return self.known[key]

    def _split(self, rows: int, tests: int, depth: int) -> Node | None:
        most = tests - 1 if depth >= 62 else min(tests - 1, (1 << (depth - 1)) - 1)
        for column in self.columns:
            cuts = self._cuts(rows, column)
            if not cuts:
                continue
            for left in range(tests - 1 - most, most + 1):
                place = self._largest_cut(rows, cuts, left, depth - 1)
                if place < 0:
                    continue
                cut, below = cuts[place]
                yes = self.find(rows & below, left, depth - 1)
                no = self.find(rows & ~below, tests - 1 - left, depth - 1)
                if yes is not None and no is not None:
                    return split(self.instance, column, cut, yes, no)
        return None

    def _largest_cut(self, rows: int, cuts: list[tuple[int, int]], tests: int, depth: int) -> int:
        return largest(len(cuts), lambda at: self.find(rows & cuts[at][1], tests, depth) is not None)

    def _cuts(self, rows: int, column: int) -> list[tuple[int, int]]:
        """The thresholds of a column that split the rows differently, each with the rows up to it."""
        result = []
        last = 0
        for cut, below in enumerate(self.instance.at_most[column]):
            part = rows & below
            if part == rows:
                break
            if part != last:
                result.append((cut, below))
                last = part
        return result

    def _label(self, number: int) -> int:
        return class_label(self.instance, number)


def largest(count: int, holds: Callable[[int], bool]) -> int:
    """The last place at which a condition holds that stays false once it is false; -1 if it never holds."""
    low, high = -1, count - 1
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


def split(instance: Instance, column: int, cut: int, below: Node, above: Node) -> Split:
    test = instance.tests[column][cut]
    return Split(test, above, below) if instance.swapped[column] else Split(test, below, above)


def class_label(instance: Instance, number: int) -> int:
    members = instance.classes[number]
    return int(instance.label[(members & -members).bit_length() - 1])


# -- shape by shape, and assignment by assignment ------------------------------------------


@cache
def shapes(tests: int) -> tuple[Shape, ...]:
    """Every shape of a tree with exactly this many tests."""
    if tests == 0:
        return (None,)
    return tuple(
        (left, right) for count in range(tests) for left in shapes(count) for right in shapes(tests - 1 - count)
    )


def by_shapes(
    instance: Instance, columns: frozenset[int], tests: int, depth: int, tick: Callable[[], None] = lambda: None
) -> Node | None:
    """A tree with the fewest tests over these columns, found shape by shape (Theorem 4)."""
    for size in range(tests + 1):
        for shape in shapes(size):
            if levels(shape) > depth:
                continue
            for assignment in _assignments(shape, sorted(columns)):
                tick()
                tree = find_thresholds(instance, instance.everything, assignment)
                if tree is not None:
                    return tree
    return None


def levels(shape: Shape) -> int:
    return 0 if shape is None else 1 + max(levels(shape[0]), levels(shape[1]))


def _assignments(shape: Shape, columns: list[int]) -> Iterator[Any]:
    """Every assignment of columns to the tests of a shape, as nested (column, left, right)."""
    if shape is None:
        yield None
        return
    for column in columns:
        for left in _assignments(shape[0], columns):
            for right in _assignments(shape[1], columns):
                yield column, left, right


def find_thresholds(instance: Instance, rows: int, assignment: Any) -> Node | None:
    """FINDTH: thresholds that make the assigned shape a tree for these rows, if any; sides without rows are omitted."""
    present = [number for number, members in enumerate(instance.classes) if members & rows]
    if assignment is None:
        if len(present) > 1:
            return None
        return Leaf(class_label(instance, present[0]) if present else 0)
    column, left, right = assignment
    cuts = instance.at_most[column]
    place = largest(len(cuts), lambda at: find_thresholds(instance, rows & cuts[at], left) is not None)
    below = cuts[place] if place >= 0 else 0
    if find_thresholds(instance, rows, left) is not None:
        below = instance.everything
    above = find_thresholds(instance, rows & ~below, right)
    if above is None:
        return None
    if not rows & below:
        return above
    under = find_thresholds(instance, rows & below, left)
    assert under is not None
    return under if not rows & ~below else split(instance, column, place, under, above)
