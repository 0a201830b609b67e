"""A run that is stopped before it has a tree with a split gets one in a moment, whatever back-end was named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import treeml as tml
from treeml.backends import registry
from treeml.backends.anytime.coarse import coarsened
from treeml.backends.anytime.local_kernel import LocalKernel
from treeml.backends.anytime.search import Anytime
from treeml.backends.contract import Answer, Deadline, Limits, Progress, Status, Stop
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.portfolio import companion, improving
from treeml.backends.portfolio.accompany import alone
from treeml.backends.portfolio.companion import NOTE_ON_FIRST, Companion
from treeml.backends.portfolio.improving import improve_while
from treeml.backends.task.greedy_start import greedy_for_bound
from treeml.problem import answers
from treeml.problem.answers import answer_bits
from treeml.problem.evaluate import evaluate_goals, meets_all
from treeml.problem.problem import Problem
from treeml.problem.terms import Depth
from treeml.problem.tree import Leaf, Node, Split
from treeml.solving.choice import lower
from treeml.solving.pipeline import prepare
from treeml.testing.problems import binary, bound, errors, minimize

ROWS = ["00", "01", "10", "11"] * 3
ACTUAL = [0, 0, 1, 1] * 3
NAMED = ("native", "cpsat", "mip", "maxsat", "race", "cart", "improve")


def table(rows: int = 300, seed: int = 0) -> dict[str, list]:
    random = np.random.default_rng(seed)
    columns = {f"x{number}": random.normal(size=rows).round(3) for number in range(3)}
    wanted = (columns["x0"] > 0.2) ^ (columns["x1"] > 0.5)
    return {**{name: values.tolist() for name, values in columns.items()}, "y": np.where(wanted, "yes", "no").tolist()}


def problem_of(text: str) -> Problem:
    return lower(*prepare(tml.Model.parse(text), table())).form(numeric=True).problem


@pytest.mark.parametrize("name", NAMED)
def test_every_named_back_end_answers_with_a_split_at_once(name: str) -> None:
    result = tml.Model.parse(f"predict y minimize errors require depth <= 2 solve with {name} within 0 s").solve(
        table(60)
    )
    assert result.tree is not None
    assert result.measures["leaves"] > 1
    assert result.verified


@pytest.mark.parametrize("stop", [Stop.TIME, Stop.INTERRUPTED])
@pytest.mark.parametrize("tree", [None, Leaf(0)])
def test_a_stopped_run_gets_a_first_tree(stop: Stop, tree: Leaf | None, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = stopped(Answer(Status.UNKNOWN if tree is None else Status.FEASIBLE, stop, tree), monkeypatch)
    answer = alone(planned, Limits())
    assert isinstance(answer.tree, Split)
    assert answer.status is Status.FEASIBLE
    assert answer.stop is stop
    assert NOTE_ON_FIRST in answer.notes


def test_a_tree_with_a_split_and_a_proof_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(companion.Companion, "first_tree", lambda company: pytest.fail("nobody needs another tree"))
    assert alone(planned_for("native"), Limits()).status is Status.OPTIMAL
    found = Answer(Status.FEASIBLE, Stop.TIME, Split(1, Leaf(0), Leaf(1)))
    assert alone(stopped(found, monkeypatch), Limits()).tree == found.tree


def test_options_that_leave_trees_out_get_no_other_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = stopped(Answer(Status.UNKNOWN, Stop.TIME), monkeypatch, "maxsat")
    assert alone(planned, Limits(options={"margin": 3})).tree is None
    planned = stopped(Answer(Status.UNKNOWN, Stop.TIME), monkeypatch)
    assert alone(planned, Limits(options={"upper": 1})).tree is None


def test_ctrl_c_ends_the_moment_for_a_first_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(company: Companion) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(improving, "improve_while", pressed)
    answer = alone(stopped(Answer(Status.UNKNOWN, Stop.INTERRUPTED), monkeypatch), Limits())
    assert (answer.status, answer.tree) == (Status.UNKNOWN, None)


def planned_for(name: str) -> Plan:
    goal = minimize(errors(ACTUAL, 2))
    planned = plan(binary(ROWS, 2, goal, (bound(Depth(), "<=", 2),)), registry.get(name))
    assert isinstance(planned, Plan)
    return planned


def stopped(answer: Answer, monkeypatch: pytest.MonkeyPatch, name: str = "native") -> Plan:
    """A plan whose back-end gives this answer."""
    planned = planned_for(name)
    monkeypatch.setattr(type(planned.backend), "solve", lambda self, *anything: answer)
    return replace(planned, steps=())


@pytest.mark.parametrize("goal", ["description_length", "gini", "log_loss"])
def test_goals_without_a_search_of_their_own_are_searched_on_few_tests(
    goal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MOST_ANSWERS", 0)
    problem = problem_of(f"predict y minimize {goal} require depth <= 2")
    company = Companion(problem, Limits(deadline=Deadline.after(60)), None, None, improve_while)
    company.is_enough = lambda: isinstance(company.tree, Split)
    improve_while(company)
    assert isinstance(company.tree, Split)


COSTS = "cost test x0 = 1 cost test x1 = 2 cost test x2 = 30"


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("asked", ["minimize errors + 0.01 * test_cost", "minimize errors require test_cost <= 900"])
def test_costs_of_tests_stay_those_of_their_columns(asked: str, many: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(improving, "FEW_TESTS", 20)
    if many:
        monkeypatch.setattr(answers, "MOST_ANSWERS", 0)
    problem = problem_of(f"predict y {COSTS} {asked} require depth <= 3")
    company = Companion(problem, Limits(deadline=Deadline.after(60)), None, None, improve_while)
    company.is_enough = lambda: isinstance(company.tree, Split)
    improve_while(company)
    assert isinstance(company.tree, Split)
    assert company.value == evaluate_goals(problem, company.tree)


def test_only_costs_of_tests_are_no_problem_on_few_tests() -> None:
    assert coarsened(problem_of(f"predict y {COSTS} minimize test_cost require accuracy >= 90%"), 20) is None


def test_a_greedy_start_does_not_make_too_many_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of("predict y minimize depth require accuracy >= 95%")
    assert isinstance(greedy_for_bound(problem), Split)
    monkeypatch.setattr(answers, "MOST_ANSWERS", 0)
    large = problem_of("predict y minimize depth require accuracy >= 95%")
    assert greedy_for_bound(large) is None
    assert "bits" not in vars(large)


def test_parts_of_a_tree_are_replaced_where_only_leaves_have_a_price() -> None:
    kernel = LocalKernel(problem_of("predict y minimize leaves require depth <= 3"))
    found = kernel.best(np.arange(0, 300, 3), 2)
    assert found is not None
    assert isinstance(found.tree, Leaf)


def test_fewest_leaves_begin_with_a_tree_that_meets_the_requirement() -> None:
    problem = problem_of("predict y minimize leaves require accuracy >= 95%")
    company = Companion(problem, Limits(deadline=Deadline.after(60)), None, None, improve_while)
    company.is_enough = lambda: company.tree is not None
    improve_while(company)
    assert isinstance(company.tree, Split)


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("minimize depth require accuracy >= 95%", 2),
        ("minimize leaves require accuracy >= 95%", 4),
        ('minimize depth require errors <= 15 require recall("yes") >= 90%', 2),
        ('minimize leaves require errors <= 15 require recall("yes") >= 90%', 4),
        ("minimize depth require accuracy >= 95% require support >= 10 rows", 2),
    ],
)
def test_smaller_and_smaller_trees_are_offered_down_to_the_smallest(text: str, least: int) -> None:
    problem = problem_of(f'predict y is "yes" {text}')
    trees = list[Progress]()
    company = Companion(problem, Limits(deadline=Deadline.after(60)), None, trees.append, improve_while)
    company.is_enough = lambda: company.value == (least,)
    improve_while(company)
    assert company.value == (least,)
    assert company.tree is not None
    assert meets_all(problem, company.tree)
    values = [moment.objective for moment in trees]
    assert values == sorted(values, reverse=True)


def test_a_requirement_that_no_greedy_tree_meets_is_left_to_other_methods() -> None:
    """Every split alone leaves as many errors as no split, so no tree is grown; the exact one has two levels."""
    rows = ["00", "01", "10", "11"] * 3
    problem = binary(rows, 2, minimize(Depth()), (bound(errors([0, 1, 1, 0] * 3, 2), "<=", 0),))
    company = Companion(problem, Limits(deadline=Deadline.after(60)), None, None, improve_while)
    company.is_enough = lambda: company.tree is not None
    improve_while(company)
    assert company.value == (2,)


def test_a_back_end_that_is_compared_gets_no_tree_from_elsewhere() -> None:
    """A race is fair if what a back-end has not found is not in its row of the table."""
    model = tml.Model.parse("predict y minimize errors require depth <= 2")
    [record] = model.compare(table(60), ["maxsat"], within=0).records
    assert record["measures"].get("leaves", 1) == 1  # whether it has the leaf in no time depends on the machine
    assert NOTE_ON_FIRST not in str(record)


def test_the_first_tree_needs_no_levels_that_are_solved_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over thousands of tests, the best two levels take seconds; the best split takes a moment."""
    problem = problem_of("predict y minimize errors require depth <= 4")
    depths: list[int] = []
    solve = LocalKernel.best

    def best(self: LocalKernel, rows: Any, depth: int, *others: Any) -> Any:
        depths.append(depth)
        return solve(self, rows, depth, *others)

    monkeypatch.setattr(LocalKernel, "best", best)
    offered: list[Node] = []
    Anytime(problem, offered.append, lambda: bool(offered)).run(Deadline())
    assert isinstance(offered[0], Split)
    assert max(depths) == 1
    assert evaluate_goals(problem, offered[0]) < evaluate_goals(problem, Leaf(0))


