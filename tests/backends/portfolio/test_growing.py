"""Greedy trees of every size, with labels that suit: first trees for goals and requirements of every kind."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import treeml as tml
from treeml.backends.anytime import grown, multipliers
from treeml.backends.anytime.grown import grown_trees
from treeml.backends.anytime.multipliers import Multipliers, relabeled
from treeml.backends.contract import Deadline, Limits
from treeml.backends.heuristics.cart import CartBackend
from treeml.backends.heuristics.limited_sum import with_limited_sum_as_goal
from treeml.backends.heuristics.validated_pruning import smallest_cut
from treeml.backends.portfolio.companion import Companion
from treeml.backends.portfolio.growing import offers_few_leaves, offers_grown_trees
from treeml.backends.portfolio.smallest import offers_smaller_trees
from treeml.problem.evaluate import Routed, evaluate_goals, is_answer
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node
from treeml.solving import pipeline
from treeml.solving.choice import lower

COUPLED = [
    'maximize f1("1") - 0.002 * leaves require parity_gap(group) <= 10%',
    'maximize precision("1") require recall("1") >= 40% require leaves <= 8',
    'maximize mcc("1") - 0.001 * leaves require support >= 5 rows',
    "maximize gmean require features_used <= 3",
    'minimize gini require recall("1") >= 70% require leaves <= 6',
    'minimize leaves require accuracy >= 80% require recall("1") >= 50%',
]


def table(rows: int = 600, seed: int = 3) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    values = random.normal(size=(rows, 5)).round(3)
    odds = 1.5 * (values[:, 0] > 0.3) + (values[:, 1] < -0.2) * (values[:, 2] > 0) * 2 - 1.6
    target = (odds + random.logistic(0, 0.7, rows) > 0).astype(int)
    group = random.choice(["a", "b"], rows)
    return {f"x{number}": values[:, number] for number in range(5)} | {"group": group, "y": target}


def problem_of(text: str, rows: int = 600) -> Problem:
    dataset, request = pipeline.prepare(tml.parse("predict y is 1 " + text), table(rows))
    return lower(dataset, request).form(numeric=True).problem


def company_of(problem: Problem) -> Companion:
    return Companion(problem, Limits(deadline=Deadline.after(600)), None, None, lambda company: None)


def leaves_of(problem: Problem, tree: Node) -> int:
    return len(Routed(problem, tree).leaves)


def test_grown_trees_are_larger_and_larger_and_each_goes_on_from_the_one_before() -> None:
    problem = problem_of("minimize errors require support >= 10 rows require depth <= 5")
    trees = list(grown_trees(problem, lambda: False))
    sizes = [leaves_of(problem, tree) for tree in trees]
    assert sizes[0] == 1
    assert sizes == sorted(set(sizes))
    assert sizes[-1] > 10
    for smaller, larger in pairwise(trees):
        assert goes_on_from(smaller, larger)
    assert all(min(len(rows) for _, _, rows in Routed(problem, tree).leaves) >= 10 for tree in trees)


def goes_on_from(smaller: Node, larger: Node) -> bool:
    if isinstance(smaller, Leaf):
        return True
    if isinstance(larger, Leaf) or smaller.test != larger.test:
        return False
    return goes_on_from(smaller.yes, larger.yes) and goes_on_from(smaller.no, larger.no)


def test_growth_ends_when_the_run_is_over() -> None:
    problem = problem_of("minimize errors")
    assert list(grown_trees(problem, lambda: True)) == []


def test_growth_keeps_a_limit_on_leaves() -> None:
    problem = problem_of("minimize errors require leaves <= 6")
    assert [leaves_of(problem, tree) for tree in grown_trees(problem, lambda: False)] == [1, 2, 3, 5, 6]


@pytest.mark.parametrize("text", COUPLED)
def test_every_kind_of_goal_has_a_tree_with_a_split_that_meets_the_requirements(text: str) -> None:
    problem = problem_of(text)
    company = company_of(problem)
    offers_grown_trees(company, problem, company.offer)
    assert company.tree is not None
    assert is_answer(problem, company.tree)
    assert leaves_of(problem, company.tree) > 1
    leaves = [Leaf(label) for label in range(problem.classes) if is_answer(problem, Leaf(label))]
    assert all(evaluate_goals(problem, company.tree) < evaluate_goals(problem, leaf) for leaf in leaves)


def test_a_limit_from_below_labels_leaves_by_their_majority() -> None:
    """The sum for an accuracy of at least 80 % should be large: the greedy tree predicted the minority everywhere."""
    problem = problem_of("minimize leaves require accuracy >= 80%")
    tree = CartBackend().solve(problem, Limits()).tree
    assert tree is not None
    assert is_answer(problem, tree)


def test_few_leaves_are_what_cutting_leaves_of_a_larger_tree() -> None:
    problem = problem_of("minimize leaves require accuracy >= 84%")
    asked = with_limited_sum_as_goal(problem)
    assert asked is not None
    company = company_of(problem)
    offers_few_leaves(company, asked)
    assert company.tree is not None
    assert is_answer(problem, company.tree)
    first = next(leaves_of(problem, tree) for tree in grown_trees(asked, lambda: False) if is_answer(problem, tree))
    assert leaves_of(problem, company.tree) < first


def test_the_smallest_cut_is_enough_and_the_next_one_is_not() -> None:
    problem = problem_of("minimize errors")
    *_, large = grown_trees(problem, lambda: False)
    values = {}

    def is_enough(tree: Node) -> bool:
        values[leaves_of(problem, tree)] = evaluate_goals(problem, tree)[0]
        return values[leaves_of(problem, tree)] <= 100

    found = smallest_cut(large, problem, is_enough)
    assert found is not None
    assert evaluate_goals(problem, found)[0] <= 100
    smaller = [value for leaves, value in values.items() if leaves < leaves_of(problem, found)]
    assert smaller
    assert min(smaller) > 100
    assert smallest_cut(large, problem, lambda tree: False) is None


def test_labels_for_a_quotient_get_better_until_no_other_labels_are() -> None:
    problem = problem_of('maximize f1("1") require depth <= 3')
    *_, tree = grown_trees(problem_of("minimize errors require depth <= 3"), lambda: False)
    found = relabeled(problem, tree, Deadline.after(600))
    assert found is not None
    best = min(evaluate_goals(problem, other) for other in every_labeling(tree))
    assert evaluate_goals(problem, found) == best


def every_labeling(tree: Node) -> list[Node]:
    if isinstance(tree, Leaf):
        return [Leaf(0), Leaf(1)]
    sides = every_labeling(tree.yes), every_labeling(tree.no)
    return [type(tree)(tree.test, yes, no) for yes in sides[0] for no in sides[1]]


def test_prices_find_trees_for_a_quotient_with_a_price_of_leaves() -> None:
    problem = problem_of('maximize f1("1") - 0.01 * leaves require recall("1") >= 60%', rows=200)
    assert multipliers.takes(problem)
    best: list[tuple[tuple[Fraction, ...], Node]] = []

    def offer(tree: Node) -> bool:
        if not is_answer(problem, tree) or (best and evaluate_goals(problem, tree) >= best[-1][0]):
            return False
        best.append((evaluate_goals(problem, tree), tree))
        return True

    search = Multipliers(problem, offer, lambda: len(best) >= 2, [])
    next(search.rounds(Deadline.after(600)), None)
    assert search.best is not None
    assert 1 < leaves_of(problem, best[-1][1]) < 20


def test_another_price_than_that_of_leaves_beside_a_quotient_is_left_to_others() -> None:
    problem = problem_of('maximize f1("1") - 0.01 * depth require depth <= 3')
    assert not multipliers.takes(problem)


def test_others_go_on_from_the_best_tree_before_a_round_of_prices_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of('minimize errors require recall("1") >= 60%', rows=200)
    tried: list[int] = []

    def try_prices(self: Multipliers, task: Any, prices: Any, seconds: float, number: int, deadline: Any) -> Any:
        tried.append(number)
        return np.zeros(task.sums, dtype=np.int64), number == 2

    monkeypatch.setattr(Multipliers, "try_prices", try_prices)
    search = Multipliers(problem, lambda tree: False, lambda: False, [])
    rounds = search.rounds(Deadline.after(600))
    assert next(rounds)
    assert tried == [1, 2, 3, 4, 5]
    assert not next(rounds)  # the same round goes on, and nothing better was found in its rest
    assert len(tried) == multipliers.ROUND


def test_a_limit_on_a_loss_is_met_by_few_leaves() -> None:
    random = np.random.default_rng(12)
    values = random.normal(size=(500, 4)).round(3)
    target = (3.0 * (values[:, 0] > 0) + 2.0 * (values[:, 1] > 1) + random.normal(size=500)).round(3)
    frame: dict[str, Any] = {f"x{number}": values[:, number] for number in range(4)} | {"y": target}
    dataset, request = pipeline.prepare(tml.parse("predict y minimize leaves require r2 >= 60%"), frame)
    problem = lower(dataset, request).form(numeric=True).problem
    company = company_of(problem)
    company.is_enough = lambda: company.tree is not None and leaves_of(problem, company.tree) <= 6
    assert offers_smaller_trees(company)
    assert company.tree is not None
    assert is_answer(problem, company.tree)


def rare() -> Problem:
    """Two columns decide about a class of one row in fifty."""
    random = np.random.default_rng(21)
    values = random.normal(size=(4000, 5)).round(3)
    target = (values[:, 0] + values[:, 1] + 0.3 * random.normal(size=4000) > 2.9).astype(int)
    frame: dict[str, Any] = {f"x{number}": values[:, number] for number in range(5)} | {"y": target}
    text = "predict y is 1 maximize recall(1) require precision(1) >= 60% require leaves <= 6"
    dataset, request = pipeline.prepare(tml.parse(text), frame)
    return lower(dataset, request).form(numeric=True).problem


def test_trees_for_a_rare_class_are_grown_for_what_is_limited_as_well() -> None:
    """The goal says nothing about rows of the common class, so trees that are grown for it alone separate nothing."""
    problem = rare()
    company = company_of(problem)
    offers_grown_trees(company, problem, company.offer)
    assert company.value is not None
    assert company.value[0] < Fraction(-2, 5)


def test_guides_weigh_each_limited_sum_more_and_more() -> None:
    problem = rare()
    costs = [guide.goals[0].sum.parts[0][1].cost for guide in multipliers.guides(problem)]
    assert len(costs) == 1 + len(multipliers.HEAVIER)
    positive = np.abs(costs[0][:, 1] - costs[0][:, 0]) == np.abs(costs[0][:, 1] - costs[0][:, 0]).max()
    worth = [np.abs(cost[:, 1] - cost[:, 0])[positive].max() / np.abs(cost[:, 1] - cost[:, 0]).min() for cost in costs]
    assert worth == sorted(worth, reverse=True)  # of a row of the rare class, in rows of the other one
    assert worth[0] > 2 * worth[-1]
    assert not list(multipliers.guides(problem_of("minimize errors")))


def test_trees_grow_of_some_of_very_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row stands for as many as there are for each that is kept, so that limits on the rows of a leaf are met."""
    monkeypatch.setattr(grown, "MOST_ROWS", 200)
    problem = problem_of("minimize errors require support >= 150 rows", rows=2000)
    trees = list(grown_trees(problem, lambda: False))
    assert len(trees) > 2
    sizes = [len(rows) for _, _, rows in Routed(problem, trees[-1]).leaves]
    assert min(sizes) > 75
    assert evaluate_goals(problem, trees[-1]) < evaluate_goals(problem, trees[0])


