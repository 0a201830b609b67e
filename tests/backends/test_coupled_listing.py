"""Lists of trees under requirements that couple the leaves, against brute force over every tree and every label."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from test_listing import ONE, Brute, random_problem

import treeml as tml
from treeml.backends.contract import Deadline
from treeml.backends.native.listing import Slack, TreeListing
from treeml.backends.native.listing_refusals import listing_refusals
from treeml.problem.evaluate import evaluate_goals
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import Predicted, Sum
from treeml.problem.tree import Leaf, Node, Split
from treeml.solving.verify import verify


def coupled_problem(seed: int, kind: str) -> Problem:
    """A random problem with one to three requirements on sums over all predictions."""
    problem = random_problem(seed, kind)
    random = np.random.default_rng(seed + 1000)
    bounds = []
    for _ in range(int(random.choice([1, 1, 2, 3]))):
        term = Predicted(random.integers(-2, 3, (problem.rows, 2)), Fraction(1, int(random.integers(1, 4))))
        sense = str(random.choice(["<=", ">=", "<=", ">=", "="]))
        looser = {"<=": 1, ">=": -1, "=": 0}[sense]
        bounds.append(Bound(Sum(((ONE, term),)), sense, looser + Fraction(int(random.integers(-3, 4)), 2), "a sum"))
    kept = problem.bounds
    if max(each.limit for each in kept[:1]) > 2:  # every label of depth 3 is too many
        kept = (Bound(kept[0].sum, "<=", Fraction(2)), *kept[1:])
    return problem.asking(problem.goals, (*kept, *bounds))


class AnyLabel(Brute):
    """Every tree with every label of its leaves that the requirements on leaves allow."""

    def trees(self, rows: tuple[int, ...], depth: int) -> list[Node]:
        leaves = [Leaf(label) for label in self.labels(list(rows))]
        found: list[Node] = list(leaves)
        seen = set()
        for test in self.tests if depth else ():
            yes = tuple(row for row in rows if self.problem.bits[test, row])
            no = tuple(row for row in rows if not self.problem.bits[test, row])
            feature = self.problem.tests[test].feature
            parted = (feature, frozenset({yes, no}))
            if not yes or not no or (self.problem.features[feature].kind != "binary" and parted in seen):
                continue
            seen.add(parted)
            for left, right in product(self.trees(yes, depth - 1), self.trees(no, depth - 1)):
                if left != right or left not in leaves:
                    found.append(Split(test, left, right))
        return found


@pytest.mark.parametrize("kind", ["classes", "costs", "two goals"])
def test_lists_under_coupled_requirements_are_complete_and_in_order(kind: str) -> None:
    listed = empty = 0
    for seed in range(60):
        problem = coupled_problem(seed, kind)
        assert not list(listing_refusals(problem))
        every = AnyLabel(problem).values()
        slack = Slack(Fraction(seed % 4), seed % 2 == 0)
        listing = TreeListing(problem)
        reached = listing.extend(slack, None, Deadline())
        if not every:
            assert listing.total == 0
            assert reached.exhausted
            empty += 1
            continue
        best = min(values[0] for values, _ in every)
        assert reached.best == best
        within = [(values, tree) for values, tree in every if values[0] <= slack.limit(best)]
        made = [listing.tree(number) for number in range(listing.total)]
        assert Counter(made) == Counter(tree for _, tree in within)
        assert list(listing.trees(0, listing.total)) == made
        values = [evaluate_goals(problem, tree) for tree in made]
        assert values == sorted(values)
        assert listing.histogram() == sorted(Counter(value[0] for value in values).items())
        listed += len(made)
    assert listed > 200
    assert empty


@pytest.mark.parametrize("kind", ["classes", "costs"])
def test_the_best_trees_by_number_under_coupled_requirements(kind: str) -> None:
    for seed in range(100, 112):
        problem = coupled_problem(seed, kind)
        every = sorted(values[0] for values, _ in AnyLabel(problem).values())
        listing = TreeListing(problem)
        for most in (1, 7, 10**6):
            reached = listing.extend(None, most, Deadline())
            assert listing.total >= min(most, len(every))
            assert reached.exhausted == (listing.total == len(every) and (most > len(every) or not every))
            values = sorted(evaluate_goals(problem, listing.tree(n))[0] for n in range(listing.total))
            assert values == every[: listing.total]


def test_a_limit_on_what_the_goal_counts_leaves_the_labels_alone() -> None:
    """With `minimize errors + leaves require errors <= 4`, no leaf predicts anything but its best class."""
    listed = 0
    for seed in range(30):
        problem = random_problem(seed, "classes")
        term = next(term for _, term in problem.goals[0].sum.parts if isinstance(term, Predicted))
        bound = Bound(Sum(((ONE, term),)), "<=", Fraction(seed % 4), "errors")
        problem = problem.asking(problem.goals, (*problem.bounds, bound))
        every = Brute(problem).values()
        listing = TreeListing(problem)
        listing.extend(Slack(Fraction(2), False), None, Deadline())
        best = min((values[0] for values, _ in every), default=Fraction(0))
        expected = Counter(tree for values, tree in every if values[0] <= best + 2)
        assert Counter(listing.tree(n) for n in range(listing.total)) == expected
        listed += listing.total
    assert listed > 50


REQUIREMENTS = [
    "parity_gap(group) <= 10%",
    "odds_gap(group) <= 20%",
    'recall("yes") >= 0.8',
    'precision("yes") >= 0.8',
    'rate(predicted = "yes" given group = "a") >= 0.4',
    'count(predicted = "yes") <= 12',
    "accuracy >= 0.7",
    'parity_gap(group) <= 15% require recall("yes") >= 0.6',
    'opportunity_gap(group) <= 10% require precision("yes") >= 0.7 require accuracy >= 0.6',
]


def language_data() -> dict[str, list]:
    random = np.random.default_rng(4)
    flags = random.integers(0, 2, (4, 26))
    group = random.choice(["a", "b", "c"], 26)
    label = (flags[0] + flags[1] + (group == "a") + random.integers(0, 2, 26)) >= 2
    data = {f"x{number}": flags[number].tolist() for number in range(4)}
    return {**data, "group": group.tolist(), "y": ["yes" if each else "no" for each in label]}


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_requirements_of_the_language_hold_for_every_tree_listed(requirement: str) -> None:
    data = language_data()
    text = 'predict y is "yes" features x0, x1, x2, x3 minimize errors + 0.5 * leaves require depth <= 2 require '
    model = tml.parse(text + requirement)
    trees = model.trees(data, slack=4)
    assert trees.complete
    assert trees.count > 1
    assert trees.best == model.solve(data).objective
    for tree in trees:
        assert all(each.met for each in verify(tree, trees.source.dataset).requirements)
    assert len({str(tree) for tree in trees}) == trees.count