@pytest.mark.parametrize("seed", range(3))
def test_a_run_without_any_time_has_more_than_the_first_split(seed: int) -> None:
    data = table(400, seed)
    model = tml.parse("predict y minimize errors require depth <= 3")
    stopped, greedy = model.solve(data, within=0), model.solve(data, backend="cart")
    assert isinstance(stopped.objective, int)
    assert isinstance(greedy.objective, int)
    assert stopped.objective <= greedy.objective


def test_a_search_whose_time_is_over_still_finds_a_first_tree() -> None:
    random = np.random.default_rng(3)
    data = {f"x{place}": [f"level {each}" for each in random.integers(0, 8, 400)] for place in range(60)}
    wanted = ["yes" if each == "level 3" else "no" for each in data["x7"]]
    model = tml.Model.parse("predict y minimize errors require depth <= 5")
    problem = lower(*prepare(model, {**data, "y": wanted})).form(numeric=True).problem
    offered: list[Node] = []
    Anytime(problem, offered.append, lambda: False).run(Deadline.after(0))
    assert isinstance(offered[0], Split)
    assert evaluate_goals(problem, offered[-1]) == (0,)


@pytest.mark.parametrize("required", ["purity >= 0.6", "purity >= 0.6 require accuracy >= 0.8"])
def test_answers_to_too_many_tests_are_not_made_for_better_trees(
    required: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requirements on every leaf keep the search for trees from taking columns as they are: it has few tests then."""
    problem = problem_of(f"predict y minimize errors require depth <= 3 require {required}")
    made: list[int] = []
    monkeypatch.setattr(answers, "MOST_ANSWERS", 1000)
    monkeypatch.setattr(answers, "answer_bits", lambda asked: made.append(len(asked.tests)) or answer_bits(asked))
    company = Companion(problem, Limits(deadline=Deadline.after(600)), None, None, lambda company: None)
    company.is_enough = lambda: isinstance(company.tree, Split)
    improve_while(company)
    assert isinstance(company.tree, Split)
    assert not made


@pytest.mark.parametrize("goal", ["absolute_loss", "quantile_loss(0.1) + leaves"])
def test_a_stopped_run_has_whole_nodes_of_branches(goal: str) -> None:
    columns = {"color": list("zyyxzxzz"), "y": [-3.5, 7.75, 7.75, 0.1, -3.5, 0.25, -3.5, 0.25]}
    text = f"column y : number\npredict y\nbinarize color by branches\nminimize {goal}\nrequire depth <= 1"
    result = tml.Model.parse(text).solve(columns, on_progress=lambda _: False)
    assert result.verified
    assert result.measures["leaves"] in (1, 3)
