"""Classes and numbers -> colors that color-blind people can tell apart, and pale ones that text can be read on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treeml.trees.nodes import TreeData, TreeLeaf


def mixed(color: str, other: str, share: float) -> str:
    """A color between two: `share` is the part of the first."""
    parts = zip(_channels(color), _channels(other), strict=True)
    return "#" + "".join(f"{round(share * one + (1 - share) * two):02x}" for one, two in parts)


def _channels(color: str) -> tuple[int, ...]:
    return tuple(int(color[place : place + 2], 16) for place in (1, 3, 5))


# The palette of Okabe and Ito (2008), with gray in the place of black; then the same darker, for many classes.
_PURE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#767676")
COLORS = (*_PURE, *(mixed(color, "#000000", 0.5) for color in _PURE))
# Behind black text, and behind bars of the colors above.
TINTS = tuple(mixed(color, "#ffffff", 0.24) for color in COLORS)
INK = "#1c1f24"
PATH = "#0b62c4"  # of a row
WARNING = "#9c1c0c"
NO_CLASS = "#b0b4ba"  # rows whose class is not known
PALE_NUMBER, FULL_NUMBER = "#f4f9fd", "#7ab8de"


def class_color(number: int) -> str:
    return COLORS[number % len(COLORS)] if number >= 0 else NO_CLASS


def leaf_tint(tree: TreeData, leaf: TreeLeaf) -> str:
    """The color behind the text of a leaf: by class, by size of the predicted number, or by position for clusters."""
    if tree.task == "classes":
        return TINTS[position(tree.classes, leaf.prediction) % len(TINTS)]
    if tree.task == "clusters":
        number = next(number for number, other in enumerate(tree.leaves) if other is leaf)
        return TINTS[number % len(TINTS)]
    values = [other.prediction for other in tree.leaves]
    low, high = min(values), max(values)
    share = 0.5 if high == low or leaf.slopes else (leaf.prediction - low) / (high - low)
    return mixed(FULL_NUMBER, PALE_NUMBER, share)


def position(classes: Sequence[Any], label: Any) -> int:
    return next(number for number, each in enumerate(classes) if each == label)
