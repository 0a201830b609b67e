"""Searches of our own that lie: what a tree contradicts is a failure, and what was stopped is no proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import treeml as tml
from treeml.backends.claims import Evidence
from treeml.backends.contract import NO_LIMITS, Answer, Limits, OnProgress, Status, Stop
from treeml.backends.native.numeric_kernel import ThresholdSolver
from treeml.backends.planning.lexicographic import lexicographic
from treeml.lang.diagnostic import BackendError
from treeml.native.solver import Found, Solver
from treeml.problem.evaluate import evaluate_goals
from treeml.problem.problem import Problem
from treeml.problem.terms import Leaves
from treeml.problem.tree import Leaf, Node, Split
from treeml.testing.problems import binary, errors, minimize

ROWS: dict[str, list[Any]] = {
    "a": [0, 0, 1, 1, 0, 1, 2, 2],
    "b": [0, 1, 0, 1, 2, 2, 0, 1],
    "y": ["p", "q", "q", "p", "p", "q", "q", "p"],
    "z": [1, 4, 2, 9, 3, 7, 5, 5],
}
CLASSES = "predict y minimize errors features a, b require depth <= 2"
NUMBERS = "predict z minimize squared_loss features a, b require depth <= 2"


def solved(text: str, backend: str, **given: Any) -> tml.Result:
    return tml.Model.parse(text).solve(ROWS, backend=backend, **given)


def codes(text: str, backend: str, **given: Any) -> list[str]:
    with pytest.raises(BackendError) as failed:
        solved(text, backend, **given)
    return [diagnostic.code for diagnostic in failed.value.diagnostics]


# -- native ------------------------------------------------------------------------


Lie = Callable[[Any], Found]
NATIVE: dict[str, tuple[str, Lie]] = {
    "a value below its tree": ("B513", lambda found: replace(found, value=found.value - 1, bound=found.value - 1)),
    "a value above its tree": ("B513", lambda found: replace(found, value=found.value + 1, bound=found.value + 1)),
    "a bound above its tree": ("B514", lambda found: replace(found, status="feasible", bound=found.value + 1)),
    "a label that is not a class": ("B510", lambda found: replace(found, label=np.full_like(found.label, 7))),
    "a status of no table": ("B515", lambda found: replace(found, status="splendid")),
    "a reason of no table": ("B515", lambda found: replace(found, status="feasible", stop="tired")),
}


@pytest.mark.parametrize("kernel", ["binary", "numeric"])
@pytest.mark.parametrize("lie", NATIVE)
def test_native(monkeypatch: pytest.MonkeyPatch, kernel: str, lie: str) -> None:
    code, turned = NATIVE[lie]
    of = Solver if kernel == "binary" else ThresholdSolver
    honest = of.solve
    monkeypatch.setattr(of, "solve", lambda self, **asked: turned(honest(self, **asked)))
    assert codes(CLASSES, f"native(kernel = {kernel})") == [code]


@pytest.mark.parametrize("kernel", ["binary", "numeric"])
@pytest.mark.parametrize("text", [CLASSES, NUMBERS])
def test_native_that_excludes_its_start_is_caught(monkeypatch: pytest.MonkeyPatch, kernel: str, text: str) -> None:
    start = solved(text, "native").tree
    none = np.zeros(0, np.int32)
    of = Solver if kernel == "binary" else ThresholdSolver
    honest = of.solve

    def solve(self: Any, **asked: Any) -> Found:
        found = honest(self, **asked)
        return replace(found, status="infeasible", stop="proved", test=none, left=none, right=none, label=none)

    monkeypatch.setattr(of, "solve", solve)
    assert codes(text, f"native(kernel = {kernel})", start=start) == ["B514"]


@pytest.mark.parametrize("kernel", ["binary", "numeric"])
@pytest.mark.parametrize("stop", ["time", "memory", "interrupted"])
def test_native_that_was_stopped_proves_nothing(monkeypatch: pytest.MonkeyPatch, kernel: str, stop: str) -> None:
    of = Solver if kernel == "binary" else ThresholdSolver
    honest = of.solve

    def solve(self: Any, **asked: Any) -> Found:
        return replace(honest(self, **asked), status="feasible", stop=stop, bound=None)

    monkeypatch.setattr(of, "solve", solve)
    result = solved(CLASSES, f"native(kernel = {kernel})")
    assert (result.status, result.bound, result.evidence) == (Status.FEASIBLE, None, ())


@pytest.mark.parametrize("kernel", ["binary", "numeric"])
@pytest.mark.parametrize("stop", ["time", "enough"])
def test_a_bound_that_the_first_of_two_goals_meets_proves_only_that(
    monkeypatch: pytest.MonkeyPatch, kernel: str, stop: str
) -> None:
    """The kernel adds both goals up: stopped one below its tree, it may have missed a tree with fewer leaves."""
    of = Solver if kernel == "binary" else ThresholdSolver
    honest = of.solve

    def solve(self: Any, **asked: Any) -> Found:
        found = honest(self, **asked)
        return replace(found, status="feasible", stop=stop, bound=found.value - 1)

    monkeypatch.setattr(of, "solve", solve)
    text = CLASSES.replace("errors", "errors then minimize leaves")
    result = solved(text, f"native(kernel = {kernel})", threads=1)
    best = solved(text, "oracle")
    assert result.status is Status.FEASIBLE
    assert result.bound == best.objective[0] == result.objective[0]


# -- clauses -----------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["core", "descend"])
@pytest.mark.parametrize("answer", [True, None])
def test_a_solver_of_clauses(monkeypatch: pytest.MonkeyPatch, strategy: str, answer: bool | None) -> None:
    """One that has a model of everything is given away by the tree of it; one that never ends has proved nothing."""
    from pysat.solvers import Glucose4

    monkeypatch.setattr(Glucose4, "solve_limited", lambda self, *given, **asked: answer)
    monkeypatch.setattr(Glucose4, "get_model", lambda self: [])
    text = CLASSES.replace("depth <= 2", "depth <= 1")
    if answer:
        with pytest.raises(BackendError) as failed:
            solved(text, f"maxsat(strategy = {strategy})")
        assert any(word in str(failed.value) for word in ("does not meet", "does not hold")), failed.value
        return
    result = solved(text, f"maxsat(strategy = {strategy}, conflicts = 20000)")
    best = solved(text, "oracle").objective
    assert result.status in (Status.FEASIBLE, Status.UNKNOWN)
    assert result.bound is None or (best is not None and result.bound <= best)


def test_a_loop_that_claims_everything_infeasible_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty core claims that there is no tree at all, and a known tree contradicts that."""
    from treeml.backends.solvers.engines.sat import Sat

    monkeypatch.setattr(Sat, "solve", lambda self, assumptions=(): False)
    monkeypatch.setattr(Sat, "core", lambda self: [])
    assert codes(CLASSES.replace("depth <= 2", "depth <= 1"), "maxsat(strategy = core)") == ["B514"]


