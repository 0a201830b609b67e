"""A random generator -> rows in which a tree is planted whose leaves are as small as a requirement allows.

Uniform random rows have many good trees with large leaves, so a search that wrongly excludes thin leaves still finds an
optimum. Here the planted tree is good, and some of its leaves keep a limit exactly: a part of the rows breaks it.
Columns that are nearly equal, nested thresholds and stripes make the bounds that searches carry over from some rows to
others as tight as they can be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

Box = tuple[tuple[int, int], ...]  # for each column: the least value and the one after the greatest


@dataclass(frozen=True, slots=True)
class PlantedRows:
    """Rows of a planted tree; `leaf` is the leaf of every row, and the limits are those that the tree keeps exactly."""

    columns: tuple[tuple[int, ...], ...]
    leaf: tuple[int, ...]
    label: tuple[int, ...]
    classes: int
    depth: int
    path: tuple[tuple[tuple[int, int, bool], ...], ...]  # of each leaf: column, cut, whether values are at most the cut

    @property
    def rows(self) -> int:
        return len(self.leaf)

    @property
    def leaves(self) -> int:
        return len(self.path)

    @property
    def support(self) -> int:
        return min(self.leaf.count(number) for number in range(self.leaves))

    def members(self, leaf: int) -> tuple[int, ...]:
        return tuple(row for row, own in enumerate(self.leaf) if own == leaf)


Path = tuple[tuple[int, int, bool], ...]
Shape = list[tuple[Box, Path]]


def planted_rows(random: Random, depth: int, support: int, span: int, classes: int = 2, most: int = 60) -> PlantedRows:
    """About `most` rows at most, unless the leaves need more; values of columns lie between 0 and `span`."""
    columns = random.choice((2, 2, 3))
    shape = random.choice(SHAPES)(random, depth, columns, span)
    thick = max(0, most // len(shape) - support)
    first = random.randrange(classes)
    rows: list[tuple[tuple[int, ...], int, int]] = []
    for number, (box, _) in enumerate(shape):
        is_thin = random.random() < 0.6
        more = random.randint(0, min(2, thick)) if is_thin else random.randint(0, thick)
        own = (first + (number if random.random() < 0.85 else random.randrange(classes))) % classes
        for _ in range(support + more):
            rows.append((tuple(_value(random, *side, is_thin) for side in box), number, own))
    random.shuffle(rows)
    labels = [own for _, _, own in rows]
    for _ in range(random.choice((0, 0, 1, 2, 4))):
        labels[random.randrange(len(rows))] = random.randrange(classes)
    made = [tuple(values[column] for values, _, _ in rows) for column in range(columns)]
    made += _similar_columns(random, made)
    levels = max(len(path) for _, path in shape)
    leaf = tuple(number for _, number, _ in rows)
    return PlantedRows(tuple(made), leaf, tuple(labels), classes, levels, tuple(path for _, path in shape))


def _value(random: Random, low: int, high: int, is_thin: bool) -> int:
    """Values of thin leaves gather at an end, so that cuts of other columns take their rows one by one."""
    if is_thin and random.random() < 0.6:
        return random.choice((low, high - 1))
    return random.randrange(low, high)


def _similar_columns(random: Random, made: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Columns that order the rows nearly as others do, the other way round, or at random."""
    more: list[tuple[int, ...]] = []
    for _ in range(random.choice((0, 0, 1, 2))):
        values = list(random.choice(made))
        kind = random.choice(("moved", "moved", "turned", "noise", "coarse"))
        if kind == "moved":
            for _ in range(random.randint(1, 4)):
                values[random.randrange(len(values))] = random.choice(values)
        elif kind == "turned":
            top = max(values)
            values = [top - value for value in values]
            values[random.randrange(len(values))] = random.randint(0, top)
        elif kind == "noise":
            random.shuffle(values)
        else:
            values = [value // 2 for value in values]
        more.append(tuple(values))
    return more


# -- shapes of the planted tree ---------------------------------------------------------------------------


def _boxes(random: Random, depth: int, columns: int, span: int) -> Shape:
    """Any tree."""

    def below(box: Box, path: Path, levels: int) -> Shape:
        wide = [column for column, (low, high) in enumerate(box) if high - low > 1]
        if not levels or not wide or (path and random.random() < 0.15):
            return [(box, path)]
        column = random.choice(wide)
        low, high = box[column]
        cut = random.randrange(low, high - 1)
        return [
            leaf
            for side in (True, False)
            for leaf in below(_cut(box, column, cut, side), (*path, (column, cut, side)), levels - 1)
        ]

    return below(((0, span),) * columns, (), depth)


def _stripes(random: Random, depth: int, columns: int, span: int) -> Shape:
    """A column cut in halves, and each half striped along another column, one half a little further than the other."""

    def striped(box: Box, path: Path, levels: int) -> Shape:
        low, high = box[1]
        if not levels or high - low < 2:
            return [(box, path)]
        cut = min(high - 2, max(low, (low + high - 1) // 2 + random.choice((-1, 0, 0, 0, 1))))
        return [
            leaf
            for side in (True, False)
            for leaf in striped(_cut(box, 1, cut, side), (*path, (1, cut, side)), levels - 1)
        ]

    whole: Box = ((0, span),) * columns
    cut = span // 2 - 1
    found: Shape = []
    for side in (True, False):
        found += striped(_cut(whole, 0, cut, side), ((0, cut, side),), depth - 1)
    return found


def _nested(random: Random, depth: int, columns: int, span: int) -> Shape:
    """Each split cuts one leaf off; mostly along one column, so that thresholds are nested."""
    box: Box = ((0, span),) * columns
    path: Path = ()
    found: Shape = []
    main = random.randrange(columns)
    for _ in range(depth):
        column = main if random.random() < 0.7 else random.randrange(columns)
        low, high = box[column]
        if high - low < 2:
            continue
        from_below = random.random() < 0.5
        width = random.randint(1, max(1, (high - low) // (depth + 1)))
        cut = low + width - 1 if from_below else high - 1 - width
        found.append((_cut(box, column, cut, from_below), (*path, (column, cut, from_below))))
        box, path = _cut(box, column, cut, not from_below), (*path, (column, cut, not from_below))
    return [*found, (box, path)]


def _cut(box: Box, column: int, cut: int, is_below: bool) -> Box:
    low, high = box[column]
    return (*box[:column], (low, cut + 1) if is_below else (cut + 1, high), *box[column + 1 :])


SHAPES: tuple[Callable[[Random, int, int, int], Shape], ...] = (_boxes, _boxes, _stripes, _stripes, _nested)
