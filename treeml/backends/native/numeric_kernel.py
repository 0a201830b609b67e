"""Problem -> the numeric kernel on its columns of codes, with trees over the problem's tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor, inf, isfinite, lcm
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeml.backends.native.coded_columns import CodedColumns
from treeml.backends.native.goals import surplus_bits
from treeml.native.numeric import NumericSolver, Outcome, options
from treeml.native.solver import Found
from treeml.problem.constants import exact_sum
from treeml.problem.problem import Problem

FlatStart = tuple[Sequence[int], Sequence[int], Sequence[int]]  # test, yes and no of every node


class FlatTestTree(NamedTuple):
    """A tree over tests: node 0 is the root, the test of a leaf is -1."""

    test: list[int]
    left: list[int]
    right: list[int]
    label: list[int]


class ThresholdSolver:
    """The numeric counterpart of `treeml.native.solver.Solver`: one problem, which can be solved repeatedly."""

    def __init__(
        self,
        problem: Problem,
        *,
        cost: Any = None,
        targets: Any = None,
        weight: Any = None,
        beside: float | None = None,
        sides: tuple[Fraction, Fraction] | None = None,
        count: Any = None,
        columns: CodedColumns | None = None,
        fees: Sequence[int | Fraction] | NDArray[np.int64] | None = None,
    ) -> None:
        """The costs of classes, or targets with the squared loss; `sides` makes that an absolute or quantile loss, with
        these costs per unit of a target above and below what a leaf predicts. `beside`: the largest price beside such a
        loss, which sets its rounding; None if all values fit as they are. `fees`: the cost of testing each feature.
        """
        self.problem = problem
        self.columns = CodedColumns(problem) if columns is None else columns
        self._solver = NumericSolver(self.columns.codes(), count)
        self._slack = Fraction(0)
        # Of the solver per unit of the objective: a quantile loss counts in steps of its level.
        self._steps = Fraction(1)
        self._moved = Fraction(0)  # how far rounded targets move the value of any tree, in steps of the solver
        if sides is not None:
            self._set_sides(targets, weight, beside, sides)
        elif targets is not None:
            self._solver.targets(targets, weight, beside or 0.0)
        else:
            self._solver.costs(cost)
        self._doubt = Fraction(0) if fees is None else self._set_fees(fees)
        self.share: Callable[[FlatTestTree], None] | None = None  # called with every better tree while a search runs
        self.news: Callable[[], FlatStart | None] | None = None  # asked for a tree to go on from while a search runs

    def _set_sides(
        self,
        targets: NDArray[np.int64],
        weight: NDArray[np.int64],
        beside: float | None,
        sides: tuple[Fraction, Fraction],
    ) -> None:
        """Passes on the targets of an absolute or quantile loss; their last bits are rounded away until sums fit."""
        steps = lcm(*(side.denominator for side in sides))
        up, down = (int(side * steps) for side in sides)
        bits = 0
        if beside is not None:
            bits = surplus_bits(targets, exact_sum(weight) * steps, ceil(beside * self.problem.rows) * steps)
        if bits:
            given, targets = targets, (targets + (1 << (bits - 1))) >> bits
            moved = np.abs(given - (targets << bits))
            apart = sum(exact_sum(output, weight) for output in moved.T)
            self._moved = Fraction(apart * max(up, down), 1 << bits)
        self._steps = Fraction(steps, 1 << bits)
        self._solver.quantile(targets, weight, up, down)

    def _set_fees(self, fees: Sequence[int | Fraction] | NDArray[np.int64]) -> Fraction:
        """Passes on the fee of every column; returns how far rounding may be off, over all rows."""
        unit, features = self._solver.unit * self._steps, [column.feature for column in self.columns.columns]
        # Fractions of numpy's integers would overflow silently.
        given = fees.tolist() if isinstance(fees, np.ndarray) else fees
        exact = {feature: Fraction(given[feature]) * unit for feature in features}
        self._solver.fees(np.array(features), np.array([round(exact[feature]) for feature in features]))
        off = sum((abs(fee - round(fee)) for fee in exact.values()), Fraction(0))
        return off * int(self.problem.count.sum())

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
        start: FlatStart | None = None,
        on_progress: Callable[[float, Any, Any], bool | None] | None = None,
        options: Mapping[str, int] | None = None,
    ) -> Found:
        settings = dict(options or {})
        unit = self._solver.unit * self._steps
        settings["support"] = support
        price = Fraction(leaf_price) * unit
        settings["leaf_price"] = round(price)
        settings["threads"] = min(threads, 256)
        for name, value in (("depth", depth), ("leaves", leaves), ("memory", memory)):
            if value is not None:
                settings[name] = value
        # Rounding must not hide a tree below `upper`, nor call a tree below `enough` that is not.
        if upper is not None:
            settings["upper"] = ceil(Fraction(upper) * unit + self._moved)
        if enough is not None:
            settings["enough"] = floor(Fraction(enough) * unit - self._moved)
        begun = monotonic()
        self._solver.start(None if start is None else self.columns.to_columns(*start))
        if isfinite(seconds):  # to sort the columns for a start may have taken seconds
            settings["microseconds"] = max(0, min(int(1e6 * (seconds - (monotonic() - begun))), 2**62))
        table = _initial_values()
        self._solver.set(**settings)
        self._slack = (
            self._solver.slack
            + 2 * (self._doubt + self._moved)
            + 2 * abs(price - round(price)) * min(leaves or self.problem.rows, self.problem.rows)
        )
        try:
            watch = None if on_progress is None else self._watch(on_progress)
            return self._found(self._solver.solve(watch))
        finally:
            self._solver.set(**{name: table[name] for name in settings})

    def interrupt(self) -> None:
        self._solver.interrupt()

    def _watch(self, on_progress: Callable[[float, Any, Any], bool | None]) -> Callable[[float, Any, int], bool | None]:
        shared: int | None = None

        def watch(seconds: float, value: int | None, bound: int) -> bool | None:
            nonlocal shared
            if self.share is not None and value is not None and (shared is None or value < shared):
                shared, tree = value, self._solver.best_tree()
                if tree is not None:
                    self.share(FlatTestTree(*self.columns.to_tests(tree)))
            proposed = None if self.news is None else self.news()
            given = None if proposed is None else self.columns.to_columns(*proposed)
            if given is not None:
                self._solver.propose(given)
            below = self._in_units(bound - self._slack)
            return on_progress(seconds, None if value is None else self._in_units(value + self._moved), below)

        return watch

    def _in_units(self, value: int | Fraction) -> int | Fraction:
        """Steps of the solver -> units of the objective."""
        unit = self._solver.unit * self._steps
        return value if unit == 1 else Fraction(value) / unit

    def _found(self, outcome: Outcome) -> Found:
        slack = self._slack
        value, bound = outcome.value, outcome.bound if outcome.status == "optimal" else outcome.bound - slack
        tree = outcome.tree
        test, left, right, label = self.columns.to_tests(tree) if tree is not None else ([], [], [], [])
        arrays = [np.array(part, dtype=np.int32) for part in (test, left, right, label)]
        return Found(
            outcome.status,
            outcome.stop,
            None if value is None else self._in_units(value),
            self._in_units(bound),
            arrays[0],
            arrays[1],
            arrays[2],
            arrays[3],
            Fraction(slack) / (outcome.unit * self._steps),
            self._solver.statistics(),
            outcome.kernel,
        )


def _initial_values() -> dict[str, int]:
    return {name: initial for name, (_, _, initial, _) in options().items()}
