"""A test with the same subtree on both sides is removed if goals and requirements allow it."""

from __future__ import annotations

import numpy as np
import pytest

import treeml as tml
from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, Status, Stop
from treeml.backends.equal_sides import without_equal_sides
from treeml.measures.lower_dataset import lower
from treeml.problem.evaluate import evaluate_goals, meets
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split
from treeml.solving.pipeline import prepare

X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
Y = X[:, 1]
ON_B = Split(1, Leaf(1), Leaf(0))
ON_C = Split(2, ON_B, ON_B)
ON_A = Split(0, ON_C, ON_C)
MIXED = Split(0, ON_C, ON_B)


def problem_of(text: str) -> Problem:
    dataset, _ = prepare(tml.Model.parse(text), X, Y)
    return lower(dataset).problem


def tidied(text: str, tree: Node, status: Status = Status.OPTIMAL) -> Node | None:
    problem = problem_of(text)
    objective = evaluate_goals(problem, tree)
    stop = Stop.PROVED if status is Status.OPTIMAL else Stop.TIME
    evidence = (Evidence("enumeration", "a test"),) if status is Status.OPTIMAL else ()
    answer = Answer(status, stop, tree, objective, evidence=evidence)
    after = without_equal_sides(problem, answer)
    assert after.tree is not None
    assert after.objective == evaluate_goals(problem, after.tree)
    assert all(meets(bound, problem, after.tree) for bound in problem.bounds)
    return after.tree


@pytest.mark.parametrize("tree", [ON_B, ON_C, ON_A, MIXED])
def test_needless_questions_go(tree: Node) -> None:
    assert tidied("minimize errors require depth <= 3", tree) == ON_B


def test_a_requirement_keeps_them() -> None:
    assert tidied("minimize errors require depth <= 3 require leaves >= 8", ON_A) == ON_A
    assert tidied("minimize errors require depth <= 3 require leaves >= 6", MIXED) == MIXED
    assert tidied("minimize errors require depth <= 3 require uses(x0) = 1", MIXED) == Split(0, ON_B, ON_B)


def test_as_many_go_as_a_requirement_allows() -> None:
    after = tidied("minimize errors require depth <= 3 require leaves >= 3", ON_A)
    assert after in (ON_C, Split(0, ON_B, ON_B))


def test_a_goal_keeps_them_unless_it_improves() -> None:
    assert tidied("minimize errors then maximize leaves require depth <= 3", ON_C) == ON_C
    assert tidied("minimize errors + 0.5 * leaves require depth <= 3", ON_A, Status.FEASIBLE) == ON_B


def test_leaves_of_one_label_stay_apart_if_their_classes_are_mixed() -> None:
    alike = Split(0, Leaf(1), Leaf(1))
    assert tidied("minimize errors require depth <= 3", alike) == alike
    assert tidied("minimize count(predicted = 1, actual = 0) require depth <= 3", Split(0, Leaf(0), Leaf(0))) == Split(
        0, Leaf(0), Leaf(0)
    )


def test_leaves_of_one_class_are_one_leaf() -> None:
    pure = Split(2, Split(0, Leaf(1), Leaf(1)), Leaf(1))
    text = "minimize errors require depth <= 3"
    assert tidied(text, Split(1, pure, Leaf(0))) == ON_B
    assert tidied(text, Split(1, Split(0, Leaf(1), Leaf(1)), pure)) == Split(1, Leaf(1), pure)  # the no side is mixed
    assert tidied(f"{text} require leaves >= 3", Split(1, pure, Leaf(0))) == Split(1, pure, Leaf(0))
    assert tidied(f"{text} require uses(x0) = 1", Split(1, pure, Leaf(0))) == Split(1, pure, Leaf(0))


def test_numbers_of_leaves_stay_apart() -> None:
    text = "predict y minimize squared_loss require depth <= 2"
    dataset, _ = prepare(
        tml.Model.parse(text), {"a": X[:, 0], "b": X[:, 1], "y": [0.5, 1.5, 2.5, 4.5, 6.5, 9.5, 3.5, 0.5]}
    )
    problem = lower(dataset).problem
    tree = Split(0, Split(1, Leaf(), Leaf()), Split(1, Leaf(), Leaf()))
    answer = Answer(Status.FEASIBLE, Stop.TIME, tree, evaluate_goals(problem, tree))
    assert without_equal_sides(problem, answer).tree == tree


@pytest.mark.parametrize("backend", ["native", "cpsat", "mip", "maxsat", "oracle"])
def test_what_back_ends_return(backend: str) -> None:
    result = tml.Model.parse("maximize accuracy require depth <= 2").solve(X[:, :2], Y, backend=backend)
    assert result.is_optimal
    assert result.tree is not None
    assert len(result.tree.leaves) == 2
