"""Records, results and sets of trees -> a Plot of plain JSON values -> a file.

Each function returns a Plot: titles, and series of points. `draw` draws it with matplotlib, or writes its data if the
file is JSON, so that nobody has to read numbers off a picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from io import BytesIO
from itertools import pairwise
from math import sqrt
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.lang.display import json_text, shown
from treeml.studies.comparison.over_folds import over_folds, unseen_measure, unseen_values
from treeml.studies.comparison.record import Record, has_tree, is_proof
from treeml.system.writing import replace_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from treeml.studies.tree_sets.rows import ColumnImportance
    from treeml.studies.tree_sets.tree_set import TreeSet

# Distinguishable for color-blind people (after Okabe and Ito 2008).
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#777777", "#b5a300")
FEW_POINTS = 12
FORMATS = (".png", ".svg", ".pdf", ".json")
MOST_LABELS = 6  # of a line


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a plot."""

    name: str
    points: tuple[tuple[float, float], ...]
    labels: tuple[str, ...] = ()  # one per point
    group: int = 0  # series of one group have one color
    dashed: bool = False
    alone: bool = False  # points without a line between them
    spreads: tuple[float, ...] = ()  # up and down from each point


@dataclass(frozen=True, slots=True)
class Plot:
    """Titles and series of a picture."""

    title: str
    horizontal: str
    vertical: str
    series: tuple[Series, ...]
    kind: str = "steps"  # steps, line or bars
    logarithmic: bool = False  # the horizontal axis
    about: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def timeline(records: Sequence[Record]) -> Plot:
    """The objective of the best tree and the bound over time, for every back-end."""
    names = list(dict.fromkeys(record["backend"] for record in records))
    series = []
    for record in records:
        group = names.index(record["backend"])
        found = [
            (moment["seconds"], moment["objective"][0]) for moment in record.get("trace", ()) if moment["objective"]
        ]
        if found:
            end = max(record.get("seconds") or 0.0, found[-1][0])
            series.append(Series(record["backend"], (*found, (end, found[-1][1])), group=group))
        bounds = [
            (moment["seconds"], moment["bound"]) for moment in record.get("trace", ()) if moment["bound"] is not None
        ]
        if bounds:
            series.append(Series(f"{record['backend']}, bound", tuple(bounds), group=group, dashed=True))
    return Plot("Best tree and bound over time", "seconds", "objective", tuple(series), logarithmic=True)


def cactus(records: Sequence[Record]) -> Plot:
    """The number of problems that each back-end has proved within a time."""
    names = list(dict.fromkeys(record["backend"] for record in records))
    series = []
    for group, name in enumerate(names):
        times = sorted(
            record["proof_seconds"]
            for record in records
            if record["backend"] == name and is_proof(record) and record.get("proof_seconds")
        )
        if times:
            points = tuple((seconds, float(number)) for number, seconds in enumerate(times, 1))
            series.append(Series(f"{name} ({len(times)})", points, group=group))
    return Plot("Proved within a time", "seconds", "problems proved", tuple(series), logarithmic=True)


def tradeoff(records: Sequence[Record], across: str | None = None, up: str | None = None) -> Plot:
    """Two measures against each other as params vary: fairness against accuracy, size against errors.

    By default the vertical axis is the first goal, and the horizontal one the first measure of a requirement, or else
    the param that varies. Folds of one job are one point, at the means; its vertical axis is measured on unseen rows.
    """
    solved = over_folds([record for record in records if has_tree(record)])
    if not solved:
        return Plot("Trade-off", across or "", up or "", (), "line")
    varied = _varied(records)
    horizontal = across or _required(solved) or (varied[0] if varied else "leaves")
    vertical = up or unseen_measure(solved) or _goal(solved)
    for name in (horizontal, vertical):
        if not any(_value(record, name) is not None for record in solved):
            raise DataError(_no_measure(name, solved[0]))
    lines = list(dict.fromkeys((record.get("spec"), record.get("data"), record["backend"]) for record in solved))
    series = []
    for group, line in enumerate(lines):
        points = []
        for record in solved:
            x, y = _value(record, horizontal), _value(record, vertical)
            if (record.get("spec"), record.get("data"), record["backend"]) == line and x is not None and y is not None:
                text = ", ".join(f"{param} = {record['params'][param]}" for param in varied)
                points.append((x, y, text, _error_of(record, vertical)))
        points.sort()
        label = ", ".join(str(part) for place, part in enumerate(line) if len({each[place] for each in lines}) > 1)
        places = tuple((x, y) for x, y, _, _ in points)
        spreads = tuple(error for *_, error in points)
        texts = tuple(text for _, _, text, _ in points)
        series.append(Series(label or line[2], places, texts, group, spreads=spreads if any(spreads) else ()))
    return Plot(f"{vertical} against {horizontal}", horizontal, vertical, tuple(series), "line")


