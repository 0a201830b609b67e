"""Clauses, assumptions -> a model, a core, or neither in time; by the solvers of python-sat.

Solvers that can be interrupted run in one go, in a thread of their own. The others are run in slices of conflicts:
between two slices the deadline, a listener and Ctrl-C are heard. A limit in conflicts repeats exactly either way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import monotonic
from typing import Any

from treeml.backends.contract import Deadline
from treeml.backends.engines.outcome import run_in_thread

INTERRUPTIBLE = frozenset({"g3", "g4", "m22", "mgh"})
FIRST_SLICE = 2_000
SLICE_SECONDS = 0.5


class Stopped(Exception):
    """The deadline passed, or somebody asked for a stop; `reason` is time, interrupted or conflicts."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Sat:
    """One incremental solver."""

    def __init__(
        self,
        name: str,
        clauses: Iterable[list[int]],
        deadline: Deadline,
        *,
        proof: bool = False,
        conflicts: int | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        from pysat.solvers import Solver

        self.name, self.deadline, self.left, self.stop = name, deadline, conflicts, stop
        self.solver: Any = Solver(name=name, with_proof=proof) if proof else Solver(name=name)
        self.solver.append_formula(list(clauses))
        self.slice = FIRST_SLICE
        self.done = 0

    def add(self, clause: Sequence[int]) -> None:
        self.solver.add_clause(list(clause))

    def solve(self, assumptions: Sequence[int] = ()) -> bool:
        """True: satisfiable; False: not, under the assumptions. Raises Stopped."""
        if self.name in INTERRUPTIBLE:
            return self._solve_at_once(list(assumptions))
        while True:
            reason = self._reason_to_stop()
            if reason is not None:
                raise Stopped(reason)
            if self.left is not None and self.left <= 0:
                raise Stopped("conflicts")
            budget = self.slice if self.left is None else min(self.slice, self.left)
            self.solver.conf_budget(budget)
            began = monotonic()
            answer = self.solver.solve_limited(assumptions=list(assumptions))
            spent = monotonic() - began
            if answer is not None:
                return bool(answer)
            self.done += budget
            if self.left is not None:
                self.left -= budget
            # The solver starts each slice where it left off, so short slices cost little.
            if spent < SLICE_SECONDS / 2:
                self.slice = min(self.slice * 2, 200_000)
            elif spent > 2 * SLICE_SECONDS:
                self.slice = max(200, self.slice // 2)

    def _solve_at_once(self, assumptions: list[int]) -> bool:
        """The solver lets go of Python while it runs, and somebody else watches the clock."""
        reasons: list[str] = []

        def watch() -> None:
            reason = self._reason_to_stop()
            if reason is not None:
                reasons.append(reason)
                self.solver.interrupt()

        def interrupt() -> None:
            reasons.append("interrupted")
            self.solver.interrupt()

        first = self._reason_to_stop()
        if first is not None:
            raise Stopped(first)
        before = self._conflicts()
        self.solver.clear_interrupt()
        self.solver.conf_budget(-1 if self.left is None else self.left)
        answer = run_in_thread(
            lambda: self.solver.solve_limited(assumptions=assumptions, expect_interrupt=True), interrupt, watch
        )
        if self.left is not None:
            self.left = max(0, self.left - (self._conflicts() - before))
        if answer is None:
            raise Stopped(reasons[0] if reasons else "conflicts")
        return bool(answer)

    def _reason_to_stop(self) -> str | None:
        if self.stop is not None and self.stop():
            return "interrupted"
        return "time" if self.deadline.passed else None

    def _conflicts(self) -> int:
        return int((self.solver.accum_stats() or {}).get("conflicts", 0))

    def phases(self, literals: Sequence[int]) -> None:
        """Values to try first, where the solver takes them."""
        try:
            self.solver.set_phases(list(literals))
        except NotImplementedError:
            return

    def model(self) -> list[int]:
        return list(self.solver.get_model())

    def core(self) -> list[int]:
        return list(self.solver.get_core() or ())

    def proof(self) -> list[str]:
        return list(self.solver.get_proof() or ())

    def statistics(self) -> dict[str, float]:
        known = self.solver.accum_stats() or {}
        names = {"conflicts": "failures", "decisions": "nodes", "propagations": "propagations", "restarts": "restarts"}
        return {names[key]: float(value) for key, value in known.items() if key in names}

    def close(self) -> None:
        self.solver.delete()
