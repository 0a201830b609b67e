"""Quotients as goals: every back-end that minimizes sums minimizes them, and says what the oracle says."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from treeml.backends import registry
from treeml.backends.claims import Evidence
from treeml.backends.contract import (
    NO_LIMITS,
    Answer,
    BackendBase,
    Capabilities,
    Deadline,
    Limits,
    Progress,
    Status,
    Stop,
)
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning import divide
from treeml.backends.planning.divide import _Quotients
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.model import parse
from treeml.problem.evaluate import Routed, evaluate_goals
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.quotient import Quotient, quotient_of
from treeml.problem.terms import Depth, Leaves, Predicted, Ratio, Sum
from treeml.problem.tree import Leaf
from treeml.testing.fuzz import disagreement
from treeml.testing.problems import Sizes, binary, bound, errors, minimize, random_problem, single


class Additive(BackendBase):
    """The oracle, for one goal that is a sum over predictions."""

    name = "additive"
    summary = "one sum over predictions"
    can = Capabilities(
        goals=frozenset({"Predicted", "Leaves"}),
        bounds=frozenset({"Predicted", "Leaves", "Depth", "Support", "Largest", "Ratio", "Purity"}),
        needs_depth=False,
        merges_rows=True,
        merges_tests=True,
        starts=True,
    )

    def __init__(self) -> None:
        self.asked: list[Problem] = []

    def solve(self, problem, limits=NO_LIMITS, start=None, on_progress=None):  # type: ignore[no-untyped-def]
        self.asked.append(problem)
        return OracleBackend().solve(problem, limits, start, on_progress)


def quotient(random: Random, problem: Problem) -> Ratio:
    """Precision, npv, f1, jaccard or any other quotient whose numerator is 0 where its denominator is."""
    rows, classes = problem.rows, problem.classes
    weight = np.array([random.choice((0, 1, 1, 2, 5)) for _ in range(rows)])[:, None]
    of_it = np.array([[random.randrange(classes) == 0] for _ in range(rows)])
    named = np.arange(classes)[None, :] == 0
    shape = random.choice(("precision", "npv", "f1", "jaccard", "any", "apart"))
    if shape == "precision":
        above, below = of_it & named, np.ones_like(of_it) & named
    elif shape == "npv":
        above, below = ~of_it & ~named, np.ones_like(of_it) & ~named
    elif shape == "any":
        below = np.array([[random.choice((0, 0, 1, 3)) for _ in range(classes)] for _ in range(rows)])
        above = np.array([[random.randint(-2, 3) for _ in range(classes)] for _ in range(rows)]) * (below > 0)
    elif shape == "apart":  # some rows count above and not below, and no denominator is 0
        below = np.array([[random.choice((0, 0, 1, 3)) for _ in range(classes)] for _ in range(rows)])
        below[random.randrange(rows)] = random.choice((1, 2))
        above = np.array([[random.randint(-2, 3) for _ in range(classes)] for _ in range(rows)])
        weight = np.maximum(1, weight)
    else:
        times = 2 if shape == "f1" else 1
        above = times * (of_it & named)
        below = above + (of_it ^ named)
    scale = random.choice((Fraction(1), Fraction(1, 3)))
    return Ratio(single(Predicted(above * weight, scale)), single(Predicted(below * weight, Fraction(2, 5))))


def with_quotient(seed: int, kinds: tuple[str, ...]) -> Problem | None:
    random = Random(seed)
    problem = random_problem(random, Sizes(rows=8, columns=3, depth=2, bounds=2), kinds)
    if not problem.classes:
        return None
    goal = Goal(single(quotient(random, problem), random.choice((-1, -1, 1, 2)), random.choice((0, 0, 1))))
    if random.random() < 0.3:  # a price on leaves
        price = (Fraction(random.choice((1, 3)), 40), Leaves())
        goal = replace(goal, sum=replace(goal.sum, parts=(*goal.sum.parts, price)))
    others = random.choice(((), (), (Goal(single(Leaves())),), problem.goals))
    goals = (goal, *others) if random.random() < 0.7 else (*others, goal)
    return problem.asking(goals, problem.bounds)


PLAIN = ("Predicted", "Leaves", "Support")


@pytest.mark.parametrize(
    ("name", "kinds", "seeds"),
    [("additive", (*PLAIN, "Largest"), 250), ("native", PLAIN, 250), ("cpsat", (*PLAIN, "Largest"), 25)],
)
def test_random_quotients_agree_with_the_oracle(name: str, kinds: tuple[str, ...], seeds: int) -> None:
    backend = Additive() if name == "additive" else registry.get(name)
    taken = 0
    for seed in range(seeds):
        problem = with_quotient(seed, kinds)
        if problem is None or not isinstance(plan(problem, backend), Plan):
            continue
        taken += 1
        assert disagreement(problem, backend) is None, seed
    assert taken > seeds // 4


ROWS = ("00", "01", "10", "11", "11", "10")
ACTUAL = (0, 1, 0, 1, 0, 1)


def precision(sign: int = -1) -> Sum:
    named = np.array([[0, 1]] * 6, dtype=np.int64)
    right = named * np.array(ACTUAL)[:, None]
    return single(Ratio(single(Predicted(right)), single(Predicted(named))), sign)


def answered(problem: Problem, backend: Additive) -> Answer:
    planned = plan(problem, backend)
    assert isinstance(planned, Plan)
    return run(planned)


def test_few_solves_and_a_sentence_in_the_plan() -> None:
    backend = Additive()
    problem = binary(ROWS, 2, minimize(precision()), (bound(Depth(), "<=", 1),))
    planned = plan(problem, backend)
    assert isinstance(planned, Plan)
    assert any("a quotient is minimized" in sentence for sentence in planned.explain())
    answer = run(planned)
    assert (answer.status, answer.objective, answer.bound) == (Status.OPTIMAL, (Fraction(-2, 3),), Fraction(-2, 3))
    assert answer.evidence[0].rule == "quotient by quotient"
    assert len(backend.asked) <= 3


def test_a_denominator_of_zero_counts_as_zero_in_a_goal() -> None:
    # Nobody is predicted positive: 0 is the least precision.
    answer = answered(binary(ROWS, 2, minimize(precision(1)), (bound(Depth(), "<=", 1),)), Additive())
    assert (answer.status, answer.objective) == (Status.OPTIMAL, (0,))
    assert answer.tree == Leaf(0)
    # Someone has to be.
    named = Predicted(np.array([[0, 1]] * 6, dtype=np.int64))
    some = bound(named, ">=", 2)
    problem = binary(ROWS, 2, minimize(precision(1)), (bound(Depth(), "<=", 1), some))
    assert answered(problem, Additive()).objective == (Fraction(1, 3),)


def test_a_later_goal_does_not_escape_to_a_denominator_of_zero() -> None:
    named = Predicted(np.array([[0, 1]] * 6, dtype=np.int64))
    problem = binary(ROWS, 2, minimize(precision(), named), (bound(Depth(), "<=", 1),))
    answer = answered(problem, Additive())
    # Predicting no row at all would be less of the second goal, and 0 of the first.
    assert (answer.status, answer.objective) == (Status.OPTIMAL, (Fraction(-2, 3), 3))


def test_the_bound_of_a_quotient_is_exact() -> None:
    goal = Goal(precision())
    found = quotient_of(goal)
    assert found is not None
    problem = binary(ROWS, 2, (goal,))
    values = set()
    trees = [Leaf(0), Leaf(1)]
    for tree in trees:
        values.add(evaluate_goals(problem, tree)[0])
        assert found.value(found.of(Routed(problem, tree))) == evaluate_goals(problem, tree)[0]
    assert values == {Fraction(0), Fraction(-1, 2)}
    for limit in (Fraction(-1, 2), Fraction(-3, 5), Fraction(0)):
        held = found.bound(found.quotient(limit))
        for tree in trees:
            reached = held.sum.evaluate(Routed(problem, tree), None)
            assert reached is not None
            assert (reached <= held.limit) == (evaluate_goals(problem, tree)[0] <= limit)


def test_a_stopped_search_reports_tree_and_bound() -> None:
    class Stopping(Additive):
        """Stops at once, with a bound that is two below the best."""

        def solve(self, problem, limits=NO_LIMITS, start=None, on_progress=None):  # type: ignore[no-untyped-def]
            answer = super().solve(problem, limits, start, on_progress)
            below = answer.objective[0] - 2
            return Answer(
                Status.FEASIBLE, Stop.TIME, start, (Fraction(0),), below, evidence=(Evidence("search bound"),)
            )

    f1_above = np.array([[0, 2 * truth] for truth in ACTUAL], dtype=np.int64)
    f1_below = np.array([[truth, 1 + truth] for truth in ACTUAL], dtype=np.int64)
    f1 = single(Ratio(single(Predicted(f1_above)), single(Predicted(f1_below))), -1)
    problem = binary(ROWS, 2, minimize(f1), (bound(Depth(), "<=", 1),))
    best = answered(problem, Additive()).objective
    answer = answered(problem, Stopping())
    assert (answer.status, answer.stop) == (Status.FEASIBLE, Stop.TIME)
    assert answer.tree == Leaf(1)
    assert best is not None
    assert answer.bound is not None
    assert answer.bound <= best[0]
    assert -1 <= answer.bound < answer.objective[0]


def test_a_gap_ends_the_search() -> None:
    backend = Additive()
    problem = binary(ROWS, 2, minimize(precision()), (bound(Depth(), "<=", 1),))
    planned = plan(problem, backend)
    assert isinstance(planned, Plan)
    answer = run(planned, Limits(gap=Fraction(9, 10)))
    assert answer.stop is Stop.GAP
    assert answer.status is Status.FEASIBLE


def test_numbers_beyond_64_bits_are_refused() -> None:
    heavy = np.array([[0, 10**12 + row] for row in range(6)], dtype=np.int64)
    right = heavy * np.array(ACTUAL)[:, None]
    goal = Goal(single(Ratio(single(Predicted(right)), single(Predicted(heavy))), -1), True, "maximize precision")
    refused = plan(binary(ROWS, 2, (goal,), (bound(Depth(), "<=", 1),)), Additive())
    assert not isinstance(refused, Plan)
    assert refused[0].feature == "the goal maximize precision"
    assert "beyond 64 bits" in refused[0].because


def test_a_quotient_that_no_sum_compares_is_refused_in_words() -> None:
    # The numerator counts rows that the denominator does not.
    above, below = errors(ACTUAL, 2), Predicted(np.array([[0, 1]] * 6, dtype=np.int64))
    problem = binary(ROWS, 2, minimize(Ratio(single(above), single(below))), (bound(Depth(), "<=", 1),))
    refused = plan(problem, Additive())
    assert not isinstance(refused, Plan)
    assert refused[0].because == "additive cannot minimize a quotient of two sums"


def test_a_quotient_in_a_sum_is_refused_in_words() -> None:
    goal = Sum((*precision().parts, (Fraction(1), errors(ACTUAL, 2))))
    refused = plan(binary(ROWS, 2, minimize(goal), (bound(Depth(), "<=", 1),)), Additive())
    assert not isinstance(refused, Plan)
    assert "only as a goal of its own" in refused[0].because
    assert "then minimize leaves" in refused[0].instead


def test_a_price_on_leaves_is_met_leaf_by_leaf() -> None:
    goal = Sum((*precision().parts, (Fraction(1, 10), Leaves())))
    problem = binary(ROWS, 2, minimize(goal), (bound(Depth(), "<=", 2),))
    planned = plan(problem, Additive())
    assert isinstance(planned, Plan)
    assert any("1, 2, 3, ... leaves" in sentence for sentence in planned.explain())
    answer, right = run(planned), run(plan(problem, OracleBackend()))
    assert (answer.status, answer.objective) == (Status.OPTIMAL, right.objective)
    # With a reward for leaves there is no last number of them to look at.
    rewarded = Sum((*precision().parts, (Fraction(-1, 10), Leaves())))
    assert not isinstance(plan(binary(ROWS, 2, minimize(rewarded), problem.bounds), Additive()), Plan)


def test_a_tolerance_leaves_the_quotient_unproved() -> None:
    class Rounding(Additive):
        """Proves its optimum up to a tolerance only."""

        def solve(self, problem, limits=NO_LIMITS, start=None, on_progress=None):  # type: ignore[no-untyped-def]
            return replace(super().solve(problem, limits, start, on_progress), tolerance=Fraction(3))

    problem = binary(ROWS, 2, minimize(precision()), (bound(Depth(), "<=", 1),))
    answer = answered(problem, Rounding())
    assert (answer.status, answer.stop, answer.objective) == (Status.FEASIBLE, Stop.FINISHED, (Fraction(-2, 3),))
    assert answer.bound is not None
    assert answer.bound < Fraction(-2, 3)


class StoppedNear(Additive):
    """A search that is always stopped, with a bound only where the sum compares quotients with the least one."""

    name = "stopped"

    def __init__(self, quotient: Quotient, slack: int) -> None:
        super().__init__()
        self.quotient, self.slack = quotient, slack

    def solve(self, problem, limits=NO_LIMITS, start=None, on_progress=None):  # type: ignore[no-untyped-def]
        answer = super().solve(problem, NO_LIMITS)
        if answer.status is not Status.OPTIMAL:
            return answer
        (cost,) = (term.cost for _, term in problem.goals[0].sum.parts if isinstance(term, Predicted))
        wanted = self.quotient.against(self.quotient.least).parts[0][1]
        assert isinstance(wanted, Predicted)
        is_least = np.array_equal(cost, wanted.cost)
        below = answer.objective[0] - self.slack if is_least else None
        proof = (Evidence("search bound"),) if is_least else ()
        return replace(answer, status=Status.FEASIBLE, stop=Stop.TIME, bound=below, evidence=proof, trace=())


@pytest.mark.parametrize("seed", range(60))
def test_a_stopped_search_has_a_bound_from_the_least_quotient(seed: int) -> None:
    """The kept time goes to the sum at the least quotient, whose bound holds for the quotients of all trees."""
    problem = with_quotient(seed, ("Support", "Predicted"))
    quotient = None if problem is None or len(problem.goals) != 1 else quotient_of(problem.goals[0])
    if problem is None or quotient is None:
        return
    truth = OracleBackend().solve(problem)
    if truth.status is not Status.OPTIMAL or truth.objective is None:
        return
    backend = StoppedNear(quotient, seed % 3)
    planned = plan(problem, backend)
    assert isinstance(planned, Plan)
    answer = run(planned, Limits(Deadline.after(60)))
    assert answer.bound is not None
    assert quotient.value(quotient.least) <= answer.bound <= truth.objective[0]


class Patient(StoppedNear):
    """The same, and near the best quotient it goes on without a bound until a report of the time is answered no."""

    name = "patient"

    def __init__(self, quotient: Quotient, slack: int) -> None:
        super().__init__(quotient, slack)
        self.for_bound: list[bool] = []

    def solve(self, problem, limits=NO_LIMITS, start=None, on_progress=None):  # type: ignore[no-untyped-def]
        self.for_bound.append(limits.for_bound)
        answer = super().solve(problem, limits, start, on_progress)
        if answer.bound is not None or answer.status is not Status.FEASIBLE or on_progress is None:
            return answer
        while on_progress(Progress(0.0)) is not False:
            pass
        return replace(answer, stop=Stop.INTERRUPTED)


@pytest.mark.parametrize("seed", range(40))
def test_searches_that_say_nothing_end_sooner(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """The time limit is far away: the end of hope alone ends the search near the best quotient."""
    monkeypatch.setattr(divide, "HOPE", 0.0)
    problem = with_quotient(seed, ("Support", "Predicted"))
    quotient = None if problem is None or len(problem.goals) != 1 else quotient_of(problem.goals[0])
    if problem is None or quotient is None:
        return
    truth = OracleBackend().solve(problem)
    if truth.status is not Status.OPTIMAL or truth.objective is None:
        return
    backend, limits = Patient(quotient, seed % 3), Limits(Deadline.after(3600))
    if not _Quotients(backend.solve, problem, quotient, limits, None).hope.passed:
        return  # a leaf may be the best tree of all
    found = divide.divide(backend.solve)(problem, limits, None, None)
    assert found.bound is not None
    assert found.bound <= truth.objective[0]
    assert found.status is Status.OPTIMAL or backend.for_bound[-1] or quotient.may_be_empty


def test_somebody_who_stops_a_search_is_not_taken_for_lost_hope(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(divide, "HOPE", 0.0)
    problem = binary(ROWS, 2, minimize(precision()), (bound(Depth(), "<=", 1),))
    quotient = quotient_of(problem.goals[0])
    assert quotient is not None
    backend = Patient(quotient, 0)
    found = divide.divide(backend.solve)(problem, Limits(Deadline.after(3600)), None, lambda moment: False)
    assert found.stop is Stop.INTERRUPTED
    assert backend.for_bound == [False]


def test_stopped_f1_is_bounded_by_the_errors() -> None:
    """Two rows are equal and of different classes, so no tree has fewer than one error.

    Nor has any more than two true positives, as rows alone show: with both, f1 is at most 4 / 5.
    """
    of_it = np.array([[own] for own in (0, 1, 0, 1)])
    named = np.array([[0, 1]])
    above = 2 * of_it * named
    f1 = Ratio(single(Predicted(above)), single(Predicted(above + (of_it ^ named))))
    problem = binary(["00", "01", "11", "11"], 2, (Goal(single(f1, -1)),), (bound(Depth(), "<=", 2, "depth"),))
    quotient = quotient_of(problem.goals[0])
    assert quotient is not None
    backend = StoppedNear(quotient, 0)
    planned = plan(problem, backend)
    assert isinstance(planned, Plan)
    answer = run(planned, Limits(Deadline.after(60)))
    assert answer.status is Status.OPTIMAL
    assert answer.bound == Fraction(-4, 5)


def test_recall_limits_the_denominator_of_precision() -> None:
    """The bound of a sum is worth more for precision, the more rows are surely predicted positive."""
    of_it, named = np.array([[own] for own in (0, 1, 1, 1, 1, 0)]), np.array([[0, 1]])
    precision = Ratio(single(Predicted(of_it * named)), single(Predicted(np.ones_like(of_it) * named)))
    recall = Bound(single(Predicted(of_it * named)), ">=", Fraction(3), "recall")
    goals, limits = (Goal(single(precision, -1)),), (bound(Depth(), "<=", 1, "depth"), recall)
    problem = binary(["00", "11", "11", "01", "01", "11"], 2, goals, limits)
    quotient = quotient_of(problem.goals[0])
    assert quotient is not None
    search = _Quotients(Additive().solve, problem, quotient, NO_LIMITS, None)
    assert search.smallest == 3
    assert not search.may_be_empty
    search.draw(Fraction(-3, 4), Fraction(-2), (Evidence("search bound"),))
    assert search.low == Fraction(-3, 4) - Fraction(2, 4) / 3
    assert quotient.least < search.low
    assert search.next_number() == quotient.least  # which has few digits, as a bound by lines need not have


@pytest.mark.parametrize(
    "goal", ['maximize f1("p") then minimize errors', 'maximize accuracy then maximize recall("p")']
)
def test_a_goal_that_is_held_is_planned_as_a_limit_that_matters(goal: str) -> None:
    """With the first goal held, the search for the second one couples the leaves, where numbers have to be smaller."""
    random = Random(1)
    rows = {
        "x": [random.randrange(8) for _ in range(26)],
        "w": [random.choice([10**15, 2 * 10**15]) for _ in range(26)],
    }
    rows["y"] = ["p" if each + random.random() < 4 else "q" for each in rows["x"]]
    rows["y"][:3] = "pqq"
    text = f'predict y is "p"\nweight by w\n{goal}\nrequire depth <= 2\nrequire purity >= 0.6667'
    small = {**rows, "w": [weight // 10**15 for weight in rows["w"]]}
    first = parse(text).solve(small)
    assert first.is_optimal
    found = parse(text).solve(rows)
    assert found.is_optimal
    names = [10**15 if "errors" in str(each.text) else 1 for each in found.exact.goals]
    assert [each.value for each in found.exact.goals] == [
        times * each.value for times, each in zip(names, first.exact.goals, strict=True)
    ]