def margins(values: NDArray[np.float64], name: str = "rows") -> Plot:
    """The share of the rows whose margin is at most a value; `values` comes from `Forest.margins`."""
    ordered = sorted(float(value) for value in values)
    points = tuple((value, place / len(ordered)) for place, value in enumerate(ordered, 1))
    wrong = sum(value <= 0 for value in ordered) / len(ordered) if ordered else 0.0
    about = {"share_at_most_0": wrong, "least": ordered[0] if ordered else None}
    return Plot("Margins", "margin", "share of the rows", (Series(name, points),), about=about)


def forest_margins(forest: Path, data: Path) -> NDArray[np.float64]:
    """The margins of the rows in a file for the forest in a result."""
    from treeml.data.read import load
    from treeml.data.table import plain_columns
    from treeml.trees.forest import Forest

    read = Forest.read(forest)
    table = load(data)
    target = read.trees[0].target
    if target not in table.columns:
        raise DataError(Diagnostic("D494", f"{data} has no column `{target}`, which the forest predicts"))
    rows = plain_columns(table)
    return read.margins(rows, rows[target])


def importance(columns: Sequence[ColumnImportance], most: int = 30) -> Plot:
    """The share of the trees of a set that use a column and, if known, the range of their reliance on it.

    The points of a series are (value, place of the column); `TreeSet.importance` gives the columns.
    """
    shown_columns = [column for column in columns if column.share][:most]
    names = tuple(column.name for column in shown_columns)
    shares = tuple((float(column.share), float(place)) for place, column in enumerate(shown_columns))
    series = [Series("share of the trees", shares, names)]
    for end in ("least", "most"):
        values = [getattr(column, end) for column in shown_columns]
        if values and None not in values:
            points = tuple((float(value), float(place)) for place, value in enumerate(values))
            series.append(Series(f"{end} reliance", points, names, group=1))
    about = {"left_out": sum(1 for column in columns if column.share) - len(names)}
    return Plot("Columns of the trees", "share of the trees", "", tuple(series), "bars", about=about)


def pareto(trees: TreeSet, across: str, up: str) -> Plot:
    """All trees of a set by two measures, and the trees that no other tree beats in both."""
    values = list(zip(trees.measure(across), trees.measure(up), strict=True))
    known = [(float(x), float(y)) for x, y in values if x is not None and y is not None]
    front = trees.pareto(across, up)
    places = {point: rank for rank, point in reversed(list(enumerate(values)))}
    best = [point for point in zip(front.measure(across), front.measure(up), strict=True) if None not in point]
    ordered = sorted((float(x), float(y), places[x, y]) for x, y in best if x is not None and y is not None)
    series = (
        Series("trees", tuple(sorted(set(known))), group=6, alone=True),
        Series("front", tuple((x, y) for x, y, _ in ordered), tuple(f"tree {rank}" for _, _, rank in ordered)),
    )
    about = {"trees": trees.count, "undefined": len(values) - len(known), "front": [rank for _, _, rank in ordered]}
    return Plot(f"{up} against {across}", across, up, series, "line", about=about)


def draw(plot: Plot, path: Path) -> None:
    """Write the picture in the format of the file ending: .png, .svg, .pdf, or .json for its data."""
    if path.suffix not in FORMATS:
        raise DataError(_no_format(path))
    if path.suffix == ".json":
        _write(path, json_text(plot.to_json(), indent=1).encode() + b"\n")
        return
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise DataError(
            Diagnostic("D495", "pictures need matplotlib", place=str(path), helps=("pip install 'treeml[plot]'",))
        ) from error
    bars = plot.kind == "bars"
    figure = Figure(
        figsize=(8, max(2.0, 1.2 + 0.28 * len(plot.series[0].points)) if bars else 4.5), layout="constrained"
    )
    (_draw_bars if bars else _draw_lines)(figure, plot)
    made = BytesIO()
    with rc_context({"svg.hashsalt": "treeml"}):  # so that equal pictures have equal text
        figure.savefig(
            made, dpi=160, format=path.suffix[1:], metadata={"Date": None} if path.suffix == ".svg" else None
        )
    _write(path, made.getvalue())


