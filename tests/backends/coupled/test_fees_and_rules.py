"""Costs of tests and rules for leaves beside requirements that couple the leaves, and bounds by prices."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import treeml as tml
from treeml.backends.contract import Deadline, Limits, Progress, Status
from treeml.backends.native.backend import NativeBackend
from treeml.backends.native.coupled import run as coupled_run
from treeml.backends.native.coupled.priced import EASIER, PricedBounds
from treeml.backends.native.coupled.relabeling import Relabeling
from treeml.backends.native.coupled.requirements import is_coupled
from treeml.backends.native.coupled.task import cost_of, read_coupled
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.run import run
from treeml.problem.evaluate import Routed, evaluate_goals, meets_all
from treeml.problem.problem import Problem
from treeml.problem.terms import Depth, Leaves
from treeml.problem.tree import Leaf
from treeml.testing.coupled_problems import coupled_problem
from treeml.testing.problems import bound

NATIVE = NativeBackend()
KERNELS = ("native(kernel = binary)", "native(kernel = numeric)")
CONDITIONS = (
    "minimize errors + 0.2 * test_cost",
    "minimize errors\nthen minimize test_cost",
    "minimize test_cost",
    "minimize errors\nrequire test_cost <= 30",
    "minimize errors\nrequire purity >= 70%",
    "minimize errors\nrequire leaf_errors <= 2",
    "minimize errors\nrequire leaf_weight >= 4",
    "minimize errors + 0.1 * test_cost\nrequire purity >= 60%\nrequire test_cost <= 40",
    "maximize f1(1)\nrequire purity >= 60%\nrequire test_cost <= 40",
)


def patients() -> dict[str, list[Any]]:
    random = Random(5)
    age, pressure = ([random.randrange(6) for _ in range(16)] for _ in range(2))
    sick = [int(a + p + random.choice((-2, 0, 2)) > 5) for a, p in zip(age, pressure, strict=True)]
    return {"age": age, "pressure": pressure, "group": [random.choice("ab") for _ in range(16)], "sick": sick}


@pytest.mark.parametrize("asked", CONDITIONS)
def test_both_kernels_agree_with_the_oracle(asked: str) -> None:
    text = (
        f"predict sick is 1\n{asked}\nforbid split on group\nrequire depth <= 2\nrequire recall(1) >= 60%\n"
        "require parity_gap(group) <= 30%\ncost test age = 2\ncost test pressure = 3\n"
        "cost test pressure after age = 1\n"
    )
    answers = [tml.parse(f"{text}solve with {name}").solve(patients()) for name in (*KERNELS, "oracle")]
    assert len({(answer.status, answer.objective) for answer in answers}) == 1
    assert answers[0].status in (tml.Status.OPTIMAL, tml.Status.INFEASIBLE)


def test_shared_costs_are_paid_once() -> None:
    text = (
        "predict sick is 1\nminimize errors\nforbid split on group\nrequire depth <= 2\nrequire recall(1) >= 60%\n"
        "cost test age, pressure together = 1\nrequire test_cost <= 16\n"
    )
    free = tml.parse(text.replace("require test_cost <= 16\n", "")).solve(patients())
    shared = tml.parse(text).solve(patients())
    assert (shared.status, shared.objective) == (tml.Status.OPTIMAL, free.objective)
    assert shared.backend == "native"


def test_a_limit_on_costs_of_tests_alone_is_for_the_coupled_search() -> None:
    text = "predict sick is 1\nminimize errors\nrequire depth <= 2\ncost test age = 2\nrequire test_cost <= 0\n"
    result = tml.parse(text).solve(patients())
    assert result.backend == "native"
    assert "age" not in result.tree.to_text()


def deep_problems(number: int) -> list[tuple[Problem, Any]]:
    """Random problems of depth three with coupled requirements, and the answers of the oracle."""
    found = []
    for seed in range(10_000):
        problem = coupled_problem(Random(seed))
        others = tuple(each for each in problem.bounds if each.name != "depth")
        problem = problem.asking(problem.goals, (*others, bound(Depth(), "<=", 3, "depth")))
        plain = len(problem.goals) == 1 and problem.goals[0].sum.kinds() <= {"Predicted", "Leaves"}
        if problem.rows < 5 or not plain or not is_coupled(problem) or not isinstance(plan(problem, NATIVE), Plan):
            continue
        found.append((problem, OracleBackend().solve(problem)))
        if len(found) == number:
            return found
    raise AssertionError("too few problems")


@pytest.mark.parametrize("kernel", ["binary", "numeric"])
def test_a_search_that_starts_with_prices_ends_with_the_optimum(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without time for a first search, prices and smaller depths come first."""
    monkeypatch.setattr(coupled_run, "SHORT", 0.0)
    monkeypatch.setattr(coupled_run, "SLOW_BOUND", dict.fromkeys(coupled_run.SLOW_BOUND, 3))
    options = {"kernel": kernel}
    for problem, truth in deep_problems(25):
        planned = plan(problem, NATIVE, options)
        if isinstance(planned, Plan):
            answer = run(planned, Limits(Deadline.after(60), options=options))
            assert (answer.status, answer.objective) == (truth.status, truth.objective)


