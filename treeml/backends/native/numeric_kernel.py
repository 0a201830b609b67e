"""Problem -> the numeric kernel on its columns of codes, with trees over the problem's tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import inf, isfinite
from typing import Any

import numpy as np

from treeml.backends.native.coded_columns import CodedColumns
from treeml.native.numeric import NumericSolver, Outcome, options
from treeml.native.solver import Found
from treeml.problem.problem import Problem


class ThresholdSolver:
    """The numeric counterpart of `treeml.native.solver.Solver`: one problem, which can be solved repeatedly."""

    def __init__(
        self,
        problem: Problem,
        *,
        cost: Any = None,
        targets: Any = None,
        weight: Any = None,
        beside: float = 0.0,
        count: Any = None,
        forbidden: frozenset[int] = frozenset(),
    ) -> None:
        self.problem = problem
        self.columns = CodedColumns(problem, forbidden)
        self._solver = NumericSolver(self.columns.codes(), count)
        self._squared = targets is not None
        self._slack = Fraction(0)
        if targets is not None:
            self._solver.targets(targets, weight, beside)
        else:
            self._solver.costs(cost)

    def solve(
        self,
        *,
        depth: int | None = None,
        support: int = 1,
        leaves: int | None = None,
        leaf_price: int | Fraction = 0,
        seconds: float = inf,
        memory: int | None = None,
        threads: int = 1,
        upper: int | None = None,
        enough: int | None = None,
        start: tuple[Sequence[int], Sequence[int], Sequence[int]] | None = None,
        on_progress: Callable[[float, Any, Any], bool | None] | None = None,
        options: Mapping[str, int] | None = None,
    ) -> Found:
        settings = dict(options or {})
        unit = self._solver.unit
        settings["support"] = support
        price = Fraction(leaf_price) * unit
        settings["leaf_price"] = round(price)
        settings["threads"] = min(threads, 256)
        for name, value in (("depth", depth), ("leaves", leaves), ("memory", memory)):
            if value is not None:
                settings[name] = value
        for name, value in (("upper", upper), ("enough", enough)):
            if value is not None:
                settings[name] = round(Fraction(value) * unit)
        if isfinite(seconds):
            settings["microseconds"] = max(0, min(int(1e6 * seconds), 2**62))
        self._solver.start(None if start is None else self.columns.to_columns(*start))
        table = _initial_values()
        self._solver.set(**settings)
        self._slack = self._solver.slack + 2 * abs(price - round(price)) * min(
            leaves or self.problem.rows, self.problem.rows
        )
        try:
            watch = None if on_progress is None else self._watch(on_progress)
            return self._found(self._solver.solve(watch))
        finally:
            self._solver.set(**{name: table[name] for name in settings})

    def interrupt(self) -> None:
        self._solver.interrupt()

    def _watch(self, on_progress: Callable[[float, Any, Any], bool | None]) -> Callable[[float, Any, int], bool | None]:
        unit, slack = self._solver.unit, self._slack

        def watch(seconds: float, value: int | None, bound: int) -> bool | None:
            below = Fraction(bound - slack) / unit if self._squared else bound
            if value is None:
                return on_progress(seconds, None, below)
            return on_progress(seconds, Fraction(value) / unit if self._squared else value, below)

        return watch

    def _found(self, outcome: Outcome) -> Found:
        unit, slack = outcome.unit, self._slack
        value, bound = outcome.value, outcome.bound if outcome.status == "optimal" else outcome.bound - slack
        tree = outcome.tree
        test, left, right, label = self.columns.to_tests(tree) if tree is not None else ([], [], [], [])
        arrays = [np.array(part, dtype=np.int32) for part in (test, left, right, label)]
        return Found(
            outcome.status,
            outcome.stop,
            None if value is None else (Fraction(value) / unit if self._squared else value),
            Fraction(bound) / unit if self._squared else bound,
            arrays[0],
            arrays[1],
            arrays[2],
            arrays[3],
            Fraction(slack) / unit,
            self._solver.statistics(),
            outcome.kernel,
        )


def _initial_values() -> dict[str, int]:
    return {name: initial for name, (_, _, initial, _) in options().items()}
