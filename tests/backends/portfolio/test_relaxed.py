"""An easier problem bounds one that no fast back-end takes; its tree answers it if that meets the requirements."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import treeml as tml
from treeml.backends import registry
from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, Deadline, Limits, Progress, Status, Stop
from treeml.backends.native.coupled.relabeling import labeled
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.portfolio import improving
from treeml.backends.portfolio.accompany import accompanied
from treeml.backends.portfolio.companion import Companion
from treeml.backends.portfolio.relaxed import fitted, relaxed_plan
from treeml.backends.run import no_less_than_known, run
from treeml.problem.evaluate import evaluate_goals, evaluate_sum, is_answer
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Split
from treeml.solving.choice import lower
from treeml.solving.pipeline import prepare

EQUAL_RATES = 'require rate(predicted = 1 given g = "f") - rate(predicted = 1 given g = "m") <= 0.05'
TEXTS = [
    f"minimize gini require depth <= 2 {EQUAL_RATES}",
    f"minimize log_loss require depth <= 2 {EQUAL_RATES} require recall(1) >= 60%",
    "minimize gini require depth <= 2 require purity >= 0.7",
    "minimize gini require depth <= 2 require recall(1) >= 90%",
    "minimize error_rate + 0.01 * features_used require leaves <= 4 require depth <= 2",
    "minimize errors then minimize leaves require depth <= 2 require monotone(x0, decreasing)",
    "minimize errors require depth <= 2 require features_used <= 1 require recall(1) >= 50%",
]


def table(rows: int = 80, seed: int = 3, columns: int = 3) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    values = random.integers(0, 4, (rows, columns))
    group = random.integers(0, 2, rows)
    target = ((values[:, 0] > 1) & (values[:, 1] > 1)) | ((group == 1) & (values[:, 2] > 2))
    noisy = target ^ (random.random(rows) < 0.1)
    made = {f"x{number}": values[:, number].tolist() for number in range(columns)}
    return {**made, "g": np.where(group, "m", "f").tolist(), "y": noisy.astype(int).tolist()}


def problem_of(text: str, seed: int = 3) -> Problem:
    dataset, request = prepare(tml.parse("predict y is 1 " + text), table(seed=seed))
    return lower(dataset, request).form(numeric=True).problem


def relaxed(problem: Problem) -> Plan:
    planned = relaxed_plan(problem, registry.get("native"))
    assert planned is not None
    return planned


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("text", TEXTS)
def test_bounds_and_proofs_hold_for_the_best_tree_of_all(text: str, seed: int) -> None:
    problem = problem_of(text, seed)
    assert not isinstance(plan(problem, registry.get("native")), Plan)
    best = plan(problem, registry.get("oracle"), {"limit": 10**9})
    assert isinstance(best, Plan)
    exact, found = run(best, Limits(options={"limit": 10**9})), run(relaxed(problem))
    assert exact.objective
    assert exact.status is Status.OPTIMAL
    if found.status is Status.OPTIMAL:
        assert found.objective is not None
        assert abs(found.objective[0] - exact.objective[0]) <= found.tolerance + exact.tolerance
    else:
        assert found.bound is not None
        assert found.bound <= exact.objective[0] + exact.tolerance
    if found.tree is not None:
        assert is_answer(problem, found.tree)


def test_a_mixture_of_classes_does_not_depend_on_labels() -> None:
    """The best tree without limits on predictions, with other labels, is the best one with them."""
    found = run(relaxed(problem_of(TEXTS[1])))
    assert found.status is Status.OPTIMAL
    assert found.evidence[0].rule == "fewer requirements"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("goal", ["gini", "log_loss"])
def test_labels_that_make_no_difference_to_the_goal_have_few_errors(goal: str, seed: int) -> None:
    problem = problem_of(f"minimize {goal} require depth <= 2 require recall(1) >= 70%", seed)
    errors = problem_of("minimize errors require depth <= 2", seed).goals[0].sum
    for first, second in product(range(0, len(problem.tests), 3), repeat=2):
        tree = Split(first, Split(second, Leaf(0), Leaf(0)), Leaf(0))
        others = [labeled(tree, map(np.intp, labels)) for labels in product((0, 1), repeat=3)]
        allowed = [evaluate_sum(errors, problem, other) for other in others if is_answer(problem, other)]
        found = fitted(problem, tree)
        assert (found is None) is (not allowed)
        assert found is None or evaluate_sum(errors, problem, found) == min(allowed)


def test_a_tree_of_the_second_thread_that_misses_a_requirement_gets_other_labels() -> None:
    problem = problem_of("minimize gini require depth <= 2 require recall(1) >= 70%")
    company = Companion(problem, Limits(), None, None, lambda _: None)
    tree = Split(0, Split(3, Leaf(0), Leaf(0)), Leaf(0))
    assert not company.offer(tree)
    improving.offer_fitted(company, tree)
    assert company.tree is not None
    assert is_answer(problem, company.tree)
    assert company.value == evaluate_goals(problem, tree)


def test_what_no_tree_of_the_easier_problem_meets_no_tree_meets() -> None:
    problem = problem_of("minimize gini require depth <= 1 require purity >= 0.9 require support >= 41 rows")
    assert run(relaxed(problem)).status is not Status.INFEASIBLE  # purity was left out, and a single leaf is large
    contradictory = "minimize gini require depth <= 1 require purity >= 0.9 require support >= 81 rows"
    assert run(relaxed(problem_of(contradictory))).status is Status.INFEASIBLE


def test_without_a_goal_nothing_is_bounded() -> None:
    assert (
        relaxed_plan(problem_of("satisfy require depth <= 2 require monotone(x0, decreasing)"), registry.get("native"))
        is None
    )


def large() -> dict[str, Any]:
    return table(rows=2000, columns=12)


@pytest.mark.parametrize("threads", [None, 1])
@pytest.mark.parametrize(
    "text",
    [
        f"minimize gini require depth <= 3 {EQUAL_RATES}",
        "minimize log_loss require depth <= 3 require recall(1) >= 70%",
        "minimize gini require leaves <= 9 require depth <= 4 require purity >= 0.55",
        "minimize error_rate + 0.01 * features_used require leaves <= 11",
    ],
)
def test_a_spec_that_no_back_end_takes_has_a_tree_and_a_bound(text: str, threads: int | None) -> None:
    result = tml.parse("predict y is 1 " + text).solve(large(), within=1.0, threads=threads)
    assert result.tree is not None
    assert result.verified
    assert len(result.tree.leaves) > 1
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert result.plan[0].startswith("no back-end takes this problem as a whole")


def test_the_bound_of_an_easier_problem_ends_the_run_of_a_slow_search() -> None:
    """A slow search has no bound of its own; that of the companion's easier problem proves the companion's tree."""
    problem = problem_of("minimize errors require depth <= 2 require features_used <= 3")
    planned = plan(problem, registry.get("cpsat"))
    assert isinstance(planned, Plan)

    class Slow(type(planned.backend)):  # type: ignore[misc]
        def solve(self, problem: Problem, limits: Limits, start: Any = None, on_progress: Any = None) -> Answer:
            assert on_progress is not None
            while on_progress(Progress(0.0)) is not False:
                pass
            return Answer(Status.UNKNOWN, Stop.INTERRUPTED)

    answer = accompanied(Plan(problem, Slow(), ()), Limits(deadline=Deadline.after(600)))
    assert answer.status is Status.OPTIMAL
    exact = run(planned)
    assert answer.objective == exact.objective


def test_a_bound_on_the_first_of_several_goals_is_kept() -> None:
    problem = problem_of("minimize errors then minimize leaves require depth <= 2 require monotone(x0, decreasing)")
    planned = plan(problem, registry.get("cpsat"))
    assert isinstance(planned, Plan)
    company = Companion(problem, Limits(deadline=Deadline.after(600)), None, None, lambda company: None)
    company.has_bounds = False
    improving._bound_by_easier(company)
    assert company.least is not None
    assert company.bound is None  # reports do not say which of several goals they refer to
    joined = company.joined(Answer(Status.UNKNOWN, Stop.TIME), planned)
    assert joined.bound == company.least[0]
    assert evaluate_goals(problem, company.tree or Leaf(0))[0] >= joined.bound


def test_a_bound_is_not_below_what_is_known_without_a_search() -> None:
    problem = problem_of("minimize gini require depth <= 2")
    below = Answer(
        Status.UNKNOWN, Stop.TIME, bound=Fraction(-1, 10**9), bounded_goal=0, evidence=(Evidence("search bound"),)
    )
    assert no_less_than_known(problem, below).bound == 0


def test_the_second_thread_has_the_rest_of_the_time() -> None:
    problem = problem_of("minimize gini require depth <= 1 require recall(1) >= 99% require specificity(1) >= 99%")
    ended: list[bool] = []

    def work(company: Companion) -> None:
        if not ended:  # it is asked once more for a first tree
            ended.append(company.over.wait(600))

    answer = accompanied(relaxed(problem), Limits(deadline=Deadline.after(1.0)), work=work)
    assert answer.status is Status.UNKNOWN
    assert answer.stop is Stop.TIME
    assert ended[0]  # by the end of the run
