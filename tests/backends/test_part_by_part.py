"""Sums with gaps as goals, such as errors + 2 * gap: case by case, on a back-end that takes sums over predictions."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from tests.backends.gap_problems import Bounding, gap
from treeml.backends.contract import Limits, Progress, Status, Stop
from treeml.backends.native.backend import NativeBackend
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.part_by_part import MOST_CASES
from treeml.backends.planning.plan import CASES, Plan, plan
from treeml.backends.run import run
from treeml.problem.choices import largest_terms
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Leaves, Predicted, Sum
from treeml.testing.fuzz import disagreement
from treeml.testing.problems import Sizes, bound, errors, random_problem, single

PRICES = tuple(map(Fraction, ("1/3", "1", "2", "7/2")))


def mixed(seed: int, kinds: tuple[int, ...] = (2, 2, 3)) -> Problem | None:
    """Errors, and perhaps leaves, plus a price times one or two gaps; perhaps other goals, and limits on gaps.

    In one case of four a gap is maximized, and some are limited from below.
    """
    random = Random(seed)
    problem = random_problem(random, Sizes(rows=9, columns=3, depth=2, bounds=0, goals=1), ("Predicted",))
    if problem.classes < 2:
        return None
    wrong = errors([random.randrange(problem.classes) for _ in range(problem.rows)], problem.classes)
    gaps = [gap(random, problem, random.choice(kinds)) for _ in range(random.choice((1, 1, 1, 2)))]
    parts = [(Fraction(1), wrong), *((random.choice(PRICES), each) for each in gaps)]
    if random.random() < 0.3:
        parts.append((Fraction(1, 2), Leaves()))
    first = Goal(Sum(tuple(parts), Fraction(random.choice((0, 1)), 3)))
    if random.random() < 0.25:
        first = Goal(Sum(((Fraction(-1), gaps[0]), *random.choice(((), ((Fraction(1, 3), wrong),))))))
    leaves = Goal(single(Leaves()))
    goals = random.choice(((first,), (first,), (first, leaves), (leaves, first), (Goal(single(wrong)),), ()))
    bounds = list(problem.bounds)
    if random.random() < 0.4:
        bounds.append(bound(wrong, "<=", random.randint(0, problem.rows // 2), "errors"))
    if random.random() < 0.3:
        bounds.append(Bound(single(gaps[0]), "<=", Fraction(random.randint(0, 2), 4), "gap"))
    if random.random() < 0.3:
        least = Fraction(random.randint(1, 4), 5)
        total = random.choice((single(gaps[-1]), Sum(((Fraction(1), gaps[-1]), (Fraction(-1, 9), wrong)))))
        bounds.append(Bound(total, ">=", least, "least"))
    return problem.asking(goals, tuple(bounds))


@pytest.mark.parametrize("backend", [Bounding, NativeBackend])
def test_random_sums_with_gaps_agree_with_the_oracle(backend: type) -> None:
    found = set()
    for seed in range(150):
        problem = mixed(seed)
        if problem is None:
            continue
        assert disagreement(problem, backend()) is None, seed
        found.add(OracleBackend().solve(problem).status)
    assert found == {Status.OPTIMAL, Status.INFEASIBLE}


@pytest.mark.slow
def test_many_random_sums_with_gaps_agree_with_the_oracle() -> None:
    for seed in range(1000, 4000):
        problem = mixed(seed)
        assert problem is None or disagreement(problem, NativeBackend()) is None, seed


def hard() -> Problem:
    """A problem with one goal and at least four cases that are solved one by one."""
    for seed in range(500):
        problem = mixed(seed, (3,))
        gaps = [] if problem is None or len(problem.goals) != 1 else largest_terms(problem.goals[0].sum)
        if problem is not None and gaps and all(factor > 0 for factor, _ in gaps):
            backend = Bounding()
            planned = plan(problem, backend)
            assert isinstance(planned, Plan)
            if run(planned).status is Status.OPTIMAL and len(backend.asked) >= 4:
                return problem
    raise AssertionError("no such problem")


def test_the_plan_says_that_cases_are_solved() -> None:
    planned = plan(hard(), Bounding())
    assert isinstance(planned, Plan)
    assert CASES in planned.explain()
    answer = run(planned)
    assert [evidence.rule for evidence in answer.evidence] == ["case by case"]


def test_a_stopped_search_keeps_tree_and_bound() -> None:
    problem = hard()
    best = OracleBackend().solve(problem).objective
    assert best is not None
    seen = set()
    for most in range(8):
        planned = plan(problem, Bounding(most))
        assert isinstance(planned, Plan)
        answer = run(planned)
        seen.add(answer.stop)
        if answer.bound is not None:
            assert answer.bound <= best[0]
        if answer.objective is not None:
            assert best[0] <= answer.objective[0]
    assert seen == {Stop.TIME, Stop.PROVED}


def test_reports_never_contradict_the_best_value() -> None:
    problem, moments = hard(), list[Progress]()
    best = OracleBackend().solve(problem).objective
    assert best is not None
    planned = plan(problem, Bounding())
    assert isinstance(planned, Plan)
    run(planned, on_progress=moments.append)  # type: ignore[arg-type]
    assert moments
    for moment in moments:
        assert moment.bound is None or moment.bound <= best[0]
        assert moment.objective is None or moment.objective[0] >= best[0]


def test_a_listener_can_stop_it() -> None:
    planned = plan(hard(), Bounding())
    assert isinstance(planned, Plan)
    assert run(planned, on_progress=lambda moment: False).stop is Stop.INTERRUPTED


def test_a_gap_limit_ends_the_search() -> None:
    planned = plan(hard(), Bounding())
    assert isinstance(planned, Plan)
    assert run(planned, Limits(gap=Fraction(1))).stop is Stop.GAP


def test_too_many_groups_and_too_large_numbers_are_refused() -> None:
    problem = hard()
    many = gap(Random(1), problem, 7)
    assert len(many.parts) > MOST_CASES
    parts = ((Fraction(1), errors([0] * problem.rows, problem.classes)), (Fraction(1), many))
    refused = plan(problem.asking((Goal(Sum(parts)),), ()), Bounding())
    assert not isinstance(refused, Plan)
    assert "the largest of several sums" in refused[0].because
    huge = Predicted(np.full((problem.rows, problem.classes), 2**55 - 1), Fraction(1, 3))
    parts = ((Fraction(1), huge), (Fraction(7, 2**20 - 3), gap(Random(1), problem, 2)))
    refused = plan(problem.asking((Goal(Sum(parts)),), ()), Bounding())
    assert not isinstance(refused, Plan)
    assert "beyond 64 bits" in refused[0].because
