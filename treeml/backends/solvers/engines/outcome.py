"""How a solver is to run, and what it made of a model, in words that all of them share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from math import inf
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from treeml.backends.claims import BOUND, INFEASIBLE, OPTIMAL, Evidence, UnfoundedClaim
from treeml.backends.contract import Deadline
from treeml.system.exits import exit_without_destructors
from treeml.system.interrupt import listening
from treeml.system.memory import resident

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]


class SolverEnd(Enum):
    """How a search in a solver ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    TIME = "time"
    MEMORY = "memory"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Proved:
    """A lower bound on the goal in whole numbers, offset included, and what it rests on."""

    least: int
    evidence: Evidence

    def __post_init__(self) -> None:
        if not self.evidence.supports(BOUND):
            raise UnfoundedClaim(f"it states a bound, and `{self.evidence.rule}` does not support it")


@dataclass(frozen=True, eq=False, slots=True)
class SolverOutcome:
    """`values` is the best assignment found; that it is optimal, or that there is none, comes with its evidence."""

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
        """Of an outcome that is optimal or infeasible."""
        assert self.evidence is not None
        return self.evidence


@dataclass(frozen=True, slots=True)
class Orders:
    """`memory` is how much the process may hold, in bytes; `work` a limit in the solver's own measure (nodes,
    deterministic time), so that a run repeats."""

    deadline: Deadline
    threads: int = 1
    seed: int = 0
    work: float | None = None
    memory: int | None = None

    @property
    def memory_left(self) -> int | None:
        """What may still be taken, for a solver that counts its own."""
        return None if self.memory is None else max(2**20, self.memory - resident())


# Called with an assignment (or None) and a proved lower bound (or None); False stops the search.
OnIncumbent = Callable[["Whole | None", "Proved | None"], bool | None]


LEFT = "left"
POLL = 0.1  # seconds between two looks at the memory, at the clock and for Ctrl-C
LATE = 0.2  # seconds after the deadline at which a solver with a limit of its own is asked again, and more urgently
PATIENCE = 0.5  # seconds that it then gets


def run_in_thread(
    work: Callable[[], Any], interrupt: Callable[[], None], orders: Orders, patience: float = inf
) -> list[str]:
    """Runs a solver in a thread of its own, so that Ctrl-C reaches Python, which asks it to stop and waits.

    Returns why it was asked to stop: `interrupted`, `time` (it went on beyond the deadline, as some do in presolve),
    `memory` (the process holds more than it may), or nothing; and `left` if it was still running so many seconds after
    Ctrl-C, or PATIENCE after the deadline: then its objects must not be touched any more.
    """
    reasons: list[str] = []
    failures: list[BaseException] = []

    def body() -> None:
        try:
            work()
        except BaseException as failure:
            failures.append(failure)
        finally:
            done.set()

    # An event, not `join`: a Ctrl-C inside `join` can make a running thread look ended.
    done, ends = Event(), inf
    # No exception for Ctrl-C: it could come anywhere here, and whoever caught it would free what the thread works on.
    with listening(raises=False) as pressed:
        Thread(target=body, daemon=True).start()
        while not done.wait(POLL):
            if pressed() and "interrupted" not in reasons:
                reasons.append("interrupted")
                ends = monotonic() + patience
                interrupt()
            if monotonic() > orders.deadline.at + LATE and "time" not in reasons:
                reasons.append("time")
                ends = min(ends, monotonic() + PATIENCE)
                interrupt()
            if orders.memory is not None and resident() > orders.memory and not reasons:
                reasons.append("memory")
                interrupt()
            if monotonic() > ends:
                exit_without_destructors()
                return [*reasons, LEFT]
        if pressed() and "interrupted" not in reasons:
            reasons.append("interrupted")
    if failures:
        raise failures[0]
    return reasons


def cut_short(reasons: list[str]) -> SolverEnd:
    """How a search ended that was asked to stop."""
    first = next((reason for reason in reasons if reason != LEFT), "")
    return {"memory": SolverEnd.MEMORY, "time": SolverEnd.TIME}.get(first, SolverEnd.INTERRUPTED)
