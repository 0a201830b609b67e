"""The spread of rows at a node -> a small chart as elements of SVG."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from treeml.lang.display import shown, width
from treeml.trees.distributions import ColumnSpread
from treeml.trees.palette import INK, WARNING, class_color
from treeml.trees.svg_text import decimal, escaped

WIDTH, HEIGHT = 176, 92  # of a chart with its labels; a wide box has a wider one
PLOT = 68  # height of its bars
LETTER = 5.3  # width of a letter of a label
SIZE = 9  # of the letters
SOFT = "#4a525c"


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a chart stands, and the number of classes that have a color."""

    left: float
    top: float
    width: float
    classes: int

    @property
    def bottom(self) -> float:
        return self.top + PLOT

    @property
    def right(self) -> float:
        return self.left + self.width


def draw_chart(spread: ColumnSpread, frame: Frame) -> Iterator[str]:
    """Bars by class, or points with the means of both sides or with the line of a leaf.

    The cut is a dashed line, and labels stand below the axis.
    """
    step = frame.width / max(len(spread.bars), 1)
    yield from _points(spread, frame, step) if spread.points else _bars(spread, frame, step)
    axis = f"M {decimal(frame.left)} {decimal(frame.bottom)} H {decimal(frame.right)}"
    yield f'<path d="{axis}" fill="none" stroke="{SOFT}"/>'
    for cut in spread.cuts:
        if 0 < cut < len(spread.bars) or spread.marks:
            line = f"M {decimal(frame.left + cut * step)} {decimal(frame.top - 3)} V {decimal(frame.bottom + 3)}"
            yield f'<path d="{line}" fill="none" stroke="{INK}" stroke-width="1.4" stroke-dasharray="3 2"/>'
    yield from _texts(spread, frame, step)


def _bars(spread: ColumnSpread, frame: Frame, step: float) -> Iterator[str]:
    tallest = max((sum(bar.counts) for bar in spread.bars), default=0)
    space = 0.3 if spread.marks else 0.12 * step  # bars of levels stand apart
    for place, bar in enumerate(spread.bars):
        floor = frame.bottom
        for number, count in enumerate(bar.counts):
            if count:
                high = (PLOT - 4) * count / tallest
                floor -= high
                color = class_color(number if number < frame.classes else -1)
                yield (
                    f'<rect x="{decimal(frame.left + place * step + space)}" y="{decimal(floor)}" '
                    f'width="{decimal(step - 2 * space)}" height="{decimal(high)}" fill="{color}"/>'
                )


def _points(spread: ColumnSpread, frame: Frame, step: float) -> Iterator[str]:
    def height(share: float) -> str:
        return decimal(frame.bottom - 3 - share * (PLOT - 8))

    for place, share in spread.points:
        x = decimal(frame.left + place * step)
        yield f'<circle cx="{x}" cy="{height(share)}" r="1.7" fill="{class_color(0)}" opacity="0.45"/>'
    for start, stop, first, last in spread.lines:
        end = f"H {decimal(frame.left + stop * step)}"
        if first != last:
            end = f"L {decimal(frame.left + stop * step)} {height(last)}"
        way = f"M {decimal(frame.left + start * step)} {height(first)} {end}"
        yield f'<path d="{way}" fill="none" stroke="{WARNING}" stroke-width="1.6"/>'


def _texts(spread: ColumnSpread, frame: Frame, step: float) -> Iterator[str]:
    """The labels below the axis, the cut first; one that would touch another is left out."""
    taken: list[tuple[float, float]] = []
    for x, text, is_bold in _labels(spread, frame, step):
        half = width(text) * LETTER / 2
        middle = min(max(x, frame.left - 8 + half), frame.right + 8 - half)
        if all(abs(middle - other) > half + room + 2 for other, room in taken):
            taken.append((middle, half))
            weight = ' font-weight="bold"' if is_bold else ""
            look = f'text-anchor="middle" font-size="{SIZE}" fill="{SOFT}"{weight}'
            yield f'<text x="{decimal(middle)}" y="{decimal(frame.bottom + 12)}" {look}>{escaped(text)}</text>'


def _labels(spread: ColumnSpread, frame: Frame, step: float) -> Iterator[tuple[float, str, bool]]:
    """The marked numbers; the names of the bars if they fit, or else how many there are on each side."""
    for place, text in sorted(spread.marks, key=lambda mark: mark[0] not in spread.cuts):
        yield frame.left + place * step, text, place in spread.cuts
    room = int(step / LETTER)
    named = [(place, bar.label) for place, bar in enumerate(spread.bars) if bar.label]
    if spread.marks or room >= min(5, max((width(label) for _, label in named), default=0)):
        for place, label in named:
            yield frame.left + (place + 0.5) * step, shown(label, max(room, 8) if spread.marks else room), False
        return
    borders = [0.0, *spread.cuts, float(len(spread.bars))]
    for start, stop, text in zip(borders, borders[1:], spread.sides, strict=False):
        if text:
            yield frame.left + (start + stop) / 2 * step, text, False
