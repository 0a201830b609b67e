"""Bounds from easier problems: never above the best of all trees, also if the searches are stopped early."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import treeml as tml
from treeml.backends import registry
from treeml.backends.claims import BOUND, Evidence
from treeml.backends.contract import Answer, Deadline, Limits, OnProgress, Progress, Status, Stop
from treeml.backends.native import chords, easier
from treeml.backends.native.backend import NativeBackend
from treeml.backends.native.coupled.priced import PricedBounds
from treeml.backends.native.coupled.task import read_coupled
from treeml.backends.native.easier import Known, with_easier
from treeml.backends.native.easier_searches import search_of, without_rules
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.problem.evaluate import evaluate_goals, is_answer
from treeml.problem.impurity_cost import ImpurityCost
from treeml.problem.impurity_lines import HALF_TO_ONE, MOST, lines_below
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Leaves, Predicted, Sum
from treeml.problem.tree import Leaf, Node
from treeml.solving.choice import lower
from treeml.solving.pipeline import prepare

NATIVE = NativeBackend()
MIXTURES = [
    "minimize gini require depth <= 2",
    "minimize log_loss require depth <= 2 require support >= 3",
    "minimize description_length require depth <= 2",
    "minimize gini + 0.02 * leaves require depth <= 2",
    "minimize 3 * log_loss + 0.01 * leaves require leaves <= 3 require depth <= 2",
    "maximize -2 * gini require depth <= 2 require support >= 2",
]
RULES = [
    "minimize errors require depth <= 2 require purity >= 0.7",
    "minimize errors + 2 * leaves require depth <= 2 require leaf_errors <= 6",
    "minimize errors then minimize leaves require depth <= 2 require purity >= 0.6",
    "minimize errors require depth <= 2 require purity >= 0.65 require recall(1) >= 70%",
    "maximize f1(1) require depth <= 2 require purity >= 0.6",
]


def table(seed: int, rows: int = 40, columns: int = 3, classes: int = 2, levels: int = 5) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    values = random.integers(0, levels, (rows, columns))
    target = (values[:, 0] + values[:, 1] > levels - 1).astype(int) + (values[:, 2] > 2) * (classes > 2)
    noisy = np.where(random.random(rows) < 0.25, random.integers(0, classes, rows), target)
    made = {f"x{number}": values[:, number].tolist() for number in range(columns)}
    return {**made, "w": random.integers(1, 5, rows).tolist(), "y": noisy.tolist()}


def problem_of(text: str, rows: dict[str, Any], given: str = "") -> Problem:
    """`given` is a statement on weights; without one, the rows have none."""
    table = {name: values for name, values in rows.items() if given or name != "w"}
    dataset, request = prepare(tml.parse(f"predict y {given} {text}"), table)
    return lower(dataset, request).form(numeric=True).problem


def optimum(problem: Problem) -> Answer:
    planned = plan(problem, registry.get("oracle"), {"limit": 10**9})
    assert isinstance(planned, Plan)
    return run(planned, Limits(options={"limit": 10**9}))


def stopped(problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
    """A search that finds nothing in its time."""
    return Answer(Status.UNKNOWN, Stop.TIME)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("kind", ["gini", "entropy", "code length"])
def test_no_set_of_rows_costs_less_than_its_lines(kind: str, classes: int) -> None:
    random = np.random.default_rng(classes)
    for number in range(60):
        rows = int(random.integers(1, 30))
        labels = random.integers(0, classes, rows).astype(np.int32)
        weight = random.integers(1, 1 if number % 3 else 2**20, rows, endpoint=True)
        impurity = ImpurityCost(kind, labels, classes, weight, Fraction(1, 1 + number % 4))
        shares = {Fraction(int(each), 97) for each in random.integers(49, 97, number % 9)}
        lines = lines_below(impurity, sorted({*HALF_TO_ONE, *shares}))
        assert lines is not None
        least = lines.unit * int(lines.cost.sum(axis=0).min())
        exact = impurity(np.arange(rows))
        assert float(least) <= exact + impurity.rounding
        if classes == 2 and kind != "code length":
            share = Fraction(int(weight[labels == 1].sum()), int(weight.sum()))
            at_end = lines_below(impurity, sorted({*HALF_TO_ONE, max(share, 1 - share)}))
            assert at_end is not None
            value = float(at_end.unit * int(at_end.cost.sum(axis=0).min()))
            assert value == pytest.approx(exact, rel=0.01, abs=0.01 * float(weight.sum() * impurity.scale))


def test_weights_of_many_digits_have_coarser_lines_or_none() -> None:
    labels = np.array([0, 1, 1], dtype=np.int32)
    for size, has_lines in ((2**35, True), (MOST, False)):
        impurity = ImpurityCost("entropy", labels, 2, np.full(3, size, dtype=np.int64), Fraction(1))
        lines = lines_below(impurity, HALF_TO_ONE)
        assert (lines is not None) is has_lines
        assert lines is None or float(lines.unit * int(lines.cost.sum(axis=0).min())) <= impurity(np.arange(3))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("text", MIXTURES)
def test_chords_bound_the_best_mixture(text: str, seed: int) -> None:
    """Every bound on the way holds, and every tree is one of the problem."""
    problem = problem_of(text, table(seed, classes=2 + seed // 3), "weight by w" if seed % 2 else "")
    exact = optimum(problem)
    assert exact.objective
    told: list[Progress] = []
    known = Known(problem, Limits(), told.append, NATIVE.bounding)
    assert chords.takes(problem)
    chords.search(known, Deadline())
    assert known.bound is not None
    assert known.bound - (problem.goals[0].sum.lower_bound(problem) or 0) > 0
    assert all(moment.bound is None or moment.bound <= exact.objective[0] + exact.tolerance for moment in told)
    assert known.bound <= exact.objective[0] + exact.tolerance
    assert known.tree is not None
    assert is_answer(problem, known.tree)
    assert known.value == evaluate_goals(problem, known.tree)
    if seed < 3:  # two classes: chords come close to the cost of mixtures
        assert float(known.value[0] - known.bound) <= 0.2 * max(1.0, abs(float(known.value[0])))


def test_a_limit_on_labels_that_every_tree_meets_is_left_out() -> None:
    problem = problem_of("minimize gini require depth <= 2", table(2))
    idle = Bound(Sum(((Fraction(1), Predicted(np.ones((problem.rows, 2), dtype=np.int64))),)), "<=", Fraction(10**6))
    limited = problem.asking(problem.goals, (*problem.bounds, idle))
    assert not list(NATIVE.refusals(limited))
    answer = with_easier(limited, Limits(), None, None, stopped, NATIVE.bounding, chords.search)
    same = with_easier(problem, Limits(), None, None, stopped, NATIVE.bounding, chords.search)
    assert answer.bound == same.bound
    assert answer.bound is not None


def test_more_chords_raise_the_bound() -> None:
    problem = problem_of("minimize gini require depth <= 2", table(8, rows=80))
    bounds: list[Fraction] = []
    known = Known(problem, Limits(), None, NATIVE.bounding)
    asked = known.ask

    def ask(each: easier.EasierProblem, deadline: Deadline, start: Node | None = None) -> Answer:
        answer = asked(each, deadline, start)
        assert known.bound is not None
        bounds.append(known.bound)
        return answer

    known.ask = ask  # type: ignore[method-assign]
    chords.search(known, Deadline())
    assert len(bounds) > 2
    assert bounds == sorted(bounds)
    assert bounds[-1] > Fraction(5, 4) * bounds[0]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("text", RULES)
def test_without_rules_for_leaves_the_bound_holds(text: str, seed: int) -> None:
    problem = problem_of(text, table(seed))
    problem = problem if len(problem.goals) == 1 and "Ratio" not in problem.goals[0].sum.kinds() else first_of(problem)
    exact = optimum(problem)
    known = Known(problem, Limits(), None, NATIVE.bounding)
    without_rules(known, Deadline())
    if exact.objective:
        assert known.bound is not None
        assert known.bound <= exact.objective[0]
    assert known.tree is None or is_answer(problem, known.tree)


def first_of(problem: Problem) -> Problem:
    """The problem with its first goal, or with the fewest leaves if that is a quotient."""
    goal = problem.goals[0]
    other = Goal(Sum(((Fraction(1), Leaves()),)))
    return problem.asking((other if "Ratio" in goal.sum.kinds() else goal,), problem.bounds)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("text", [*MIXTURES, *RULES])
@pytest.mark.parametrize("levels", [2, 5, 60])
def test_whole_answers_are_those_of_the_oracle(
    monkeypatch: pytest.MonkeyPatch, text: str, seed: int, levels: int
) -> None:
    """The own search has no moment before the easier problems, which are asked each time."""
    asked = 0
    ask = Known.ask

    def counted(known: Known, *given: Any) -> Answer:
        nonlocal asked
        asked += 1
        return ask(known, *given)

    monkeypatch.setattr(Known, "ask", counted)
    monkeypatch.setattr(easier, "FIRST", 0.0)
    monkeypatch.setattr(NativeBackend, "_solve", stopped_first(NativeBackend._solve))
    problem = problem_of(text, table(seed, levels=levels, rows=24))
    planned = plan(problem, NATIVE)
    assert isinstance(planned, Plan)
    exact, found = optimum(problem), run(planned)
    assert found.status is exact.status
    if exact.objective and found.objective:
        for one, other in zip(found.objective, exact.objective, strict=True):
            assert abs(one - other) <= max(found.tolerance, Fraction(1, 10**9))
    assert asked or "gini" not in text


def stopped_first(solve: Callable[..., Answer]) -> Callable[..., Answer]:
    """The search, which ends without a tree if it has a time limit: that is its moment before easier problems."""

    def with_a_moment(self: NativeBackend, problem: Problem, limits: Limits, *rest: Any) -> Answer:
        if limits.deadline.at < float("inf") and search_of(problem, limits) is not None:
            return Answer(Status.UNKNOWN, Stop.TIME)
        return solve(self, problem, limits, *rest)

    return with_a_moment


@pytest.mark.parametrize("text", ["minimize gini require depth <= 3", "minimize log_loss require depth <= 3"])
def test_a_stopped_run_has_the_bound_of_easier_problems(text: str) -> None:
    problem = problem_of(text, table(5, rows=60))
    exact = optimum(problem)
    assert exact.objective
    for polls in (0, 1, 3, 10, 30):
        left = polls

        def is_over() -> bool:
            nonlocal left
            left -= 1
            return left < 0

        limits = Limits(is_over=is_over)
        answer = with_easier(problem, limits, None, None, stopped, NATIVE.bounding, chords.search)
        assert answer.bound is None or answer.bound <= exact.objective[0] + exact.tolerance
        assert answer.tree is None or is_answer(problem, answer.tree)
    whole = with_easier(problem, Limits(), None, None, stopped, NATIVE.bounding, chords.search)
    assert whole.bound is not None
    assert Fraction(1, 2) * exact.objective[0] < whole.bound <= exact.objective[0] + exact.tolerance
    assert {"chords"} <= {each.rule for each in whole.evidence}


def test_the_listener_can_stop_easier_problems_and_hears_their_bounds() -> None:
    problem = problem_of("minimize gini require depth <= 3", table(6, rows=60))
    heard: list[Progress] = []

    def enough(moment: Progress) -> bool:
        heard.append(moment)
        return moment.bound is None or moment.bound <= 0

    answer = with_easier(problem, Limits(), None, enough, stopped, NATIVE.bounding, chords.search)
    assert answer.stop is Stop.INTERRUPTED
    assert heard[-1].bound is not None
    assert heard[-1].bound > 0
    assert answer.bound is not None
    assert answer.bound >= heard[-1].bound


def test_a_gap_that_is_reached_ends_the_run() -> None:
    problem = problem_of("minimize gini require depth <= 2", table(4, rows=60))
    answer = with_easier(problem, Limits(gap=Fraction(9, 10)), None, None, stopped, NATIVE.bounding, chords.search)
    assert (answer.status, answer.stop) == (Status.FEASIBLE, Stop.GAP)
    assert answer.objective
    assert answer.bound is not None


def test_a_pure_tree_is_proved_by_its_chords() -> None:
    rows = {"x": [0, 0, 1, 1, 2, 2], "w": [1] * 6, "y": [0, 0, 1, 1, 0, 0]}
    problem = problem_of("minimize gini require depth <= 2", rows)
    answer = with_easier(problem, Limits(), None, None, stopped, NATIVE.bounding, chords.search)
    assert (answer.status, answer.objective) == (Status.OPTIMAL, (Fraction(0),))
    assert answer.evidence[0].rule == "bound meets tree"


def test_a_start_and_the_first_tree_are_kept() -> None:
    problem = problem_of("minimize gini require depth <= 2", table(3))
    best = optimum(problem)

    def own(problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
        seen.append(start)
        return Answer(Status.FEASIBLE, Stop.TIME, start or Leaf(0), evaluate_goals(problem, start or Leaf(0)))

    seen: list[Node | None] = []
    answer = with_easier(problem, Limits(), best.tree, None, own, NATIVE.bounding, lambda known, deadline: None)
    assert seen == [best.tree, best.tree]
    assert answer.tree == best.tree


def test_which_problems_have_easier_ones() -> None:
    few, many = table(1), table(1, rows=400, levels=10**6)
    pure = "minimize errors require depth <= 3 require purity >= 0.7"
    assert search_of(problem_of("minimize gini require depth <= 3", few), Limits()) is chords.search
    assert search_of(problem_of("minimize gini then minimize leaves require depth <= 3", few), Limits()) is None
    assert search_of(problem_of(pure, few), Limits()) is without_rules
    assert search_of(problem_of(pure, many), Limits()) is None  # the coupled kernel on columns asks by itself
    assert search_of(problem_of("minimize errors require depth <= 3", few), Limits()) is None
    assert search_of(problem_of(pure, few), Limits(options={"seed": 1})) is None
    assert search_of(problem_of("satisfy require depth <= 2 require purity >= 0.5", few), Limits()) is None


def test_a_bound_of_chords_needs_a_bound_with_chords() -> None:
    assert list(Evidence("chords", "", (Evidence("search bound"),)).claims()) == [BOUND]
    with pytest.raises(ValueError, match="rests on nothing"):
        Evidence("chords")


def test_pure_leaves_on_columns_are_bounded_without_them() -> None:
    """The prices of the coupled search on columns leave out what is required of single leaves."""
    problem = problem_of("minimize errors require depth <= 4 require purity >= 0.6", table(2, rows=60, levels=50))
    seen: list[Problem] = []

    def solve(problem: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
        seen.append(problem)
        return NATIVE.solve(problem, replace(limits, options={}), start, on_progress)

    prices = PricedBounds(problem, read_coupled(problem), Limits(), solve, on_columns=True)
    prices.search(60)
    assert [{"Depth"}] == [set().union(*(bound.sum.kinds() for bound in each.bounds)) for each in seen]
    free = problem.asking(problem.goals, problem.bounds[:1])
    assert prices.bound == NATIVE.solve(free).bound
