"""The greedy tree meets the bounds that guide its growth, reports those it breaks, and never claims to be optimal."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

import treeml as tml
from treeml.backends.contract import NO_LIMITS, Answer, Deadline, Limits, Status, Stop
from treeml.backends.heuristics import cart, impurity
from treeml.backends.heuristics.cart import CartBackend, greedy_tree
from treeml.backends.heuristics.impurity import CRITERIA
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.problem.evaluate import Routed, evaluate_goals, meets_all
from treeml.problem.impurity_cost import ImpurityCost
from treeml.problem.problem import Feature, Goal, Problem
from treeml.problem.problem import Test as Question
from treeml.problem.terms import Custom, Depth, Leaves, Loss, Predicted, Purity, Sum, Support
from treeml.problem.tree import Leaf, Split
from treeml.solving.choice import lower
from treeml.solving.pipeline import prepare
from treeml.testing.problems import binary, bound, errors, minimize, random_problem

ROWS = [format(number, "04b") for number in range(16)]
ACTUAL = [int(row in ("0011", "0101", "0110", "1000", "1011", "1110", "1111")) for row in ROWS]


def noisy(rows: int, tests: int, seed: int) -> Problem:
    random = np.random.default_rng(seed)
    bits = random.random((tests, rows)) < random.random((tests, 1))
    actual = (bits[0] & bits[1]) ^ (random.random(rows) < 0.1)
    return Problem(
        tuple(Feature(f"x{number}", "binary", 2, None, number, 1) for number in range(tests)),
        tuple(Question(number, "true") for number in range(tests)),
        np.ones(rows, dtype=np.int64),
        2,
        minimize(errors(actual.astype(int).tolist(), 2)),
        (),
        bits,
    )


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_fully_grown_tree_separates_all_distinct_rows(criterion: str) -> None:
    answer = CartBackend().solve(binary(ROWS, 2, minimize(errors(ACTUAL, 2))), Limits(options={"criterion": criterion}))
    assert (answer.status, answer.stop, answer.objective) == (Status.FEASIBLE, Stop.FINISHED, (0,))
    assert "greedily" in answer.notes[0]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(4))
def test_the_first_split_is_the_best_by_its_criterion(criterion: str, seed: int) -> None:
    """Each criterion written out for one split at a time."""
    problem = noisy(60, 8, seed)
    term = problem.goals[0].sum.parts[0][1]
    assert isinstance(term, Predicted)
    actual = 1 - term.cost.argmax(axis=1)

    def impurity(rows: np.ndarray) -> float:
        shares = [float((actual[rows] == label).mean()) for label in (0, 1)] if rows.any() else [1.0]
        if criterion == "gini":
            return 1 - sum(share**2 for share in shares)
        return -sum(share * float(np.log2(share)) for share in shares if share > 0)

    def worth(answers: np.ndarray) -> float:
        share = float(answers.mean())
        if share in (0.0, 1.0):
            return -1.0
        if criterion == "twoing":
            apart = sum(
                abs(float((actual[answers] == label).mean()) - float((actual[~answers] == label).mean()))
                for label in (0, 1)
            )
            return share * (1 - share) / 4 * apart**2
        everything = np.ones(len(answers), dtype=bool)
        return impurity(everything) - share * impurity(answers) - (1 - share) * impurity(~answers)

    def ratio(answers: np.ndarray) -> float:
        share = float(answers.mean())
        return worth(answers) / -(share * np.log2(share) + (1 - share) * np.log2(1 - share))

    values = [worth(answers) for answers in problem.bits]
    if criterion == "gain_ratio":
        average = float(np.mean([value for value in values if value > 0]))
        values = [
            ratio(answers) if value >= average - 1e-12 else -1.0
            for value, answers in zip(values, problem.bits, strict=True)
        ]
    tree = CartBackend().solve(problem, Limits(options={"criterion": criterion, "depth": 1, "prune": "none"})).tree
    assert isinstance(tree, Split)
    assert values[tree.test] == pytest.approx(max(values))


def test_it_keeps_depth_leaves_and_support() -> None:
    for seed in range(20):
        shell = noisy(80, 6, seed)
        limits = (bound(Depth(), "<=", 3), bound(Leaves(), "<=", 5), bound(Support(), ">=", 7))
        problem = shell.asking(shell.goals, limits)
        answer = CartBackend().solve(problem)
        assert answer.tree is not None
        assert meets_all(problem, answer.tree)


def test_options_narrow_what_the_bounds_allow() -> None:
    problem = noisy(80, 6, 1)
    answer = CartBackend().solve(problem, Limits(options={"depth": 2, "support": 9, "prune": "none"}))
    assert answer.tree is not None
    assert Depth().value(Routed(problem, answer.tree)) <= 2
    assert Support().value(Routed(problem, answer.tree)) >= 9


def test_cart_reports_a_requirement_that_it_cannot_meet() -> None:
    weight = np.array([[1 - truth, truth] for truth in ACTUAL], dtype=np.int64)
    bounds = (bound(Purity(weight), ">=", 1, "pure leaves"), bound(Depth(), "<=", 1))
    answer = CartBackend().solve(binary(ROWS, 2, minimize(errors(ACTUAL, 2)), bounds))
    assert (answer.status, answer.tree) == (Status.UNKNOWN, None)
    assert "pure leaves" in answer.notes[0]


def test_a_price_per_leaf_cuts_back() -> None:
    full = noisy(60, 6, 3)
    priced = full.asking(minimize(Sum((full.goals[0].sum.parts[0], (Fraction(3), Leaves())))), ())
    small, large = greedy_tree(priced), greedy_tree(full)
    assert Leaves().value(Routed(priced, small)) < Leaves().value(Routed(full, large))
    assert evaluate_goals(priced, small) <= evaluate_goals(priced, large)


@pytest.mark.parametrize(
    "options",
    [{"prune": "complexity", "price": 0.05}, {"prune": "pessimistic"}, {"prune": "pessimistic", "confidence": 0.01}],
)
def test_pruning_cuts_and_never_breaks_a_bound(options: dict[str, object]) -> None:
    shell = noisy(60, 6, 3)
    problem = shell.asking(shell.goals, (bound(Leaves(), ">=", 3, "leaves"),))
    whole = CartBackend().solve(shell, Limits(options={"prune": "none"})).tree
    cut = CartBackend().solve(shell, Limits(options=options)).tree
    kept = CartBackend().solve(problem, Limits(options=options)).tree
    assert whole is not None
    assert cut is not None
    assert kept is not None
    assert Leaves().value(Routed(shell, cut)) < Leaves().value(Routed(shell, whole))
    assert Leaves().value(Routed(shell, kept)) >= 3


@pytest.mark.parametrize("kind", ["code length", "gini", "entropy"])
def test_mixtures_of_classes_are_split_and_cut_by_their_own_cost(kind: str) -> None:
    problem = noisy(200, 6, 3)
    term = problem.goals[0].sum.parts[0][1]
    assert isinstance(term, Predicted)
    labels = (1 - term.cost.argmax(axis=1)).astype(np.int32)
    cost = ImpurityCost(kind, labels, 2, np.ones(200, dtype=np.int64), Fraction(1))
    goal = Goal(Sum(((Fraction(1), Custom(cost)), (Fraction(3), Leaves()))))
    asked = problem.asking((goal,), ())
    answer = CartBackend().solve(asked)
    grown = CartBackend().solve(asked, Limits(options={"prune": "none"}))
    assert isinstance(answer.tree, Split)
    assert answer.objective is not None
    assert grown.objective is not None
    assert answer.objective < evaluate_goals(asked, Leaf(0))
    assert answer.objective < grown.objective  # leaves that cost more than they save are cut


def test_costs_move_the_label() -> None:
    cost = np.array([[0, 1]] * 3 + [[50, 0]], dtype=np.int64)
    tree = greedy_tree(binary(["0", "0", "0", "0"], 2, minimize(Predicted(cost))))
    assert tree == Leaf(1)


@pytest.mark.parametrize("kind", ["squared", "absolute", "quantile"])
def test_numbers_are_split_where_the_loss_falls_most(kind: str) -> None:
    targets = np.array([[1], [2], [2], [50], [51], [60]], dtype=np.int64)
    loss = Loss(kind, targets, np.ones(6, dtype=np.int64), level=Fraction(9, 10))
    problem = binary(["00", "01", "00", "10", "11", "11"], 0, minimize(loss), (bound(Depth(), "<=", 1),))
    tree = greedy_tree(problem)
    assert tree == Split(0, Leaf(), Leaf())


def test_it_is_never_called_optimal_and_always_verifies() -> None:
    for seed in range(150):
        problem = random_problem(Random(seed))
        planned = plan(problem, CartBackend())
        assert isinstance(planned, Plan)
        answer = run(planned, Limits(options={"criterion": Random(seed).choice(list(CRITERIA))}))
        assert answer.status in (Status.FEASIBLE, Status.UNKNOWN)


def test_out_of_time_it_returns_what_has_grown() -> None:
    answer = CartBackend().solve(noisy(60, 6, 3), Limits(Deadline(0.0)))
    assert answer.stop is Stop.TIME
    assert isinstance(answer.tree, Leaf)


def test_a_tree_to_start_from_is_grown_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[Deadline] = []
    solve = CartBackend.solve

    def watched(backend: CartBackend, problem: Problem, limits: Limits = NO_LIMITS) -> Answer:
        ends.append(limits.deadline)
        return solve(backend, problem, limits)

    monkeypatch.setattr(CartBackend, "solve", watched)
    rows, classes = np.array([[0], [1]] * 3), np.array([0, 1] * 3)
    model = tml.parse("predict y minimize errors require depth <= 1 start from cart solve with native")
    model.solve(rows, classes, within=1000)
    assert ends[0].at < Deadline.after(1000).at
    model.solve(rows, classes)
    assert ends[1].at == float("inf")


def test_answers_that_are_not_made_in_time_leave_a_leaf() -> None:
    rows = np.random.default_rng(0).random((50, 3))
    dataset, request = prepare("predict y minimize errors", rows, (rows[:, 0] > 0.5).astype(int))
    problem = lower(dataset, request).form(numeric=True).problem
    answer = CartBackend().solve(problem, Limits(Deadline.after(-1)))
    assert answer.stop is Stop.TIME
    assert isinstance(answer.tree, Leaf)
    assert "bits" not in vars(problem)


@pytest.mark.parametrize("kind", ["errors", "squared", "absolute", "quantile"])
def test_tests_are_scored_a_few_at_a_time_with_the_same_result(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = noisy(60, 9, 3)
    if kind != "errors":
        targets = np.random.default_rng(3).integers(-20, 20, (60, 2))
        loss = Loss(kind, targets, np.arange(60) % 4, level=Fraction(1, 4) if kind == "quantile" else Fraction(1, 2))
        problem = Problem(
            problem.features, problem.tests, problem.count, 0, minimize(loss), (bound(Depth(), "<=", 3),), problem.bits
        )
    whole = greedy_tree(problem)
    assert isinstance(whole, Split)
    monkeypatch.setattr(impurity, "CELLS_AT_ONCE", 150)
    assert greedy_tree(problem) == whole


def test_rows_are_counted_exactly_however_many_they_stand_for() -> None:
    answers = np.random.default_rng(1).random((5, 40)) < 0.5
    few = np.arange(40, dtype=np.int64)
    many = few + 2**55
    for count in (few, many):
        assert cart._reached(answers, count).tolist() == [int(count[each].sum()) for each in answers]


@pytest.mark.parametrize("goal", ["f1(1)", "jaccard(1)", "precision(1)", "mcc(1)", "gmean", "f1(1) - 0.001 * leaves"])
def test_quotients_and_roots_guide_the_growth(goal: str) -> None:
    random = np.random.default_rng(3)
    X = random.normal(size=(120, 4)).round(2)
    y = ((X[:, 0] + X[:, 1] > 0.8) ^ (random.random(120) < 0.1)).astype(int)
    text = f"maximize {goal} require depth <= {{}} solve with {{}}"
    alone, greedy, best = [
        tml.parse(text.format(depth, name)).solve(X, y).objective
        for depth, name in ((0, "oracle"), (2, "cart"), (2, "native"))
    ]
    assert alone + 0.5 * (best - alone) < greedy <= best + 1e-12


def test_a_quotient_of_weights_too_long_to_guide_the_growth_leaves_a_tree() -> None:
    weights = [1.0, 1.0, 1e-9, 1e-9, 1e-9, 1.0, 1e-9, 3.0, 1e-9, 1e-9, 3.0]
    columns = {"x": [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2], "y": list("abbababaabb"), "w": weights}
    text = 'predict y\nweight by w\nmaximize f1("b")\nrequire depth <= 1'
    result = tml.Model.parse(text).solve(columns, backend="cart")
    assert result.verified


def medical(rows: int = 500) -> dict[str, Any]:
    random = np.random.default_rng(8)
    values = random.normal(size=(rows, 4)).round(2)
    odds = values[:, 0] + values[:, 1] * (values[:, 2] > 0) + 0.7 * random.normal(size=rows)
    return {
        **{f"x{number}": values[:, number] for number in range(4)},
        "y": (odds > 0.4).astype(int),
        "t": odds.round(2),
    }


@pytest.mark.parametrize(
    ("asked", "most"),
    [
        ("predict y is 1 features all except t minimize leaves require accuracy >= 75%", 4),
        (
            "predict y is 1 features all except t minimize leaves require recall(1) >= 75% require precision(1) >= 70%",
            24,
        ),
        ("predict y is 1 features all except t minimize leaves require leaf_errors <= 20", 16),
        ("predict y is 1 features all except t minimize leaves require purity >= 70%", 12),
        ("predict t features all except y minimize leaves require r2 >= 50%", 8),
        ("predict y is 1 features all except t minimize leaves require 72% <= accuracy <= 97%", 4),
    ],
)
def test_a_small_tree_is_what_cutting_back_leaves(asked: str, most: int) -> None:
    """What is grown is much larger; the requirements are still met when the useless half of it is gone."""
    result = tml.Model.parse(asked).solve(medical(), backend="cart")
    assert result.tree is not None
    assert 1 < len(result.tree.leaves) <= most


def test_leaves_predict_their_majority_where_only_their_classes_matter() -> None:
    result = tml.Model.parse("predict y is 1 features all except t minimize leaves require leaf_errors <= 20").solve(
        medical(), backend="cart"
    )
    assert result.tree is not None
    predicted = result.tree.predict(medical())
    assert np.mean(predicted == medical()["y"]) > 0.75
