"""SolverOutcome: the result of a solver, in terms that all engines share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.claims import BOUND, INFEASIBLE, OPTIMAL, Evidence, UnfoundedClaim

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]


class SolverEnd(Enum):
    """How the search of a solver ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    TIME = "time"
    MEMORY = "memory"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Proved:
    """A lower bound on the goal in integers, offset included, and its evidence."""

    least: int
    evidence: Evidence

    def __post_init__(self) -> None:
        if not self.evidence.supports(BOUND):
            raise UnfoundedClaim(f"it states a bound, and `{self.evidence.rule}` does not support it")


@dataclass(frozen=True, eq=False, slots=True)
class SolverOutcome:
    """`values` is the best assignment found; the claims "optimal" and "infeasible" need evidence."""

    end: SolverEnd
    values: Whole | None = None
    bound: Proved | None = None
    raw: str = ""
    statistics: dict[str, float] = field(default_factory=dict)
    evidence: Evidence | None = None

    def __post_init__(self) -> None:
        claim = {SolverEnd.OPTIMAL: OPTIMAL, SolverEnd.INFEASIBLE: INFEASIBLE}.get(self.end)
        if claim is not None and (self.evidence is None or not self.evidence.supports(claim)):
            raise UnfoundedClaim(f"a solver's outcome is {self.end.value}, and names no evidence for it")

    @property
    def proof(self) -> Evidence:
        """The evidence of an outcome that is optimal or infeasible."""
        assert self.evidence is not None
        return self.evidence


# Called with an assignment (or None) and a proved lower bound (or None); False stops the search.
OnIncumbent = Callable[["Whole | None", "Proved | None"], bool | None]
