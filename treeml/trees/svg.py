"""Tree -> SVG: the root at the top or at the left, predictions at the other end, conditions on the edges.

It is drawn here without a library, and contains no script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from treeml.data.table import label_text
from treeml.lang.display import shortened, shown, width
from treeml.trees import charts, survival_curve
from treeml.trees.distributions import ColumnSpread, Distributions
from treeml.trees.drawing import against_text, leaf_facts, path_below, rows_text, title_of
from treeml.trees.layout import GAP, BoxSize, across_levels, along_levels
from treeml.trees.nodes import Branch, Node, TreeData, TreeLeaf, class_shares, overruled_class, rounded_text
from treeml.trees.palette import FULL_NUMBER, INK, PALE_NUMBER, PATH, WARNING, class_color, leaf_tint
from treeml.trees.svg_text import decimal, escaped

SIZE, SMALL = 13, 11  # of fonts
WIDE, NARROW = 7.1, 6.1  # width of an average letter of these sizes
DROP = 52  # height of the edges
BEND = 46  # width of an edge of a sideways drawing, beside its condition
LINE = 17  # height of a line of text
BAR = 10  # height of the bar of a leaf
MOST_IN_LEGEND = 40
MOST_OF_A_CONDITION = 40
MANY_LEAVES = 16  # beyond this, boxes and conditions are kept narrow
LEAST_WIDTH = 320  # of a drawing, so that its heading has room
_SIZE = re.compile(r'width="(\d+)" height="(\d+)"')


@dataclass(frozen=True, slots=True)
class DrawingView:
    """What a drawing shows besides the tree, and where its root is."""

    path: tuple[int, ...] | None = None  # the sides that a row takes
    values: Mapping[str, str] | None = None  # of that row, for the columns on its path
    distributions: Distributions | None = None
    sideways: bool = False  # the root at the left, and not at the top


PLAIN = DrawingView()


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    size: int = SIZE
    is_bold: bool = False
    fill: str = INK

    @property
    def width(self) -> float:
        return width(self.text) * (WIDE if self.size == SIZE else NARROW) * (1.07 if self.is_bold else 1.0)


@dataclass(frozen=True, slots=True)
class _Box:
    node: Node
    parent: int | None
    condition: str
    depth: int
    on_path: bool
    lines: tuple[_Line, ...]
    spread: ColumnSpread | None
    has_bar: bool

    @property
    def width(self) -> float:
        texts = max(line.width for line in self.lines) + 20
        return max(texts, 70.0, charts.WIDTH + 24 if self.spread else 0.0)

    @property
    def height(self) -> float:
        extra = (BAR + 6 if self.has_bar else 0) + (charts.HEIGHT + 4 if self.spread else 0)
        extra += survival_curve.HEIGHT + 6 if isinstance(self.node, TreeLeaf) and self.node.curve else 0
        return LINE * len(self.lines) + 12 + extra

    @property
    def condition_width(self) -> float:
        return width(self.condition) * NARROW + 8

    def size(self, sideways: bool) -> BoxSize:
        if sideways:
            return BoxSize(self.parent, self.depth, self.width, self.height, BEND + self.condition_width)
        # The condition stands above the box, and may be wider.
        return BoxSize(self.parent, self.depth, self.height, max(self.width, self.condition_width + 4), DROP)


@dataclass(frozen=True, slots=True)
class _Place:
    x: float  # center
    y: float  # top


def draw_svg(tree: TreeData, view: DrawingView = PLAIN) -> str:
    """The tree as a drawing: a heading with the target and its classes, then boxes, with a bar in leaves."""
    boxes = _boxes(tree, view)
    sizes = [box.size(view.sideways) for box in boxes]
    middles, strip = across_levels(sizes)
    starts = along_levels(sizes, 0.0)
    extent = max(starts[size.level] + size.along for size in sizes)
    whole = extent if view.sideways else strip
    across = max(whole, LEAST_WIDTH, *(_Line(text, SMALL).width for text, _ in _remarks(tree, view)))
    heading, top = _heading(tree, view, across)
    shift = GAP + (across - whole) / 2
    places = [
        _Place(shift + starts[box.depth] + box.width / 2, top + middle - box.height / 2)
        if view.sideways
        else _Place(shift + middle, top + starts[box.depth])
        for middle, box in zip(middles, boxes, strict=True)
    ]
    size_x = across + 2 * GAP
    size_y = top + (strip if view.sideways else extent) + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size_x:.0f}" height="{size_y:.0f}" '
        f'viewBox="0 0 {size_x:.0f} {size_y:.0f}" font-family="Helvetica, Arial, sans-serif" font-size="{SIZE}">',
        f"<title>{escaped(title_of(tree))}</title>",
        f'<rect width="{size_x:.0f}" height="{size_y:.0f}" fill="white"/>',
        *heading,
    ]
    # What is on the path is drawn last, on top.
    order = sorted(range(len(boxes)), key=lambda number: boxes[number].on_path)
    for number in order:
        parent = boxes[number].parent
        if parent is not None:
            edge = _edge_sideways if view.sideways else _edge
            parts.append(edge(boxes[parent], places[parent], boxes[number], places[number]))
    parts += [_drawn(tree, boxes[number], places[number]) for number in range(len(boxes))]
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def draw_forest_svg(trees: Sequence[TreeData], views: Sequence[DrawingView] = ()) -> str:
    """One drawing with several trees below each other."""
    shown_views = views or [PLAIN] * len(trees)
    drawings = [draw_svg(tree, view) for tree, view in zip(trees, shown_views, strict=True)]
    sizes = [tuple(map(int, _SIZE.search(drawing).groups())) for drawing in drawings]  # type: ignore[union-attr]
    across, down = max(across for across, _ in sizes), sum(down for _, down in sizes)
    box = f'width="{across}" height="{down}" viewBox="0 0 {across} {down}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {box}>']
    top = 0
    for drawing, (_, high) in zip(drawings, sizes, strict=True):
        parts.append(drawing.replace("<svg ", f'<svg y="{top}" ', 1).rstrip("\n"))
        top += high
    return "\n".join([*parts, "</svg>"]) + "\n"


def _boxes(tree: TreeData, view: DrawingView) -> list[_Box]:
    """Every node, parents before children, in the order of `TreeData.nodes`."""
    spreads = view.distributions.spreads if view.distributions is not None else None
    boxes: list[_Box] = []
    todo: list[tuple[Node, int | None, str, int, Sequence[int] | None]] = [(tree.root, None, "", 0, view.path)]
    while todo:
        node, parent, condition, depth, ahead = todo.pop()
        number = len(boxes)
        on_path = ahead is not None
        value = (view.values or {}).get(node.test.column) if on_path and isinstance(node, Branch) else None
        has_bar = isinstance(node, TreeLeaf) and tree.task == "classes" and bool(node.counts) and node.rows > 0
        spread = spreads[number] if spreads is not None else None
        lines = tuple(_lines(tree, node, value))
        boxes.append(_Box(node, parent, condition, depth, on_path, lines, spread, has_bar))
        for place, side in reversed(list(enumerate(tree.sides(node)))):
            todo.append((side.node, number, _condition(tree, side.short), depth + 1, path_below(ahead, place)))
    return boxes


def _condition(tree: TreeData, short: str) -> str:
    most = MOST_OF_A_CONDITION if len(tree.leaves) <= MANY_LEAVES else MOST_OF_A_CONDITION // 2
    return shortened(f"≤{short[2:]}" if short.startswith("<= ") else short, most)


def _lines(tree: TreeData, node: Node, value: str | None) -> Iterator[_Line]:
    if isinstance(node, Branch):
        yield _Line(shortened(shown(node.test.column), 40), is_bold=True)
        if value is not None:
            yield _Line(f"= {shortened(shown(value), 30)}", SMALL, fill=PATH)
        return
    text = tree.prediction_text(node)
    if tree.task == "clusters":  # a center may have many numbers, and a box has little space
        text = ", ".join(
            f"{shown(name)} {value:.3g}" for name, value in zip(tree.outputs, node.prediction, strict=True)
        )
    yield _Line(shortened(text, 40), is_bold=True)
    rows = rows_text(tree, node)
    yield _Line(rows.partition(" (")[0] if len(tree.leaves) > MANY_LEAVES else rows, SMALL)
    overruled = overruled_class(node, tree.classes)
    if overruled is not None:
        yield _Line(f"⚠ against its majority {shown(label_text(tree.classes[overruled]), 24)}", SMALL, fill=WARNING)
        if node.because:
            yield _Line(f"for {shortened(shown(node.because), 44)}", SMALL, fill=WARNING)


def _heading(tree: TreeData, view: DrawingView, across: float) -> tuple[list[str], float]:
    """The target and what the colors stand for, in lines of this width, and where the tree begins below them."""
    named = shortened(shown(tree.target), 60) if tree.target else "clusters"
    parts = [_text_at(GAP, GAP + 2, _Line(named, is_bold=True), "start")]
    x, y = GAP + _Line(named, is_bold=True).width + 16, GAP + 2.0
    for color, text in _legend(tree):
        line = _Line(text, SMALL)
        needed = line.width + (30 if color else 14)
        if x + needed > across + GAP and x > GAP:
            x, y = float(GAP), y + LINE
        if color:
            frame = 'width="10" height="10" stroke="#555" stroke-width="0.6"'
            parts.append(f'<rect x="{decimal(x)}" y="{decimal(y - 9)}" {frame} fill="{color}"/>')
        parts.append(_text_at(x + (15 if color else 0), y, line, "start"))
        x += needed
    for text, fill in _remarks(tree, view):
        y += LINE
        parts.append(_text_at(GAP, y, _Line(text, SMALL, fill=fill), "start"))
    return parts, y + 18


def _legend(tree: TreeData) -> Iterator[tuple[str, str]]:
    """A color and its meaning; no color for a remark."""
    if tree.task == "classes":
        for number, label in enumerate(tree.classes[:MOST_IN_LEGEND]):
            yield class_color(number), shown(label_text(label), 24)
        if len(tree.classes) > MOST_IN_LEGEND:
            yield "", f"and {len(tree.classes) - MOST_IN_LEGEND} more"
    elif tree.task == "numbers" and len(tree.leaves) > 1 and not any(leaf.slopes for leaf in tree.leaves):
        values = [leaf.prediction for leaf in tree.leaves]
        if tree.predicted != tree.target:
            yield "", shown(tree.predicted, 40)
        yield PALE_NUMBER, f"lowest {rounded_text(min(values))}"
        yield FULL_NUMBER, f"highest {rounded_text(max(values))}"


def _remarks(tree: TreeData, view: DrawingView) -> Iterator[tuple[str, str]]:
    if view.path is not None:
        node = tree.root
        for place in view.path:
            node = tree.sides(node)[place].node
        assert isinstance(node, TreeLeaf)
        subject = f"{shortened(shown(tree.predicted), 40)} = " if tree.predicted else ""
        yield f"blue: the path of one row, to {subject}{shortened(tree.prediction_text(node), 40)}", PATH
    if view.distributions is not None:
        for text in distribution_remarks(view.distributions):
            yield text, INK


def distribution_remarks(found: Distributions) -> Iterator[str]:
    """What the charts in the nodes show."""
    counted = f"{found.rows:,} {'row' if found.rows == 1 else 'rows'}"
    if found.reach is None:
        yield f"bars: {counted} by value; dashed: where the tree splits them"
    else:
        limits = f"{rounded_text(found.reach[0])} to {rounded_text(found.reach[1])}"
        yield f"dots: {counted}, from {limits} upwards; red: mean of each side"
        yield "dashed: where the tree splits the rows, and in leaves the prediction"
        if found.has_lines:
            yield "red in leaves: the line, over its column, or over the prediction if it has several"


def chart_colors(tree: TreeData) -> int:
    """How many colors the charts of a tree have."""
    return len(tree.leaves) if tree.task == "clusters" else max(1, len(tree.classes))


def _text_at(x: float, y: float, line: _Line, anchor: str) -> str:
    weight = ' font-weight="bold"' if line.is_bold else ""
    size = f' font-size="{line.size}"' if line.size != SIZE else ""
    look = f'text-anchor="{anchor}" fill="{line.fill}"{weight}{size}'
    return f'<text x="{decimal(x)}" y="{decimal(y)}" {look}>{escaped(line.text)}</text>'


def _edge(parent: _Box, above: _Place, box: _Box, place: _Place) -> str:
    """A curve from the box above, and the condition on it, just above the box below."""
    top = above.y + parent.height
    end = place.y - 24
    middle = (top + end) / 2
    from_x, to_x = decimal(above.x), decimal(place.x)
    curve = (
        f"M {from_x} {decimal(top)} C {from_x} {decimal(middle)} {to_x} {decimal(middle)} {to_x} {decimal(end)} "
        f"L {to_x} {decimal(place.y)}"
    )
    return _curve(box, curve) + _condition_at(box, place.x, place.y - 11)


def _edge_sideways(parent: _Box, before: _Place, box: _Box, place: _Place) -> str:
    """A curve from the box at the left, then a line with the condition on it to the box at the right."""
    start, end = before.x + parent.width / 2, place.x - box.width / 2
    from_y, to_y = before.y + parent.height / 2, place.y + box.height / 2
    line = end - box.condition_width - 8
    middle = decimal((start + line) / 2)
    curve = (
        f"M {decimal(start)} {decimal(from_y)} C {middle} {decimal(from_y)} {middle} {decimal(to_y)} "
        f"{decimal(line)} {decimal(to_y)} L {decimal(end)} {decimal(to_y)}"
    )
    return _curve(box, curve) + _condition_at(box, end - 6 - box.condition_width / 2, to_y + 4)


def _curve(box: _Box, curve: str) -> str:
    look = f'stroke="{PATH}" stroke-width="3.2"' if box.on_path else 'stroke="#777" stroke-width="1.4"'
    return f'<path d="{curve}" fill="none" {look}/>'


def _condition_at(box: _Box, x: float, y: float) -> str:
    """The condition of an edge, on white, with its middle and base line here."""
    line = _Line(box.condition, SMALL, is_bold=box.on_path, fill=PATH if box.on_path else INK)
    wide = box.condition_width
    behind = f'<rect x="{decimal(x - wide / 2)}" y="{decimal(y - 12)}" width="{decimal(wide)}" height="16"'
    return f'{behind} fill="white"/>{_text_at(x, y, line, "middle")}'


def _drawn(tree: TreeData, box: _Box, place: _Place) -> str:
    left = place.x - box.width / 2
    is_leaf = isinstance(box.node, TreeLeaf)
    fill = leaf_tint(tree, box.node) if isinstance(box.node, TreeLeaf) else "#f4f5f7"
    parts = [
        f'<g class="{"leaf" if is_leaf else "branch"}{" path" if box.on_path else ""}">'
        f'<title>{escaped(_whole_text(tree, box.node))}</title><rect x="{decimal(left)}" y="{decimal(place.y)}" '
        f'width="{decimal(box.width)}" height="{decimal(box.height)}" rx="{4 if is_leaf else 12}" fill="{fill}" '
        f"{_frame(tree, box)}/>"
    ]
    y = place.y + 19
    for line in box.lines:
        parts.append(_text_at(place.x, y, line, "middle"))
        y += LINE
    bottom = place.y + box.height
    if box.spread is not None:
        chart_top = bottom - charts.HEIGHT - 2 - (BAR + 6 if box.has_bar else 0)
        frame = charts.Frame(left + 12, chart_top, box.width - 24, chart_colors(tree))
        parts += charts.draw_chart(box.spread, frame)
    if isinstance(box.node, TreeLeaf) and box.has_bar:
        parts += _bar(tree, box.node, left + 8, bottom - BAR - 7, box.width - 16)
    if isinstance(box.node, TreeLeaf) and box.node.curve:
        top = bottom - survival_curve.HEIGHT - 8
        parts += survival_curve.draw_curve(tree, box.node, left + 8, top, box.width - 16)
    parts.append("</g>")
    return "".join(parts)


def _frame(tree: TreeData, box: _Box) -> str:
    if box.on_path:
        return f'stroke="{PATH}" stroke-width="3"'
    if (
        isinstance(box.node, TreeLeaf)
        and tree.task == "classes"
        and overruled_class(box.node, tree.classes) is not None
    ):
        return f'stroke="{WARNING}" stroke-width="1.8" stroke-dasharray="5 3"'
    return 'stroke="#555"'


def _bar(tree: TreeData, leaf: TreeLeaf, left: float, top: float, across: float) -> Iterator[str]:
    """The shares of the classes side by side in full colors, on the pale color of the leaf, with a dark frame."""
    shares = class_shares(leaf, tree.classes)
    x = left
    for number, share in enumerate(shares):
        if share:
            part = float(share) * across
            look = f'fill="{class_color(number)}" stroke="white" stroke-width="0.8"'
            yield f'<rect x="{decimal(x)}" y="{decimal(top)}" width="{decimal(part)}" height="{BAR}" {look}/>'
            x += part
    frame = f'width="{decimal(across)}" height="{BAR}" fill="none" stroke="{INK}" stroke-width="0.8"'
    yield f'<rect x="{decimal(left)}" y="{decimal(top)}" {frame}/>'


def _whole_text(tree: TreeData, node: Node) -> str:
    if isinstance(node, Branch):
        return "; ".join(side.fact for side in tree.sides(node))
    against = against_text(tree, node)
    return f"{tree.prediction_text(node)}: {leaf_facts(tree, node)}{f'; {against}' if against else ''}"
