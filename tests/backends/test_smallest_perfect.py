"""The fewest leaves of a tree without avoidable errors, by one search over both goals: what the answer then claims."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from treeml.backends import registry
from treeml.backends.contract import Answer, Status, Stop
from treeml.backends.native import run as native_run
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.problem.problem import Problem
from treeml.problem.terms import Leaves
from treeml.testing.problems import binary, bound, errors, minimize

ROWS = [format(number, "03b") for number in range(8)]
PARITY = [row.count("1") % 2 for row in ROWS]


def perfect(*more: Any) -> Problem:
    """Three bits, whose parity eight leaves tell."""
    return binary(ROWS, 2, minimize(Leaves()), (bound(errors(PARITY, 2), "<=", 0), *more))


def solved(problem: Problem) -> Answer:
    planned = plan(problem, registry.get("native"))
    assert isinstance(planned, Plan)
    return run(planned)


def ending(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Lets every search of the C solver end with these values instead of its own."""
    searched = native_run.NativeRun.run

    def search(self: native_run.NativeRun, *arguments: Any) -> Any:
        found = searched(self, *arguments)
        assert found is not None
        return replace(found, **changes)

    monkeypatch.setattr(native_run.NativeRun, "run", search)


@pytest.mark.parametrize("stop", ["time", "interrupted", "memory"])
def test_a_proof_that_comes_with_the_end_of_the_time_is_a_proof(monkeypatch: pytest.MonkeyPatch, stop: str) -> None:
    """The limit may be reached between the last step of the search and its end: what was proved stays proved."""
    ending(monkeypatch, stop=stop)
    answer = solved(perfect())
    assert (answer.status, answer.stop, answer.objective) == (Status.OPTIMAL, Stop.PROVED, (8,))
    assert answer.bound == 8


@pytest.mark.parametrize(
    ("stop", "said"), [("time", Stop.TIME), ("interrupted", Stop.INTERRUPTED), ("memory", Stop.MEMORY)]
)
def test_a_search_that_ends_early_keeps_its_reason(monkeypatch: pytest.MonkeyPatch, stop: str, said: Stop) -> None:
    ending(monkeypatch, status="feasible", stop=stop, bound=0)
    answer = solved(perfect())
    assert (answer.status, answer.stop, answer.objective) == (Status.FEASIBLE, said, (8,))
    assert answer.bound is not None
    assert answer.bound <= 8


def test_too_few_leaves_are_proved_infeasible_whenever_the_search_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = perfect(bound(Leaves(), "<=", 7))
    ending(monkeypatch, stop="time")
    answer = solved(problem)
    assert (answer.status, answer.stop) == (Status.INFEASIBLE, Stop.PROVED)