@pytest.mark.parametrize("kernel", ["binary", "numeric"])
def test_what_prices_report_on_the_way_holds(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coupled_run, "SHORT", 0.0)
    monkeypatch.setattr(coupled_run, "SLOW_BOUND", dict.fromkeys(coupled_run.SLOW_BOUND, 3))
    options, moments = {"kernel": kernel}, 0
    for problem, truth in deep_problems(25):
        planned = plan(problem, NATIVE, options)
        if not isinstance(planned, Plan) or not problem.goals:
            continue
        told: list[Progress] = []
        run(planned, Limits(Deadline.after(60), options=options), None, told.append)
        for moment in told:
            assert truth.objective or not moment.objective
            if moment.objective and moment.bound is not None and truth.objective:
                moments += 1
                assert moment.bound <= truth.objective[0] <= moment.objective[0]
    assert moments


def test_bounds_by_prices_hold_and_their_trees_meet_every_requirement() -> None:
    met = 0
    for problem, truth in deep_problems(25):
        task = read_coupled(problem)
        if task.excluded is not None or not is_coupled(problem):
            continue
        prices = PricedBounds(problem, task, Limits(Deadline.after(60)), NATIVE.solve)
        prices.search(60)
        if truth.status is Status.INFEASIBLE:
            assert prices.tree is None
            continue
        assert truth.tree is not None
        assert prices.bound is not None
        assert prices.bound <= cost_of(problem, task, truth.tree)
        if prices.tree is not None:
            met += 1
            assert meets_all(problem, prices.tree)
            assert evaluate_goals(problem, prices.tree) >= truth.objective
    assert met > 5


@pytest.mark.parametrize("number", [20])
def test_bounds_by_prices_of_leaves_hold(number: int) -> None:
    """What the bound gets back is the price of as many leaves as are allowed."""
    eased = 0
    for place, (problem, _) in enumerate(deep_problems(number)):
        leaves = 3 + place % 3
        problem = problem.asking(problem.goals, (*problem.bounds, bound(Leaves(), "<=", leaves, "leaves")))
        task, truth = read_coupled(problem), OracleBackend().solve(problem)
        if task.excluded is not None or truth.tree is None:
            continue
        solve, bounding = NATIVE.solve, (None, NATIVE.bounding)[place % 2]
        prices = PricedBounds(problem, task, Limits(Deadline.after(60)), solve, None, bounding, leaves=leaves)
        prices.search_first(2, 60)
        prices.search(60)
        assert prices.bound is not None
        assert prices.bound <= cost_of(problem, task, truth.tree)
        assert prices.tree is None or meets_all(problem, prices.tree)
        eased += prices.ease > EASIER
    assert eased > 0


