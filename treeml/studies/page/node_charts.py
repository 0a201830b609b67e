"""Trees, rows -> for every node a chart of the rows that reach it, which the page shows on demand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treeml.trees import charts
from treeml.trees.distributions import ColumnSpread, distributions
from treeml.trees.nodes import TreeData
from treeml.trees.svg import chart_colors, distribution_remarks

Charts = list[list[dict[str, Any] | None]]  # of every tree, of every node: parents before their sides


def node_charts(trees: Sequence[TreeData], data: Any) -> tuple[Charts, str]:
    """The charts, and a line that says what they show; nothing without data."""
    if data is None or not trees:
        return [], ""
    found = [distributions(tree, data) for tree in trees]
    drawings = [
        [None if spread is None else _chart(spread, chart_colors(tree)) for spread in each.spreads]
        for tree, each in zip(trees, found, strict=True)
    ]
    return drawings, "; ".join(distribution_remarks(found[0]))


def _chart(spread: ColumnSpread, colors: int) -> dict[str, Any]:
    frame = charts.Frame(0.0, 0.0, float(charts.WIDTH), colors)
    drawing = "".join(charts.draw_chart(spread, frame))
    return {"width": charts.WIDTH, "height": charts.HEIGHT, "drawing": drawing}