def _draw_lines(figure: Any, plot: Plot) -> None:
    axes = figure.add_subplot()
    for series in plot.series:
        xs, ys = [x for x, _ in series.points], [y for _, y in series.points]
        look: dict[str, Any] = {"color": COLORS[series.group % len(COLORS)], "label": _plain(series.name)}
        look["linestyle"] = "none" if series.alone else "--" if series.dashed else "-"
        if plot.kind == "steps":
            few = {"marker": "o", "markersize": 4} if len(xs) <= FEW_POINTS else {}  # a single point has no line
            axes.step(xs, ys, where="post", **look, **few)
        else:
            axes.plot(xs, ys, marker="o", **look, **_markers(series))
            if series.spreads:
                axes.errorbar(xs, ys, yerr=series.spreads, fmt="none", ecolor=look["color"], alpha=0.5, capsize=3)
            _label(axes, series)
    _scale(axes, plot)
    axes.set(title=_plain(plot.title), xlabel=_plain(plot.horizontal), ylabel=_plain(plot.vertical))
    axes.grid(alpha=0.3)
    if len(plot.series) > 1:
        axes.legend(frameon=True, framealpha=0.8, edgecolor="none", fontsize=9)


def _scale(axes: Any, plot: Plot) -> None:
    """Axes with plain numbers: logarithmic ones only if the values span more than a factor of three."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    across = [x for series in plot.series for x, _ in series.points]
    up = [y for series in plot.series for _, y in series.points]
    above = [x for x in across if x > 0]
    plain = FuncFormatter(lambda value, _: f"{value:,.10g}")
    if plot.logarithmic and above and max(above) > 3 * min(above):
        decades = max(above) / min(above)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if decades < 1e3 else (1.0,)))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        counted = plot.horizontal.startswith("leaves")  # means of whole numbers, which ticks between them do not fit
        axes.xaxis.set_major_locator(MaxNLocator(7, integer=counted or _whole(across)))
    axes.yaxis.set_major_locator(MaxNLocator(7, integer=_whole(up)))
    axes.xaxis.set_major_formatter(plain)
    axes.yaxis.set_major_formatter(plain)
    axes.margins(x=0.06, y=0.1)
    if up and min(up) == max(up):
        axes.set_ylim(up[0] - (abs(up[0]) * 0.1 or 0.5), up[0] + (abs(up[0]) * 0.1 or 0.5))


def _whole(values: Sequence[float]) -> bool:
    return all(float(value).is_integer() for value in values)


def _markers(series: Series) -> dict[str, Any]:
    """A cloud has small marks, and a single point a large one that stands out."""
    if not series.alone or series.spreads:
        return {}
    return {"markersize": 3, "alpha": 0.6} if len(series.points) > 1 else {"markersize": 9, "zorder": 3}


def _draw_bars(figure: Any, plot: Plot) -> None:
    """Bars of the first series beside their names; further series are the ends of ranges, in a picture of their own."""
    first, *ends = plot.series
    left, *right = figure.subplots(1, 2 if len(ends) == 2 else 1, sharey=True, squeeze=False)[0]
    places = [place for _, place in first.points]
    left.barh(places, [value for value, _ in first.points], color=COLORS[first.group % len(COLORS)])
    left.set_yticks(places, [_plain(name) for name in first.labels])
    left.invert_yaxis()
    left.set(xlabel=_plain(plot.horizontal))
    for axes in right:
        low, high = ([value for value, _ in series.points] for series in ends)
        color = COLORS[ends[0].group % len(COLORS)]
        axes.hlines(places, low, high, color=color, linewidth=5)
        axes.plot([*low, *high], [*places, *places], "|", color=color, markersize=9)  # a range may have no length
        axes.axvline(0, color="#777777", linewidth=0.8)
        axes.set(xlabel="reliance, least to most")
    for axes in (left, *right):
        axes.grid(alpha=0.3, axis="x")
    figure.suptitle(_plain(plot.title))


def _write(path: Path, content: bytes) -> None:
    try:
        replace_file(path, content)
    except OSError as error:
        title = f"{path} cannot be written: {error.strerror or error}"
        raise DataError(Diagnostic("D495", title, place=str(path))) from error


def _plain(text: str) -> str:
    """Text escaped for matplotlib: dollars would enclose a formula, and a leading `_` would hide the name."""
    plain = shown(text).replace("$", "\\$")
    return f" {plain}" if plain.startswith("_") else plain


def _label(axes: Any, series: Series) -> None:
    """Label points with their params: all if they are few and apart, or else the first, the middle and the last."""
    if not series.labels or len(series.points) < 2:
        return
    middle = (min(x for x, _ in series.points) + max(x for x, _ in series.points)) / 2
    low, high = min(y for _, y in series.points), max(y for _, y in series.points)
    for place in _labeled([x for x, _ in series.points]):
        x, y = series.points[place]
        # Towards the middle of the picture, so that the text stays inside the frame.
        side, shift = ("right", -6) if x > middle else ("left", 6)
        # Away from the line, which goes on below the text or above it; near the frame, away from the frame.
        beside = series.points[max(place - 1, 0) if x > middle else min(place + 1, len(series.points) - 1)][1]
        is_low = high > low and y < low + 0.15 * (high - low)
        down = 7 if (beside < y or (is_low and beside == y)) else -13
        look = {"textcoords": "offset points", "xytext": (shift, down), "fontsize": 8, "ha": side, "zorder": 4}
        look["bbox"] = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1}
        axes.annotate(_plain(series.labels[place]), (x, y), **look)


def _labeled(across: Sequence[float]) -> Sequence[int]:
    """The points whose labels do not hide each other or the line."""
    least = 0.12 * (max(across) - min(across))
    apart = all(abs(later - earlier) > least for earlier, later in pairwise(across))
    if len(across) <= MOST_LABELS and apart:
        return range(len(across))
    return sorted({0, len(across) // 2, len(across) - 1})


def _value(record: Record, name: str) -> float | None:
    for place, goal in enumerate(record.get("goals", ())):
        if name in (goal["text"], goal["text"].partition(" ")[2]):
            objective = record.get("objective")
            values = objective if isinstance(objective, list) else [objective]
            value = values[place] if place < len(values) else None
            return None if value is None else float(value)
    for found in (record.get("measures", {}), record.get("params", {})):
        if isinstance(found.get(name), (int, float)):
            return float(found[name])
    scores = unseen_values(record, name.removeprefix("unseen ")) if name.startswith("unseen ") else []
    return mean(scores) if scores else None


def _error_of(record: Record, name: str) -> float:
    """The standard error of an unseen measure over the folds of a record; 0 for anything else."""
    values = unseen_values(record, name.removeprefix("unseen ")) if name.startswith("unseen ") else []
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else 0.0


def _varied(records: Sequence[Record]) -> list[str]:
    names = dict.fromkeys(name for record in records for name in record.get("params", {}))
    return [name for name in names if len({record.get("params", {}).get(name) for record in records}) > 1]


def _required(records: Sequence[Record]) -> str | None:
    """The measure of the first requirement that is neither depth, leaves nor support."""
    shape = {"depth", "leaves", "support", "errors", "error_rate", "accuracy"}
    goals = {goal["text"].partition(" ")[2] for goal in records[0].get("goals", ())}
    return next((name for name in records[0].get("measures", {}) if name not in shape | goals), None)


def _goal(records: Sequence[Record]) -> str:
    goals = records[0].get("goals", ())
    return str(goals[0]["text"].partition(" ")[2]) if goals else "leaves"


def _no_measure(name: str, record: Record) -> Diagnostic:
    known = ", ".join([*record.get("measures", {}), *record.get("params", {})])
    return Diagnostic("D494", f"no result has a value of `{name}`", notes=(f"they have {known}",))


def _no_format(path: Path) -> Diagnostic:
    title = f"pictures end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, and {path.name} does not"
    return Diagnostic("D495", title, place=str(path))
