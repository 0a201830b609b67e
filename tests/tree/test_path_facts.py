"""Reasons say what the answers on a path say, in fewer words."""

from __future__ import annotations

import itertools
import random
import re

import pytest

from treeml.trees.nodes import Branch, Field, TreeLeaf, TreeTest
from treeml.trees.path_facts import answered_facts, fewest_facts
from treeml.trees.tree import Tree

VALUES = (0.5, 1.5, 2.5, 3.5, None)


def tree_of(*fields: Field) -> Tree:
    root = Branch(TreeTest("m", "at most", (1.0,)), TreeLeaf("a"), TreeLeaf("b"))
    return Tree(root, "classes", "y", ("a", "b"), fields=fields)


GAPS = tree_of(Field("m", "number", missing=True), Field("n", "number"))


def answers(test: TreeTest, value: float | None) -> bool:
    if value is None:
        return test.kind == "missing" or test.missing_yes
    return test.kind == "at most" and value <= test.values[0]


def says(fact: str, value: float | None) -> bool:
    """Is the sentence true of the value?"""
    if fact.endswith(" or is missing") and value is None:
        return True
    if fact in ("m is missing", "m is not missing"):
        return (value is None) == (fact == "m is missing")
    bounds = re.findall(r"m (<=|>) ([\d.]+)", fact)
    assert bounds
    return value is not None and all((value > float(at)) == (sign == ">") for sign, at in bounds)


@pytest.mark.parametrize("seed", range(200))
def test_a_column_with_gaps(seed: int) -> None:
    chance = random.Random(seed)
    tests = [
        TreeTest("m", "at most", (float(chance.randint(1, 3)),), chance.random() < 0.5)
        if chance.random() < 0.8
        else TreeTest("m", "missing")
        for _ in range(chance.randint(1, 4))
    ]
    for said in itertools.product((True, False), repeat=len(tests)):
        path = list(zip(tests, said, strict=True))
        reached = [value for value in VALUES if all(answers(test, value) == answer for test, answer in path)]
        if reached:  # nobody asks for the reason of an empty leaf
            (fact,) = fewest_facts(GAPS, path)
            assert [value for value in VALUES if says(fact, value)] == reached, (fact, path)


def test_facts_that_others_make_redundant() -> None:
    path = [
        (TreeTest("n", "at most", (40.0,)), False),
        (TreeTest("m", "at most", (4.0,)), False),
        (TreeTest("n", "at most", (50.0,)), False),
    ]
    assert answered_facts(GAPS, path) == ["n > 40", "m > 4 or is missing", "n > 50"]
    assert fewest_facts(GAPS, path) == ["(m > 4 or is missing)", "n > 50"]
    assert fewest_facts(GAPS, [*path[1:2], (TreeTest("m", "at most", (1.0,), missing_yes=True), False)]) == ["m > 4"]
