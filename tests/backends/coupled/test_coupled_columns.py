"""native with coupled requirements on columns as they are: the same answers as the oracle and the other kernel."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, Deadline, Limits, Progress, Status, Stop
from treeml.backends.native import kernel_choice
from treeml.backends.native.backend import NativeBackend
from treeml.backends.native.coupled import depths
from treeml.backends.native.coupled import run as coupled_run
from treeml.backends.native.coupled.priced import PricedBounds
from treeml.backends.native.coupled.run import CoupledRun
from treeml.backends.native.kernel_choice import choose_kernel, coupled_obstacle
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.problem.evaluate import evaluate_goals, meets_all
from treeml.problem.problem import Goal, Problem
from treeml.problem.terms import Depth, Leaves, Predicted, Support
from treeml.testing import coupled_problems
from treeml.testing.fuzz import FuzzTally, fuzz
from treeml.testing.problems import bound, errors, from_columns, single

NATIVE = NativeBackend()
NUMERIC = {"kernel": "numeric"}


def many_levels(random: Random, rows: int) -> tuple[str, list[int]]:
    """A column for the random problems: mostly ordered with many levels, often with missing values."""
    kind = random.choice(("binary", "ordered", "ordered", "ordered", "levels", "subsets"))
    levels = {"binary": 2, "ordered": random.choice((3, 6, 12))}.get(kind, 3)
    least = -1 if random.random() < 0.3 else 0
    return kind, [random.randrange(least, levels) for _ in range(rows)]


@pytest.fixture
def on_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """All coupled problems go to the kernel on columns, and random problems have columns with many levels."""
    monkeypatch.setattr(kernel_choice, "_has_many_cuts", lambda problem: True)
    monkeypatch.setattr(coupled_problems, "_column", many_levels)


def ward(rows: int = 120, recall: str = "9/10", depth: int | None = 2, leaves: int | None = None) -> Problem:
    """Sick and healthy rows over three columns of numbers and a category; few false alarms, enough recall."""
    random = Random(rows)
    age, pressure, sugar = ([random.randrange(size) for _ in range(rows)] for size in (60, 90, 40))
    pain = [random.randrange(4) for _ in range(rows)]
    sick = [
        int(a + 0.6 * p + 25 * (s == 2) + random.gauss(0, 15) > 65) for a, p, s in zip(age, pressure, pain, strict=True)
    ]
    alarms = Predicted(np.array([[0, 1 - each] for each in sick], dtype=np.int64))
    found = Predicted(np.array([[0, each] for each in sick], dtype=np.int64), Fraction(1, sum(sick)))
    bounds = [bound(found, ">=", recall, "recall"), bound(Support(), ">=", 5, "support")]
    if depth is not None:
        bounds.append(bound(Depth(), "<=", depth, "depth"))
    if leaves is not None:
        bounds.append(bound(Leaves(), "<=", leaves, "leaves"))
    columns = [("ordered", age), ("ordered", pressure), ("ordered", sugar), ("levels", pain)]
    return from_columns(columns, 2, (Goal(single(alarms)),), tuple(bounds))


def solved(problem: Problem, limits: Limits | None = None, **given: object) -> Answer:
    chosen = limits or Limits(Deadline.after(60), options=NUMERIC)
    planned = plan(problem, NATIVE, chosen.options)
    assert isinstance(planned, Plan), planned
    return run(planned, chosen, **given)  # type: ignore[arg-type]


@pytest.mark.usefixtures("on_columns")
def test_random_problems_agree_with_the_oracle() -> None:
    tally = FuzzTally()
    assert list(fuzz(NATIVE, iter(range(40)), tally=tally, make=coupled_problems.coupled_problem)) == []
    assert (tally.taken, tally.refused) == (40, 0)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 5000, 100))
@pytest.mark.usefixtures("on_columns")
def test_many_random_problems_agree_with_the_oracle(first: int) -> None:
    assert list(fuzz(NATIVE, iter(range(first, first + 100)), make=coupled_problems.coupled_problem)) == []


@pytest.mark.parametrize("given", [{}, {"leaves": 3}, {"depth": 1}, {"recall": "1"}])
def test_both_coupled_kernels_find_the_same_value(given: dict[str, object]) -> None:
    problem = ward(rows=80, **given)  # type: ignore[arg-type]
    numeric = solved(problem)
    binary = solved(problem, Limits(Deadline.after(60), options={"kernel": "binary"}))
    assert numeric.status is binary.status is Status.OPTIMAL
    assert numeric.objective == binary.objective
    assert numeric.evidence == (Evidence("search", "native, coupled numeric kernel"),)
    assert binary.evidence == (Evidence("search", "native, coupled kernel"),)


def test_depth_three_is_proved_and_its_tree_checked() -> None:
    problem = ward(depth=3)
    answer = solved(problem)
    assert answer.status is Status.OPTIMAL
    assert answer.tree is not None
    assert meets_all(problem, answer.tree)
    assert evaluate_goals(problem, answer.tree) == answer.objective


def test_without_a_depth_there_is_soon_a_tree_and_more_leaves_are_better() -> None:
    few = solved(ward(depth=None, leaves=3))
    assert few.status is Status.OPTIMAL
    reports: list[Progress] = []

    def enough(moment: Progress) -> bool:
        reports.append(moment)
        return moment.objective is None or few.objective is None or moment.objective[0] >= few.objective[0]

    more = solved(ward(depth=None, leaves=6), on_progress=enough)
    assert more.stop is Stop.INTERRUPTED
    assert more.tree is not None
    assert more.objective is not None
    assert few.objective is not None
    assert more.objective[0] < few.objective[0]
    assert more.bound is None or more.bound <= more.objective[0]


def test_after_the_first_tree_every_depth_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(depths, "FIRST", 0.0)
    problem = ward(rows=24, depth=None, leaves=6, recall="1")
    slow = solved(problem)
    monkeypatch.setattr(depths, "FIRST", 60.0)
    assert slow.status is Status.OPTIMAL
    assert solved(problem).objective == slow.objective


def test_prices_have_most_of_the_time_if_two_levels_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then three and four levels would take far longer, and nothing else would raise the bound."""
    seconds: list[float] = []
    searched, limits = CoupledRun.search, Limits(Deadline.after(1000), options=NUMERIC)

    def cut_short(run: CoupledRun, *given: Any, **named: Any) -> Any:
        return searched(run, *given, **{**named, "seconds": 0.0})

    def prices(bounds: PricedBounds, given: float) -> None:
        seconds.append(given)

    monkeypatch.setattr(PricedBounds, "search", prices)
    monkeypatch.setattr(PricedBounds, "search_first", lambda bounds, depth, given: None)
    monkeypatch.setattr(CoupledRun, "search", cut_short)
    solved(ward(rows=400, depth=4), limits)
    monkeypatch.setattr(CoupledRun, "search", first_cut_short(searched))
    solved(ward(rows=400, depth=4), Limits(Deadline.after(1000), options=NUMERIC))
    monkeypatch.setattr(coupled_run, "MANY_CELLS", 0)  # a large table: the same without a try
    solved(ward(rows=400, depth=4), Limits(Deadline.after(1000), options=NUMERIC))
    assert [each > 500 for each in seconds] == [True, False, True]
    assert seconds[1] < 10


