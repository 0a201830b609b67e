"""Column generation alone: the cutting-stock problem, and every way in which the loop ends."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from treeml.backends.contract import Deadline, Stop
from treeml.forests.column_generation import GenerationSettings, PricedTrees, Restricted, Round, generate
from treeml.lang.diagnostic import BackendError, Diagnostic

Pattern = tuple[int, ...]


class Boards:
    """The fewest boards: min sum x, sum pattern * x >= demand. The loop maximizes, so the value is negated."""

    def __init__(self, demand: Sequence[int]) -> None:
        self.demand = np.array(demand, dtype=float)
        self.patterns: list[Pattern] = []

    def solve(self, seconds: float) -> Restricted | None:
        from scipy.optimize import linprog

        solved = linprog(np.ones(len(self.patterns)), A_ub=-np.array(self.patterns, dtype=float).T, b_ub=-self.demand)
        assert solved.status == 0
        return Restricted(-float(solved.fun), np.asarray(solved.x), -np.asarray(solved.ineqlin.marginals))

    def reduced_cost(self, column: Pattern, restricted: Restricted) -> float:
        return float(np.array(column) @ restricted.prices) - 1

    def add(self, columns: Sequence[Pattern]) -> None:
        self.patterns += columns

    def forget(self, columns: NDArray[np.bool_]) -> None:
        self.patterns = [pattern for pattern, gone in zip(self.patterns, columns, strict=True) if not gone]


class Cutting:
    """The pattern with the largest worth at the prices, by dynamic programming over lengths."""

    def __init__(self, length: int, shelves: Sequence[int], demand: Sequence[int]) -> None:
        self.length, self.shelves, self.demand = length, shelves, demand
        self.calls = 0

    def __call__(self, prices: NDArray[np.float64], enough: float, deadline: Deadline) -> PricedTrees[Pattern]:
        self.calls += 1
        worth: list[tuple[float, Pattern]] = [(0.0, (0,) * len(self.shelves))]
        for length in range(1, self.length + 1):
            best = worth[length - 1]
            for number, shelf in enumerate(self.shelves):
                if shelf <= length:
                    value, pattern = worth[length - shelf]
                    better = value + prices[number]
                    if better > best[0] + 1e-12:
                        best = better, tuple(n + (place == number) for place, n in enumerate(pattern))
            worth.append(best)
        value, pattern = worth[-1]
        # Farley 1990: prices divided by the best pattern's worth are feasible for the dual.
        total = Fraction(float(prices @ np.array(self.demand, dtype=float)))
        return PricedTrees([pattern], -total / max(Fraction(1), Fraction(value)))


LENGTH, SHELVES, DEMAND = 100, (45, 36, 31, 14), (97, 610, 395, 211)


def single_shelves() -> list[Pattern]:
    return [
        tuple(LENGTH // shelf if place == number else 0 for place in range(len(SHELVES)))
        for number, shelf in enumerate(SHELVES)
    ]


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_cutting_stock(smoothing: float) -> None:
    found = generate(
        Boards(DEMAND), Cutting(LENGTH, SHELVES, DEMAND), GenerationSettings(smoothing=smoothing), single_shelves()
    )
    assert found.stop is Stop.PROVED
    assert -found.value == pytest.approx(452.25)  # Gilmore and Gomory's own example
    assert found.bound is not None
    assert float(found.bound) >= found.value - 1e-9
    cut = np.array(found.columns).T @ found.weights
    assert (cut >= np.array(DEMAND) - 1e-6).all()
    assert all(np.array(pattern) @ SHELVES <= LENGTH for pattern in found.columns)


def test_a_limit_on_rounds_keeps_what_was_found() -> None:
    found = generate(
        Boards(DEMAND),
        Cutting(LENGTH, SHELVES, DEMAND),
        GenerationSettings(iterations=1, smoothing=0),
        single_shelves(),
    )
    assert found.stop is Stop.FINISHED
    assert -found.value > 452.25
    assert found.bound is not None
    assert float(found.bound) >= -452.2500001
    assert len(found.rounds) == 1


def test_a_deadline_of_zero_is_respected() -> None:
    found = generate(
        Boards(DEMAND),
        Cutting(LENGTH, SHELVES, DEMAND),
        GenerationSettings(deadline=Deadline.after(0)),
        single_shelves(),
    )
    assert found.stop is Stop.TIME
    assert found.columns


def test_a_requested_gap_ends_the_search_without_a_proof() -> None:
    found = generate(
        Boards(DEMAND), Cutting(LENGTH, SHELVES, DEMAND), GenerationSettings(gap=0.5, smoothing=0), single_shelves()
    )
    assert found.stop is Stop.GAP


def test_a_listener_can_stop_the_search() -> None:
    seen: list[Round] = []

    def watch(moment: Round, columns: Sequence[Pattern], restricted: Restricted) -> bool:
        seen.append(moment)
        return len(seen) < 2

    found = generate(
        Boards(DEMAND), Cutting(LENGTH, SHELVES, DEMAND), GenerationSettings(smoothing=0), single_shelves(), watch
    )
    assert found.stop is Stop.INTERRUPTED
    assert [moment.iteration for moment in seen] == [1, 2]
    assert seen[0].reduced_cost > 0
    assert found.columns


@pytest.mark.parametrize("error", [BackendError(Diagnostic("B515", "the solver failed")), KeyboardInterrupt()])
def test_what_was_found_before_a_failure_is_kept(error: BaseException) -> None:
    pricing = Cutting(LENGTH, SHELVES, DEMAND)

    def failing(*arguments: Any) -> PricedTrees[Pattern]:
        if pricing.calls >= 2:
            raise error
        return pricing(*arguments)

    found = generate(Boards(DEMAND), failing, GenerationSettings(smoothing=0), single_shelves())
    assert found.stop is (Stop.FAILED if isinstance(error, BackendError) else Stop.INTERRUPTED)
    assert (found.failure is not None) == isinstance(error, BackendError)
    assert found.columns
    assert -found.value < inf


def test_a_failure_with_nothing_found_is_an_error() -> None:
    def failing(*_: Any) -> PricedTrees[Pattern]:
        raise BackendError(Diagnostic("B515", "the solver failed"))

    class Empty(Boards):
        def solve(self, seconds: float) -> Restricted | None:
            return Restricted(-inf, np.zeros(0), np.ones(len(DEMAND)))

    with pytest.raises(BackendError):
        generate(Empty(DEMAND), failing, GenerationSettings())


def test_a_quick_claim_is_confirmed_before_it_ends_the_search() -> None:
    """The first bound is wrong and unconfirmed; the second is correct."""
    pricing = Cutting(LENGTH, SHELVES, DEMAND)
    asked: list[float] = []

    def quick(prices: NDArray[np.float64], enough: float, deadline: Deadline) -> PricedTrees[Pattern]:
        asked.append(enough)
        true = pricing(prices, enough, deadline)
        return true if enough == inf else PricedTrees(true.columns, Fraction(-(10**6)), confirmed=False)

    found = generate(Boards(DEMAND), quick, GenerationSettings(smoothing=0), single_shelves())
    assert inf in asked
    assert -found.value == pytest.approx(452.25)
    assert found.bound is not None
    assert float(found.bound) >= found.value - 1e-6
