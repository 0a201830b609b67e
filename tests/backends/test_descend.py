"""Gaps as goals: a back-end that finds trees within bounds minimizes them, alone or among other goals."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from tests.backends.gap_problems import Bounding, gap
from treeml.backends.contract import Limits, Status, Stop
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Depth, Leaves
from treeml.testing.fuzz import disagreement
from treeml.testing.problems import Sizes, bound, errors, random_problem, single


def with_gap(seed: int) -> Problem | None:
    random = Random(seed)
    problem = random_problem(random, Sizes(rows=9, columns=3, depth=2, bounds=0, goals=1), ("Predicted",))
    if problem.classes < 2:
        return None
    actual = [random.randrange(problem.classes) for _ in range(problem.rows)]
    wrong = errors(actual, problem.classes)
    most = bound(wrong, "<=", random.randint(0, problem.rows // 2), "errors")
    parity = Goal(single(gap(random, problem, random.choice((2, 2, 3))), random.choice((1, 2)), random.choice((0, 1))))
    goals = random.choice(
        ((parity,), (parity, Goal(single(wrong))), (Goal(single(wrong)), parity), (parity, Goal(single(Leaves()))))
    )
    return problem.asking(goals, (*problem.bounds, most))


def test_random_gaps_agree_with_the_oracle() -> None:
    found = set()
    for seed in range(150):
        problem = with_gap(seed)
        if problem is None:
            continue
        assert disagreement(problem, Bounding()) is None, seed
        found.add(OracleBackend().solve(problem).status)
    assert found == {Status.OPTIMAL, Status.INFEASIBLE}


def hard() -> Problem:
    """A problem whose least gap is not 0 and not that of the first tree."""
    for seed in range(500):
        problem = with_gap(seed)
        if problem is None or len(problem.goals) > 1:
            continue
        backend = Bounding()
        planned = plan(problem, backend)
        assert isinstance(planned, Plan)
        if run(planned).status is Status.OPTIMAL and len(backend.asked) > 5:
            return problem
    raise AssertionError("no such problem")


def test_halving_takes_few_solves_and_reports_bounds() -> None:
    backend, bounds = Bounding(), []
    planned = plan(hard(), backend)
    assert isinstance(planned, Plan)
    answer = run(planned, on_progress=lambda moment: bounds.append(moment.bound))
    assert answer.status is Status.OPTIMAL
    assert answer.evidence[0].rule == "less and less"
    assert len(backend.asked) < 25
    assert bounds == sorted(bounds)
    assert bounds[-1] > bounds[0]


def test_a_stopped_search_keeps_tree_and_bound() -> None:
    problem = hard()
    best = OracleBackend().solve(problem).objective
    assert best is not None
    seen = set()
    for most in range(1, 8):
        planned = plan(problem, Bounding(most))
        assert isinstance(planned, Plan)
        answer = run(planned)
        seen.add(answer.stop)
        assert answer.tree is not None
        assert answer.bound is not None
        assert answer.bound <= best[0] <= answer.objective[0]
    assert Stop.TIME in seen


def test_a_gap_limit_ends_the_search() -> None:
    planned = plan(hard(), Bounding())
    assert isinstance(planned, Plan)
    assert run(planned, Limits(gap=Fraction(1))).stop is Stop.GAP


def test_without_requirements_a_leaf_has_no_gap() -> None:
    problem = hard()
    free = problem.asking(problem.goals, tuple(each for each in problem.bounds if each.name != "errors"))
    backend = Bounding()
    planned = plan(free, backend)
    assert isinstance(planned, Plan)
    answer = run(planned)
    assert (answer.status, backend.asked) == (Status.OPTIMAL, [])
    assert [evidence.rule for evidence in answer.evidence] == ["bound meets tree"]


def test_a_gap_that_must_equal_a_value_stays_refused() -> None:
    problem = hard()
    largest = problem.goals[0].sum
    asked = problem.asking((), (bound(Depth(), "<=", 1), Bound(largest, "=", Fraction(1, 2), "gap")))
    refused = plan(asked, Bounding())
    assert not isinstance(refused, Plan)
    assert refused[0].feature == "the requirement gap"
