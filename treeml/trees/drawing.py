"""Tree -> text, Graphviz and SVG. The SVG is drawn here without a library, and contains no script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape

from treeml.data.table import label_text
from treeml.lang.display import shortened, shown
from treeml.trees.nodes import Branch, Node, TreeData, TreeLeaf, class_shares

# Light enough for black text, and distinguishable for color-blind people (after Okabe and Ito 2008).
COLORS = ("#9ecae9", "#ffbf79", "#88d27a", "#f2a7d0", "#f5e663", "#b79ad6", "#e8a195", "#b8b8b8")
SIZE = 13  # font size
WIDE = 7.1  # width of an average letter
GAP = 22  # space between leaves
HIGH = 84  # height of a level

_SIZE = re.compile(r'width="(\d+)" height="(\d+)"')
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def draw_text(tree: TreeData) -> str:
    """The tree as lines of text, one node per line."""
    return "\n".join(_text_lines(tree, tree.root, "", ""))


def draw_dot(tree: TreeData) -> str:
    """The tree in the language of Graphviz."""
    lines = [
        "digraph tree {",
        '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="Helvetica"];',
        '  edge [fontname="Helvetica"];',
    ]
    number = 0
    todo: list[tuple[Node, str, str]] = [(tree.root, "", "")]
    while todo:
        node, parent, answer = todo.pop()
        name = f"n{number}"
        number += 1
        if isinstance(node, Branch):
            question, sides = tree.sides_of(node)
            lines.append(f'  {name} [label="{_dot_text(question)}"];')
            todo += [(side, name, answer) for answer, side in reversed(sides)]
        else:
            label = "\n".join((tree.prediction_text(node), rows_text(tree, node)))
            lines.append(f'  {name} [label="{_dot_text(label)}", fillcolor="{_color(tree, node)}"];')
        if parent:
            lines.append(f'  {parent} -> {name} [label="{_dot_text(answer)}"];')
    lines.append("}")
    return "\n".join(lines) + "\n"


def draw_svg(tree: TreeData) -> str:
    """The tree as a drawing: tests above, predictions below, with a bar for the shares of the classes."""
    boxes = list(_placed(tree))
    width = max(box.x + box.width / 2 for box in boxes) + GAP
    height = max(box.y + box.height for box in boxes) + GAP
    title = f"decision tree for {shown(tree.target)}" if tree.target else "decision tree"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="Helvetica, Arial, sans-serif" font-size="{SIZE}">',
        f"<title>{_xml(title)}</title>",
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
    ]
    parts += [_edge(boxes[box.parent], box) for box in boxes if box.parent is not None]
    parts += [_box(tree, box) for box in boxes]
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def draw_forest_svg(trees: Sequence[TreeData]) -> str:
    """One drawing with several trees below each other."""
    drawings = [draw_svg(tree) for tree in trees]
    sizes = [tuple(map(int, _SIZE.search(drawing).groups())) for drawing in drawings]  # type: ignore[union-attr]
    width, height = max(width for width, _ in sizes), sum(height for _, height in sizes)
    box = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {box}>']
    top = 0
    for drawing, (_, high) in zip(drawings, sizes, strict=True):
        parts.append(drawing.replace("<svg ", f'<svg y="{top}" ', 1).rstrip("\n"))
        top += high
    return "\n".join([*parts, "</svg>"]) + "\n"


def rows_text(tree: TreeData, leaf: TreeLeaf) -> str:
    """The number of rows in a leaf, and their share of all rows."""
    total = sum(each.rows for each in tree.leaves)
    rows = f"{leaf.rows:,} {'row' if leaf.rows == 1 else 'rows'}"
    part = f" ({_percent(Fraction(leaf.rows, total))} of all)" if total and len(tree.leaves) > 1 else ""
    return rows + part


def _text_lines(tree: TreeData, node: Node, first: str, rest: str) -> Iterator[str]:
    if isinstance(node, TreeLeaf):
        # The target is named because `yes: yes` would be unclear for a class called `yes`.
        subject = f"{shown(tree.target)} = " if tree.target else ""
        yield f"{first}{subject}{tree.prediction_text(node)}  [{_leaf_facts(tree, node)}]"
        return
    question, sides = tree.sides_of(node)
    yield f"{first}{question}?"
    wide = max(len(answer) for answer, _ in sides)
    for number, (answer, side) in enumerate(sides, 1):
        corner, line = ("└─", " ") if number == len(sides) else ("├─", "│")
        lead = f"{answer}:".ljust(wide + 1)
        yield from _text_lines(tree, side, f"{rest}{corner} {lead} ", f"{rest}{line}{' ' * (wide + 4)}")


def _leaf_facts(tree: TreeData, leaf: TreeLeaf) -> str:
    facts = rows_text(tree, leaf)
    if tree.task != "classes" or not leaf.counts:
        return facts
    shares = class_shares(leaf, tree.classes)
    largest_first = sorted(range(len(shares)), key=lambda number: (-shares[number], number))
    named = [
        f"{shown(label_text(tree.classes[number]))} {_percent(shares[number])}"
        for number in largest_first
        if shares[number]
    ]
    if len(named) > 4:
        named = [*named[:3], f"{len(named) - 3} more classes"]
    return f"{facts}: {', '.join(named)}"


def _percent(share: Fraction) -> str:
    """A share for people; it is 100 % only if it is exactly 1, and 0 % only if it is exactly 0."""
    percent = 100 * share
    if percent.denominator == 1:
        return f"{percent.numerator}%"
    if percent > Fraction("99.9"):
        return ">99.9%"
    if percent < Fraction("0.1"):
        return "<0.1%"
    return f"{float(percent):.1f}%"


def _dot_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


@dataclass(frozen=True, slots=True)
class _Box:
    node: Node
    parent: int | None
    answer: str
    x: float  # center
    y: float  # top
    width: float
    height: float
    lines: tuple[str, ...]


def _placed(tree: TreeData) -> Iterator[_Box]:
    """Every node with its position: leaves side by side, a test above the middle of its subtrees."""
    order: list[tuple[Node, int | None, str, int]] = []
    sides: dict[int, list[int]] = {}
    todo: list[tuple[Node, int | None, str, int]] = [(tree.root, None, "", 0)]
    while todo:
        node, parent, answer, depth = todo.pop()
        number = len(order)
        order.append((node, parent, answer, depth))
        if parent is not None:
            sides.setdefault(parent, []).append(number)
        if isinstance(node, Branch):
            todo += [(side, number, said, depth + 1) for said, side in reversed(tree.sides_of(node)[1])]
    lines = [_lines(tree, node) for node, *_ in order]
    widths = [max(max(map(len, each)) * WIDE + 20, 70) for each in lines]
    middles = _middles(widths, sides)
    for number, (node, parent, answer, depth) in enumerate(order):
        height = 18 * len(lines[number]) + 12 + (10 if _has_bar(tree, node) else 0)
        yield _Box(node, parent, answer, middles[number], GAP + depth * HIGH, widths[number], height, lines[number])


def _middles(widths: list[float], sides: Mapping[int, list[int]]) -> list[float]:
    """Centers of the boxes. Each subtree gets a strip of its own, so that no boxes overlap, however long a test is."""
    strips = list(widths)
    for number in reversed(range(len(widths))):
        if number in sides:
            gaps = GAP * (len(sides[number]) - 1)
            strips[number] = max(widths[number], sum(strips[side] for side in sides[number]) + gaps)
    lefts = [float(GAP)] * len(widths)
    for number in range(len(widths)):
        if number in sides:
            gaps = GAP * (len(sides[number]) - 1)
            left = lefts[number] + (strips[number] - sum(strips[side] for side in sides[number]) - gaps) / 2
            for side in sides[number]:
                lefts[side] = left
                left += strips[side] + GAP
    middles = [left + strip / 2 for left, strip in zip(lefts, strips, strict=True)]
    for number in reversed(range(len(widths))):
        if number in sides:
            first, last = sides[number][0], sides[number][-1]
            least = lefts[number] + widths[number] / 2
            most = lefts[number] + strips[number] - widths[number] / 2
            middles[number] = min(max((middles[first] + middles[last]) / 2, least), most)
    return middles


def _lines(tree: TreeData, node: Node) -> tuple[str, ...]:
    if isinstance(node, Branch):
        return (shortened(tree.sides_of(node)[0], 60),)
    text = tree.prediction_text(node)
    if tree.task == "clusters":  # a center may have many numbers, and a box has little space
        text = ", ".join(
            f"{shown(name)} {value:.3g}" for name, value in zip(tree.outputs, node.prediction, strict=True)
        )
    return (shortened(text, 40), rows_text(tree, node))


def _has_bar(tree: TreeData, node: Node) -> bool:
    return isinstance(node, TreeLeaf) and tree.task == "classes" and bool(node.counts)


def _edge(parent: _Box, box: _Box) -> str:
    top = parent.y + parent.height
    middle = (top + box.y) / 2
    curve = f"M {parent.x:.1f} {top:.1f} C {parent.x:.1f} {middle:.1f} {box.x:.1f} {middle:.1f} {box.x:.1f} {box.y:.1f}"
    side, anchor = {"yes": (-6, "end"), "no": (6, "start")}.get(box.answer, (0, "middle"))
    return (
        f'<path d="{curve}" fill="none" stroke="#777" stroke-width="1.4"/>'
        f'<text x="{box.x + side:.1f}" y="{box.y - 8:.1f}" text-anchor="{anchor}" fill="#555" font-size="11">'
        f"{_xml(shortened(box.answer, 30))}</text>"
    )


def _box(tree: TreeData, box: _Box) -> str:
    left = box.x - box.width / 2
    is_leaf = isinstance(box.node, TreeLeaf)
    fill = _color(tree, box.node) if isinstance(box.node, TreeLeaf) else "#f4f4f4"
    parts = [
        f'<g><title>{_xml(_whole_text(tree, box.node))}</title><rect x="{left:.1f}" y="{box.y:.1f}" '
        f'width="{box.width:.1f}" height="{box.height:.1f}" rx="{4 if is_leaf else 12}" fill="{fill}" stroke="#555"/>'
    ]
    for place, line in enumerate(box.lines):
        weight = ' font-weight="bold"' if is_leaf and place == 0 else ""
        size = ' font-size="11"' if place else ""
        look = f'text-anchor="middle"{weight}{size}'
        parts.append(f'<text x="{box.x:.1f}" y="{box.y + 20 + 18 * place:.1f}" {look}>{_xml(line)}</text>')
    if isinstance(box.node, TreeLeaf) and _has_bar(tree, box.node):
        parts += _bar(tree, box.node, left + 8, box.y + box.height - 14, box.width - 16)
    parts.append("</g>")
    return "".join(parts)


def _bar(tree: TreeData, leaf: TreeLeaf, left: float, top: float, width: float) -> Iterator[str]:
    """The shares of the classes side by side, with a frame."""
    for number, share in enumerate(class_shares(leaf, tree.classes)):
        if share:
            part = float(share) * width
            look = f'fill="{COLORS[number % len(COLORS)]}" stroke="#555" stroke-width="0.6"'
            yield f'<rect x="{left:.1f}" y="{top:.1f}" width="{part:.1f}" height="7" {look}/>'
            left += part


def _whole_text(tree: TreeData, node: Node) -> str:
    if isinstance(node, Branch):
        return tree.sides_of(node)[0]
    return f"{tree.prediction_text(node)}: {_leaf_facts(tree, node)}"


def _color(tree: TreeData, leaf: TreeLeaf) -> str:
    """The color of a leaf: by class, from pale to full blue by predicted number, or by position for clusters."""
    if tree.task == "classes":
        number = next(number for number, label in enumerate(tree.classes) if label == leaf.prediction)
        return COLORS[number % len(COLORS)]
    if tree.task == "clusters":
        number = next(number for number, other in enumerate(tree.leaves) if other is leaf)
        return COLORS[number % len(COLORS)]
    values = [other.prediction for other in tree.leaves]
    low, high = min(values), max(values)
    share = 0.5 if high == low else (leaf.prediction - low) / (high - low)
    red, green, blue = (round(255 - share * (255 - full)) for full in (0x9E, 0xCA, 0xE9))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _xml(text: str) -> str:
    """Text escaped for XML, without the characters that XML does not allow."""
    return escape(_NOT_XML.sub("\ufffd", text))
