"""Sizes of boxes -> where they stand, with the root at the top or at the left.

Boxes are numbered parents first. A drawing has one axis along which it grows, from level to level, and one across.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

GAP = 22  # space between boxes, and around the drawing


@dataclass(frozen=True, slots=True)
class BoxSize:
    """A box of a tree, measured along the levels and across them."""

    parent: int | None
    level: int
    along: float
    strip: float  # across, with what stands beside the box: nothing else may use it
    lead: float  # along, the length of the edge that comes from its parent


def across_levels(boxes: Sequence[BoxSize]) -> tuple[list[float], float]:
    """Centers of the boxes, and the extent of all. Each subtree gets a strip of its own, so no boxes overlap."""
    sides: dict[int, list[int]] = {}
    for number, box in enumerate(boxes):
        if box.parent is not None:
            sides.setdefault(box.parent, []).append(number)
    strips = [box.strip for box in boxes]
    needs = [0.0] * len(boxes)  # of the subtrees below a box, side by side
    for number in reversed(range(len(boxes))):
        below = sides.get(number, [])
        needs[number] = sum(strips[side] for side in below) + GAP * max(0, len(below) - 1)
        strips[number] = max(strips[number], needs[number])
    starts = [0.0] * len(boxes)
    for number in range(len(boxes)):
        start = starts[number] + (strips[number] - needs[number]) / 2
        for side in sides.get(number, []):
            starts[side] = start
            start += strips[side] + GAP
    middles = [start + strip / 2 for start, strip in zip(starts, strips, strict=True)]
    for number in reversed(range(len(boxes))):
        if number in sides:
            half = boxes[number].strip / 2
            least, most = starts[number] + half, starts[number] + strips[number] - half
            ends = middles[sides[number][0]], middles[sides[number][-1]]
            middles[number] = min(max(sum(ends) / 2, least), most)
    return middles, strips[0]


def along_levels(boxes: Sequence[BoxSize], start: float) -> list[float]:
    """Where every level begins: after the largest box of the level before, and the longest edge from there."""
    levels = max(box.level for box in boxes) + 1
    largest, leads = [0.0] * levels, [0.0] * levels
    for box in boxes:
        largest[box.level] = max(largest[box.level], box.along)
        leads[box.level] = max(leads[box.level], box.lead)
    starts = [start]
    for size, lead in zip(largest, leads[1:], strict=False):
        starts.append(starts[-1] + size + lead)
    return starts
