"""Clauses, assumptions -> a model or a core, or neither if time runs out; by the solvers of python-sat.

Not all of these solvers can be interrupted, so they run in slices of conflicts; between two slices the deadline, the
callback and Ctrl-C are checked. Slices do not depend on the clock, so runs are repeatable. A slice ends in a restart,
which helps on these clauses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from threading import current_thread, main_thread
from typing import Any

from treeml.backends.contract import Stop
from treeml.backends.solvers.engines.running import LEFT, RunLimits, run_in_thread
from treeml.backends.solvers.engines.statuses import SAT
from treeml.backends.task.deadline import in_time
from treeml.system.memory import resident

SLICE = 2_000
CLAUSES_AT_ONCE = 50_000  # added between two checks of the clock


class Stopped(Exception):
    """The search was stopped: deadline, memory, conflicts, callback or Ctrl-C."""

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop.value)
        self.stop = stop


class Sat:
    """One incremental solver."""

    def __init__(
        self,
        name: str,
        clauses: Iterable[list[int]],
        run_limits: RunLimits,
        *,
        proof: bool = False,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        from pysat.solvers import Solver

        self.name, self.run_limits, self.stop = name, run_limits, stop
        self.left = None if run_limits.work is None else int(run_limits.work)  # conflicts that are left
        self.solver: Any = Solver(name=name, with_proof=proof) if proof else Solver(name=name)
        self.is_left = False  # still running in its thread: it must not be touched any more
        self.done = 0
        waiting = clauses if isinstance(clauses, list) else list(clauses)
        for first in range(0, len(waiting), CLAUSES_AT_ONCE):
            self.solver.append_formula(waiting[first : first + CLAUSES_AT_ONCE])
            in_time(run_limits.deadline)

    def add(self, clause: Sequence[int]) -> None:
        self.solver.add_clause(list(clause))

    def solve(self, assumptions: Sequence[int] = ()) -> bool:
        """Are the clauses satisfiable under the assumptions? Raises Stopped."""
        while True:
            reason = self._reason_to_stop()
            if reason is not None:
                raise Stopped(reason)
            budget = SLICE if self.left is None else min(SLICE, self.left)
            self.solver.conf_budget(budget)
            row = SAT[self._slice(list(assumptions))]
            if row.values or row.infeasible:
                return row.values
            self.done += budget
            if self.left is not None:
                self.left -= budget

    def _slice(self, assumptions: list[int]) -> bool | None:
        """Runs one slice, in its own thread: in the main thread python-sat handles Ctrl-C by a jump out of the solver.

        After such a jump the solver can neither be used nor safely deleted.
        """
        answers: list[bool | None] = []

        def work() -> None:
            answers.append(self.solver.solve_limited(assumptions=assumptions, expect_interrupt=True))

        if current_thread() is not main_thread():
            work()
            return answers[0]
        reasons = run_in_thread(work, self._interrupt, self.run_limits)
        self.is_left = LEFT in reasons
        if "interrupted" in reasons or self.is_left:
            raise Stopped(Stop.INTERRUPTED if "interrupted" in reasons else Stop.TIME)
        return answers[0]

    def _interrupt(self) -> None:
        """Interrupts the solver; one that cannot be interrupted finishes its slice."""
        with suppress(NotImplementedError):
            self.solver.interrupt()

    def _reason_to_stop(self) -> Stop | None:
        if self.stop is not None and self.stop():
            return Stop.INTERRUPTED
        if self.run_limits.memory is not None and resident() > self.run_limits.memory:
            return Stop.MEMORY
        spent = self.left is not None and self.left <= 0
        return Stop.TIME if spent or self.run_limits.deadline.passed else None

    def phases(self, literals: Sequence[int]) -> None:
        """Sets the values to try first, if the solver supports that."""
        with suppress(NotImplementedError):
            self.solver.set_phases(list(literals))

    def model(self) -> list[int]:
        return list(self.solver.get_model())

    def core(self) -> list[int]:
        return list(self.solver.get_core() or ())

    def proof(self) -> list[str]:
        return list(self.solver.get_proof() or ())

    def statistics(self) -> dict[str, float]:
        known = {} if self.is_left else self.solver.accum_stats() or {}
        names = {"conflicts": "failures", "decisions": "nodes", "propagations": "propagations", "restarts": "restarts"}
        return {names[key]: float(value) for key, value in known.items() if key in names}

    def close(self) -> None:
        if not self.is_left:
            self.solver.delete()