def first_cut_short(searched: Callable[..., Any]) -> Callable[..., Any]:
    """Searches of more than two levels end at once, and those of two levels have all the time that they need."""

    def search(run: CoupledRun, solver: Any, task: Any, depth: int, *given: Any, **named: Any) -> Any:
        seconds = float("inf") if depth == 2 else 0.0
        return searched(run, solver, task, depth, *given, **{**named, "seconds": seconds})

    return search


def test_a_start_tree_is_taken() -> None:
    problem = ward(depth=3)
    best = solved(problem).tree
    again = solved(problem, Limits(Deadline.after(0), options=NUMERIC), start=best)
    assert again.tree is not None
    assert evaluate_goals(problem, again.tree) == evaluate_goals(problem, best)  # type: ignore[arg-type]


def test_which_kernel_runs_and_why() -> None:
    problem = ward()
    assert choose_kernel(problem, NUMERIC)[0] == "coupled numeric"
    assert choose_kernel(problem, {"kernel": "binary"})[0] == "coupled"
    raw = Problem(problem.features, problem.tests, problem.count, 2, problem.goals, problem.bounds)
    assert choose_kernel(raw, {}) == (
        "coupled numeric",
        "the coupled numeric kernel runs, on columns as they are: "
        "requirements on the predictions of all rows couple the leaves (recall)",
    )
    assert choose_kernel(raw, {"once": 1})[0] == "coupled"
    with pytest.raises(ValueError, match="`once` is not an option of the coupled numeric kernel"):
        choose_kernel(raw, {"once": 1, **NUMERIC})


def test_what_the_kernel_on_columns_cannot_take() -> None:
    actual = [row % 13 for row in range(26)]
    limited = (bound(errors(actual, 13), ">=", 5, "errors"), bound(Depth(), "<=", 1, "depth"))
    many = from_columns([("ordered", list(range(26)))], 13, (Goal(single(errors(actual, 13))),), limited)
    assert coupled_obstacle(many) == "13 classes are more than its 12"
    with pytest.raises(ValueError, match="13 classes are more than its 12"):
        choose_kernel(many, NUMERIC)
    weight = [2**39 + row for row in range(26)]
    actual = [row % 2 for row in range(26)]
    heavy = (bound(errors(actual, 2, weight), ">=", 2**40, "errors"), bound(Depth(), "<=", 1, "depth"))
    large = from_columns([("ordered", list(range(26)))], 2, (Goal(single(errors(actual, 2, weight))),), heavy)
    assert coupled_obstacle(large) == "its sums are too large for doubles that hold whole numbers"
    assert choose_kernel(large, {})[0] == "coupled"
