"""Rows in linear leaves -> what the columns add to the predictions of the leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.trees.nodes import TreeLeaf

WHOLE = 2.0**62  # whole numbers below this size, and their differences, fit in 64 bits


def along_lines(
    leaves: Sequence[TreeLeaf], reached: NDArray[np.intp], column: Callable[[str], NDArray[Any]]
) -> NDArray[np.float64]:
    """For every row the sum of its columns, as distances from the centers of its leaf, times the slopes there."""
    added = np.zeros(len(reached))
    for name in dict.fromkeys(name for leaf in leaves for name, _ in leaf.slopes):
        slopes = np.array([leaf.slopes_of((name,))[0] for leaf in leaves])
        centers = [leaf.centers_of((name,))[0] for leaf in leaves]
        added += slopes[reached] * _distances(column(name), centers, reached)
    return added


def _distances(values: NDArray[Any], centers: Sequence[int | float], reached: NDArray[np.intp]) -> NDArray[Any]:
    """How far each number is from the center of its leaf, without digits lost where both are large."""
    if not any(centers):
        return values
    is_whole = values.dtype.kind == "i" and max(map(abs, centers)) < WHOLE
    first: NDArray[Any] = np.array([int(center) if is_whole else float(center) for center in centers])
    rest = np.array([float(center - int(near)) for center, near in zip(centers, first.tolist(), strict=True)])
    if not is_whole:  # floats have no more digits, but the center may be a whole number that has
        rest[[isinstance(center, float) for center in centers]] = 0.0
        return np.asarray((values - first[reached]) - rest[reached])
    near = values.astype(np.float64) - first[reached]
    return np.asarray(np.where(np.abs(near) < WHOLE, values - first[reached], near) - rest[reached])
