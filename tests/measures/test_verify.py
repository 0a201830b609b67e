"""Verification: values from the rows alone, every claim compared, every requirement with its slack."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from small_worlds import World, single, worlds

import treeml as tml
from treeml.data.bind import bind
from treeml.data.table import Column, Dataset, Table
from treeml.lang.diagnostic import DataError
from treeml.lang.spec import CheckedGoal, Condition, Linear, Requirement, Spec, Use
from treeml.problem.evaluate import evaluate_goals
from treeml.solving.verify import verify, written
from treeml.trees import nodes as trees
from treeml.trees.nodes import Branch, Field, TreeLeaf
from treeml.trees.raising import raise_tree
from treeml.trees.tree import Tree

ONE = Fraction(1)
ACCURACY = Use("accuracy")


def require(use: Use, sense: str, limit: str, **more: Any) -> Requirement:
    text = f"{use.measure} {sense} {limit}"
    return Requirement(Linear(((ONE, use),)), sense, Fraction(limit), text, text, **more)


def dataset(*requirements: Requirement, goal: Use = ACCURACY, sense: str = "maximize", **spec: Any) -> Dataset:
    columns = {
        "x": Column("x", "integer", np.array([1.0, 2.0, 3.0, 4.0, 5.0])),
        "w": Column("w", "number", np.array([0.1, 0.2, 0.3, 0.2, 0.2])),
        "y": Column("y", "category", np.array([0, 0, 1, 1, 0], dtype=np.int32), ("no", "yes")),
    }
    target = spec.pop("target", "y")
    whole = Spec(
        target=target,
        positive="yes" if target == "y" else None,
        weight_column="w",
        goals=(replace(single(goal, sense), text=goal.measure),),
        requirements=requirements,
        **spec,
    )
    return bind(whole, Table(columns, 5, "five.csv"))


def tree(first: str = "no", rows: tuple[int, int] = (2, 3)) -> Tree:
    return Tree(
        Branch(trees.TreeTest("x", "at most", (2.5,)), TreeLeaf(first, rows[0]), TreeLeaf("yes", rows[1])),
        "classes",
        "y",
        ("no", "yes"),
        (),
        (Field("x", "integer"),),
        ("x",),
    )


def test_values_slack_and_confusion() -> None:
    found = verify(
        tree(),
        dataset(
            require(Use("errors"), "<=", "0.5"),
            require(Use("support"), ">=", "0.3", share_of_rows=True),
            require(Use("recall", ("yes",)), "=", "1"),
        ),
        [Fraction("0.8")],
    )
    assert found.verified
    assert found.objective == (Fraction("0.8"),)
    assert [(each.value, each.limit, each.slack, each.met) for each in found.requirements] == [
        (Fraction("0.2"), Fraction("0.5"), Fraction("0.3"), True),
        (2, 2, 0, True),
        (1, 1, 0, True),
    ]
    assert found.measures["errors"] == Fraction("0.2")
    assert found.measures["error_rate"] == Fraction("0.2")
    assert (found.measures["depth"], found.measures["leaves"], found.measures["support"]) == (1, 2, 2)
    assert found.confusion == (("no", "yes"), ((Fraction("0.3"), Fraction("0.2")), (0, Fraction("0.5"))))
    assert found.requirements[0].to_json() == {
        "name": "errors <= 0.5",
        "text": "errors <= 0.5",
        "sense": "<=",
        "limit": 0.5,
        "value": 0.2,
        "slack": 0.3,
        "met": True,
    }


def test_a_false_claim_is_found() -> None:
    found = verify(tree(), dataset(), [Fraction("0.81")])
    assert found.mismatches == ("`accuracy` is 0.8 (4/5), but 0.81 (81/100) was claimed",)
    assert not found.goals[0].agrees
    assert verify(tree(), dataset(), [Fraction("0.81")], Fraction("0.01")).verified
    assert verify(tree(), dataset(), [ONE, ONE]).mismatches[-1] == "2 values were claimed for 1 goals"


def test_a_missed_requirement_is_found() -> None:
    found = verify(tree(), dataset(require(Use("errors"), "<=", "0.1"), require(Use("depth"), "=", "2")))
    assert found.mismatches == (
        "`errors <= 0.1` is not met: it is 0.2 (1/5)",
        "`depth = 2` is not met: it is 1",
    )
    assert [each.slack for each in found.requirements] == [Fraction("-0.1"), -1]


def test_wrong_rows_and_forbidden_columns_are_found() -> None:
    assert verify(tree(rows=(3, 2)), dataset()).mismatches == (
        "leaf 1 says 3 rows, but 2 reach it",
        "leaf 2 says 2 rows, but 3 reach it",
    )
    counted = replace(tree(), root=TreeLeaf("no", 5, (2, 3)))
    assert verify(counted, dataset()).mismatches == ("leaf 1 says (2, 3) rows of the classes, but (3, 2) reach it",)
    forbidden = dataset(forbidden=("x",), features=("x",))
    assert verify(tree(), forbidden).mismatches == ("the tree tests `x`, which may not be split on",)


def test_precision_without_predictions_meets_a_bound_and_is_zero_in_a_goal() -> None:
    use = Use("precision", ("yes",))
    never = Tree(TreeLeaf("no", 5), "classes", "y", ("no", "yes"))
    found = verify(never, dataset(require(use, ">=", "0.9"), goal=use))
    assert found.requirements[0].met
    assert found.requirements[0].value is None
    assert found.objective == (0,)


def test_wrong_numbers_are_found() -> None:
    numbers = dataset(goal=Use("absolute_loss"), sense="minimize", target="x")
    right = Tree(TreeLeaf(3.0, 5, exact=(Fraction(3),)), "numbers", "x", (), ("x",))
    assert verify(right, numbers, [Fraction("1.0")]).verified
    wrong = Tree(TreeLeaf(4.0, 5, exact=(Fraction(4),)), "numbers", "x", (), ("x",))
    assert verify(wrong, numbers).mismatches == ("leaf 1 holds 4, but its rows give 3",)


def test_a_class_that_the_data_do_not_have() -> None:
    with pytest.raises(DataError, match="predicts `perhaps`"):
        verify(Tree(TreeLeaf("perhaps", 5), "classes", "y", ("no", "perhaps")), dataset())


def test_huge_weights_do_not_overflow() -> None:
    huge = replace(dataset(), weight=np.full(5, 2**61, dtype=np.int64), weight_scale=ONE)
    found = verify(tree(), huge)
    assert found.measures["errors"] == 2**61
    assert found.objective == (Fraction(4, 5),)
    assert found.confusion is not None
    assert found.confusion[1] == ((2**62, 2**61), (0, 2**62))


@given(worlds(goals=(single(Use("mistake_cost")), CheckedGoal("maximize", Linear(((ONE, ACCURACY),)), "accuracy"))))
@settings(max_examples=25, deadline=None)
def test_values_of_terms_pass_verification(world: World) -> None:
    tree = raise_tree(world.node, world.lowered.questions, world.dataset)
    problem = world.lowered.problem
    values = evaluate_goals(problem, world.node)
    claimed = [-value if goal.negated else value for goal, value in zip(problem.goals, values, strict=True)]
    assert verify(tree, world.dataset, claimed).verified
    assert not verify(tree, world.dataset, [claimed[0] + 1, claimed[1]]).verified


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (Use("errors"), "errors"),
        (Use("recall", ("yes",)), "recall(yes)"),
        (Use("quantile_loss", (Fraction("0.9"),)), "quantile_loss(0.9)"),
        (Use("cluster_loss", (("a", "b"), "squared")), "cluster_loss(a, b, squared)"),
        (
            Use("rate", ((Condition("predicted", "=", "yes", False),), (Condition("age", ">=", Fraction(40)),))),
            "rate(predicted = yes given age >= 40)",
        ),
    ],
)
def test_measures_without_a_text_are_named(use: Use, text: str) -> None:
    assert written(use) == text


@pytest.mark.parametrize("direction", ["increasing", "decreasing"])
@pytest.mark.parametrize("backend", ["oracle", "cpsat", "mip", "maxsat"])
def test_a_leaf_for_missing_values_does_not_count_for_monotonicity(direction: str, backend: str) -> None:
    """A cut below the same cut with the missing rows on its other side parts them from all numbers."""
    data = {"a": [1, None, 0.5], "b": [0, 0, 1], "y": ["p", "q", "p"]}
    text = f"""
        column a : number, missing separate
        binarize a by quantiles(3)
        predict y is "p"
        maximize accuracy
        require monotone(a, {direction})
    """
    assert tml.parse(text).solve(data, backend=backend).objective == 1
