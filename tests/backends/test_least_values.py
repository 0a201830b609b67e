"""Several goals in a run that was stopped: proved where each is at its bound, or at the least that it can be."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from treeml.backends.claims import Evidence
from treeml.backends.contract import NO_LIMITS, Answer, BackendBase, Capabilities, Status, Stop
from treeml.backends.least_values import proved_by_least_values
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.portfolio.companion import Companion
from treeml.backends.run import run
from treeml.problem.evaluate import evaluate_goals
from treeml.problem.problem import Goal, Problem
from treeml.problem.terms import Depth, Leaves
from treeml.problem.tree import Leaf
from treeml.testing.problems import Sizes, binary, bound, errors, minimize, random_problem, single

SEARCH_BOUND = (Evidence("search bound"),)


class Stopped(BackendBase):
    """The oracle, one goal at a time, as if it had been stopped at its best tree, with a bound or without."""

    name = "stopped"
    summary = "one goal, and never a proof"
    can = Capabilities(
        goals=frozenset({"Predicted", "Leaves", "Depth"}), bounds=frozenset({"Predicted", "Leaves", "Depth"})
    )

    def __init__(self, proves: int, slack: int | None) -> None:
        self.left, self.slack = proves, slack

    def solve(self, problem, limits=NO_LIMITS, start=None, on_progress=None):  # type: ignore[no-untyped-def]
        answer = OracleBackend().solve(problem)
        self.left -= 1
        if self.left >= 0 or answer.status is not Status.OPTIMAL or not answer.objective:
            return answer
        below = None if self.slack is None else answer.objective[0] - self.slack
        proof = () if below is None else SEARCH_BOUND
        return replace(answer, status=Status.FEASIBLE, stop=Stop.TIME, bound=below, evidence=proof, trace=())


def two_goals(*rows: str, actual: tuple[int, ...]) -> Problem:
    return binary(list(rows), 2, minimize(errors(actual, 2), Leaves()), (bound(Depth(), "<=", 2, "depth"),))


def test_a_single_leaf_without_more_errors_than_the_bound_is_proved() -> None:
    problem = two_goals("0", "1", "1", actual=(0, 0, 0))
    stopped = Answer(Status.FEASIBLE, Stop.TIME, Leaf(0), evaluate_goals(problem, Leaf(0)))
    answer = proved_by_least_values(problem, stopped)
    assert (answer.status, answer.stop, answer.bound) == (Status.OPTIMAL, Stop.PROVED, 1)
    assert {each.rule for proof in answer.evidence for each in proof.rests_on} == {"bound meets tree"}


def test_more_leaves_than_one_are_not_proved_by_the_first_goal() -> None:
    problem = two_goals("0", "1", "1", actual=(0, 1, 1))
    tree = OracleBackend().solve(problem).tree
    assert tree is not None
    stopped = Answer(
        Status.FEASIBLE, Stop.TIME, tree, evaluate_goals(problem, tree), Fraction(0), evidence=SEARCH_BOUND
    )
    assert proved_by_least_values(problem, stopped) is stopped


def test_a_bound_on_the_first_goal_and_the_least_second_one_are_a_proof() -> None:
    problem = two_goals("1", "1", "1", actual=(0, 1, 1))
    values = evaluate_goals(problem, Leaf(1))
    assert values == (1, 1)
    for below, status in ((1, Status.OPTIMAL), (0, Status.FEASIBLE)):
        stopped = Answer(
            Status.FEASIBLE, Stop.TIME, Leaf(1), values, Fraction(below), bounded_goal=0, evidence=SEARCH_BOUND
        )
        assert proved_by_least_values(problem, stopped).status is status


def test_a_better_tree_of_the_companion_is_proved_in_the_same_way() -> None:
    problem = two_goals("0", "1", "1", actual=(0, 0, 0))
    planned = plan(problem, OracleBackend())
    assert isinstance(planned, Plan)
    company = Companion(problem, NO_LIMITS, None, None, lambda _: None)
    assert company.offer(Leaf(0))
    joined = company.joined(Answer(Status.UNKNOWN, Stop.TIME), planned)
    assert (joined.status, joined.objective) == (Status.OPTIMAL, (0, 1))


@pytest.mark.parametrize("slack", [None, 0, 1])
@pytest.mark.parametrize("proves", [0, 1])
def test_what_is_proved_is_optimal(slack: int | None, proves: int) -> None:
    proved = 0
    for seed in range(25):
        random = Random(seed)
        problem = random_problem(random, Sizes(rows=5, columns=2, depth=1, bounds=1), ("Predicted", "Leaves"))
        if not problem.classes or not problem.goals:
            continue
        second = Goal(single(random.choice((Leaves(), Depth()))))
        problem = problem.asking((problem.goals[0], second), problem.bounds)
        planned = plan(problem, Stopped(proves, slack))
        if not isinstance(planned, Plan):
            continue
        answer, truth = run(planned), OracleBackend().solve(problem)
        assert (answer.tree is None) is (truth.tree is None)
        if answer.status is Status.OPTIMAL:
            proved += 1
            assert answer.objective == truth.objective
        elif answer.bound is not None and truth.objective is not None:
            assert answer.bound <= truth.objective[answer.bounded_goal or 0]
    assert proved > 2
