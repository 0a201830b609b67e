"""Tree -> whether it is monotone along a column, judged by the regions of its leaves, not by the rows.

A leaf has a region: for every column the values that lead to it. Two leaves can differ in one column alone if their
regions intersect in every other column. Values that cannot occur (a level that the training data did not have, a
missing value in a column that had none) belong to no region.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from treeml.data.dates import number_of
from treeml.data.table import label_text
from treeml.trees.nodes import Field, TreeTest
from treeml.trees.tree import Tree

Edge = Fraction | None  # None: unbounded


@dataclass(frozen=True, slots=True)
class _Values:
    """A set of values of one column: numbers above `above` and up to `up_to`, or levels by position; and missing."""

    above: Edge = None
    up_to: Edge = None
    levels: frozenset[int] | None = None  # None for numbers
    numbers: bool = True  # False: no numbers at all
    missing: bool = False

    def meets(self, other: _Values) -> bool:
        if self.missing and other.missing:
            return True
        if self.levels is not None and other.levels is not None:
            return bool(self.levels & other.levels)
        above, up_to = _higher(self.above, other.above), _lower(self.up_to, other.up_to)
        return self.numbers and other.numbers and _below(above, up_to)

    def can_rise_to(self, other: _Values) -> bool:
        """Is some value of this set below some value of the other?"""
        if self.levels is not None and other.levels is not None:
            return bool(self.levels) and bool(other.levels) and min(self.levels) < max(other.levels)
        return self.numbers and other.numbers and _below(self.above, other.up_to)


def is_monotone(tree: Tree, column: str, increasing: bool, positive: str) -> bool:
    """Does raising the column alone (lowering it, if not increasing) never turn the positive class into another?"""
    if column not in tree.columns:
        return True
    regions = list(_regions(tree))
    marks = [label_text(leaf.prediction) == positive for leaf in tree.leaves]
    for low, low_positive in zip(regions, marks, strict=True):
        for high, high_positive in zip(regions, marks, strict=True):
            breaks = low_positive and not high_positive if increasing else high_positive and not low_positive
            if breaks and _can_rise(low, high, column):
                return False
    return True


def _can_rise(low: Mapping[str, _Values], high: Mapping[str, _Values], column: str) -> bool:
    """Can an input of the first region reach the second by raising only this column?"""
    return all(here.can_rise_to(high[name]) if name == column else here.meets(high[name]) for name, here in low.items())


def _regions(tree: Tree) -> Iterator[Mapping[str, _Values]]:
    """The region of every leaf, in order."""
    fields = {field.name: field for field in tree.fields}
    everything = {
        name: _Values(levels=frozenset(range(len(field.levels))) if field.levels else None, missing=field.missing)
        for name, field in fields.items()
    }
    for path, _ in tree.paths():
        region = dict(everything)
        for test, answer in path:
            region[test.column] = _cut(region[test.column], test, answer, fields[test.column])
        yield region


def _cut(values: _Values, test: TreeTest, answer: bool, field: Field) -> _Values:
    """The values that give this answer to the test."""
    if test.kind == "missing":
        return _only_missing(values) if answer else replace(values, missing=False)
    missing = values.missing and test.missing_yes == answer
    if values.levels is not None:
        passing = frozenset(place for place in values.levels if _passes(test, place, field))
        return replace(values, levels=passing if answer else values.levels - passing, missing=missing)
    threshold = Fraction(number_of(test.values[0]))
    if answer:
        values = replace(values, up_to=_lower(values.up_to, threshold), missing=missing)
    else:
        values = replace(values, above=_higher(values.above, threshold), missing=missing)
    # The same cut twice, with the missing rows on either side, leaves no number, and perhaps the missing one.
    return replace(values, numbers=values.numbers and _below(values.above, values.up_to))


def _only_missing(values: _Values) -> _Values:
    return replace(values, numbers=False, levels=None if values.levels is None else frozenset())


def _passes(test: TreeTest, place: int, field: Field) -> bool:
    texts = [label_text(level) for level in field.levels]
    wanted = [label_text(value) for value in test.values]
    if test.kind != "at most":
        return texts[place] in wanted
    if wanted[0] in texts:
        return place <= texts.index(wanted[0])
    return bool(float(field.levels[place]) <= test.values[0])


def _lower(left: Edge, right: Edge) -> Edge:
    return right if left is None else left if right is None else min(left, right)


def _higher(left: Edge, right: Edge) -> Edge:
    return right if left is None else left if right is None else max(left, right)


def _below(above: Edge, up_to: Edge) -> bool:
    return above is None or up_to is None or above < up_to
