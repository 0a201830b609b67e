"""Tree, rows -> at every node, how its rows spread over the tested column, by class or with the target's values.

Bars have places 0, 1, 2, ... from the left, and a cut is a place between them, so numbers and levels are drawn alike:
the bars left of the first cut are the rows of the first side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.dates import number_of
from treeml.data.table import label_text
from treeml.trees.leaf_lines import along_lines
from treeml.trees.nodes import Branch, Node, TreeData, TreeLeaf, TreeTest, number_text, rounded_text
from treeml.trees.routing import Inputs, Values, read_inputs, route, side_numbers

BINS = 18  # of a histogram, about
MOST_BARS = 30  # levels of a column that get a bar of their own
MOST_POINTS = 150  # of a cloud; more would be one blot

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Bar:
    """Rows with values in one interval, or with one level, by class."""

    label: str  # empty for an interval
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ColumnSpread:
    """The rows at a node along the tested column, or along the target for a leaf of numbers."""

    bars: tuple[Bar, ...]
    cuts: tuple[float, ...]
    marks: tuple[tuple[float, str], ...] = ()  # numbers below the axis, each at its place
    points: tuple[tuple[float, float], ...] = ()  # (place, the target as a share of its range)
    sides: tuple[str, ...] = ()  # what to write below the bars of each side if their names do not fit
    # From, to, and the mean of the target there, or the ends of a line through it, as shares of its range.
    lines: tuple[tuple[float, float, float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Distributions:
    """The spread at every node, parents before their sides; None where there is nothing to show."""

    spreads: tuple[ColumnSpread | None, ...]
    rows: int
    reach: tuple[float, float] | None = None  # of the target, if it is a number that the rows have
    has_lines: bool = False  # whether a leaf is drawn with its linear model


@dataclass(frozen=True, eq=False, slots=True)
class _Kinds:
    """What the rows are colored by: a number per row, and how many numbers there are; and a target that is a number."""

    number: Rows
    count: int
    target: Floats | None = None


def distributions(tree: TreeData, data: Any) -> Distributions:
    """How the rows of `data`, in any form that `Tree.predict` takes, spread at every node.

    With a column of the target they are told apart by class. A class that the tree does not know counts as the last.
    """
    inputs = read_inputs(tree, data)
    kinds = _kinds(tree, data, inputs)
    reach = None
    if kinds.target is not None and np.isfinite(kinds.target).any():
        reach = (float(np.nanmin(kinds.target)), float(np.nanmax(kinds.target)))
    spreads: list[ColumnSpread | None] = []
    todo: list[tuple[Node, Rows]] = [(tree.root, np.arange(inputs.rows))]
    while todo:
        node, rows = todo.pop()
        if isinstance(node, TreeLeaf):
            spreads.append(None if reach is None or not len(rows) else _of_leaf(node, rows, kinds, reach, inputs))
            continue
        column = inputs.columns[node.test.column]
        side = side_numbers(node, column, rows)
        spreads.append(_at(node, column, rows, side, kinds, reach) if len(rows) else None)
        todo += [(each.node, rows[side == place]) for place, each in reversed(list(enumerate(tree.sides(node))))]
    has_lines = reach is not None and any(leaf.slopes for leaf in tree.leaves)
    return Distributions(tuple(spreads), inputs.rows, reach, has_lines)


def _kinds(tree: TreeData, data: Any, inputs: Inputs) -> _Kinds:
    if tree.task == "clusters":
        return _Kinds(route(tree, inputs), len(tree.leaves))
    target = _column_of(data, tree.target)
    if tree.task == "numbers":
        is_other = tree.predicted != tree.target  # such as a risk: it does not stand on the scale of the target
        values = (
            None if target is None or is_other else np.array([_number(value) for value in target], dtype=np.float64)
        )
        return _Kinds(np.zeros(inputs.rows, dtype=np.intp), 1, values)
    size = len(tree.classes)
    if target is None:
        return _Kinds(np.full(inputs.rows, size, dtype=np.intp), size + 1)
    known = {label_text(label): number for number, label in enumerate(tree.classes)}
    return _Kinds(np.array([known.get(label_text(value), size) for value in target], dtype=np.intp), size + 1)


def _column_of(data: Any, name: str) -> Sequence[Any] | None:
    """The values of one column, or None if the data have no such column."""
    if isinstance(data, (np.ndarray, Inputs)) or not name:
        return None
    if isinstance(data, Mapping):
        return data.get(name)
    if isinstance(data, (list, tuple)):
        has_it = all(isinstance(row, Mapping) and name in row for row in data)
        return [row[name] for row in data] if has_it else None
    import narwhals as nw

    frame = nw.from_native(data, eager_only=True)
    return frame[name].to_list() if name in frame.columns else None


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


def _at(
    node: Branch, column: Values, rows: Rows, side: Rows, kinds: _Kinds, reach: tuple[float, float] | None
) -> ColumnSpread:
    missing = np.zeros(len(rows), dtype=np.bool_) if column.missing is None else column.missing[rows]
    if node.test.kind == "at most" and not column.field.levels:
        values = column.values[rows].astype(np.float64)
        return _of_numbers(node.test, values, missing, rows, kinds, reach)
    return _of_levels(column, rows, side, missing, kinds, reach)


def _of_numbers(
    test: TreeTest,
    values: Floats,
    missing: NDArray[np.bool_],
    rows: Rows,
    kinds: _Kinds,
    reach: tuple[float, float] | None,
) -> ColumnSpread:
    """A histogram in which the threshold is the border of two bars; missing values are a bar at the right end."""
    known = values[~missing]
    cut = float(number_of(test.values[0]))
    low = min(float(known.min()), cut) if len(known) else cut
    high = max(float(known.max()), cut) if len(known) else cut
    scale = _scale(low, high)
    size = (high * scale - low * scale) / BINS or 1.0
    below, above = ((cut * scale - low * scale) / size, (high * scale - cut * scale) / size)
    left, right = max(1, int(np.ceil(below - 1e-9))), max(1, int(np.ceil(above - 1e-9)))
    places = left + (values * scale - cut * scale) / size
    # A bar holds the values up to its right border, as `<=` does.
    bins = np.clip(np.ceil(np.where(missing, 0.0, places)).astype(np.intp) - 1, 0, left + right - 1)
    bins[~missing & (values > cut)] = np.maximum(bins[~missing & (values > cut)], left)
    bins[missing] = left + right + 1
    has_missing = bool(missing.any())
    labels = [""] * (left + right) + (["", "missing"] if has_missing else [])
    texts = [(left - below, low), (float(left), cut), (left + above, high)]
    marks = tuple((place, _short(value)) for place, value in dict(texts).items())
    spread = ColumnSpread(_bars(labels, bins, rows, kinds), (float(left),), marks)
    if reach is None or kinds.target is None:
        return spread
    return _with_points(spread, np.where(missing, left + right + 1.5, places), rows, kinds.target, reach)


def _share(values: Any, low: float, high: float) -> Any:
    """Where values lie between two ends, from 0 to 1, also if no float lies between these."""
    scale = _scale(low, high)
    return (values * scale - low * scale) / (high * scale - low * scale)


def _scale(low: float, high: float) -> float:
    """The difference of numbers as far apart as these is finite if they are multiplied by this."""
    return 1.0 if np.isfinite(high - low) else 0.25


def _of_levels(
    column: Values,
    rows: Rows,
    taken: Rows,
    missing: NDArray[np.bool_],
    kinds: _Kinds,
    reach: tuple[float, float] | None,
) -> ColumnSpread:
    """A bar per level, those of the first side first; small levels of a side share one bar."""
    keys = np.where(missing, -1, column.values[rows]) if column.field.levels else column.values[rows]
    found, code, counts = np.unique(keys, return_inverse=True, return_counts=True)
    first = np.array([int(np.argmax(code == number)) for number in range(len(found))], dtype=np.intp)
    side = taken[first]
    labels: list[str] = []
    bar_of = np.zeros(len(found), dtype=np.intp)
    cuts, names = [], []
    room = max(2, MOST_BARS // len(set(side.tolist())))
    for each in range(int(side.max()) + 1):
        here = np.flatnonzero(side == each)
        own = set(here[np.argsort(-counts[here], kind="stable")][: room if len(here) <= room else room - 1].tolist())
        for number in here.tolist():
            if number in own:
                bar_of[number] = len(labels)
                labels.append(_level(column, found[number], bool(missing[first[number]])))
        if len(own) < len(here):
            bar_of[[number for number in here.tolist() if number not in own]] = len(labels)
            labels.append(f"{len(here) - len(own)} more")
        cuts.append(float(len(labels)))
        names.append(f"{len(here)} {'value' if len(here) == 1 else 'values'}" if len(here) else "")
    bins = bar_of[code]
    spread = ColumnSpread(_bars(labels, bins, rows, kinds), tuple(cuts[:-1] or cuts), sides=tuple(names))
    if reach is None or kinds.target is None:
        return spread
    # Points of one level stand side by side, in the order of the rows, so that they hide each other less.
    return _with_points(spread, bins + 0.2 + 0.6 * (np.arange(len(rows)) * 0.618 % 1.0), rows, kinds.target, reach)


def _level(column: Values, value: Any, is_missing: bool) -> str:
    if is_missing:
        return "missing"
    if not column.field.levels:
        return number_text(value.item() if hasattr(value, "item") else value)
    return label_text(column.field.levels[value]) if value >= 0 else "other"


def _bars(labels: Sequence[str], bins: Rows, rows: Rows, kinds: _Kinds) -> tuple[Bar, ...]:
    cells = np.bincount(bins * kinds.count + kinds.number[rows], minlength=len(labels) * kinds.count)
    counts = cells.reshape(-1, kinds.count)[: len(labels)].tolist()
    return tuple(Bar(label, tuple(each)) for label, each in zip(labels, counts, strict=True))


def _with_points(
    spread: ColumnSpread, places: Floats, rows: Rows, target: Floats, reach: tuple[float, float]
) -> ColumnSpread:
    """The same with a point per row (at most MOST_POINTS, evenly chosen), and the mean of the target on each side."""
    low, high = reach
    share = _share(target[rows], low, high) if high > low else np.full(len(rows), 0.5)
    known = np.flatnonzero(np.isfinite(share))
    if not len(known):
        return spread
    chosen = known[np.linspace(0, len(known) - 1, min(len(known), MOST_POINTS)).astype(np.intp)]
    points = tuple((float(places[row]), float(share[row])) for row in chosen)
    borders = (0.0, *spread.cuts, float(len(spread.bars)))
    place_of, means = places[known], []
    for start, stop in pairwise(borders):
        inside = (place_of > start if start else place_of >= 0) & (place_of <= stop)
        if inside.any():
            mean = float(share[known][inside].mean())
            means.append((start, stop, mean, mean))
    return replace(spread, points=points, lines=tuple(means))


def _of_leaf(
    leaf: TreeLeaf, rows: Rows, kinds: _Kinds, reach: tuple[float, float], inputs: Inputs
) -> ColumnSpread | None:
    assert kinds.target is not None
    known = rows[np.isfinite(kinds.target[rows])]
    if not len(known) or reach[1] <= reach[0]:
        return None
    return _of_line(leaf, known, kinds.target, reach, inputs) or _of_target(leaf, kinds.target[known], reach)


def _of_line(
    leaf: TreeLeaf, rows: Rows, target: Floats, reach: tuple[float, float], inputs: Inputs
) -> ColumnSpread | None:
    """The target in a linear leaf along the column of its line, or along its prediction if that has several columns."""
    columns = [inputs.columns[name].values[rows].astype(np.float64) for name, _ in leaf.slopes]
    everywhere = np.zeros(len(rows), dtype=np.intp)
    added = along_lines((leaf,), everywhere, lambda name: inputs.columns[name].values[rows])
    predicted = leaf.prediction + added
    along = columns[0] if len(columns) == 1 else np.broadcast_to(predicted, len(rows))
    is_known = np.isfinite(along)
    if not is_known.any() or along[is_known].min() == along[is_known].max():
        return None
    low, high = float(along[is_known].min()), float(along[is_known].max())
    bars = (Bar("", (0,)),) * BINS  # the dots take their place
    marks = ((0.0, _short(low)), (float(BINS), _short(high)))
    places = _share(along, low, high) * BINS
    spread = _with_points(ColumnSpread(bars, (), marks), places[is_known], rows[is_known], target, reach)
    ends = [
        float(_share(predicted[is_known][place], *reach))
        for place in (int(np.argmin(along[is_known])), int(np.argmax(along[is_known])))
    ]
    return replace(spread, lines=(_within_range(*ends),))


def _within_range(first: float, last: float) -> tuple[float, float, float, float]:
    """The part of a line over all bars that lies between the shares 0 and 1."""

    def place(share: float) -> float:
        return min(max((share - first) / (last - first) * BINS, 0.0), float(BINS))

    start, stop = min(max(first, 0.0), 1.0), min(max(last, 0.0), 1.0)
    if first == last:
        return 0.0, float(BINS), start, stop
    return place(start), place(stop), start, stop


def _of_target(leaf: TreeLeaf, values: Floats, reach: tuple[float, float]) -> ColumnSpread:
    """The histogram of the target in a leaf of numbers, over the same range in all leaves, with the prediction."""
    low, high = reach
    bins = np.minimum((_share(values, low, high) * BINS).astype(np.intp), BINS - 1)
    counts = np.bincount(bins, minlength=BINS)
    place = float(_share(leaf.prediction, low, high)) * BINS
    # A linear leaf predicts a number of its own for each row.
    cuts = () if leaf.slopes else (min(max(place, 0.0), float(BINS)),)
    bars = tuple(Bar("", (int(count),)) for count in counts)
    return ColumnSpread(bars, cuts, ((0.0, _short(low)), (float(BINS), _short(high))))


def _short(value: float) -> str:
    text = number_text(value)
    return text if len(text) <= 8 else rounded_text(value) if len(rounded_text(value)) <= 8 else f"{value:.3g}"
