"""A call of a solver -> the same call in a thread, under limits on time and memory, with Ctrl-C heard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from threading import Event, Thread
from time import monotonic
from typing import Any

from treeml.backends.contract import Deadline
from treeml.backends.solvers.engines.outcome import SolverEnd
from treeml.system.exits import exit_without_destructors
from treeml.system.interrupt import listening
from treeml.system.memory import resident


@dataclass(frozen=True, slots=True)
class RunLimits:
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


LEFT = "left"
POLL = 0.1  # seconds between two looks at the memory, at the clock and for Ctrl-C
LATE = 0.2  # seconds after the deadline at which a solver with a limit of its own is asked again, and more urgently
PATIENCE = 0.5  # seconds that it then gets


def run_in_thread(
    work: Callable[[], Any], interrupt: Callable[[], None], run_limits: RunLimits, patience: float = inf
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
            if monotonic() > run_limits.deadline.at + LATE and "time" not in reasons:
                reasons.append("time")
                ends = min(ends, monotonic() + PATIENCE)
                interrupt()
            if run_limits.memory is not None and resident() > run_limits.memory and not reasons:
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
