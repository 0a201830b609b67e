"""A target column -> whether it names classes, and the class of every row."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.table import Column, label_text
from treeml.lang.spec import Spec

MOST_CLASSES = 20  # distinct whole numbers that are still taken for classes


def are_classes(spec: Spec, target: Column | None, tasks: Set[str]) -> bool:
    """Do the leaves hold classes? The measures decide; if they fit both, the target does."""
    if target is None:
        return False
    if tasks & {"classes", "ensemble"}:
        return True
    if "numbers" in tasks or "clusters" in tasks:
        return False
    return not target.is_number or can_be_classes(spec, target)


def can_be_classes(spec: Spec, target: Column) -> bool:
    """Anything but numbers can be classes, and so can a few whole numbers unless they are declared numbers."""
    if not target.is_number:
        return target.type != "text"
    declared = spec.columns.get(target.name)
    if declared is not None and declared.type == "number":
        return False
    known = target.values if target.missing is None else target.values[~target.missing]
    values = np.unique(known)
    return len(values) <= MOST_CLASSES and bool((values == np.floor(values)).all())


def classes_of(target: Column) -> tuple[tuple[Any, ...], NDArray[np.int32]]:
    """The labels that occur, as the user's own values, and the class number of every row."""
    if target.is_number:
        values, actual = np.unique(target.values, return_inverse=True, equal_nan=True)
        values = values[values == values]  # a missing value, which was reported as a mistake, is not a class
        labels = [int(value) if target.type == "integer" else value.item() for value in values]
        return tuple(labels), actual.reshape(-1).astype(np.int32)
    if not len(target.levels):
        return (), target.values
    counts = np.bincount(
        target.values[target.values >= 0] if target.missing is not None else target.values, minlength=len(target.levels)
    )
    if counts.all():
        return target.levels, target.values
    place = np.append(np.cumsum(counts > 0) - 1, -1).astype(np.int32)
    labels = [level for level, count in zip(target.levels, counts, strict=True) if count]
    return tuple(labels), place[target.values]


def numbered_as(
    known: tuple[Any, ...], classes: tuple[Any, ...], actual: NDArray[np.int32]
) -> tuple[tuple[Any, ...], NDArray[np.int32]]:
    """The same rows with the numbers of the known classes; classes that are not known come after them.

    Labels are compared as text: `1` may be a number in one file, and a level in another one.
    """
    if not known:
        return classes, actual
    position = {label_text(label): number for number, label in enumerate(known)}
    others = tuple(label for label in classes if label_text(label) not in position)
    position |= {label_text(label): len(known) + number for number, label in enumerate(others)}
    places = np.array([*(position[label_text(label)] for label in classes), -1], dtype=np.int32)
    return (*known, *others), places[actual]
