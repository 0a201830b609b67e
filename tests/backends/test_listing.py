"""All trees of a problem near the best, against brute force over the oracle's own evaluation."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from treeml.backends.contract import Deadline
from treeml.backends.native.listing import Slack, TreeListing
from treeml.backends.native.listing_refusals import listing_refusals
from treeml.problem import problem as problems
from treeml.problem.evaluate import Routed, evaluate_goals, meets_all
from treeml.problem.problem import Bound, Feature, Goal, Problem
from treeml.problem.terms import Custom, Depth, LeafErrors, Leaves, Loss, Predicted, Purity, Sum, Support, Used
from treeml.problem.terms import TestCost as CostOfTests
from treeml.problem.tree import Leaf, Node, Split

ONE = Fraction(1)


def random_problem(seed: int, kind: str) -> Problem:
    random = np.random.default_rng(seed)
    rows, binary = int(random.integers(6, 13)), int(random.integers(2, 4))
    features, tests, codes = [], [], []
    for number in range(binary):
        values = random.integers(0, 2, rows).astype(np.int32)
        features.append(Feature(f"b{number}", "binary", 2, values, len(tests), 1))
        tests.append(problems.Test(number, "true"))
        codes.append(values == 1)
    values = random.integers(0, 3, rows).astype(np.int32)
    features.append(Feature("x", "ordered", 3, values, len(tests), 2))
    for cut in range(2):
        tests.append(problems.Test(binary, "at most", (cut,)))
        codes.append(values <= cut)
    classes = 2 if kind in ("classes", "costs", "two goals") else 0
    price = Fraction(int(random.integers(0, 3)), int(random.integers(1, 4)))
    parts = {
        "classes": lambda: Predicted(np.eye(2, dtype=np.int64)[1 - random.integers(0, 2, rows)]),
        "costs": lambda: Predicted(random.integers(-2, 5, (rows, 2)), Fraction(1, 3)),
        "two goals": lambda: Predicted(random.integers(0, 3, (rows, 2))),
        "squared": lambda: Loss("squared", random.integers(-4, 5, (rows, 1)), random.integers(0, 3, rows)),
        "absolute": lambda: Loss("absolute", random.integers(-4, 5, (rows, 1)), random.integers(1, 3, rows)),
        "quantile": lambda: Loss(
            "quantile", random.integers(-4, 5, (rows, 1)), random.integers(1, 3, rows), level=Fraction(1, 3)
        ),
        "custom": lambda: Custom(lambda numbers: float(np.sin(np.asarray(numbers) + 1).sum() ** 2)),
    }
    main = parts[kind]()
    total = [(ONE, main)] + ([(price, Leaves())] if price else [])
    if random.random() < 0.4 and kind != "two goals":
        total.append((ONE, CostOfTests(tuple(random.integers(0, 3, binary + 1).tolist()), Fraction(1, 2))))
    goals = [Goal(Sum(tuple(total), Fraction(int(random.integers(-2, 3)))))]
    if kind == "two goals":
        goals.append(Goal(Sum(((ONE, Leaves()),))))
    bounds = [Bound(Sum(((ONE, Depth()),)), "<=", Fraction(int(random.integers(1, 4))))]
    if random.random() < 0.3:
        bounds.append(Bound(Sum(((ONE, Leaves()),)), "<=", Fraction(3)))
    if random.random() < 0.3:
        bounds.append(Bound(Sum(((ONE, Support()),)), ">=", Fraction(2)))
    if random.random() < 0.2:
        bounds.append(Bound(Sum(((ONE, Used(frozenset({0}))),)), "<=", Fraction(0)))
    if classes and random.random() < 0.2:
        bounds.append(Bound(Sum(((ONE, LeafErrors(random.integers(0, 2, (rows, 2)))),)), "<=", Fraction(3)))
    if classes and random.random() < 0.2:
        bounds.append(Bound(Sum(((ONE, Purity(random.integers(0, 3, (rows, 2)))),)), ">=", Fraction(3, 5)))
    count = np.ones(rows, dtype=np.int64)
    return Problem(tuple(features), tuple(tests), count, classes, tuple(goals), tuple(bounds))


class Brute:
    """Every tree of a problem that counts as different, by the rules of docs/listing.md."""

    def __init__(self, problem: Problem, style: str = "") -> None:
        self.problem, self.style = problem, style
        self.tests = list(range(len(problem.tests)))
        priced = set()
        for goal in problem.goals:
            for _, term in goal.sum.parts:
                if isinstance(term, CostOfTests):
                    priced |= {feature for feature, cost in enumerate(term.costs) if cost}
        used = {
            f
            for bound in problem.bounds
            for _, term in bound.sum.parts
            if isinstance(term, Used)
            for f in term.features
        }
        if not style:
            seen, kept = set(), []
            for test in self.tests:
                answers = problem.bits[test] ^ problem.bits[test, 0]
                feature = problem.tests[test].feature
                key = answers.tobytes(), feature if feature in priced | used else -1
                if key not in seen and answers.any():
                    kept.append(test)
                    seen.add(key)
            self.tests = kept

    def values(self) -> list[tuple[tuple[Fraction, ...], Node]]:
        found = []
        depth = self.problem.max_depth
        for tree in self.trees(tuple(range(self.problem.rows)), depth):
            if meets_all(self.problem, tree):
                found.append((evaluate_goals(self.problem, tree), tree))
        return found

    def trees(self, rows: tuple[int, ...], depth: int) -> list[Node]:
        found: list[Node] = [self.leaf(rows)]
        if found[0] is None:
            found = []
        seen = set()
        for test in self.tests if depth else ():
            yes = tuple(row for row in rows if self.problem.bits[test, row])
            no = tuple(row for row in rows if not self.problem.bits[test, row])
            if not yes or not no:
                continue
            feature = self.problem.tests[test].feature
            parted = (feature, frozenset({yes, no}))
            if self.problem.features[feature].kind != "binary" and not self.style:
                if parted in seen:
                    continue
                seen.add(parted)
            for left, right in product(self.trees(yes, depth - 1), self.trees(no, depth - 1)):
                if not (self.alike(left, yes, right, no) and self.is_one_leaf(rows, left)):
                    found.append(Split(test, left, right))
        return found

    def is_one_leaf(self, rows: tuple[int, ...], side: Node) -> bool:
        """Whether the requirements on leaves allow one leaf instead of two that predict what this side does."""
        return not self.problem.classes or self.leaf(rows) == side

    def leaf(self, rows: tuple[int, ...]) -> Leaf | None:
        """The leaf whose class is best for the goals, among those that the requirements on leaves allow."""
        if not self.problem.classes:
            return Leaf()
        here = list(rows)
        allowed = self.labels(here)
        if not allowed:
            return None
        cost = {c: sum(t.cost[here, c].sum() for t in self.predicted()) for c in allowed}
        best = [c for c in allowed if cost[c] == min(cost.values())]
        return Leaf(best[-1 if self.style else 0])

    def labels(self, rows: list[int]) -> list[int]:
        """The classes that the requirements on leaves allow to a leaf."""
        allowed = [0, 1]
        for bound in self.problem.bounds:
            term = bound.sum.parts[0][1]
            if isinstance(term, LeafErrors):
                allowed = [c for c in allowed if term.cost[rows, c].sum() * term.scale <= bound.limit]
            elif isinstance(term, Purity):
                weights = term.weight[rows].sum(axis=0)
                allowed = allowed if weights.max() >= bound.limit * int(weights.sum()) else []
        return allowed

    def predicted(self):
        return [term for _, term in self.problem.goals[0].sum.parts if isinstance(term, Predicted)]

    def alike(self, left: Node, yes, right: Node, no) -> bool:
        from treeml.problem.constants import best_constant

        if not (isinstance(left, Leaf) and isinstance(right, Leaf)):
            return False
        if self.problem.classes:
            return left.label == right.label
        main = self.problem.goals[0].sum.parts[0][1]
        if isinstance(main, Custom):
            return False
        sides = [
            best_constant(main.kind, main.targets[list(side), 0], main.weight[list(side)], main.level)
            for side in (yes, no)
        ]
        return sides[0] == sides[1]


KINDS = ["classes", "costs", "two goals", "squared", "absolute", "quantile", "custom"]


@pytest.mark.parametrize("kind", KINDS)
def test_lists_within_a_slack_are_complete_and_in_order(kind: str) -> None:
    listed = 0
    for seed in range(40):
        problem = random_problem(seed, kind)
        assert not list(listing_refusals(problem))
        every = Brute(problem).values()
        slack = Slack(Fraction(seed % 4), seed % 2 == 0)
        listing = TreeListing(problem)
        reached = listing.extend(slack, None, Deadline())
        if not every:
            assert listing.total == 0
            assert reached.exhausted
            continue
        best = min(values[0] for values, _ in every)
        assert reached.best == best
        within = [(values, tree) for values, tree in every if values[0] <= slack.limit(best)]
        made = [listing.tree(number) for number in range(listing.total)]
        assert Counter(made) == Counter(tree for _, tree in within)
        assert list(listing.trees(0, listing.total)) == made
        third = listing.total // 3
        assert list(listing.trees(third, third)) == made[third : 2 * third]
        values = [evaluate_goals(problem, tree) for tree in made]
        if listing.units.error == 0:
            assert values == sorted(values)
            assert listing.histogram() == sorted(Counter(value[0] for value in values).items())
        else:
            grain = 2 * listing.units.error / listing.units.scale
            assert all(one[0] <= other[0] + grain for one, other in pairwise(values))
        listed += len(made)
    assert listed > 100  # the problems are large enough to say something


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_trees_by_number(kind: str) -> None:
    for seed in range(12):
        problem = random_problem(seed, kind)
        every = sorted(values[0] for values, _ in Brute(problem).values())
        listing = TreeListing(problem)
        for most in (1, 5, 10**6):
            reached = listing.extend(None, most, Deadline())
            assert listing.total >= min(most, len(every))
            assert reached.exhausted == (listing.total == len(every) and most > len(every))
            values = sorted(evaluate_goals(problem, listing.tree(n))[0] for n in range(listing.total))
            assert values == every[: listing.total]


def test_as_treefarms_counts_every_column_and_order() -> None:
    for seed in range(15):
        problem = random_problem(seed, "classes")
        problem = problem.asking(problem.goals, problem.bounds[:1])
        every = Brute(problem, "treefarms").values()
        listing = TreeListing(problem, "treefarms")
        listing.extend(Slack(Fraction(1, 2), True), None, Deadline())
        best = min(values[0] for values, _ in every)
        limit = best + abs(best) / 2
        assert Counter(listing.tree(n) for n in range(listing.total)) == Counter(
            tree for values, tree in every if values[0] <= limit
        )


def test_a_bound_on_the_goal_itself_limits_the_list() -> None:
    problem = random_problem(3, "classes")
    term = next(term for _, term in problem.goals[0].sum.parts if isinstance(term, Predicted))
    goal = Goal(Sum(((ONE, term),)))
    every = Brute(problem.asking((goal,), problem.bounds[:1])).values()
    values = sorted(value[0] for value, _ in every)
    bound = Bound(Sum(((ONE, term),)), "<=", values[len(values) // 2])
    listing = TreeListing(problem.asking((goal,), (problem.bounds[0], bound)))
    listing.extend(Slack(Fraction(100), False), None, Deadline())
    assert listing.total == sum(value <= bound.limit for value in values)


def test_a_deadline_or_memory_leaves_a_smaller_complete_list() -> None:
    random = np.random.default_rng(1)
    rows, columns = 300, 14
    bits = random.random((columns, rows)) < 0.5
    problem = Problem(
        tuple(Feature(f"b{n}", "binary", 2, bits[n].astype(np.int32), n, 1) for n in range(columns)),
        tuple(problems.Test(n, "true") for n in range(columns)),
        np.ones(rows, dtype=np.int64),
        2,
        (Goal(Sum(((ONE, Predicted(np.eye(2, dtype=np.int64)[random.integers(0, 2, rows)])), (ONE, Leaves())))),),
        (Bound(Sum(((ONE, Depth()),)), "<=", Fraction(3)),),
    )
    whole = TreeListing(problem)
    whole.extend(Slack(Fraction(1), True), None, Deadline())
    counts = dict(whole.histogram())
    seen = set()
    for memory in (200_000, 400_000, 700_000, 1_100_000, 100_000_000):
        listing = TreeListing(problem, memory=memory)
        reached = listing.extend(Slack(Fraction(1), True), None, Deadline())
        seen.add(reached.stop)
        if reached.limit is not None:
            assert dict(listing.histogram()) == {v: n for v, n in counts.items() if v <= reached.limit}
        else:
            assert listing.total == 0
        assert listing.sets.statistics()["peak_memory"] <= memory
    assert seen == {"", "memory"}
    late = TreeListing(problem)
    assert late.extend(Slack(Fraction(1), True), None, Deadline.after(-1)).stop == "time"
    assert late.total == 0


def test_what_cannot_be_listed_is_refused_in_a_sentence() -> None:
    problem = random_problem(1, "classes")
    depth_goal = problem.asking((Goal(Sum(((ONE, Depth()),)), text="depth"),), ())
    assert "add up over leaves" in next(iter(listing_refusals(depth_goal))).because
    other = Predicted(np.ones((problem.rows, 2), dtype=np.int64))
    coupled = problem.asking(problem.goals, (Bound(Sum(((ONE, other),)), ">=", ONE, "recall"),))
    assert not list(listing_refusals(coupled))
    assert "treefarms" in next(iter(listing_refusals(coupled, "treefarms"))).because
    both = Bound(Sum(((ONE, other), (ONE, Leaves()))), ">=", ONE, "a sum of two measures")
    assert "cannot bound" in next(iter(listing_refusals(problem.asking(problem.goals, (both,))))).because
    assert Routed(problem, Leaf(0)).leaves
