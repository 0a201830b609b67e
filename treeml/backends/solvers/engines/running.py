"""A call of a solver -> the same call in a thread, under limits on time and memory, and interruptible by Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from threading import Event, Thread
from time import monotonic
from typing import Any

from treeml.backends.contract import Deadline
from treeml.backends.solvers.engines.outcome import SolverEnd
from treeml.system.exit_with_threads import exit_without_destructors
from treeml.system.interrupt import listening
from treeml.system.memory import resident


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Limits for an engine. `memory` is the most bytes that the process may hold; `work` is a limit in the solver's own
    unit (nodes, conflicts, deterministic time), which makes runs repeatable."""

    deadline: Deadline
    threads: int = 1
    seed: int = 0
    work: float | None = None
    memory: int | None = None

    @property
    def memory_left(self) -> int | None:
        """The bytes that may still be allocated, for a solver that limits its own memory."""
        return None if self.memory is None else max(2**20, self.memory - resident())


LEFT = "left"
POLL = 0.1  # seconds between two checks of memory, clock and Ctrl-C
LATE = 0.2  # seconds after the deadline when a solver that ignored its own time limit is interrupted
PATIENCE = 0.5  # seconds that it then gets to stop


def run_in_thread(
    work: Callable[[], Any], interrupt: Callable[[], None], run_limits: RunLimits, patience: float = inf
) -> list[str]:
    """Runs a solver in its own thread, so that Ctrl-C reaches Python, which asks the solver to stop and waits.

    Returns why it was asked to stop: `interrupted`, `time` (it ran past the deadline, as some do in presolve),
    `memory` (the process holds too much), or nothing. The list also has `left` if the solver was still running
    `patience` seconds after Ctrl-C, or PATIENCE after the deadline; then its objects must not be touched any more.
    `interrupt` is called until the solver has stopped.
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

    # An event instead of `join`: Ctrl-C inside `join` can make a running thread look finished.
    done, ends = Event(), inf
    # Ctrl-C must not raise here: a caller that catches the exception would free objects that the thread still uses.
    with listening(raises=False) as pressed:
        Thread(target=body, daemon=True).start()
        while not done.wait(POLL):
            if pressed() and "interrupted" not in reasons:
                reasons.append("interrupted")
                ends = monotonic() + patience
            if monotonic() > run_limits.deadline.at + LATE and "time" not in reasons:
                reasons.append("time")
                ends = min(ends, monotonic() + PATIENCE)
            if run_limits.memory is not None and resident() > run_limits.memory and not reasons:
                reasons.append("memory")
            if reasons:
                interrupt()  # every time: CP-SAT and SCIP forget one that comes before they have begun
            if monotonic() > ends:
                exit_without_destructors()
                return [*reasons, LEFT]
        if pressed() and "interrupted" not in reasons:
            reasons.append("interrupted")
    if failures:
        raise failures[0]
    return reasons


def cut_short(reasons: list[str]) -> SolverEnd:
    """How a search ended that was asked to stop, by the first reason."""
    first = next((reason for reason in reasons if reason != LEFT), "")
    return {"memory": SolverEnd.MEMORY, "time": SolverEnd.TIME}.get(first, SolverEnd.INTERRUPTED)
