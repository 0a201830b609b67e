"""Splits whose leaves predict the same are removed from an answer, unless a requirement or a goal needs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from treeml.measures.evaluators import outcome_of
from treeml.problem.tree import Leaf, Split
from treeml.solving.choice import lower
from treeml.solving.pipeline import prepare
from treeml.solving.twin_leaves import without_twins
from treeml.trees.raising import raise_tree
from treeml.trees.tree import Tree

ROWS = "a,b,y\n0,0,n\n0,1,n\n1,0,p\n1,1,p\n0,1,p\n"
FEATURES = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return path


def merged(spec: str, rows: Path) -> tuple[Tree, Tree]:
    """A tree that asks for b on both sides of a without need, before and after."""
    dataset, request = prepare(f"predict y {spec}", rows)
    questions = lower(dataset, request).form(numeric=False).questions
    number = {question.column: place for place, question in enumerate(questions)}
    no, yes = (dataset.classes.index(label) for label in "np")
    node = Split(number["a"], Split(number["b"], Leaf(yes), Leaf(yes)), Split(number["b"], Leaf(no), Leaf(no)))
    found = outcome_of(raise_tree(node, questions, dataset), dataset)
    return found.tree, without_twins(node, found, questions, dataset).tree


@pytest.mark.parametrize(
    "spec", ["minimize errors", "maximize accuracy require leaves <= 4", "satisfy require errors <= 1 rows"]
)
def test_twins_are_merged(spec: str, rows: Path) -> None:
    tree, smaller = merged(spec, rows)
    assert (len(tree.leaves), len(smaller.leaves)) == (4, 2)
    assert smaller.inputs == tree.inputs
    assert [field.name for field in smaller.fields] == ["a"]
    assert smaller.predict(FEATURES).tolist() == tree.predict(FEATURES).tolist()
    assert sum(leaf.rows for leaf in smaller.leaves) == 5


@pytest.mark.parametrize(
    "spec",
    [
        "minimize errors require leaves >= 4",
        "minimize errors require uses(b)",
        "minimize errors + 0.5 * leaves",
        "maximize depth",
    ],
)
def test_twins_that_something_needs_stay(spec: str, rows: Path) -> None:
    tree, same = merged(spec, rows)
    assert same is tree
