"""A test with the same subtree or class on both sides is removed if goals and requirements allow it."""

from __future__ import annotations

import numpy as np
import pytest

import treeml as tml
from treeml.backends.claims import Evidence
from treeml.backends.contract import Answer, Status, Stop
from treeml.backends.equal_sides import without_equal_sides
from treeml.measures.lower_dataset import lower
from treeml.native.matrix import MatrixAnswer
from treeml.problem.evaluate import evaluate_goals, meets
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split
from treeml.solving import express_errors
from treeml.solving.pipeline import prepare
from treeml.trees import nodes

X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
Y = X[:, 1]
ON_B = Split(1, Leaf(1), Leaf(0))
ON_C = Split(2, ON_B, ON_B)
ON_A = Split(0, ON_C, ON_C)
MIXED = Split(0, ON_C, ON_B)


def problem_of(text: str) -> Problem:
    dataset, _ = prepare(tml.Model.parse(text), X, Y)
    return lower(dataset).problem


def tidied(text: str, tree: Node, status: Status = Status.OPTIMAL, *, joins_leaves: bool = True) -> Node | None:
    problem = problem_of(text)
    objective = evaluate_goals(problem, tree)
    stop = Stop.PROVED if status is Status.OPTIMAL else Stop.TIME
    evidence = (Evidence("enumeration", "a test"),) if status is Status.OPTIMAL else ()
    answer = Answer(status, stop, tree, objective, evidence=evidence)
    after = without_equal_sides(problem, answer, joins_leaves=joins_leaves)
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


ALIKE = Split(0, Leaf(1), Leaf(1))
ON_C_ALIKE = Split(2, Split(1, Leaf(1), ALIKE), Leaf(1))


@pytest.mark.parametrize(
    "text",
    [
        "minimize errors require depth <= 3",
        "maximize accuracy require leaves <= 4 require depth <= 3",
        'minimize errors require depth <= 3 require recall("1") >= 50%',
        "minimize errors require depth <= 3 require support >= 1",
        "minimize errors require depth <= 3 require purity >= 50%",
        "satisfy require errors <= 4 require depth <= 3",
    ],
)
def test_leaves_of_one_class_become_one(text: str) -> None:
    assert tidied(text, ALIKE) == Leaf(1)
    assert tidied(text, ON_C_ALIKE) == Leaf(1)
    assert tidied(text, Split(1, ALIKE, Leaf(0))) == ON_B


def test_leaves_that_a_requirement_or_a_goal_needs_stay_apart() -> None:
    assert tidied("minimize errors require depth <= 3 require leaves = 2", ALIKE) == ALIKE
    assert tidied("minimize errors require depth <= 3 require leaves >= 3", Split(1, ALIKE, Leaf(0))) == Split(
        1, ALIKE, Leaf(0)
    )
    assert tidied("minimize errors require depth = 1", ALIKE) == ALIKE
    assert tidied("minimize errors require depth <= 3 require uses(x0) = 1", ALIKE) == ALIKE
    assert tidied("minimize errors require depth <= 3 require leaf_errors <= 2 rows", ALIKE) == ALIKE
    assert tidied("minimize errors then maximize leaves require depth <= 3", ALIKE) == ALIKE


def test_leaves_whose_shares_matter_stay_apart() -> None:
    for text in (
        "minimize errors + gini require depth <= 3",
        "minimize errors then minimize description_length require depth <= 3",
        "minimize errors require gini <= 1 require depth <= 3",
        "minimize log_loss require depth <= 3",
        "satisfy require support >= 1 require depth <= 3",
    ):
        assert tidied(text, ALIKE) == ALIKE, text


def test_leaves_of_a_heuristic_stay_apart() -> None:
    assert tidied("minimize errors require depth <= 3", ALIKE, Status.FEASIBLE, joins_leaves=False) == ALIKE
    rows = {"a": [0, 0, 0, 0, 1, 1, 1, 1], "y": ["n", "n", "n", "y", "n", "n", "n", "n"]}
    grown = tml.Model.parse("predict y minimize errors require depth <= 1 solve with cart(prune = none)").solve(rows)
    assert grown.tree is not None
    assert [leaf.prediction for leaf in grown.tree.leaves] == ["n", "n"]


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


def leaves_below(node: nodes.Node) -> list[nodes.TreeLeaf]:
    return leaves_below(node.yes) + leaves_below(node.no) if isinstance(node, nodes.Branch) else [node]


def needless(node: nodes.Node) -> list[nodes.Branch]:
    """The splits below which every leaf predicts the same class."""
    if not isinstance(node, nodes.Branch):
        return []
    below = needless(node.yes) + needless(node.no)
    return [node, *below] if len({leaf.prediction for leaf in leaves_below(node)}) == 1 else below


@pytest.mark.parametrize(
    "text",
    [
        "minimize errors require depth <= 4",
        "maximize accuracy require depth <= 5",
        "minimize errors",
        "minimize errors require depth <= 4 require support >= 3",
        'weight class "1" = 2 minimize errors require depth <= 4',
        "satisfy require errors <= 8 require depth <= 4",
    ],
)
@pytest.mark.parametrize("kernel", ["auto", "binary", "numeric"])
def test_native_asks_nothing_in_vain(text: str, kernel: str) -> None:
    for seed in range(4):
        random = np.random.default_rng(seed)
        rows = random.normal(size=(40, 3)).round(1)
        labels = (rows[:, 0] > 0).astype(int) + (rows[:, 1] > 0)
        result = tml.Model.parse(text).solve(rows, labels, backend=f"native(kernel = {kernel})")
        assert result.is_optimal
        assert result.tree is not None
        assert not needless(result.tree.root)


def test_the_short_way_of_small_arrays_asks_nothing_in_vain() -> None:
    data = np.arange(4.0).reshape(4, 1)
    split = [0, 4, 1, 2, 1, 4, -1]  # x0 between rows 1 and 2
    below = [[0, 4, 0, 1, 2, 3, -1], *([[-1, 0, -1, -1, -1, -1, 1]] * 2)]
    found = MatrixAnswer(True, False, 0, 0, [split, *below, [-1, 0, -1, -1, -1, -1, 0]], ())
    root = express_errors._raised(data, found, 0)
    assert root == express_errors.ExpressSplit(0, 1.5, express_errors.ExpressLeaf(1), express_errors.ExpressLeaf(0))
