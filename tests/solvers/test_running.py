"""A solver in a thread: Ctrl-C, the clock and memory reach it at every moment, also before it has begun."""

from __future__ import annotations

from threading import Event

import pytest

from treeml.backends.contract import Deadline
from treeml.backends.solvers.engines import running
from treeml.backends.solvers.engines.running import RunLimits, run_in_thread
from treeml.system.interrupt import press


class Forgetful:
    """A solver that forgets the first two requests to stop, as CP-SAT and SCIP do before they have begun."""

    def __init__(self) -> None:
        self.asked, self.is_over = 0, Event()

    def interrupt(self) -> None:
        self.asked += 1
        if self.asked == 3:
            self.is_over.set()

    def run(self) -> None:
        assert self.is_over.wait(600)


def test_ctrl_c_reaches_a_solver_that_has_not_begun() -> None:
    solver = Forgetful()

    def work() -> None:
        press()
        solver.run()

    assert run_in_thread(work, solver.interrupt, RunLimits(Deadline())) == ["interrupted"]


def test_the_clock_reaches_a_solver_that_has_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "PATIENCE", 600.0)
    solver = Forgetful()
    assert run_in_thread(solver.run, solver.interrupt, RunLimits(Deadline.after(0))) == ["time"]


def test_memory_reaches_a_solver_that_has_not_begun() -> None:
    solver = Forgetful()
    assert run_in_thread(solver.run, solver.interrupt, RunLimits(Deadline(), memory=1)) == ["memory"]


def test_a_failure_of_the_solver_is_raised_here() -> None:
    def work() -> None:
        raise MemoryError("too much")

    with pytest.raises(MemoryError, match="too much"):
        run_in_thread(work, lambda: None, RunLimits(Deadline()))
