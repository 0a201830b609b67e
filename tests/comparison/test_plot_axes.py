"""Axes of pictures: plain numbers, several of them, and no text outside the picture, however few the points are."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from treeml.studies.plots import Plot, Series, _draw_lines, timeline


def drawn(plot: Plot) -> Any:
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    _draw_lines(figure, plot)
    canvas.draw()
    return figure


def moments(*moments: tuple[float, float, float]) -> dict[str, Any]:
    trace = [{"seconds": seconds, "objective": [value], "bound": bound} for seconds, value, bound in moments]
    return {"backend": "a back-end with a rather long name", "trace": trace, "seconds": moments[-1][0]}


LABEL = "depth = {}, price = 0.0125, support = 20, tolerance = 0.001"
CASES = {
    "one moment": timeline([moments((0.3, 0.83, 0.83))]),
    "two close moments": timeline([moments((0.012, 5, 3), (0.013, 5, 5))]),
    "five decades": timeline([moments((0.0007, 81, 3), (0.2, 60, 5), (90, 58, 20))]),
    "large numbers": timeline([moments((2.1, -123456789, -123456791), (2.2, -123456790, -123456791))]),
    "time zero": timeline([moments((0.0, 5, 3), (0.0, 4, 4))]),
    "a curve": Plot(
        "accuracy against depth",
        "depth",
        "accuracy",
        (Series("native", ((1, 0.7), (2, 0.8), (3, 0.85)), tuple(LABEL.format(depth) for depth in (1, 2, 3))),),
        "line",
    ),
    "a falling curve": Plot(
        "errors",
        "price",
        "errors",
        (Series("native", ((0.1, 90), (0.2, 40), (0.9, 3)), tuple(LABEL.format(depth) for depth in (3, 2, 1))),),
        "line",
    ),
    "one point": Plot("one", "depth", "accuracy", (Series("native", ((1, 0.7),), ("depth = 1",)),), "line"),
}


@pytest.mark.parametrize("name", CASES)
def test_axes_are_readable(name: str) -> None:
    figure = drawn(CASES[name])
    (axes,) = figure.axes
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        places = [place for place in axis.get_ticklocs() if low <= place <= high]
        texts = axis.get_major_formatter().format_ticks(places)
        assert len(places) >= 2
        assert len(set(texts)) == len(texts)  # ticks that read the same say nothing
        assert all("e" not in text and "$" not in text for text in texts)
    assert any(line.get_marker() == "o" for line in axes.get_lines())  # a single point is seen


@pytest.mark.parametrize("name", CASES)
def test_labels_stay_inside_the_frame(name: str) -> None:
    figure = drawn(CASES[name])
    (axes,) = figure.axes
    frame = axes.get_window_extent()
    for text in axes.texts:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0
        assert box.x1 <= frame.x1
        assert frame.y0 <= box.y0
        assert box.y1 <= frame.y1