def test_prices_of_shallow_trees_are_where_a_search_of_deep_ones_begins() -> None:
    """The bound of less deep trees is not kept: deeper ones may cost less."""
    begun = 0
    for problem, truth in deep_problems(25):
        task = read_coupled(problem)
        if task.excluded is not None or not is_coupled(problem) or truth.tree is None:
            continue
        prices = PricedBounds(problem, task, Limits(Deadline.after(60)), NATIVE.solve, None, NATIVE.bounding)
        prices.search_first(1, 60)
        assert prices.bound is None
        assert prices.depth is None
        begun += prices.first is not None and bool(prices.first.any())
        prices.search(60)
        assert prices.bound is not None
        assert prices.bound <= cost_of(problem, task, truth.tree)
        assert prices.tree is None or meets_all(problem, prices.tree)
    assert begun > 0


def test_few_leaves_get_the_best_of_all_labels() -> None:
    for problem, _ in deep_problems(10):
        task = read_coupled(problem)
        labels = list(Relabeling(task, Routed(problem, Leaf(0))).repaired())
        totals = task.values.sum(axis=1)
        allowed = [
            label
            for label in range(problem.classes)
            if all(low is None or totals[1 + at, label] >= low for at, low in enumerate(task.low))
            and all(high is None or totals[1 + at, label] <= high for at, high in enumerate(task.high))
        ]
        wanted = min(allowed, key=lambda label: int(totals[0, label]), default=None)
        assert [int(each[0]) for each in labels] == ([] if wanted is None else [wanted])


def test_prices_that_are_too_large_for_64_bits_end_the_search_for_bounds() -> None:
    problem, _ = deep_problems(1)[0]
    task = read_coupled(problem)
    prices = PricedBounds(problem, task, Limits(Deadline.after(60)), NATIVE.solve)
    assert prices.evaluate(np.full(task.sums, 1e30), Deadline.after(60)) is None
    assert prices.bound is None


@pytest.mark.parametrize(
    "asked",
    [
        "minimize leaves require leaf_errors <= 15",
        "minimize errors require leaves <= 4 require purity >= 70% require recall(1) >= 60%",
    ],
)
def test_what_every_leaf_has_to_be_like_is_left_out_of_the_easier_problem(asked: str) -> None:
    """With it, the easier problem would be for this very search again, and so on without an end."""
    random = np.random.default_rng(3)
    values = random.normal(size=(900, 5)).round(5)
    target = (values[:, 0] + values[:, 1] * values[:, 2] + random.normal(size=900) > 0).astype(int)
    result = tml.Model.parse(f"predict y is 1 {asked}").solve(
        {**{f"x{number}": values[:, number] for number in range(5)}, "y": target}, within=4
    )
    assert result.backend == "native"
    assert any("coupled numeric kernel" in step for step in result.plan)
    assert result.tree is not None
    assert len(result.tree.leaves) > 1


@pytest.mark.parametrize("seed", range(12))
def test_without_a_depth_the_best_tree_is_that_of_the_oracle(seed: int) -> None:
    """The easier problem lacks what every leaf has to be like, and its bound and its tree are of use all the same."""
    random = np.random.default_rng(seed)
    values = random.integers(0, 5, (16, 2))
    target = (values[:, 0] + values[:, 1] + random.integers(-2, 3, 16) > 4).astype(int)
    target[:2] = 0, 1
    frame = {"x0": values[:, 0], "x1": values[:, 1], "y": target}
    leaf = ["require leaf_errors <= 2", "require purity >= 60%", "require purity >= 75%"][seed % 3]
    text = f"predict y is 1 minimize errors require leaves <= 3 {leaf} require recall(1) >= 50%"
    found = tml.Model.parse(f"{text} solve with native(kernel = numeric)").solve(frame)
    best = tml.Model.parse(f"{text} solve with oracle(limit = 10_000_000)").solve(frame)
    assert any("coupled numeric kernel" in step for step in found.plan)
    assert (found.status, found.objective) == (best.status, best.objective)
