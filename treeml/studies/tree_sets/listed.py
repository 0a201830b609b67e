"""What is known about a list of trees as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from treeml.backends.claims import Evidence
from treeml.lang.diagnostic import Diagnostic


@dataclass(frozen=True, slots=True)
class Listed:
    """What is known about a listing as a whole. Values are in the user's sense."""

    goal: str = ""  # the text of the first goal
    sense: str = "minimize"
    best: Fraction | None = None  # the best value; None if there is no tree, or none was found
    limit: Fraction | None = None  # every tree from the best value to this one is known; None: every tree there is
    total: int = 0  # trees that are known to be there, up to the limit
    count: int | None = None  # trees of the list; None: as many as a file holds
    written: int = 0  # trees up to the limit where those of equal function are counted separately
    merged: bool = False  # of trees of equal function only the best, with the fewest leaves, is counted and listed
    complete: bool = False  # all trees that were asked for are in the set
    stop: str = ""  # why not: "time", "memory" or "count"
    statement: str = ""  # the same in a sentence
    style: str = ""
    seconds: float = 0.0
    statistics: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    evidence: tuple[Evidence, ...] = ()
