"""What every measure means: its unit, its task, its exact evaluator, and its lowering to the terms of a Problem.

    registry    names, units and tasks: all that the checker and the documentation need, without numpy
    rows        which rows and classes a condition, a class or a group speaks of
    terms       a measure over a Dataset -> an exact sum of terms for the back-ends
    lower       a goal or a requirement -> sums to minimize and to bound
    definitions a measure of a finished tree, straight from its definition
    reference   the registry -> docs/measures.md

Adding a measure is adding an entry to the registry, a lowering and an evaluator: the grammar and the back-ends stay as
they are. The checker reads this package without data, so what needs numpy is imported at first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from treeml.measures.registry import MEASURES, Measure, Parameter

if TYPE_CHECKING:
    from treeml.measures.definitions import Outcome, evaluate
    from treeml.measures.lower import lower_goal, lower_requirement
    from treeml.measures.terms import lower_measure

__all__ = [
    "MEASURES",
    "Measure",
    "Outcome",
    "Parameter",
    "evaluate",
    "lower_goal",
    "lower_measure",
    "lower_requirement",
]

_LATER = {
    "Outcome": "definitions",
    "evaluate": "definitions",
    "lower_goal": "lower",
    "lower_measure": "terms",
    "lower_requirement": "lower",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"treeml.measures.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
