"""Numbers of unusual magnitudes: grids hold every value, and rescaled problems keep the trees and their order."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, BackendBase, Carries, Deadline, Limits, OnProgress, Progress, Status, Stop
from treeml.backends.oracle.backend import OracleBackend
from treeml.backends.planning.lexicographic import lexicographic
from treeml.backends.planning.plan import Plan, plan
from treeml.backends.planning.rescale import oversized, rescaled, rescaling
from treeml.backends.registry import get
from treeml.backends.run import run
from treeml.problem.evaluate import answers, evaluate_goals, evaluate_sum, meets
from treeml.problem.magnitudes import added, checked_product, largest, product_at_least
from treeml.problem.problem import Bound, Problem
from treeml.problem.shapes import depth_without_bounds
from treeml.problem.terms import Depth, LeafErrors, Leaves, Predicted, Purity, Sum, Support
from treeml.problem.tree import Leaf, Node, Split
from treeml.testing.problems import binary, bound, errors, from_columns, minimize, random_problem, single

SMALL = Carries(sums=10**4, goals=10**4, shares=10**4)
KINDS = (
    "Predicted Leaves Depth TestCost Used Support Purity LeafErrors Monotone Largest Ratio".split()  # noqa: SIM905
)
PLAIN_KINDS = ("Predicted", "Leaves", "Depth", "Support", "Purity", "LeafErrors")


def random_tree(random: Random, problem: Problem, depth: int = 4) -> Node:
    """A tree whose leaves all hold rows."""

    def grow(rows: Any, left: int) -> Node:
        label = random.randrange(problem.classes) if problem.classes else -1
        if not left or random.random() < 0.2:
            return Leaf(label)
        for test in random.sample(range(len(problem.tests)), min(4, len(problem.tests))):
            yes = answers(problem, test, rows)
            if yes.any() and not yes.all():
                return Split(test, grow(rows[yes], left - 1), grow(rows[~yes], left - 1))
        return Leaf(label)

    return grow(np.arange(problem.rows), depth)


def odd_number(random: Random) -> Fraction:
    """A number as users and programs write it: with 16 digits, with few digits, very large or very small."""
    return random.choice(
        (
            lambda: Fraction(str(random.random())),
            lambda: Fraction(str(random.choice((1 / 3, 2 / 3, 0.7 + 0.1, 0.1 + 0.2, 1 / 7)))),
            lambda: Fraction(random.randint(1, 9), 10 ** random.randint(1, 30)),
            lambda: Fraction(random.randint(1, 9) * 10 ** random.randint(0, 30)),
            lambda: Fraction(random.randint(-9, 9)),
        )
    )()


def odd_problem(seed: int, plain: bool = False) -> Problem:
    """A random problem with unusual weights, limits and factors; a plain one uses only what most back-ends support."""
    random = Random(seed)
    problem = random_problem(random, kinds=PLAIN_KINDS if plain else KINDS)
    weight = np.array([random.choice((1, 3, 7 * 10**8, 10**10, 123456789)) for _ in range(problem.rows)], np.int64)

    def weighed(term: Any) -> Any:
        match term:
            case Predicted() | LeafErrors() if random.random() < 0.5:
                return replace(term, cost=term.cost * weight[:, None], scale=Fraction(1, 10 ** random.randrange(12)))
            case Purity() if random.random() < 0.5:
                return Purity(term.weight * weight[:, None])
        return term

    def changed(each: Bound) -> Bound:
        ((factor, term),) = each.sum.parts
        sign = 1 if plain else random.choice((1, 1, -1))
        made = Sum(((factor * sign, weighed(term)),), odd_number(random) * random.randrange(2))
        if not plain and random.random() < 0.2 and not isinstance(term, (Purity, LeafErrors, Support)):
            made = Sum((*made.parts, (odd_number(random) or Fraction(1), Leaves())), made.constant)
        near = evaluate_sum(made, problem, random_tree(random, problem))
        limit = near + random.choice((0, 0, 1, -1)) * odd_number(random)
        sense = each.sense if plain else random.choice(("<=", ">=", "="))
        return replace(each, sum=made, limit=limit, sense=sense)

    bounds = tuple(changed(each) if random.random() < 0.7 and problem.rows else each for each in problem.bounds)
    goals = []
    for goal in problem.goals:
        factors = [abs(odd_number(random)) if plain else odd_number(random) for _ in goal.sum.parts]
        parts = [(factor * (odd or 1), weighed(t)) for odd, (factor, t) in zip(factors, goal.sum.parts, strict=True)]
        if len(parts) == 1 and random.random() < 0.5 and not isinstance(parts[0][1], Leaves):
            parts.append((abs(odd_number(random)) or Fraction(1), Leaves()))
        goals.append(replace(goal, sum=Sum(tuple(parts), odd_number(random))))
    return problem.asking(tuple(goals), bounds)


@pytest.mark.parametrize("block", range(6))
def test_values_lie_on_their_grids(block: int) -> None:
    seen = 0
    for seed in range(60 * block, 60 * (block + 1)):
        problem, random = odd_problem(seed), Random(seed)
        if not problem.rows:
            continue
        trees = [random_tree(random, problem, depth_without_bounds(problem)) for _ in range(5)]
        for total in [goal.sum for goal in problem.goals] + [each.sum for each in problem.bounds]:
            grid = total.grid(problem.asking((), ()))
            for tree in trees if grid is not None else ():
                assert grid is not None
                steps = (evaluate_sum(total, problem, tree) - total.constant) / grid.unit
                assert steps.denominator == 1
                assert grid.least <= steps <= grid.greatest
                seen += 1
    assert seen > 300


@pytest.mark.parametrize("carries", [SMALL, Carries(), None])
@pytest.mark.parametrize("block", range(5))
def test_rescaled_problems_allow_and_order_trees_as_before(carries: Carries | None, block: int) -> None:
    changed = 0
    for seed in range(100 * block, 100 * (block + 1)):
        problem, random = odd_problem(seed), Random(seed)
        if not problem.rows:
            continue
        made = rescaled(problem, carries)
        changed += made.problem is not problem
        assert bool(made.sentences) <= (made.problem is not problem)
        free = problem.asking((), ())
        deep = [each for each in problem.bounds if each.sum.kinds() == {"Depth"}]
        trees = [random_tree(random, free) for _ in range(12)]
        for tree in trees:
            before = all(meets(each, problem, tree) for each in problem.bounds)
            assert before == all(meets(each, made.problem, tree) for each in made.problem.bounds)
        # The order is the same among the trees that are allowed.
        trees = [tree for tree in trees if all(meets(each, problem, tree) for each in problem.bounds)]
        assert all(meets(each, problem, tree) for each in deep for tree in trees)
        for one, other in pairwise(trees):
            for first, second in zip(
                zip(evaluate_goals(problem, one), evaluate_goals(problem, other), strict=True),
                zip(evaluate_goals(made.problem, one), evaluate_goals(made.problem, other), strict=True),
                strict=True,
            ):
                assert (first[0] > first[1]) - (first[0] < first[1]) == (second[0] > second[1]) - (
                    second[0] < second[1]
                )
        for price, goal, small in (
            zip(made.prices, problem.goals, made.problem.goals, strict=True) if made.prices else ()
        ):
            for tree in trees if price is not None else ():
                assert price is not None
                value, whole = evaluate_sum(goal.sum, problem, tree), evaluate_sum(small.sum, problem, tree)
                assert price.value(whole) == value
                assert price.lower(whole) <= value
                assert price.lower(whole - Fraction(1, 3)) <= value
    assert changed > (10 if carries is None else 20)


class Small(BackendBase):
    """The oracle as a back-end that handles only small numbers, and may be stopped."""

    name, summary = "small", "small numbers"
    can = replace(OracleBackend.can, carries=SMALL)

    def __init__(self) -> None:
        self.asked: list[Problem] = []

    def solve(
        self, problem: Problem, limits: Limits, start: Node | None = None, on_progress: OnProgress | None = None
    ) -> Answer:
        self.asked.append(problem)
        return OracleBackend().solve(problem, limits, start, on_progress)


@pytest.mark.parametrize("block", range(4))
def test_plans_for_small_numbers_change_no_answer(block: int) -> None:
    solved = 0
    for seed in range(1000 + 40 * block, 1000 + 40 * (block + 1)):
        problem, backend = odd_problem(seed), Small()
        planned = plan(problem, backend)  # type: ignore[arg-type]
        if not isinstance(planned, Plan):
            continue
        known, answer = OracleBackend().solve(problem), run(planned)
        assert (answer.status, answer.objective) == (known.status, known.objective)
        solved += 1
        for asked in backend.asked:
            assert not list(oversized(asked, SMALL, "small"))
    assert solved > 15


WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "native": ("native", {}),
    "cpsat": ("cpsat", {}),
    "cpsat rows": ("cpsat", {"encoding": "rows"}),
    "cpsat order": ("cpsat", {"encoding": "order"}),
    "mip": ("mip", {}),
    "mip flow": ("mip", {"formulation": "flow"}),
    "maxsat": ("maxsat", {}),
    "sat": ("sat", {}),
}


@pytest.mark.parametrize("way", WAYS)
def test_back_ends_at_odd_magnitudes(way: str) -> None:
    name, options = WAYS[way]
    backend = get(name)
    if backend.missing() is not None:
        pytest.skip("not installed")
    solved = 0
    for seed in range(2000, 2050):
        problem = odd_problem(seed, plain=seed % 2 == 0)
        if name == "sat":
            problem = problem.asking((), problem.bounds)
        planned = plan(problem, backend, options)
        if not isinstance(planned, Plan):
            continue
        known = OracleBackend().solve(problem)
        answer = run(
            planned, Limits(Deadline.after(60), options={**options, **({} if name == "native" else {"explain": False})})
        )
        assert answer.status is known.status, seed
        assert answer.objective == known.objective, seed
        solved += 1
    assert solved > 8


KNOWN = (Evidence("search bound"),)
XOR = ("00", "01", "10", "11")


def xor(*bounds: Bound, price: str = "1", weight: int = 1) -> Problem:
    goal = Sum(((Fraction(1), errors([0, 1, 1, 0], 2, [weight] * 4)), (Fraction(price), Leaves())), Fraction(1, 3))
    return binary(XOR, 2, minimize(goal), (bound(Depth(), "<=", 2), *bounds))


def test_proofs_about_a_rescaled_goal_are_translated_back() -> None:
    """A tree with four leaves and no errors, and a bound below it, converted to the user's own prices."""
    problem = xor(price="0.01714285714285714")
    tree = Split(0, Split(1, Leaf(0), Leaf(1)), Split(1, Leaf(1), Leaf(0)))
    told: list[Progress] = []

    def stopped(asked: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
        assert limits.gap == 0
        value = evaluate_goals(asked, tree)
        assert on_progress is not None
        assert on_progress(Progress(0.0, value, value[0] - 1, evidence=KNOWN)) is None
        return Answer(Status.FEASIBLE, Stop.TIME, tree, value, value[0] - 1, bounded_goal=0, evidence=KNOWN)

    step = rescaling(SMALL)
    answer = step.around(stopped)(problem, Limits(gap=Fraction(1, 10**9)), None, lambda moment: told.append(moment))
    price = Fraction("0.01714285714285714")
    assert answer.objective == (4 * price + Fraction(1, 3),)
    assert told[0].objective == answer.objective
    assert answer.evidence == (Evidence("rescaled", "", KNOWN),)
    assert answer.bound is not None
    assert told[0].bound == answer.bound
    assert Fraction(1, 3) <= answer.bound < answer.objective[0]
    # No tree is below the bound, and a tree without errors has four leaves here.
    assert answer.bound <= min(4 * price, 2 + price) + Fraction(1, 3)


def test_a_gap_is_one_between_the_users_values() -> None:
    problem = xor(price="0.01714285714285714")
    tree = Split(0, Split(1, Leaf(0), Leaf(1)), Split(1, Leaf(1), Leaf(0)))

    def inner(asked: Problem, limits: Limits, start: Node | None, on_progress: OnProgress | None) -> Answer:
        value = evaluate_goals(asked, tree)
        assert on_progress is not None
        assert on_progress(Progress(0.0, value, value[0], evidence=KNOWN)) is False
        return Answer(Status.FEASIBLE, Stop.INTERRUPTED, tree, value, value[0], bounded_goal=0, evidence=KNOWN)

    answer = rescaling(SMALL).around(inner)(problem, Limits(gap=Fraction(1, 100)), None, None)
    assert answer.stop is Stop.GAP
    assert answer.bound is not None
    assert answer.objective is not None
    assert answer.objective[0] - answer.bound <= answer.objective[0] / 100


def test_sentences_of_a_plan() -> None:
    share = np.array([[1, 0], [0, 1], [0, 1], [1, 0]], np.int64)
    bounds = (
        bound(Depth(), "<=", 10**30, "depth <= 1e30"),
        bound(Purity(share * 10**4), ">=", "0.6666666666666666", "purity >= 0.6666666666666666"),
        bound(Leaves(), "<=", 10**30, "leaves <= 1e30"),
        bound(errors([0, 1, 1, 0], 2), "<=", 10**30, "errors <= 1e30"),
    )
    problem = binary(XOR, 2, minimize(errors([0, 1, 1, 0], 2, [10**9] * 4)), bounds)
    made = rescaled(replace(problem, goals=(replace(problem.goals[0], text="minimize errors"),)), SMALL)
    assert made.sentences == (
        "no tree here is deeper than 2, so depth is bounded by 2",
        "`purity >= 0.6666666666666666` is compared with 2/3: no value here lies between",
        "`leaves <= 1e30` holds for every tree",
        "`errors <= 1e30` holds for every tree",
        "a common factor is taken out of the goal minimize errors",
    )
    assert [each.limit for each in made.problem.bounds] == [2, Fraction(2, 3)]
    assert list(oversized(made.problem, SMALL, "small")) == []


def test_refusals_of_a_plan() -> None:
    share = np.array([[7001, 0], [0, 6007], [0, 13], [1, 0]], np.int64)
    bounds = (
        bound(Depth(), "<=", 2),
        bound(Purity(share), ">=", "0.6666666666666667", "purity >= 0.6666666666666667"),
    )
    problem = binary(XOR, 2, minimize(errors([0, 1, 1, 0], 2, [10**9, 10**8, 7, 11])), bounds)
    refused = plan(problem, Small())  # type: ignore[arg-type]
    assert isinstance(refused, list)
    assert [(each.feature, each.because) for each in refused] == [
        (
            "the requirement purity >= 0.6666666666666667",
            "small computes with whole numbers up to 1.0e+04, and this takes numbers up to 1.7e+08",
        ),
        ("the goal", "small computes with whole numbers up to 1.0e+04, and this takes numbers up to 1.1e+09"),
    ]
    assert all(each.instead.startswith("give weights, costs and factors with fewer digits; ") for each in refused)


def test_levels_that_exist() -> None:
    columns = [("ordered", [0, 1, 2, -1, 2, 0]), ("levels", [0, 1, 2, 2, 1, 0]), ("binary", [0, 1, 0, 1, 0, 1])]
    problem = from_columns(columns, 2, (), ())
    assert depth_without_bounds(problem) == 5  # 3 + 2 + 1 questions, and six rows
    assert depth_without_bounds(from_columns(columns[2:], 2, (), ())) == 1


def test_exact_sums_and_products() -> None:
    random = Random(3)
    for _ in range(200):
        size = random.randint(1, 5)
        reach = 2 ** random.randint(1, 62)
        values = np.array([random.randint(-reach, reach) for _ in range(size)], np.int64)
        assert added(values) == sum(map(int, values))
        assert largest(values) == max(abs(int(value)) for value in values)
        left, right = np.abs(values), np.array([random.randint(0, reach) for _ in range(size)], np.int64)
        factor, other = (random.randint(0, 2 ** random.randint(1, 61)) for _ in range(2))
        if random.random() < 0.3:
            right, other = left, factor
        wanted = [int(a) * factor >= int(b) * other for a, b in zip(left, right, strict=True)]
        assert product_at_least(left, factor, right, other).tolist() == wanted
    with pytest.raises(OverflowError, match="does not fit in 64 bits"):
        checked_product(np.array([2**40], np.int64), 2**23)
    assert checked_product(np.array([2**40], np.int64), 2**22).tolist() == [2**62]
    assert single(Leaves()).kinds() == {"Leaves"}


def test_the_bound_of_goals_in_turn_is_that_of_the_last_goal() -> None:
    labels = [0, 1, 1, 0]
    problem = binary(XOR, 2, minimize(errors(labels, 2), Leaves()), (bound(Depth(), "<=", 2),))

    def one_goal(asked: Problem, limits: Limits, start: Node | None, told: OnProgress | None) -> Answer:
        return replace(OracleBackend().solve(asked, limits, start, told), bounded_goal=0)

    answer = lexicographic(one_goal)(problem, Limits(), None, None)
    assert answer.objective == (0, 4)
    assert (answer.bound, answer.bounded_goal) == (4, 1)


@pytest.mark.parametrize("name", ["sat", "cpsat", "mip", "maxsat", "native"])
@pytest.mark.parametrize("columns", [0, 1, 2])
def test_the_fewest_leaves_of_a_small_table_need_no_limit_on_depth(name: str, columns: int) -> None:
    """A limit on leaves that holds for every tree is dropped, and solvers still learn how deep trees are."""
    table = [[(row >> column) & 1 for column in range(columns)] for row in range(4)]
    problem = binary(table, 2, minimize(Leaves()), (bound(Leaves(), "<=", 4, "leaves"),))
    planned = plan(problem, get(name))
    assert isinstance(planned, Plan)
    answer = run(planned, Limits(Deadline.after(60)))
    assert answer.status is Status.OPTIMAL
    assert answer.objective == (1,)


@pytest.mark.parametrize("row_by_row", [True, False])
def test_a_lower_bound_beyond_64_bits_is_exact(row_by_row: bool) -> None:
    """No test tells rows apart that are listed once, so both ways have the same sums."""
    cost = np.full((4, 2), 2**62, dtype=np.int64) + np.array([[0, 5], [7, 1], [2, 3], [9, 4]])
    problem = binary(["00", "01", "10", "11"], 2, minimize(single(Predicted(cost))))
    term = Predicted(cost)
    assert term.lower_bound(problem, Fraction(1), row_by_row) == 4 * 2**62 + 0 + 1 + 2 + 4
    assert term.lower_bound(problem, Fraction(-1), row_by_row) == -(4 * 2**62 + 5 + 7 + 3 + 9)
