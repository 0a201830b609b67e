"""mcc and gmean as goals and requirements: back-ends that bound sums take them, and say what the oracle says."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

import treeml as tml
from treeml.backends import registry
from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, Deadline, Limits, OnProgress, Status, Stop
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.count import count, counts
from treeml.backends.planning.plan import Plan, plan
from treeml.lang.diagnostic import DataError
from treeml.problem.problem import Bound, Goal, Problem
from treeml.problem.terms import Contingency, Depth, Leaves, Predicted
from treeml.problem.tree import Node
from treeml.testing.fuzz import disagreement
from treeml.testing.problems import Sizes, binary, bound, random_problem, single

PLAIN = ("Predicted", "Leaves", "Support")


def contingency(random: Random, problem: Problem) -> Contingency:
    rows, classes = problem.rows, problem.classes
    weight = np.array([random.choice((0, 1, 1, 2, 5)) for _ in range(rows)])[:, None]
    of_it = np.array([[random.random() < 0.4] for _ in range(rows)])
    named = np.arange(classes)[None, :] == 0
    scale = random.choice((Fraction(1), Fraction(1, 3)))
    right, wrong = (weight * (side & named) for side in (of_it, ~of_it))
    ends = (max(1, int(each.sum())) * scale for each in (right, wrong))
    kind = random.choice(("mcc", "gmean"))
    return Contingency(kind, single(Predicted(right, scale)), single(Predicted(wrong, scale)), *ends)


def with_contingency(seed: int, kinds: tuple[str, ...]) -> Problem | None:
    """The measure as a goal, alone or among others, or as a requirement, or both."""
    random = Random(seed)
    problem = random_problem(random, Sizes(rows=9, columns=3, depth=2, bounds=1), kinds)
    if not problem.classes or problem.rows < 2:
        return None
    goals, bounds = problem.goals, problem.bounds
    if random.random() < 0.6:
        goal = Goal(single(contingency(random, problem), random.choice((-1, -2, 1)), random.choice((0, 1))))
        if random.random() < 0.3:  # a price on leaves
            price = (Fraction(random.choice((1, 3)), 40), Leaves())
            goal = replace(goal, sum=replace(goal.sum, parts=(*goal.sum.parts, price)))
        goals = random.choice(((goal,), (goal,), (goal, Goal(single(Leaves()))), (*goals, goal)))
    if random.random() < 0.6 or goals is problem.goals:
        sense = random.choice((">=", ">=", "<=", "="))
        limit = Fraction(random.randint(-2, 9), 10)
        bounds = (*bounds, Bound(single(contingency(random, problem)), sense, limit, "root"))
    return problem.asking(goals, bounds)


@pytest.mark.parametrize(("name", "seeds"), [("native", 300), ("cpsat", 25)])
def test_random_problems_agree_with_the_oracle(name: str, seeds: int) -> None:
    backend = registry.get(name)
    taken = 0
    for seed in range(seeds):
        problem = with_contingency(seed, PLAIN)
        if problem is None or not isinstance(plan(problem, backend), Plan):
            continue
        taken += 1
        assert disagreement(problem, backend) is None, seed
    assert taken > seeds // 4


@pytest.mark.parametrize("seed", range(120))
def test_a_stopped_search_bounds_the_measure(seed: int) -> None:
    """Its bound is a line that no tree is beyond; the first search is repeated for the sake of its bound."""
    problem = with_contingency(seed, ("Support",))
    if problem is None or len(problem.goals) != 1 or counts(problem.goals[0]) is None:
        return
    truth = OracleBackend().solve(problem)
    for_bound: list[bool] = []

    def stopped(asked: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
        for_bound.append(limits.for_bound)
        answer = OracleBackend().solve(asked)
        if answer.objective is None:
            return answer
        below = answer.objective[0] - seed % 4
        proof = (Evidence("search bound"),)
        return replace(answer, status=Status.FEASIBLE, stop=Stop.TIME, bound=below, evidence=proof, trace=())

    found = count(stopped)(problem, Limits(Deadline.after(3600)), None, None)
    if truth.objective is None:
        assert found.tree is None
        return
    assert found.bound is not None
    assert found.objective is not None
    assert found.bound <= truth.objective[0] <= found.objective[0]
    assert for_bound in ([], [False, True])  # no search is needed if a leaf is the best of all predictions
    if seed % 4 == 0 and found.status is Status.FEASIBLE:
        rows_alone = count(lambda *_: Answer(Status.UNKNOWN, Stop.TIME))(problem, Limits(), None, None)
        assert rows_alone.bound is None or found.bound >= rows_alone.bound


def test_the_better_bound_of_two_tries_is_kept() -> None:
    """The second search may have less to say than the first one."""
    of_it, named = np.array([[own] for own in (0, 1, 1, 1, 0, 0)]), np.array([[0, 1]])
    sides = (single(Predicted(of_it * named)), single(Predicted((1 - of_it) * named)))
    goals = (Goal(single(Contingency("gmean", *sides, Fraction(3), Fraction(3)), -1)),)
    problem = binary(["00", "01", "11", "10", "11", "00"], 2, goals, (bound(Depth(), "<=", 2),))
    tries: list[Fraction | None] = []

    def stopped(asked: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
        answer = OracleBackend().solve(asked)
        assert answer.objective is not None
        tries.append(None if tries else answer.objective[0])
        proof = () if len(tries) > 1 else (Evidence("search bound"),)
        return replace(answer, status=Status.FEASIBLE, stop=Stop.TIME, bound=tries[-1], evidence=proof, trace=())

    found = count(stopped)(problem, Limits(Deadline.after(3600)), None, None)
    assert len(tries) == 2
    assert found.evidence[0].rule == "count by count"


def table(rows: int, seed: int) -> dict[str, list[str]]:
    random = Random(seed)
    columns = {f"x{number}": [str(random.randint(0, 1)) for _ in range(rows)] for number in range(6)}
    score = [sum(int(values[row]) for values in columns.values()) + random.gauss(0, 1.5) for row in range(rows)]
    return {**columns, "y": ["yes" if each > 4 else "no" for each in score]}


@pytest.mark.parametrize("goal", ['mcc("yes")', "gmean"])
def test_a_goal_of_more_rows_is_proved_by_few_solves(goal: str) -> None:
    data = table(300, 1)
    model = tml.parse(f"predict y\nmaximize {goal}\nrequire depth <= 3")
    result = model.solve(data, backend="native")
    assert result.status is tml.Status.OPTIMAL
    assert result.verified
    assert result.statistics["intervals"] <= 40
    said = result.tree.predict(data)
    metrics = pytest.importorskip("sklearn.metrics")
    if goal == "gmean":
        recalls = metrics.recall_score(data["y"], said, average=None)
        assert float(result.objective) == pytest.approx((recalls[0] * recalls[1]) ** 0.5)
    else:
        assert float(result.objective) == pytest.approx(metrics.matthews_corrcoef(data["y"], said))


def test_the_least_correlation_is_that_of_the_opposite_predictions() -> None:
    data = table(200, 4)
    best, worst = (
        tml.parse(f'predict y\n{goal} mcc("yes")\nrequire depth <= 2').solve(data, backend="native")
        for goal in ("maximize", "minimize")
    )
    assert best.status is worst.status is tml.Status.OPTIMAL
    assert float(worst.objective) == pytest.approx(-float(best.objective))
    bounded = tml.parse('predict y\nminimize mcc("yes")\nrequire depth <= 2\nrequire accuracy >= 60%')
    assert float(bounded.solve(data, backend="native").objective) > float(worst.objective)


def test_the_least_mean_of_recalls_within_requirements_is_proved() -> None:
    data = table(300, 5)
    alone = tml.parse("predict y\nminimize gmean\nrequire depth <= 2").solve(data, backend="native")
    assert alone.status is tml.Status.OPTIMAL
    assert alone.objective == 0
    text = 'predict y\nminimize gmean\nrequire depth <= 2\nrequire accuracy >= {}\nrequire recall("yes") >= 55%'
    values = []
    for share in (0.6, 0.64):
        worst = tml.parse(text.format(share)).solve(data, backend="native")
        assert worst.status is tml.Status.OPTIMAL
        assert worst.verified
        assert worst.statistics["intervals"] <= 40
        values.append(worst.objective)
    best = tml.parse(text.format(0.6).replace("minimize", "maximize")).solve(data, backend="native")
    assert 0 < values[0] <= values[1] <= best.objective


def test_requirements_are_met_and_refused_with_proof() -> None:
    data = table(120, 2)
    best = tml.parse("predict y\nmaximize gmean\nrequire depth <= 2").solve(data, backend="native")
    assert best.objective is not None
    text = "predict y\nminimize leaves\nthen maximize accuracy\nrequire depth <= 2\nrequire gmean >= {}"
    met = tml.parse(text.format(0.7)).solve(data, backend="native")
    assert met.status is tml.Status.OPTIMAL
    assert met.measures["gmean"] >= 0.7
    above = tml.parse(text.format(round(float(best.objective) + 0.001, 4))).solve(data, backend="native")
    assert above.status is tml.Status.INFEASIBLE


def test_gmean_of_three_classes_is_reported_and_refused_as_a_goal() -> None:
    data = {"a": ["0", "0", "1", "1", "2", "2"], "y": ["p", "p", "q", "q", "r", "p"]}
    with pytest.raises(DataError, match="for two classes, and there are 3"):
        tml.parse("predict y\nmaximize gmean\nrequire depth <= 2").solve(data)
    result = tml.parse('predict y\nmaximize mcc("p")\nrequire depth <= 2\nreport measures, gmean').solve(data)
    recalls = (1.0, 1.0, 0.0) if result.measures["errors"] != 1 else (2 / 3, 1.0, 1.0)
    assert float(result.measures["gmean"]) == pytest.approx(np.prod(recalls) ** (1 / 3), abs=1e-12)


def test_the_plan_says_how_and_what_is_refused() -> None:
    data = table(40, 3)
    model = tml.parse('predict y\nmaximize mcc("yes")\nrequire gmean >= 0.5\nrequire depth <= 2')
    text = str(model.explain(data, backend="native"))
    assert "search over the counts" in text
    assert "smaller and smaller intervals" in text
