"""`solve with native(threads = 2)` means `threads 2` for one back-end."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

import treeml as tml
from treeml.backends import registry
from treeml.backends.contract import NO_LIMITS, Answer, Limits, OnProgress
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.lang.diagnostic import SpecError
from treeml.problem.problem import Problem
from treeml.problem.tree import Node
from treeml.testing.problems import binary, errors, minimize

X, Y = [[0], [1], [2], [3]], ["a", "b", "a", "b"]
ABLE = [backend.name for backend in registry.all() if backend.can.threads]


class Listening(OracleBackend):
    """Records how many threads it was given."""

    can = OracleBackend.can.__class__(
        **{name: getattr(OracleBackend.can, name) for name in OracleBackend.can.__slots__} | {"threads": True}
    )
    heard: ClassVar[list[int]] = []

    def solve(
        self,
        problem: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        self.heard.append(limits.threads)
        assert "threads" not in limits.options
        return super().solve(problem, limits, start, on_progress)


@pytest.mark.parametrize(("given", "beside", "heard"), [({"threads": 3}, 1, 3), ({"threads": 1}, 2, 1), ({}, 2, 2)])
def test_the_option_of_one_wins_over_the_limit_of_all(given: dict[str, Any], beside: int, heard: int) -> None:
    backend = Listening()
    planned = plan(binary(["0", "1"], 2, minimize(errors([0, 1], 2))), backend, given)
    assert isinstance(planned, Plan)
    run(planned, Limits(threads=beside, options=given))
    assert backend.heard.pop() == heard


@pytest.mark.parametrize("name", [name for name in ABLE if name != "race"])
def test_every_back_end_with_threads_takes_it(name: str) -> None:
    text = f"minimize errors\nrequire depth <= 2\nsolve with {name}(threads = 2) threads 1\n"
    assert tml.parse(text).solve(X, Y).objective == 0


def test_a_member_of_a_race_takes_threads() -> None:
    text = "minimize errors\nrequire depth <= 2\nsolve with race(native(threads = 2), cpsat)\n"
    assert tml.parse(text).solve(X, Y).objective == 0


def test_threads_must_be_at_least_1() -> None:
    with pytest.raises(SpecError) as caught:
        tml.parse("minimize errors\nrequire depth <= 2\nsolve with native(threads = 0)\n").solve(X, Y)
    assert caught.value.diagnostics[0].title == "`threads` of native cannot be 0"
    assert "it is at least 1" in caught.value.diagnostics[0].notes[0]
