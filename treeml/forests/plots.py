"""Result -> plots: the margin and its bound in every round, and the distribution of the margins of the rows.

matplotlib is an extra (`pip install treeml[plot]`); it is imported when a plot is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from treeml.solving.result import Result


def plot_progress(result: Result, axes: Any = None) -> Any:
    """The objective and the bound over the rounds; returns the axes of matplotlib."""
    axes = _axes(axes)
    rounds, values, bounds = progress_lines(result)
    axes.plot(rounds, values, label="margin of the forest")
    axes.plot(rounds, bounds, label="bound", linestyle="--")
    axes.set_xlabel("round")
    axes.set_ylabel("objective")
    axes.legend()
    return axes


def plot_margins(result: Result, data: Any, y: Any, axes: Any = None) -> Any:
    """The cumulative distribution of the margins of the rows; returns the axes of matplotlib."""
    if result.forest is None:
        raise ValueError("this result has no forest, so its rows have no margins")
    axes = _axes(axes)
    margins = np.sort(result.forest.margins(data, y))
    axes.step(margins, np.arange(1, len(margins) + 1) / len(margins), where="post")
    axes.axvline(0.0, linestyle=":", color="gray")
    axes.set_xlabel("margin")
    axes.set_ylabel("share of the rows at most there")
    return axes


def progress_lines(result: Result) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """The rounds, with the objective and the bound of each; nan if there was none yet."""
    values = [-float(moment.objective[0]) if moment.objective else np.nan for moment in result.trace]
    bounds = [-float(moment.bound) if moment.bound is not None else np.nan for moment in result.trace]
    return np.arange(1, len(values) + 1), np.array(values), np.array(bounds)


def _axes(axes: Any) -> Any:
    if axes is not None:
        return axes
    from matplotlib.figure import Figure

    return Figure().add_subplot()