# -- the cover and its prices --------------------------------------------------------


@pytest.mark.parametrize("backend", ["cpsat", "mip"])
def test_prices_that_promise_too_much_are_caught(monkeypatch: pytest.MonkeyPatch, backend: str) -> None:
    from treeml.backends.solvers.encodings.cover import relaxation

    honest = relaxation.Relaxation.price

    def price(self: Any, *asked: Any, **named: Any) -> Any:
        priced = honest(self, *asked, **named)
        return None if priced is None else replace(priced, value=priced.value + 1000 * self.unit)

    monkeypatch.setattr(relaxation.Relaxation, "price", price)
    assert codes(CLASSES + ' require count(predicted = "p") <= 5', backend) == ["B514"]


# -- goals in turn -------------------------------------------------------------------


def test_a_first_goal_that_a_later_tree_refutes() -> None:
    """The first stage calls two errors optimal, and the tree of the second has none."""
    problem = binary(("00", "01", "10", "11"), 2, minimize(errors([0, 1, 1, 0], 2), Leaves()))
    best = Split(0, Split(1, Leaf(0), Leaf(1)), Split(1, Leaf(1), Leaf(0)))
    trees = [Leaf(0), best]

    def inner(
        stage: Problem,
        limits: Limits = NO_LIMITS,
        start: Node | None = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        tree = trees.pop(0)
        goals = evaluate_goals(stage, tree)
        return Answer(Status.OPTIMAL, Stop.PROVED, tree, goals, goals[0], evidence=(Evidence("search"),))

    with pytest.raises(BackendError) as failed:
        lexicographic(inner)(problem, NO_LIMITS, None, None)
    assert failed.value.diagnostics[0].code == "B514"
    assert failed.value.diagnostics[0].notes == ("it says optimal with 2 by goal 1, and has a tree with 0",)