@pytest.mark.parametrize(
    "text",
    [
        "predict y features all except died minimize squared_loss",
        "predict y features all except died minimize quantile_loss(0.2) require leaves <= 5",
        "predict y features all except died leaves linear(x1, ridge = 0.1) minimize squared_loss require depth <= 3",
        "predict y features all except died leaves simple_linear() minimize squared_loss require leaves <= 4",
        "predict y observed died minimize survival_loss require depth <= 3",
        "features x0, x1, y minimize cluster_loss(x0, y)",
    ],
)
def test_leaves_without_classes_are_kept_apart(text: str) -> None:
    """All of them have the same label, and what they predict is of their own rows."""
    random = np.random.default_rng(4)
    values = random.normal(size=(400, 3)).round(3)
    target = (np.where(values[:, 0] > 0.3, 9.0, 1.0) * random.uniform(0.5, 1.5, 400)).round(3)
    frame: dict[str, Any] = {f"x{number}": values[:, number] for number in range(3)}
    frame |= {"y": target, "died": random.integers(0, 2, 400)}
    dataset, request = pipeline.prepare(tml.parse(text), frame)
    problem = lower(dataset, request).form(numeric=True).problem
    company = company_of(problem)
    offers_grown_trees(company, problem, company.offer)
    assert company.tree is not None
    assert company.value is not None
    assert leaves_of(problem, company.tree) > 2
    leaf = company_of(problem)
    assert leaf.offer(Leaf(-1))
    assert leaf.value is not None
    assert float(company.value[0]) < (0.8 if float(leaf.value[0]) > 0 else 1.2) * float(leaf.value[0])


def test_leaves_whose_shares_matter_are_kept_apart() -> None:
    problem = problem_of("minimize gini require leaves <= 6")
    company = company_of(problem)
    offers_grown_trees(company, problem, company.offer)
    assert company.tree is not None
    assert leaves_of(problem, company.tree) == 6
