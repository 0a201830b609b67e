"""A random generator -> a problem with coupled requirements, and a tree that keeps each of them with nothing to spare.

The sums of the requirements come to a number that is asked for, such as the largest that a back-end takes, so that one
unit is as small a part of them as it can be: a limit that is clipped, a tolerance or a rounded number excludes the tree
or lets the solver forget it. Nobody has to know the optimum to refute a claim: see `refuted`.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from treeml.backends.contract import Answer, Status
from treeml.backends.run import bounded_goal
from treeml.problem.evaluate import Routed, evaluate_goals
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import Depth, Predicted
from treeml.problem.tree import Leaf, Node, Split
from treeml.testing.planted import Path, PlantedRows, planted_rows
from treeml.testing.problems import bound, errors, from_columns, minimize, single

if TYPE_CHECKING:
    from treeml.problem.arrays import Whole

REACHES = (997, 999_999, 10**6, 2**31 - 1, 2**31 + 1, 10**9 + 7, 2**40, 2**52 - 1, 2**52 + 1, 2**53 + 1)
SPARE = (Fraction(0), Fraction(0), Fraction(1, 3), Fraction(999_999_999_999, 10**12))  # less than one unit


def planted_problem(random: Random, reach: int) -> tuple[Problem, Node]:
    """About a dozen rows and one to three requirements whose sums lie between 0 and `reach`, or minus that and it."""
    rows = planted_rows(random, random.choice((1, 2, 2)), 1, random.choice((3, 4)), 2, random.choice((6, 9)))
    shell = from_columns([("ordered", list(column)) for column in rows.columns], 2, (), ())
    tree = _tree(random, shell, rows, list(zip(rows.path, range(rows.leaves), strict=True)))
    weight = random.choice(([1] * rows.rows, _weights(random, rows.rows, reach)))
    goals = minimize(errors(list(rows.label), 2, weight))
    bounds = [bound(Depth(), "<=", max(1, rows.depth), "depth")]
    for number in range(random.randint(1, 3)):
        bounds.append(_exactly(random, shell, tree, rows, reach, f"requirement {number + 1}"))
    return shell.asking(goals, tuple(bounds)), tree


def _tree(random: Random, problem: Problem, rows: PlantedRows, leaves: list[tuple[Path, int]]) -> Node:
    """The planted tree; a leaf mostly predicts the class of most of its rows."""
    (path, leaf), *others = leaves
    if not others and not path:
        labels = [rows.label[row] for row in rows.members(leaf)]
        return Leaf(random.randrange(2) if random.random() < 0.2 else int(2 * sum(labels) > len(labels)))
    column, cut, _ = path[0]
    yes = [(steps[1:], number) for steps, number in leaves if steps[0][2]]
    no = [(steps[1:], number) for steps, number in leaves if not steps[0][2]]
    test = problem.features[column].first_test + cut
    return Split(test, _tree(random, problem, rows, yes), _tree(random, problem, rows, no))


def _weights(random: Random, rows: int, reach: int) -> list[int]:
    """Positive numbers, now and then 0, that sum up to `reach`."""
    drawn = [random.choice((0, 1, random.randint(1, max(1, reach // rows)))) for _ in range(rows)]
    drawn[random.randrange(rows)] += reach - sum(drawn)
    return drawn


def _exactly(random: Random, problem: Problem, tree: Node, rows: PlantedRows, reach: int, name: str) -> Bound:
    """A sum over predictions and the value of the tree as its limit, or less than one unit beside it."""
    weight = np.array(_weights(random, rows.rows, reach), dtype=np.int64)
    cost: Whole = np.zeros((rows.rows, 2), dtype=np.int64)
    kind = random.choice(("count", "difference", "errors"))
    cost[:, 1] = weight
    if kind == "difference":
        cost[:, 1] *= np.array([random.choice((-1, 1)) for _ in range(rows.rows)])
    elif kind == "errors":
        cost = errors(list(rows.label), 2, weight.tolist()).cost
    unit = Fraction(1, random.choice((1, 1, 3, 10**9 + 7)))
    total = single(Predicted(cost, unit))
    value = total.evaluate(Routed(problem, tree), None)
    assert value is not None
    sense, spare = random.choice(("<=", ">=", "=")), random.choice(SPARE) * unit
    beside = {"<=": spare, ">=": -spare, "=": Fraction(0)}[sense]
    return bound(total, sense, value + beside, name)


def refuted(problem: Problem, tree: Node, answer: Answer) -> str | None:
    """What the planted tree refutes in an answer; None if it refutes nothing."""
    values = evaluate_goals(problem, tree)
    if answer.status is Status.INFEASIBLE:
        return f"infeasible, but there is a tree with {values[0]}"
    is_worse = answer.objective is not None and answer.objective[0] - answer.tolerance > values[0]
    if answer.status is Status.OPTIMAL and is_worse:
        return f"optimal at {answer.objective}, but there is a tree with {values[0]}"
    if answer.bound is not None and answer.bound > values[bounded_goal(answer)] + answer.tolerance:
        return f"its bound {answer.bound} is above a tree with {values[0]}"
    return None
