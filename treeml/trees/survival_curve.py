"""The surviving shares of a leaf -> a small drawing of its curve, as Kaplan and Meier draw it."""

from __future__ import annotations

from collections.abc import Iterator

from treeml.trees.nodes import TreeData, TreeLeaf

HEIGHT = 34  # of the frame of a curve


def draw_curve(tree: TreeData, leaf: TreeLeaf, left: float, top: float, width: float) -> Iterator[str]:
    """A frame from time 0 to the latest time of the tree, and in it the share that survives, from 1 down to 0."""
    latest = max((point[0] for each in tree.leaves for point in each.curve), default=0.0) or 1.0
    frame = f'width="{width:.1f}" height="{HEIGHT}" fill="white" stroke="#999" stroke-width="0.6"'
    yield f'<rect x="{left:.1f}" y="{top:.1f}" {frame}/>'
    steps, level = [f"M {left:.1f} {top:.1f}"], top
    for time, share in leaf.curve:
        across, down = left + width * time / latest, top + HEIGHT * (1 - share)
        steps.append(f"L {across:.1f} {level:.1f} L {across:.1f} {down:.1f}")
        level = down
    yield f'<path d="{" ".join(steps)}" fill="none" stroke="#225" stroke-width="1.4"/>'
